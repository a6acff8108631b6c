// attribute: the small files of /sys and /proc that hold one value each. What is missing or may
// not be read is absent: drivers differ in what they offer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::gpu {

// ReadAttribute returns the first line without surrounding blanks; absent when that is empty.
std::optional<std::string> ReadAttribute(const std::string& path);

// ReadNumber returns the integer in the first line.
std::optional<std::int64_t> ReadNumber(const std::string& path);

// ReadScaled returns ReadNumber * unit as a quantity: µW with unit 1e-6 are Watts.
template <typename Quantity>
std::optional<Quantity> ReadScaled(const std::string& path, double unit) {
  const auto number = ReadNumber(path);
  if (!number) return std::nullopt;
  return Quantity(static_cast<double>(*number) * unit);
}

// NumberedEntries lists the paths folder/<prefix>N, in order of N; empty when the folder is
// missing.
std::vector<std::string> NumberedEntries(const std::string& folder, std::string_view prefix);

}  // namespace culprit::gpu
