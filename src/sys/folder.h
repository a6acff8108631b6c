#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit::sys {

// IsThere tells whether a path names anything: also a link that leads nowhere, or to itself.
bool IsThere(const std::string& path);
// IsFolder follows links, and is false for what cannot be looked at.
bool IsFolder(const std::string& path);
// SizeOf is how many bytes a file holds; 0 for what cannot be looked at.
std::uint64_t SizeOf(const std::string& path);

// NamesIn lists what a folder holds, sorted by bytes. Fails with kNotFound, or with kUnreadable.
base::Result<std::vector<std::string>> NamesIn(const std::string& folder);

}  // namespace culprit::sys
