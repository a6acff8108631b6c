#include "server/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace culprit::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibraryPath = "LD_LIBRARY_PATH";

void Remove(sys::Environment& environment, std::string_view key) {
  std::erase_if(environment, [key](const std::string& variable) {
    return variable.starts_with(key) && variable.substr(key.size()).starts_with('=');
  });
}

std::string ValueOf(const sys::Environment& environment, std::string_view key) {
  for (const std::string& variable : environment) {
    if (variable.starts_with(key) && variable.substr(key.size()).starts_with('=')) {
      return variable.substr(key.size() + 1);
    }
  }
  return "";
}

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
  if (inherits) Append(path, ValueOf(inherited, kLibraryPath));

  sys::Environment environment = std::move(inherited);
  for (const auto& [key, value] : options.environment) {
    Remove(environment, key);
    if (value) environment.push_back(fmt::format("{}={}", key, *value));
  }
  Remove(environment, kLibraryPath);
  if (!path.empty()) environment.push_back(fmt::format("{}={}", kLibraryPath, path));
  return environment;
}

}  // namespace culprit::server
