#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace culprit::sys {

constexpr std::size_t kLargestText = std::size_t{1} << 20;

// ReadText returns the whole content of a small file, as it is. It reads until the end, because
// files of /proc and /sys say that their size is 0. Fails with kNotFound, or with kUnreadable: no
// permission, no regular file, more than kLargestText bytes, or a driver that refuses.
base::Result<std::string> ReadText(const std::string& path);

}  // namespace culprit::sys
