#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/ggml/ops_file.h"

namespace culprit::inject {

// kNoDefinition stands for the number of a definition where there is none.
constexpr std::uint32_t kNoDefinition = 0xFFFFFFFFu;

// Timeline tells when each node of a batch ran that a CPU backend computed in one go: the backend
// asks after every node whether to abort, and the answer, no, comes with a look at the clock. That
// costs a hundredth of having nodes computed one by one, where all threads meet three times a node.
//
// Nothing says which node was computed, so what was expected is counted: a batch of which the
// number of stamps is another is not resolved. The stamps are those of the first thread, before it
// waits for the others: where they are late, the next node pays.
class Timeline {
 public:
  // Node is one that was announced; definition is none where it is empty: it is stamped, and of no
  // interest. The backend may compute it together with the one before it: pair, and fused is what
  // both are then. A libggml that marks nodes to be computed leaves the others out.
  struct Node {
    std::uint32_t definition;
    std::uint32_t fused;
    bool pair;
    bool marked;
  };

  bool Allocate();  // false without memory
  void Add(const Node& node);
  // Begin is when the batch begins, said anew with each node added.
  void Begin(std::int64_t now) { begin_ = now; }
  // started tells whether the backend has begun with the batch.
  [[nodiscard]] bool started() const { return stamps_count_ > 0; }
  // OnComputed has the form of an abort callback.
  static bool OnComputed(void* timeline);

  // Resolve calls visit(definition, begin, end) for each node that ran, and forgets the batch.
  // Returns how many could not be told apart.
  template <typename Visit>
  std::size_t Resolve(Visit visit) {
    if (nodes_count_ > kMost) return Forget(of_interest_);
    nodes_count_ = KeepComputed();
    const bool fused = stamps_count_ != nodes_count_;
    if (fused && stamps_count_ != nodes_count_ - Pairs()) return Forget(of_interest_);
    std::int64_t begin = begin_;
    const std::int64_t* stamp = stamps_;
    for (std::size_t i = 0; i < nodes_count_; ++i) {
      if (fused && i + 1 < nodes_count_ && nodes_[i + 1].pair) continue;
      const Node& node = nodes_[i];
      const std::uint32_t definition = fused && node.pair ? node.fused : node.definition;
      if (definition != kNoDefinition) visit(definition, begin, *stamp);
      begin = *stamp++;
    }
    return Forget(0);
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 16;  // nodes of one graph

  // KeepComputed drops what is not marked, where anything is, and returns how many are left.
  std::size_t KeepComputed();
  [[nodiscard]] std::size_t Pairs() const;
  std::size_t Forget(std::size_t lost);

  Node* nodes_ = nullptr;
  std::size_t nodes_count_ = 0;
  std::size_t of_interest_ = 0;  // of them, before any was dropped
  std::int64_t* stamps_ = nullptr;
  std::size_t stamps_count_ = 0;
  std::int64_t begin_ = 0;
};

}  // namespace culprit::inject
