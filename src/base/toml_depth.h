#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace culprit::base {

// LineDeeperThan is the first line, counted from 1, on which a TOML document nests deeper than
// limit: each open bracket is a level, and so is each dot of the keys before and within them.
std::optional<std::size_t> LineDeeperThan(std::size_t limit, std::string_view toml);

}  // namespace culprit::base
