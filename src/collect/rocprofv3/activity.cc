#include "collect/rocprofv3/activity.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <string_view>

#include "sys/text_file.h"

namespace culprit::collect::rocprofv3 {
namespace {

namespace fs = std::filesystem;

std::string ReadOf(pid_t pid, const char* file) {
  return sys::ReadText(fmt::format("/proc/{}/{}", pid, file)).value_or("");
}

// "wchar: 4711\n" and "SigCgt:\t0000000000004a02\n": what stands behind a name.
std::optional<std::uint64_t> NumberBehind(std::string_view text, std::string_view name, int base) {
  const auto at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const auto digits = text.find_first_not_of(" \t", at + name.size());
  if (digits == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data() + digits, end, number, base).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

// Absent when the process's open files cannot be listed.
std::optional<bool> HasOpen(pid_t pid, const std::string& prefix) {
  std::error_code error;
  fs::directory_iterator at(fmt::format("/proc/{}/fd", pid), error);
  if (error) return std::nullopt;
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const std::string path = fs::read_symlink(at->path(), gone);
    if (!gone && path.starts_with(prefix)) return true;
  }
  return error ? std::nullopt : std::optional(false);
}

}  // namespace

std::optional<std::uint64_t> WrittenBy(pid_t pid) {
  return NumberBehind(ReadOf(pid, "io"), "wchar:", 10);
}

bool Catches(pid_t pid, int signal) {
  const auto caught = NumberBehind(ReadOf(pid, "status"), "SigCgt:", 16);
  return caught && (*caught >> (signal - 1) & 1) != 0;
}

std::string CommandOf(pid_t pid) { return ReadOf(pid, "cmdline"); }

std::optional<bool> HaveOpen(const std::vector<sys::ProcessIdentity>& processes,
                             const std::string& prefix) {
  std::optional<bool> open = false;
  for (const auto& process : processes) {
    const auto has = HasOpen(process.pid, prefix);
    if (has == true) return true;
    // One that has gone in the meantime has nothing open.
    if (!has && sys::IsAlive(process)) open = std::nullopt;
  }
  return open;
}

}  // namespace culprit::collect::rocprofv3
