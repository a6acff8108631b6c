#include "collect/ggml_ops/trace_files.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>

#include "inject/wire/ggml_ops.h"
#include "sys/folder.h"
#include "sys/open_file.h"

namespace culprit::collect::ggml_ops {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Status;

}  // namespace

std::string FileOf(const std::string& folder, pid_t pid) {
  return (fs::path(folder) / fmt::format("{}{}", pid, CULPRIT_OPS_ENDING)).string();
}

std::vector<std::string> ListTraces(const std::string& folder) {
  auto names = sys::NamesIn(folder).value_or(std::vector<std::string>());
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(CULPRIT_OPS_ENDING); });
  return names;
}

std::string ChooseTrace(const std::vector<std::string>& names, const std::string& folder,
                        pid_t pid) {
  std::string own = fmt::format("{}{}", pid, CULPRIT_OPS_ENDING);
  if (std::find(names.begin(), names.end(), own) != names.end()) return own;
  const auto size = [&](const std::string& name) { return sys::SizeOf(fs::path(folder) / name); };
  const auto largest = std::max_element(
      names.begin(), names.end(), [&](const auto& a, const auto& b) { return size(a) < size(b); });
  return largest == names.end() ? "" : *largest;
}

std::optional<End> ReadEnd(const std::string& path) {
  culprit_ops_record record{};
  const auto file = sys::OpenFile(path, O_RDONLY);
  const std::uint64_t size = sys::SizeOf(path);
  if (!file || size < sizeof record) return std::nullopt;
  const std::span bytes(reinterpret_cast<char*>(&record), sizeof record);
  if (sys::ReadAt(*file, size - sizeof record, bytes) != sizeof record ||
      record.kind != CULPRIT_OPS_END)
    return std::nullopt;
  return End{base::HostTime(base::Nanos(record.begin)), record.id};
}

Status CheckWhole(const std::string& path, const RequestTimes& request) {
  const auto damaged = [&](std::string what) {
    return Fail(ErrorCode::kDamagedTrace, std::move(what), path,
                "the file stays; look at the server's log, and trace again");
  };
  const auto end = ReadEnd(path);
  if (!end) {
    return damaged(
        "the server had to be killed before the trace had its end: what it computed last "
        "is missing");
  }
  if (end->signal != 0) {
    return damaged(fmt::format("the server crashed (signal {}) while it was traced", end->signal));
  }
  if (end->at < request.ended) return damaged("the trace ends before the request does");
  return {};
}

}  // namespace culprit::collect::ggml_ops
