#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/parse_number.h"
#include "sys/csv_rows.h"

namespace culprit::trace {

// What the readers of profilers' CSV files have in common: how fields are taken.

// TakeNumber fills value from a field. An empty field leaves it empty; anything but a
// non-negative number that T holds fails.
template <typename T>
bool TakeNumber(std::string_view text, std::optional<T>& value) {
  if (text.empty()) return true;
  const auto number = base::ParseNumber<T>(text);
  if (!number || *number < 0) return false;
  value = number;
  return true;
}

// AgentNumber is the digits of an agent, "Agent 4" (7.0) or 4 (6.3): the same number.
std::string_view AgentNumber(std::string_view text);

// Unquoted is the text of a field with single quotes for doubled ones; it may point into scratch.
std::string_view Unquoted(const sys::CsvField& field, std::string& scratch);

// IsCut tells whether a tool cut the name at some length: it ends in an ellipsis, or opens more
// brackets than it closes. An operator's own brackets prove nothing, nor does a comparison inside
// the template arguments of a name that is complete.
bool IsCut(std::string_view name);

// Listed names the columns of a header for a message, printable: 30 at most, each shortened.
std::string Listed(std::span<const sys::CsvField> header);

}  // namespace culprit::trace
