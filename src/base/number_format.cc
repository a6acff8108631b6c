#include "base/number_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace culprit::base {
namespace {

// Group puts a comma in front of every three digits before at, where the decimals or the end begin.
void Group(std::size_t at, std::string& text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (at > 3 && digit(text[at - 4])) {
    at -= 3;
    text.insert(at, ",");
  }
}

// Fixed writes value with a number of decimals and never "-0.000": "1,603.514".
std::string Fixed(double value, int decimals, bool sign) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool zero = text.find_first_of("123456789") == std::string::npos;
  if (zero && text.front() == '-') text.erase(0, 1);
  if (sign && !zero && text.front() != '-') text.insert(0, "+");
  Group(std::min(text.find('.'), text.size()), text);
  return text;
}

}  // namespace

std::string Millis(NanosF time) { return Fixed(time.count() / 1e6, 3, false); }
std::string SignedMillis(NanosF time) { return Fixed(time.count() / 1e6, 3, true); }
std::string Micros(NanosF time) { return Fixed(time.count() / 1e3, 2, false); }
std::string Percent(Fraction fraction) { return Fixed(fraction.value() * 100, 1, false) + " %"; }
std::string SignedPercent(Fraction fraction) {
  return Fixed(fraction.value() * 100, 1, true) + " %";
}

std::string FinePercent(Fraction fraction) {
  return Fixed(fraction.value() * 100, 2, false) + " %";
}
std::string SignedFinePercent(Fraction fraction) {
  return Fixed(fraction.value() * 100, 2, true) + " %";
}

std::string Rate(NanosF cost) { return Fixed(1e9 / cost.count(), 2, false); }

std::string Plain(double value) {
  const double rounded = std::round(value * 100) / 100;
  if (rounded == std::round(rounded)) return Fixed(rounded, 0, false);
  return Fixed(rounded, std::abs(rounded) < 100 ? 2 : 1, false);
}

std::string Significant(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "unknown" : "infinite";
  return fmt::format("{:.3g}", value);
}

std::string NearOne(double value) { return Fixed(value, 5, false); }

std::string Grouped(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  Group(digits.size(), digits);
  return digits;
}

std::string Seconds(Nanos time) {
  const auto ns = static_cast<double>(time.count());
  const double size = std::abs(ns);
  // A size that one decimal would round up to 1000.0 takes the next unit.
  if (size >= 999.95e6) return Fixed(ns / 1e9, 3, false) + " s";
  if (size >= 999.95e3) return Fixed(ns / 1e6, 1, false) + " ms";
  if (size >= 1e3) return Fixed(ns / 1e3, 1, false) + " µs";
  return fmt::format("{} ns", time.count());
}

std::string Roughly(Nanos time) {
  const auto s = static_cast<double>(time.count()) / 1e9;
  if (s < 99.5) return fmt::format("{:.0f} s", s);
  if (s < 99.5 * 60) return fmt::format("{:.0f} min", s / 60);
  return fmt::format("{:.0f} h", s / 3600);
}

std::string Bytes(std::uint64_t size) {
  const auto bytes = static_cast<double>(size);
  if (bytes >= 1023.95 * (1 << 20)) return Fixed(bytes / (1 << 30), 1, false) + " GiB";
  if (bytes >= 1023.95 * (1 << 10)) return Fixed(bytes / (1 << 20), 1, false) + " MiB";
  if (bytes >= 1 << 10) return Fixed(bytes / (1 << 10), 1, false) + " KiB";
  return fmt::format("{} bytes", size);
}

std::optional<std::string> Exact(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  return fmt::format("{}", value == 0 ? 0.0 : value);  // never "-0"
}

}  // namespace culprit::base
