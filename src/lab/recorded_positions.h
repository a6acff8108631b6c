#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/logprobs.h"

namespace culprit::lab {

// RecordedPositions keeps what a server said of each position of a text in a file, so that another
// server, which starts when this one has ended, can be compared with it: 12 bytes a token, 470 MB
// for 256 positions of 152,000 tokens.
//
// The file has no name from its first moment on, so that it goes with this process however that
// ends; path tells where its bytes lie. Fails with kUnreadable, such as on a full disk.
class RecordedPositions {
 public:
  explicit RecordedPositions(std::string path);

  base::Status Append(const std::vector<experiment::TokenLogprob>& listed);
  // Rewind goes back to the first position, which Next reads then, and so on.
  void Rewind();
  base::Result<std::vector<experiment::TokenLogprob>> Next();
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  [[nodiscard]] base::Error Broken(const char* what) const;

  std::string path_;
  std::fstream file_;
  std::size_t size_ = 0;
};

}  // namespace culprit::lab
