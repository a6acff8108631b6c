#include "lab/gate_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/number_format.h"
#include "lab/calibration.h"

namespace culprit::lab {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using experiment::TokenId;
using gate::Distribution;

namespace {

// Where a server does not tell how many tokens it knows: more than any.
constexpr std::int64_t kAnyVocabulary = 1 << 20;
// Whether a server repeats itself shows in its likeliest tokens. A server takes half a second to
// write all of a large vocabulary, and next to nothing for these.
constexpr std::int64_t kRepeated = 1'000;

// Whatever a template does at the begin of a turn and between two is in it.
constexpr std::string_view kSystem = "Answer in one word.";
constexpr std::string_view kQuestion = "Is water wet?";

// Those of whole's tokens that part lists as well; all of them where that is nothing to compare.
Distribution Restricted(const Distribution& whole, const Distribution& part,
                        std::optional<std::int64_t> vocabulary) {
  std::vector<experiment::TokenLogprob> both;
  both.reserve(part.listed().size());
  std::set_intersection(whole.listed().begin(), whole.listed().end(), part.listed().begin(),
                        part.listed().end(), std::back_inserter(both),
                        [](const auto& one, const auto& other) { return one.token < other.token; });
  auto made = Distribution::Make(std::move(both), vocabulary);
  return made ? *std::move(made) : whole;
}

}  // namespace

Result<Distribution> NextOf(RecordedPositions& said, std::optional<std::int64_t> vocabulary) {
  auto listed = said.Next();
  if (!listed) return Fail(std::move(listed.error()));
  auto made = Distribution::Make(*std::move(listed), vocabulary);
  // It was one when it was kept.
  if (!made) return Fail(ErrorCode::kUnreadable, "what a server said has changed on the disk");
  return *std::move(made);
}

GateSide::GateSide(server::Server& server, const experiment::Spec& spec, const Bench& bench)
    : server_(server),
      client_(server.url(), {.idle = spec.limits.request, .total = spec.limits.request}),
      stop_(bench.stop) {}

Result<server::ModelFacts> GateSide::Model() {
  auto model = client_.GetModel(stop_);
  if (!model) return Fail(server_.Explain(std::move(model.error())));
  vocabulary_ = model->vocabulary;
  return model;
}

Result<std::vector<TokenId>> GateSide::Prompt(base::Tokens wanted) {
  if (prose_.empty()) {
    auto ids = client_.Tokenize(Prose(), true, stop_);
    if (!ids) return Fail(server_.Explain(std::move(ids.error())));
    prose_ = *std::move(ids);
  }
  const std::int64_t count = base::Count(wanted);
  if (std::cmp_less(prose_.size(), count)) {
    return Fail(
        ErrorCode::kUsage,
        fmt::format("the prose has {} tokens of this model, and a prompt of {} is asked for",
                    base::Grouped(static_cast<std::int64_t>(prose_.size())), base::Grouped(count)),
        "", "ask for a shorter prompt");
  }
  return std::vector<TokenId>(prose_.begin(), prose_.begin() + count);
}

Result<std::vector<TokenId>> GateSide::Chat() {
  auto ids = client_.TokenizeChat(kSystem, kQuestion, stop_);
  if (!ids) return Fail(server_.Explain(std::move(ids.error())));
  return ids;
}

Result<std::vector<TokenId>> GateSide::Continue(const std::vector<TokenId>& prompt,
                                                base::Tokens most) {
  auto ids = client_.Generate(prompt, most, stop_);
  if (ids) {
    const auto stranger = std::find_if(ids->begin(), ids->end(), [this](TokenId id) {
      return id < 0 || std::cmp_greater_equal(id, Everything());
    });
    if (stranger == ids->end()) return ids;
    return Fail(ErrorCode::kServer,
                fmt::format("it generated token {}, which is not in the vocabulary", *stranger));
  }
  hangs_ |= ids.error().code == ErrorCode::kTimeout;
  return Fail(server_.Explain(std::move(ids.error())));
}

std::int64_t GateSide::Everything() const { return vocabulary_.value_or(kAnyVocabulary); }

Result<std::optional<Distribution>> GateSide::Ask(std::size_t at,
                                                  const server::PositionRequest& request,
                                                  Followed& found) {
  const auto flaw = [&](std::string what) {
    found.flaw = gate::Flaw{gate::Side::kCandidate, at, std::move(what)};
    return std::optional<Distribution>();
  };
  auto answer = client_.GetPosition(request, stop_);
  if (!answer) {
    auto error = server_.Explain(std::move(answer.error()));
    hangs_ |= error.code == ErrorCode::kTimeout;
    if (error.code != ErrorCode::kServer && error.code != ErrorCode::kTimeout) {
      return Fail(std::move(error));
    }
    return flaw(std::move(error.message));
  }
  auto distribution = Distribution::Make(std::move(answer->listed), vocabulary_);
  if (!distribution) return flaw(gate::Describe(distribution.error()));
  return std::optional(*std::move(distribution));
}

Status GateSide::Follow(const GateText& text, std::int64_t most, Followed& found,
                        const Take& take) {
  std::vector<TokenId> so_far = text.prompt;
  for (std::size_t i = 0; i < text.answer.size(); ++i) {
    auto said = Ask(i, {.text = so_far, .most = most, .reuse = i > 0}, found);
    if (!said) return Fail(std::move(said.error()));
    if (!*said) return {};
    if (auto taken = take(i, **said); !taken) return taken;
    so_far.push_back(text.answer[i]);
  }
  return {};
}

// The server had evaluated all of the text before but its last token; now it does so anew.
Status GateSide::CheckCache(const GateText& text, const Distribution& cached, Followed& found) {
  std::vector<TokenId> whole = text.prompt;
  whole.insert(whole.end(), text.answer.begin(), text.answer.end() - 1);
  auto anew =
      Ask(text.answer.size() - 1, {.text = whole, .most = Everything(), .reuse = false}, found);
  if (!anew) return Fail(std::move(anew.error()));
  if (*anew) found.cache = gate::ComparePositions(**anew, cached, text.answer.back());
  return {};
}

Result<Followed> GateSide::FollowTwice(const GateText& text, RecordedPositions& said,
                                       const Take& take) {
  Followed found;
  std::optional<Distribution> last;
  const auto take_first = [&](std::size_t at, const Distribution& distribution) {
    const auto listed = distribution.listed();
    if (auto kept = said.Append({listed.begin(), listed.end()}); !kept) return kept;
    if (at > 0 && at + 1 == text.answer.size()) last = distribution;
    return take(at, distribution);
  };
  auto first = Follow(text, Everything(), found, take_first);
  if (!first) return Fail(std::move(first.error()));
  if (found.flaw) return found;
  said.Rewind();
  std::vector<gate::Position> itself;
  const auto take_second = [&](std::size_t at, const Distribution& distribution) {
    auto before = NextOf(said, vocabulary_);
    if (!before) return Status(Fail(std::move(before.error())));
    const auto same = Restricted(*before, distribution, vocabulary_);
    itself.push_back(gate::ComparePositions(same, distribution, text.answer[at]));
    return Status();
  };
  auto second = Follow(text, std::min(kRepeated, Everything()), found, take_second);
  if (second && !found.flaw) found.itself = std::move(itself);
  if (second && !found.flaw && last) second = CheckCache(text, *last, found);
  if (!second) return Fail(std::move(second.error()));
  return found;
}

bool GateSide::lost() { return hangs_ || server_.process().Poll().has_value(); }

}  // namespace culprit::lab
