#include "collect/rocprofv3/tool.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "collect/rocprofv3/files.h"
#include "sys/text_file.h"

namespace culprit::collect::rocprofv3 {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

constexpr auto kPatience = std::chrono::seconds(60);  // Python on a cold disk
constexpr const char* kAnother =
    "trace with another collector, or name another rocprofv3 in CULPRIT_ROCPROFV3";
constexpr const char* kAnotherCounts =
    "take a rocprofv3 that lists --pmc, or name one in CULPRIT_ROCPROFV3";

Result<std::string> FindPath(const sys::Environment& environment, const Pass& pass) {
  const std::string named = sys::ValueOf(environment, "CULPRIT_ROCPROFV3").value_or("");
  if (!named.empty()) {
    if (auto path = sys::FindProgram(named, environment)) return *path;
    return Fail(ErrorCode::kEnvironment, "CULPRIT_ROCPROFV3 names no program",
                base::Printable(named));
  }
  for (const char* name : {"rocprofv3", "/opt/rocm/bin/rocprofv3"}) {
    if (auto path = sys::FindProgram(name, environment)) return *path;
  }
  return Fail(ErrorCode::kEnvironment, "rocprofv3 is neither in PATH nor in /opt/rocm/bin", "",
              pass.counts()
                  ? "install ROCm's rocprofiler-sdk, or name it in CULPRIT_ROCPROFV3"
                  : "install ROCm's rocprofiler-sdk, name it in CULPRIT_ROCPROFV3, or trace with "
                    "another collector");
}

Result<sys::CommandResult> Ask(const std::string& path, const char* flag,
                               const sys::Environment& environment, const sys::StopSignal& stop) {
  return sys::RunCommand({.argv = {path, flag}, .environment = environment}, kPatience, stop);
}

// Before 7.0 the tool does not know its version, but ROCm does: "6.4.1-83".
std::string VersionBeside(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) return "";
  const auto text = sys::ReadText(real.parent_path().parent_path() / ".info/version");
  return text ? base::Printable(text->substr(0, text->find_first_of("-\n"))) : "";
}

// The words of "  -d OUTPUT_DIRECTORY, --output-directory OUTPUT_DIRECTORY    For adding …" that
// are flags. Where the help begins, two blanks stand.
void ReadOption(std::string_view line, Tool& tool) {
  line = line.substr(2);
  line = line.substr(0, line.find("  "));
  for (std::size_t at = 0; at < line.size();) {
    const auto end = std::min(line.find_first_of(", ", at), line.size());
    const std::string_view word = line.substr(at, end - at);
    if (word.starts_with('-')) tool.flags.emplace(word);
    at = end + 1;
  }
}

}  // namespace

void ReadHelp(std::string_view help, Tool& tool) {
  while (!help.empty()) {
    const auto end = std::min(help.find('\n'), help.size());
    const std::string_view line = help.substr(0, end);
    // Texts mention other flags: only lines that define one begin like this.
    if (line.starts_with("  -")) {
      ReadOption(line, tool);
      const bool formats = line.find("--output-format") != std::string_view::npos;
      if (formats && line.find("rocpd") != std::string_view::npos) tool.rocpd = true;
    }
    help.remove_prefix(std::min(end + 1, help.size()));
  }
}

std::string ReadVersion(std::string_view text) {
  //           version: 1.1.0
  //      rocm_version: 7.2.0
  const auto behind = [text](std::string_view name) -> std::string {
    const auto at = text.find(name);
    if (at == std::string_view::npos) return "";
    const auto begin = text.find_first_not_of(" \t", at + name.size());
    if (begin == std::string_view::npos) return "";
    const auto end = text.find_first_of(" \r\n", begin);
    return base::Printable(text.substr(begin, end - begin).substr(0, 40));
  };
  const std::string rocm = behind("rocm_version:");
  return rocm.empty() ? behind("version:") : rocm;
}

Result<Tool> FindTool(const sys::Environment& environment, const Pass& pass,
                      const sys::StopSignal& stop) {
  auto path = FindPath(environment, pass);
  if (!path) return Fail(std::move(path.error()));
  Tool tool{.path = *std::move(path)};
  const auto help = Ask(tool.path, "--help", environment, stop);
  if (!help) return Fail(help.error());
  ReadHelp(help->out, tool);
  if (!help->ok() || !tool.Has(pass.flag()) || !tool.Has("-d") || !tool.Has("-o")) {
    return Fail(ErrorCode::kEnvironment,
                fmt::format("it does not say that it can {} (--help: {})",
                            pass.counts() ? "count (--pmc)" : "trace kernels", help->exit.Text()),
                tool.path, pass.counts() ? kAnotherCounts : kAnother);
  }
  if (tool.Has("--version")) {
    const auto version = Ask(tool.path, "--version", environment, stop);
    if (version && version->ok()) tool.version = ReadVersion(version->out + version->err);
  }
  if (tool.version.empty()) tool.version = VersionBeside(tool.path);
  return tool;
}

std::vector<std::string> WrapperOf(const Tool& tool, const std::string& folder, const Pass& pass) {
  std::vector<std::string> words = {tool.path, pass.flag()};
  words.insert(words.end(), pass.counters.begin(), pass.counters.end());
  words.insert(words.end(), {"-d", folder, "-o", kOutputName});
  const auto add = [&](const char* flag, std::initializer_list<const char*> values) {
    if (!tool.Has(flag)) return;
    words.emplace_back(flag);
    words.insert(words.end(), values.begin(), values.end());
  };
  // Whether a database has the counters' values depends on the release; the CSV has.
  add("-f", {tool.rocpd && !pass.counts() ? "rocpd" : "csv"});
  // At this level, and below, it says when it has written everything.
  add("--log-level", {"warning"});
  add(kOwnHandlers, {});
  words.emplace_back("--");
  return words;
}

}  // namespace culprit::collect::rocprofv3
