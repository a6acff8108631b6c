#include "lab/variant_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/printable.h"
#include "server/command.h"
#include "server/error_line.h"
#include "sys/folder.h"
#include "sys/open_file.h"

namespace culprit::lab {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Status;
using experiment::Variant;

std::string Seen(const Variant& variant, const std::string& path) {
  return (std::filesystem::path(variant.working_directory.value_or("")) / path).string();
}

// What a program says when it fails: the line that tells why, or its first.
std::string Complaint(const sys::CommandResult& result) {
  const std::string& said = result.err.empty() ? result.out : result.err;
  if (auto line = server::FirstErrorLine(said)) return *std::move(line);
  return base::Shortened(base::Printable(said.substr(0, said.find('\n'))), 300);
}

}  // namespace

Status CheckBinary(const Variant& variant) {
  const std::string binary = Seen(variant, variant.binary);
  struct stat info {};
  const bool there = ::stat(binary.c_str(), &info) == 0;
  if (there && S_ISREG(info.st_mode) && ::access(binary.c_str(), X_OK) == 0) return {};
  const bool missing = !there && errno == ENOENT;
  return Fail(missing ? ErrorCode::kNotFound : ErrorCode::kEnvironment,
              "is no program that can be run", binary,
              variant.binary.find('/') == std::string::npos ? "it is not in PATH either" : "");
}

Status CheckModel(const Variant& variant) {
  if (!variant.model) return {};
  const auto file = sys::OpenFile(Seen(variant, *variant.model), O_RDONLY);
  if (!file) return Fail(file.error());
  return {};
}

Status CheckFolder(const Variant& variant) {
  if (!variant.working_directory) return {};
  const std::string& folder = *variant.working_directory;
  if (sys::IsFolder(folder) && ::access(folder.c_str(), X_OK) == 0) return {};
  return Fail(sys::IsThere(folder) ? ErrorCode::kEnvironment : ErrorCode::kNotFound,
              "is no folder that a server can be started in", folder);
}

Status TryBinary(const Variant& variant) {
  server::LaunchOptions launch;
  launch.binary = variant.binary;
  launch.environment = variant.environment;
  launch.working_directory = variant.working_directory.value_or("");
  const auto version =
      sys::RunCommand({.argv = {variant.binary, "--version"},
                       .environment = server::ServerEnvironment(launch, sys::OwnEnvironment()),
                       .working_directory = launch.working_directory},
                      std::chrono::seconds(10));
  if (!version && version.error().code == ErrorCode::kTimeout) return {};
  if (!version) return Fail(version.error());
  if (version->ok()) return {};
  return Fail(ErrorCode::kEnvironment,
              fmt::format("cannot even tell its --version ({}): {}", version->exit.Text(),
                          Complaint(*version)),
              variant.binary);
}

}  // namespace culprit::lab
