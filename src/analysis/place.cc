#include "analysis/place.h"

namespace culprit::analysis {
namespace {

constexpr std::array<std::string_view, 15> kSignNames = {"",
                                                         "multiplication",
                                                         "batched multiplication",
                                                         "expert multiplication",
                                                         "expert ids",
                                                         "multiplication part",
                                                         "norm",
                                                         "routing",
                                                         "softmax",
                                                         "kv write",
                                                         "attention",
                                                         "state",
                                                         "head",
                                                         "sampling",
                                                         ""};

constexpr std::array<std::string_view, kPlaces> kPlaceNames = {"",
                                                               "router",
                                                               "gate/up",
                                                               "down",
                                                               "shared expert",
                                                               "qkv",
                                                               "before attention",
                                                               "attention",
                                                               "after attention",
                                                               "attention out",
                                                               "state in",
                                                               "state out",
                                                               "ffn gate/up",
                                                               "ffn down",
                                                               "head",
                                                               "sampling"};

template <typename Enum, std::size_t kSize>
std::optional<Enum> Find(const std::array<std::string_view, kSize>& names, std::string_view word) {
  for (std::size_t i = 1; i < kSize; ++i) {
    if (!word.empty() && names[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view Name(Sign sign) { return kSignNames[static_cast<std::size_t>(sign)]; }
std::string_view Name(Place place) { return kPlaceNames[static_cast<std::size_t>(place)]; }
std::optional<Sign> SignNamed(std::string_view word) { return Find<Sign>(kSignNames, word); }
std::optional<Place> PlaceNamed(std::string_view word) { return Find<Place>(kPlaceNames, word); }

}  // namespace culprit::analysis
