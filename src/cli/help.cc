#include "cli/help.h"

#include <algorithm>

#include "report/page.h"

namespace culprit::cli {
namespace {

constexpr std::size_t kWidth = 80, kTextColumn = 28;

// What an option takes: "FILE"; "terminal|json" for CLI11's "TEXT:{terminal,json}"; "N" for its
// "UINT:INT in [4 - 50]".
std::string Taken(const CLI::Option& option) {
  if (option.get_type_size() == 0) return "";
  std::string type = option.get_type_name();
  const auto colon = type.find(':');
  if (colon == std::string::npos) return type;
  if (const auto brace = type.find('{', colon); brace != std::string::npos) {
    std::string members = type.substr(brace + 1, type.rfind('}') - brace - 1);
    std::replace(members.begin(), members.end(), ',', '|');
    return members;
  }
  return type.starts_with("TEXT") ? "TEXT" : "N";
}

}  // namespace

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string line = "  " + make_option_name(option, is_positional);
  if (const std::string taken = Taken(*option); !taken.empty()) line += " " + taken;
  if (option->get_expected_max() == CLI::detail::expected_max_vector_size) line += " ...";
  std::string text = make_option_desc(option);
  if (const auto preset = option->get_default_str(); !preset.empty()) text += " [" + preset + "]";
  const std::string indent(kTextColumn, ' ');
  if (line.size() + 2 > kTextColumn) {
    line += "\n" + indent;
  } else {
    line.resize(kTextColumn, ' ');
  }
  std::string separator;
  for (const std::string& part : report::Wrap(text, kWidth - kTextColumn, kWidth)) {
    line += separator + part;
    separator = "\n" + indent;
  }
  return line + "\n";
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  std::string footer;
  for (const std::string& line : report::Wrap(app->get_footer(), kWidth, kWidth)) {
    footer += line + "\n";
  }
  return footer;
}

}  // namespace culprit::cli
