#include "report/page.h"

#include <algorithm>

#include "base/printable.h"

namespace culprit::report {
namespace {

constexpr std::size_t kNarrowest = 40;
// A path of a sentence may be wider than the terminal; a name of 64 KB shall not fill it.
constexpr std::size_t kLongestWord = 240;

std::string_view Escape(Ink ink) {
  switch (ink) {
    case Ink::kPlain:
      return "";
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kFaint:
      return "\x1b[2m";
    case Ink::kRed:
      return "\x1b[1;31m";
    case Ink::kYellow:
      return "\x1b[33m";
    case Ink::kGreen:
      return "\x1b[32m";
  }
  return "";
}

// A number and its unit stay on one line: "0.6 %", "341.7 ms".
bool Glues(std::string_view text, std::size_t space) {
  if (space == 0 || text[space - 1] < '0' || text[space - 1] > '9') return false;
  const std::string_view rest = text.substr(space + 1);
  const std::string_view next = rest.substr(0, rest.find_first_of(" ,.;:)"));
  return next == "%" || next == "ms" || next == "µs" || next == "ns" || next == "s";
}

// EndOfWord is the first space of text that a line may break at.
std::size_t EndOfWord(std::string_view text) {
  std::size_t end = text.find(' ');
  while (end != std::string_view::npos && Glues(text, end)) end = text.find(' ', end + 1);
  return std::min(end, text.size());
}

}  // namespace

std::string Inert(std::string text) {
  // The runner trims Unicode spaces too, so every leading character outside ASCII counts as one.
  const auto blank = [](char c) { return c == ' ' || static_cast<unsigned char>(c) >= 0x80; };
  const auto first = std::find_if_not(text.begin(), text.end(), blank);
  const auto begin = static_cast<std::size_t>(first - text.begin());
  if (text.compare(begin, 2, "::") == 0) text.replace(begin, 1, "\\x3a");
  for (std::size_t at = 0; (at = text.find("##[", at)) != std::string::npos;) {
    text.replace(at + 1, 1, "\\x23");
  }
  return text;
}

std::vector<std::string> Wrap(std::string_view text, std::size_t width, std::size_t longest_word) {
  std::vector<std::string> lines = {""};
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = EndOfWord(text);
    std::string word = Inert(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    std::size_t columns = base::Columns(word);
    if (columns > std::max(width, longest_word)) {
      word = base::Shortened(word, width);
      columns = width;
    }
    if (used > 0 && used + 1 + columns > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) lines.back() += ' ';
    used += columns + (used > 0 ? 1 : 0);
    lines.back() += word;
  }
  return lines;
}

Page::Page(const Style& style) : width_(std::max(style.width, kNarrowest)), color_(style.color) {}

std::string Page::Painted(std::string_view text, Ink ink) const {
  const std::string_view escape = Escape(ink);
  if (!color_ || escape.empty() || text.empty()) return std::string(text);
  return std::string(escape) + std::string(text) + "\x1b[0m";
}

void Page::Line(std::string line, Ink ink) {
  line.erase(line.find_last_not_of(' ') + 1);
  text_ += Painted(line, ink);
  text_ += '\n';
}

void Page::Sentence(std::string_view lead, Ink lead_ink, std::string_view text, Ink ink) {
  const std::size_t indent = base::Columns(lead);
  const std::size_t width = width_ > indent ? width_ - indent : 1;
  std::string front = Painted(lead, lead_ink);
  for (const std::string& line : Wrap(text, width, kLongestWord)) {
    text_ += front + Painted(line, ink) + '\n';
    front.assign(indent, ' ');
  }
}

void Page::Gap() {
  if (!text_.empty()) text_ += '\n';
}

}  // namespace culprit::report
