#include "server/command.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace culprit::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibraryPath = "LD_LIBRARY_PATH";

// An empty part of LD_LIBRARY_PATH means the working directory: none is ever made.
void Append(std::string& path, const std::string& part) {
  if (part.empty()) return;
  if (!path.empty()) path += ':';
  path += part;
}

}  // namespace

std::string ProgramPath(const LaunchOptions& options) {
  std::error_code error;
  return fs::absolute(fs::path(options.working_directory) / options.binary, error).string();
}

std::vector<std::string> CommandLine(const LaunchOptions& options) {
  std::vector<std::string> line = options.wrapper;
  line.insert(line.end(),
              {options.binary, "--host", "127.0.0.1", "--port", fmt::format("{}", options.port)});
  if (options.model) line.insert(line.end(), {"-m", *options.model});
  line.insert(line.end(), options.arguments.begin(), options.arguments.end());
  return line;
}

sys::Environment ServerEnvironment(const LaunchOptions& options, sys::Environment inherited) {
  std::error_code error;
  const fs::path bin = fs::path(ProgramPath(options)).parent_path();
  const fs::path lib = bin.parent_path() / "lib";
  std::string path;
  for (const fs::path& folder : {bin, lib}) {
    if (fs::is_directory(folder, error)) Append(path, folder.string());
  }
  bool inherits = true;
  for (const auto& [key, value] : options.environment) {
    if (key != kLibraryPath) continue;
    Append(path, value.value_or(""));
    inherits = inherits && value;
  }
  if (inherits) Append(path, sys::ValueOf(inherited, kLibraryPath).value_or(""));

  sys::Environment environment = std::move(inherited);
  for (const auto& [key, value] : options.environment) {
    environment = value ? sys::WithVariable(std::move(environment), key, *value)
                        : sys::Without(std::move(environment), key);
  }
  return path.empty() ? sys::Without(std::move(environment), kLibraryPath)
                      : sys::WithVariable(std::move(environment), kLibraryPath, path);
}

}  // namespace culprit::server
