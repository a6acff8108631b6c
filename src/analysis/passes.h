#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/launch_groups.h"
#include "analysis/window.h"
#include "base/units.h"
#include "trace/trace.h"

namespace culprit::analysis {

// A pass is one forward pass of a model. Under speculation several passes of a draft model come
// before one pass of the target model, which verifies what they proposed.
enum class PassKind : std::uint8_t { kTarget, kDraft };

// How passes were told apart.
enum class PassMethod {
  kOutputHead,  // each ends with the matrix product over the whole vocabulary
  kPeriod,      // each holds the same sequence of launches; there was no output head to see
};

// Pass is the run of dispatches [first, last), indices into the trace. The last one is the
// launch that ends the pass.
struct Pass {
  std::size_t first, last;
  PassKind kind;
};

// Passes cuts the dispatches of a window into forward passes, in order and without holes; the
// dispatches after the last complete pass are the tail [tail_first, window.last).
//
// A decode step is one target pass with the draft passes before it.
struct Passes {
  std::vector<Pass> passes;
  std::size_t tail_first;
  PassMethod method;
  std::string anchor;  // the launch that ends a target pass, for people

  [[nodiscard]] std::int64_t count(PassKind kind) const;
  [[nodiscard]] base::Steps steps() const { return base::Steps(count(PassKind::kTarget)); }
};

// PassHints is what is known from elsewhere; everything may be absent.
struct PassHints {
  std::optional<std::int64_t> vocabulary;  // rows of the output head
  bool speculative = false;                // the server counted draft tokens
};

// FindPasses returns nothing when neither an output head nor a period can be seen.
// Source: doc/how-it-works.md, "Steps".
std::optional<Passes> FindPasses(const trace::Trace& trace, const Window& window,
                                 const LaunchGroups& groups, const PassHints& hints);

// RowsPerBlock tells whether a group can be the product of the hidden state with the whole
// vocabulary: a matrix product with one block per vocabulary row, or per 2, 4, 8 or 16 of them. It
// returns how many, or 0 for no. Without a known vocabulary it is 1 from 32,768 blocks in x:
// attention and MLP projections have a few thousand rows, vocabularies start at 32,000. An op of a
// graph says by its name that it is the head.
int RowsPerBlock(const trace::Trace& trace, const LaunchGroup& group,
                 std::optional<std::int64_t> vocabulary);

}  // namespace culprit::analysis
