#include "analysis/glob.h"

#include <algorithm>

namespace culprit::analysis {
namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The leftmost place of each middle piece is the right one to take: it leaves the most for the
// pieces after it, so there is nothing to go back for.
bool MatchesPieces(const std::vector<std::string>& pieces, std::string_view name) {
  if (pieces.size() == 1) return name == pieces.front();
  if (!name.starts_with(pieces.front())) return false;
  name.remove_prefix(pieces.front().size());
  for (std::size_t i = 1; i + 1 < pieces.size(); ++i) {
    const std::size_t at = name.find(pieces[i]);
    if (at == std::string_view::npos) return false;
    name.remove_prefix(at + pieces[i].size());
  }
  return name.ends_with(pieces.back());
}

}  // namespace

Glob::Glob(std::string_view pattern) : pattern_(pattern) {
  for (const std::string& alternative : Split(pattern, '|')) {
    alternatives_.push_back(Split(alternative, '*'));
  }
}

bool Glob::Matches(std::string_view name) const {
  return std::any_of(alternatives_.begin(), alternatives_.end(),
                     [name](const Pieces& pieces) { return MatchesPieces(pieces, name); });
}

}  // namespace culprit::analysis
