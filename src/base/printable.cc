#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace culprit::base {
namespace {

struct Decoded {
  char32_t point;
  std::size_t length;  // 0: no valid sequence starts here
};

// DecodeUtf8 reads one code point. Overlong forms, surrogates and points over U+10FFFF are invalid
// (Unicode 15, table 3-7).
Decoded DecodeUtf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = 0;
  char32_t point = 0;
  char32_t smallest = 0;
  if ((lead & 0xE0) == 0xC0) {
    length = 2, point = lead & 0x1Fu, smallest = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3, point = lead & 0x0Fu, smallest = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4, point = lead & 0x07u, smallest = 0x10000;
  } else {
    return {0, 0};
  }
  if (text.size() < length) return {0, 0};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    point = (point << 6) | (byte(i) & 0x3Fu);
  }
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < smallest || point > 0x10FFFF || surrogate) return {0, 0};
  return {point, length};
}

bool MovesText(char32_t point) {
  return (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069) ||
         point == 0x2028 || point == 0x2029 || point == 0x200E || point == 0x200F ||
         point == 0x061C;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [point, length] = DecodeUtf8(text);
    if (length == 0) {
      out += "\uFFFD";
      text.remove_prefix(1);
      continue;
    }
    if (point < 0x20 || (point >= 0x7F && point < 0xA0)) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(point));
    } else if (MovesText(point)) {
      out += fmt::format("\\u{{{:04x}}}", static_cast<std::uint32_t>(point));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::size_t Columns(std::string_view printable) {
  std::size_t columns = 0;
  for (const char c : printable) columns += (static_cast<std::uint8_t>(c) & 0xC0) != 0x80;
  return columns;
}

std::string Shortened(std::string_view printable, std::size_t max_columns) {
  const std::size_t columns = Columns(printable);
  if (columns <= max_columns) return std::string(printable);
  if (max_columns == 0) return "";
  // "flash_attn_ext_vec" and "flash_attn_ext_f16" shall not both become "flash_attn_ext_… false>".
  constexpr std::size_t kTellingFront = 18;
  const std::size_t kept = max_columns - 1;
  const std::size_t back = std::min(kept / 3, kept - std::min(kept, kTellingFront));
  const std::size_t front = kept - back;
  const auto offset_of = [&](std::size_t column) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < printable.size(); ++i) {
      if ((static_cast<std::uint8_t>(printable[i]) & 0xC0) == 0x80) continue;
      if (seen++ == column) return i;
    }
    return printable.size();
  };
  return std::string(printable.substr(0, offset_of(front))) + "…" +
         std::string(printable.substr(offset_of(columns - back)));
}

}  // namespace culprit::base
