#include "gpu/attribute.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/parse_number.h"
#include "sys/text_file.h"

namespace culprit::gpu {
namespace {

std::string_view FirstLine(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text = text.substr(0, text.find('\n'));
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

std::optional<std::string> ReadAttribute(const std::string& path) {
  const auto text = sys::ReadText(path);
  if (!text) return std::nullopt;
  const std::string_view line = FirstLine(*text);
  if (line.empty()) return std::nullopt;
  return std::string(line);
}

std::optional<std::int64_t> ReadNumber(const std::string& path) {
  const auto line = ReadAttribute(path);
  return line ? base::ParseNumber(*line) : std::nullopt;
}

std::vector<std::string> NumberedEntries(const std::string& folder, std::string_view prefix) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::error_code error;
  namespace fs = std::filesystem;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const auto number = base::ParseNumber(std::string_view(name).substr(prefix.size()));
    if (number && *number >= 0) found.emplace_back(*number, it->path().string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

}  // namespace culprit::gpu
