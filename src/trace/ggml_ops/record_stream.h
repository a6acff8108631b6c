#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/source.h"

namespace culprit::trace::ggml_ops {

// RecordStream hands out a file in pieces of a size the caller asks for, from front to back.
class RecordStream {
 public:
  explicit RecordStream(std::unique_ptr<sys::ByteStream> stream) : stream_(std::move(stream)) {}

  // Take fills out; false at the end of the file. torn() then tells whether some bytes were left.
  base::Result<bool> Take(void* out, std::size_t size);
  base::Result<bool> Skip(std::size_t size);
  [[nodiscard]] bool torn() const { return torn_; }
  [[nodiscard]] std::int64_t offset() const { return offset_; }

 private:
  base::Result<std::size_t> Fill();

  std::unique_ptr<sys::ByteStream> stream_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 16);
  std::size_t begin_ = 0, end_ = 0;
  std::int64_t offset_ = 0;
  bool torn_ = false;
};

}  // namespace culprit::trace::ggml_ops
