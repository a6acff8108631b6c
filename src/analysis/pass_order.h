#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/place.h"

namespace culprit::analysis {

// PassOrder finds the Place of dispatches from the order of their signs on one device.
//
// A forward pass is read as stretches between landmarks: attention, a state update, a routing,
// the head. What a multiplication is follows from the landmark before it, the one after it, and
// the norms between: `attention · out · norm · gate, up, down · norm · q, k, v · attention`.
// Nothing here knows a model, a quantisation type or a size. A stretch is decided when its end is
// seen, so places arrive late, but in order, and a dispatch is held for one layer at most.
class PassOrder {
 public:
  using Sink = std::function<void(std::uint32_t dispatch, Place place)>;

  explicit PassOrder(Sink sink) : sink_(std::move(sink)) {}

  // Step takes the next dispatch that has a sign. It gets its place, one, now or later.
  void Step(std::uint32_t dispatch, Sign sign);
  // EndPass decides what is still open: at the border of a pass and at the end of the window.
  void EndPass();

 private:
  enum class Landmark : std::uint8_t { kEdge, kAttention, kState, kRouting };

  struct Entry {
    std::uint32_t dispatch;
    Sign sign;         // of multiplications kMul or kExpertMul
    int segment = -1;  // the last that began before or with it
  };

  // Segment is a run of multiplications without a norm between them; the indexes are of entries.
  struct Segment {
    std::size_t first_mul, last_mul;
  };

  // Layout says which segments of a stretch are what; -1 is none.
  struct Layout {
    int out = -1;         // the output projection
    int moe = -1;         // experts
    int ffn = -1;         // a dense feed-forward part
    int first_input = 0;  // from here on: what leads to the next landmark
    std::size_t last_expert = 0;
  };

  void StepMul(std::uint32_t dispatch, Sign sign);
  void StepSoftmax(std::uint32_t dispatch);
  void StepHead(std::uint32_t dispatch);
  void StepSampling(std::uint32_t dispatch);
  void ConfirmAttention();
  void Close(Landmark next);
  Layout MeasureStretch(Landmark next);
  [[nodiscard]] Place PlaceOfMul(const Layout& layout, std::size_t index, Landmark next) const;
  [[nodiscard]] Place PlaceOfOther(const Layout& layout, std::size_t index, Landmark next) const;
  void Emit(const Entry& entry, Place place);

  Sink sink_;
  Landmark previous_ = Landmark::kEdge;
  std::vector<Entry> stretch_;
  std::vector<Segment> segments_;  // of stretch_ while it is being closed
  int softmax_at_ = -1;            // index in stretch_ of a softmax nobody has explained yet
  bool expert_next_ = false;
  bool kv_written_ = false;
  bool after_head_ = false;
  Place last_mul_place_ = Place::kUnknown;
};

}  // namespace culprit::analysis
