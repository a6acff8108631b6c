#include "experiment/server_flags.h"

#include <algorithm>

namespace culprit::experiment {

std::vector<std::string> FlagValues(std::span<const std::string> arguments, std::string_view flag) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == flag) {
      values.push_back(i + 1 < arguments.size() ? arguments[i + 1] : "");
    } else if (word.starts_with(flag) && word[flag.size()] == '=') {
      values.push_back(word.substr(flag.size() + 1));
    }
  }
  return values;
}

bool UsesAny(std::span<const std::string> arguments, std::span<const std::string_view> flags) {
  return std::any_of(flags.begin(), flags.end(),
                     [&](std::string_view flag) { return !FlagValues(arguments, flag).empty(); });
}

}  // namespace culprit::experiment
