#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "experiment/spec.h"
#include "gate/judge.h"
#include "lab/recorded_positions.h"
#include "lab/trial.h"
#include "server/client.h"
#include "server/server.h"

namespace culprit::lab {

// GateText is a prompt and the baseline's continuation of it, which all variants are made to
// follow.
struct GateText {
  std::vector<experiment::TokenId> prompt, answer;
};

// Followed is what a server came to along a GateText: itself compares its two passes, cache its
// last position with the prefix cache beside the same without. A flaw ends it early.
struct Followed {
  std::vector<gate::Position> itself;
  std::optional<gate::Position> cache;
  std::optional<gate::Flaw> flaw;
};

// GateSide asks one running server what a gate wants to know. Fails with what is no flaw of the
// server (kInterrupted, kUnreadable, kUsage); where a call has no Followed to tell of a flaw, with
// kServer and kTimeout too.
class GateSide {
 public:
  GateSide(server::Server& server, const experiment::Spec& spec, const Bench& bench);

  base::Result<server::ModelFacts> Model();
  // Prompt is the beginning of the prose. Fails with kUsage when the prose is shorter.
  base::Result<std::vector<experiment::TokenId>> Prompt(base::Tokens wanted);
  // Chat is a short conversation as the server's chat template and special tokens make it.
  base::Result<std::vector<experiment::TokenId>> Chat();
  base::Result<std::vector<experiment::TokenId>> Continue(
      const std::vector<experiment::TokenId>& prompt, base::Tokens most);

  // FollowTwice asks for the distribution behind the prompt and each token of the answer, and once
  // more for the likeliest tokens of each. Those of the first pass go into said and, one by one, to
  // take; a failure of take ends it.
  using Take = std::function<base::Status(std::size_t at, const gate::Distribution&)>;
  base::Result<Followed> FollowTwice(const GateText& text, RecordedPositions& said,
                                     const Take& take);

  // lost tells that the server has left or hangs: nothing more can be had of it.
  [[nodiscard]] bool lost();

 private:
  // Absent at a flaw, which goes into found.
  base::Result<std::optional<gate::Distribution>> Ask(std::size_t at,
                                                      const server::PositionRequest& request,
                                                      Followed& found);
  base::Status Follow(const GateText& text, std::int64_t most, Followed& found, const Take& take);
  [[nodiscard]] std::int64_t Everything() const;
  base::Status CheckCache(const GateText& text, const gate::Distribution& cached, Followed& found);

  server::Server& server_;
  server::Client client_;
  sys::StopSignal stop_;
  std::optional<std::int64_t> vocabulary_;
  std::vector<experiment::TokenId> prose_;
  bool hangs_ = false;
};

// NextOf is the next of the distributions that a server said before. vocabulary is that of its
// model. Fails with kUnreadable when the file has changed.
base::Result<gate::Distribution> NextOf(RecordedPositions& said,
                                        std::optional<std::int64_t> vocabulary);

}  // namespace culprit::lab
