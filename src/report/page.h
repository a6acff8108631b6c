#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/writers.h"

namespace culprit::report {

enum class Ink { kPlain, kBold, kFaint, kRed, kYellow, kGreen };

// Wrap breaks text at its spaces into lines of at most width columns; never empty. A number and its
// unit stay together. Words wider than
// a line stay whole, to be copied, up to longest_word columns, and are shortened to a line beyond.
std::vector<std::string> Wrap(std::string_view text, std::size_t width, std::size_t longest_word);

// Inert returns text that no CI log obeys. GitHub's runner reads commands from a job's output:
// lines whose first characters are "::", and "##[" anywhere in a line. One character of either is
// written as \xNN, as base/printable.h does. Source: actions/runner, ActionCommand.
std::string Inert(std::string text);

// Page is the text that is being laid out for one terminal.
class Page {
 public:
  explicit Page(const Style& style);

  // Line adds one line that fits already; trailing spaces are dropped.
  void Line(std::string line, Ink ink = Ink::kPlain);
  // Sentence adds text, wrapped, behind lead; further lines begin under the text.
  void Sentence(std::string_view lead, Ink lead_ink, std::string_view text, Ink ink = Ink::kPlain);
  void Sentence(std::string_view text, Ink ink = Ink::kPlain) { Sentence("", ink, text, ink); }
  // Gap adds an empty line between what is there and what follows.
  void Gap();

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  [[nodiscard]] std::string Painted(std::string_view text, Ink ink) const;

  std::size_t width_;
  bool color_;
  std::string text_;
};

}  // namespace culprit::report
