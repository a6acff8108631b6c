#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace culprit::base {

// Id is an index into the table of one kind of thing. Ids of different kinds do not mix:
// Id<KernelTag> and Id<LaneTag> are different types.
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : value_(value) {}
  constexpr explicit Id(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}

  // index() is the position in the table that the id points into.
  [[nodiscard]] constexpr std::size_t index() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t value_ = 0;
};

}  // namespace culprit::base

template <typename Tag>
struct std::hash<culprit::base::Id<Tag>> {
  std::size_t operator()(culprit::base::Id<Tag> id) const noexcept { return id.index(); }
};
