#include "sys/folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace culprit::sys {

namespace fs = std::filesystem;
using base::ErrorCode;

bool IsThere(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

bool IsFolder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : size;
}

base::Result<std::vector<std::string>> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    return base::Fail(missing ? ErrorCode::kNotFound : ErrorCode::kUnreadable, error.message(),
                      folder);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace culprit::sys
