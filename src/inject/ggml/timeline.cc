#include "inject/ggml/timeline.h"

#include "inject/ggml/map_zeros.h"

namespace culprit::inject {

bool Timeline::Allocate() {
  if (nodes_ == nullptr) nodes_ = MapZeros<Node>(kMost);
  if (stamps_ == nullptr) stamps_ = MapZeros<std::int64_t>(kMost);
  return nodes_ != nullptr && stamps_ != nullptr;
}

void Timeline::Add(const Node& node) {
  if (nodes_count_ < kMost) nodes_[nodes_count_] = node;
  ++nodes_count_;
  of_interest_ += node.definition != kNoDefinition;
}

bool Timeline::OnComputed(void* timeline) {
  auto* const self = static_cast<Timeline*>(timeline);
  if (self->stamps_count_ < kMost) self->stamps_[self->stamps_count_] = NowNs();
  ++self->stamps_count_;
  return false;
}

std::size_t Timeline::KeepComputed() {
  bool any = false;
  for (std::size_t i = 0; i < nodes_count_; ++i) any = any || nodes_[i].marked;
  std::size_t kept = 0;
  bool whole = false;  // the one before was kept
  for (std::size_t i = 0; i < nodes_count_; ++i) {
    Node node = nodes_[i];
    node.pair = node.pair && whole;
    whole = node.marked || !any;
    if (whole) nodes_[kept++] = node;
  }
  return kept;
}

std::size_t Timeline::Pairs() const {
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < nodes_count_; ++i) pairs += nodes_[i].pair;
  return pairs;
}

std::size_t Timeline::Forget(std::size_t lost) {
  nodes_count_ = 0;
  of_interest_ = 0;
  stamps_count_ = 0;
  return lost;
}

}  // namespace culprit::inject
