#include "sys/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace culprit::sys {
namespace {

bool Sets(std::string_view variable, std::string_view key) {
  return variable.starts_with(key) && variable.substr(key.size()).starts_with('=');
}

bool IsProgram(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Environment OwnEnvironment() {
  Environment environment;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  return environment;
}

std::optional<std::string> ValueOf(const Environment& environment, std::string_view key) {
  for (const std::string& variable : environment) {
    if (Sets(variable, key)) return variable.substr(key.size() + 1);
  }
  return std::nullopt;
}

Environment WithVariable(Environment environment, std::string_view key, std::string_view value) {
  environment = Without(std::move(environment), key);
  environment.push_back(fmt::format("{}={}", key, value));
  return environment;
}

Environment Without(Environment environment, std::string_view key) {
  std::erase_if(environment, [key](const std::string& each) { return Sets(each, key); });
  return environment;
}

std::optional<std::string> FindProgram(const std::string& name, const Environment& environment) {
  if (name.find('/') != std::string::npos)
    return IsProgram(name) ? std::optional(name) : std::nullopt;
  const std::string path = ValueOf(environment, "PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    std::string found = end > begin ? path.substr(begin, end - begin) : ".";
    found.append("/").append(name);
    if (IsProgram(found)) return found;
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace culprit::sys
