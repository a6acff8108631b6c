#include "trace/csv_fields.h"

#include <algorithm>

#include "base/printable.h"

namespace culprit::trace {

std::string_view AgentNumber(std::string_view text) {
  constexpr std::string_view kPrefix = "Agent ";
  if (sys::SameName(text.substr(0, kPrefix.size()), kPrefix)) text.remove_prefix(kPrefix.size());
  return text;
}

std::string_view Unquoted(const sys::CsvField& field, std::string& scratch) {
  if (!field.has_pairs) return field.text;
  scratch.clear();
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    scratch += field.text[i];
    i += field.text.substr(i, 2) == "\"\"" ? 1u : 0u;
  }
  return scratch;
}

bool IsCut(std::string_view name) {
  if (name.ends_with("…") || name.ends_with("...")) return true;
  if (name.find("operator") != std::string_view::npos) return false;
  const bool complete = name.ends_with(')');
  return std::ranges::count(name, '(') > std::ranges::count(name, ')') ||
         (!complete && std::ranges::count(name, '<') > std::ranges::count(name, '>'));
}

std::string Listed(std::span<const sys::CsvField> header) {
  constexpr std::size_t kMost = 30;
  std::string list;
  for (const sys::CsvField& field : header.first(std::min(header.size(), kMost))) {
    if (!list.empty()) list += ", ";
    list += base::Shortened(base::Printable(field.text.substr(0, 200)), 40);
  }
  if (header.size() > kMost) list += ", …";
  return list;
}

}  // namespace culprit::trace
