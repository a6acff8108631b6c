#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace culprit::analysis {

// Sign is what a kernel tells about the order of a forward pass, whatever model runs. A rules
// file gives signs to kernels under [[mark]].
enum class Sign : std::uint8_t {
  kNone,
  kMul,         // a matrix times activations
  kBatchedMul,  // the same, many at once: experts, or the heads of attention
  kExpertMul,   // the matrices of the experts that were chosen
  kExpertIds,   // sorts tokens by expert: the next multiplication is one of experts
  kMulPart,     // finishes the multiplication before it
  kNorm,
  kRouting,  // chooses experts
  kSoftmax,  // of attention, of routing or of sampling
  kKvWrite,
  kAttention,  // all of attention in one kernel
  kState,      // SSM or linear attention: the recurrence itself
  kHead,       // the output head, which ends a forward pass
  kSampling,
  kOther,  // nothing, but its category depends on where it stands
};

// Place is where in a forward pass a dispatch stands, found from the signs around it. A rule can
// test it.
enum class Place : std::uint8_t {
  kUnknown,
  kRouter,           // the multiplication, or softmax, that leads to the routing
  kExpertsIn,        // gate and up matrices of experts
  kExpertsOut,       // the last multiplication of experts before the next routing
  kSharedExpert,     // plain multiplications right after those of experts
  kAttentionIn,      // query, key, value
  kBeforeAttention,  // between those and attention
  kAttention,        // inside attention that is not one kernel
  kAfterAttention,
  kAttentionOut,
  kStateIn,
  kStateOut,
  kFfnIn,
  kFfnOut,
  kHead,
  kSampling,
  kCount,
};
constexpr std::size_t kPlaces = static_cast<std::size_t>(Place::kCount);

// The words for these in a rules file. A place's word is also the role that a report shows.
std::string_view Name(Sign sign);
std::string_view Name(Place place);
std::optional<Sign> SignNamed(std::string_view word);
std::optional<Place> PlaceNamed(std::string_view word);

}  // namespace culprit::analysis
