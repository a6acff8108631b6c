#include "trace/ggml_ops/record_stream.h"

#include <algorithm>
#include <cstring>

namespace culprit::trace::ggml_ops {

base::Result<std::size_t> RecordStream::Fill() {
  if (begin_ < end_) return end_ - begin_;
  auto read = stream_->Read(buffer_);
  if (!read) return base::Fail(std::move(read.error()));
  begin_ = 0;
  end_ = *read;
  return end_;
}

base::Result<bool> RecordStream::Take(void* out, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const auto there = Fill();
    if (!there) return base::Fail(there.error());
    if (*there == 0) {
      torn_ = done > 0;
      return false;
    }
    const std::size_t part = std::min(size - done, *there);
    if (out != nullptr) std::memcpy(static_cast<char*>(out) + done, buffer_.data() + begin_, part);
    begin_ += part;
    offset_ += static_cast<std::int64_t>(part);
    done += part;
  }
  return true;
}

base::Result<bool> RecordStream::Skip(std::size_t size) { return Take(nullptr, size); }

}  // namespace culprit::trace::ggml_ops
