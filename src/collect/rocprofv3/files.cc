#include "collect/rocprofv3/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace culprit::collect::rocprofv3 {
namespace {

namespace fs = std::filesystem;

template <typename Visit>
void ForEachFile(const std::string& folder, const Visit& visit) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error), end;
  for (; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (!at->is_regular_file(gone)) continue;
    const auto bytes = at->file_size(gone);
    if (!gone) visit(at->path(), bytes);
  }
}

}  // namespace

Files ListFiles(const std::string& folder, const std::string& spill, pid_t server,
                const Pass& pass) {
  Files files;
  const std::string own = fmt::format("trace-{}_", server);
  ForEachFile(folder, [&](const fs::path& path, std::uint64_t bytes) {
    files.bytes += bytes;
    const std::string name = path.filename();
    if (!pass.IsResult(name)) return;
    if (!name.starts_with(own)) {
      files.others.push_back(path);
    } else if (files.trace.empty() || name.ends_with(".db")) {
      files.trace = path;
      files.trace_bytes = bytes;
    }
  });
  ForEachFile(spill, [&](const fs::path&, std::uint64_t bytes) { files.bytes += bytes; });
  std::sort(files.others.begin(), files.others.end());
  return files;
}

}  // namespace culprit::collect::rocprofv3
