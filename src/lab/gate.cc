#include "lab/gate.h"

#include <fmt/format.h>

#include <utility>

#include "base/number_format.h"
#include "lab/calibration.h"
#include "lab/recorded_positions.h"
#include "server/client.h"
#include "server/server.h"
#include "sys/ports.h"

namespace culprit::lab {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using experiment::Spec;
using experiment::TokenId;
using experiment::Variant;
using gate::Distribution;

// Where a server does not tell how many tokens it knows: more than any.
constexpr std::int64_t kAnyVocabulary = 1 << 20;

// Reference is what the baseline said, which its candidates are held against.
struct Reference {
  server::ModelFacts model;
  std::vector<TokenId> prompt, answer;
  std::optional<gate::Summary> itself;
};

// NextOf is the next of the distributions that a server said before.
Result<Distribution> NextOf(RecordedPositions& said, std::optional<std::int64_t> vocabulary) {
  auto listed = said.Next();
  if (!listed) return Fail(std::move(listed.error()));
  auto made = Distribution::Make(*std::move(listed), vocabulary);
  // It was one when it was kept.
  if (!made) return Fail(ErrorCode::kUnreadable, "what a server said has changed on the disk");
  return *std::move(made);
}

// OneSide asks one running server. Its flaw is what no sound server does; asking ends with it.
class OneSide {
 public:
  // said gets what the server says.
  OneSide(server::Server& server, const Spec& spec, const Bench& bench, RecordedPositions& said)
      : server_(server),
        client_(server.url(), {.idle = spec.limits.request, .total = spec.limits.request}),
        stop_(bench.stop),
        said_(said) {}

  Result<server::ModelFacts> Model() {
    auto model = client_.GetModel(stop_);
    if (!model) return Fail(server_.Explain(std::move(model.error())));
    vocabulary_ = model->vocabulary;
    return model;
  }

  Result<std::vector<TokenId>> Prompt(base::Tokens wanted) {
    auto ids = client_.Tokenize(Prose(), true, stop_);
    if (!ids) return Fail(server_.Explain(std::move(ids.error())));
    const auto count = static_cast<std::size_t>(base::Count(wanted));
    if (ids->size() < count) {
      return Fail(ErrorCode::kUsage,
                  fmt::format("the prose has {} tokens of this model",
                              base::Grouped(static_cast<std::int64_t>(ids->size()))),
                  "--prompt-tokens");
    }
    ids->resize(count);
    return ids;
  }

  Result<std::vector<TokenId>> Continue(const std::vector<TokenId>& prompt, base::Tokens most) {
    auto ids = client_.Generate(prompt, most, stop_);
    if (!ids) return Fail(server_.Explain(std::move(ids.error())));
    return ids;
  }

  // Follow asks for the distribution behind the prompt and each token of the answer, and gives
  // them to `take` one by one. It stops at a flaw. Fails only with what is no flaw.
  template <typename Take>
  Status Follow(const Reference& reference, const Take& take) {
    std::vector<TokenId> text = reference.prompt;
    for (std::size_t i = 0; i < reference.answer.size() && !flaw_; ++i) {
      auto answer = client_.GetPosition(
          {.text = text, .most = vocabulary_.value_or(kAnyVocabulary), .reuse = i > 0}, stop_);
      if (!answer) {
        if (auto ended = TakeFailure(i, std::move(answer.error())); !ended) return ended;
        break;
      }
      auto distribution = Distribution::Make(std::move(answer->listed), vocabulary_);
      if (!distribution) {
        SetFlaw(i, gate::Describe(distribution.error()));
        break;
      }
      if (auto taken = take(i, *distribution); !taken) return taken;
      text.push_back(reference.answer[i]);
    }
    return {};
  }

  // FollowTwice also compares the server with itself.
  template <typename Take>
  Status FollowTwice(const Reference& reference, const Take& take) {
    auto first = Follow(reference, [&](std::size_t at, const Distribution& distribution) {
      const auto listed = distribution.listed();
      if (auto kept = said_.Append({listed.begin(), listed.end()}); !kept) return kept;
      return take(at, distribution);
    });
    if (!first || flaw_) return first;
    said_.Rewind();
    gate::Comparison comparison;
    auto second = Follow(reference, [&](std::size_t at, const Distribution& distribution) {
      auto before = NextOf(said_, vocabulary_);
      if (!before) return Status(Fail(std::move(before.error())));
      comparison.Add(gate::ComparePositions(*before, distribution, reference.answer[at]));
      return Status();
    });
    if (second && !flaw_) itself_ = comparison.Summarize();
    return second;
  }

  void SetFlaw(std::size_t at, std::string text) {
    flaw_ = gate::Flaw{gate::Side::kCandidate, at, std::move(text)};
  }
  [[nodiscard]] const std::optional<gate::Flaw>& flaw() const { return flaw_; }
  [[nodiscard]] const std::optional<gate::Summary>& itself() const { return itself_; }

 private:
  Status TakeFailure(std::size_t at, base::Error error) {
    error = server_.Explain(std::move(error));
    if (error.code != ErrorCode::kServer && error.code != ErrorCode::kTimeout) {
      return Fail(std::move(error));
    }
    SetFlaw(at, error.message);
    return {};
  }

  server::Server& server_;
  server::Client client_;
  sys::StopSignal stop_;
  RecordedPositions& said_;
  std::optional<std::int64_t> vocabulary_;
  std::optional<gate::Flaw> flaw_;
  std::optional<gate::Summary> itself_;
};

// What tells that two servers do not have the same model, as a clause; "" when nothing does.
std::string OtherModel(const server::ModelFacts& baseline, const server::ModelFacts& candidate) {
  using Fact = std::optional<std::int64_t> server::ModelFacts::*;
  constexpr std::pair<Fact, const char*> kFacts[] = {
      {&server::ModelFacts::vocabulary, "tokens in its vocabulary"},
      {&server::ModelFacts::vocabulary_type, "as the type of its vocabulary"},
      {&server::ModelFacts::embedding, "as the width of its embedding"},
      {&server::ModelFacts::parameters, "parameters"},
      {&server::ModelFacts::trained_context, "tokens of context in training"}};
  for (const auto& [fact, what] : kFacts) {
    const auto one = baseline.*fact, other = candidate.*fact;
    if (!one || !other || *one == *other) continue;
    return fmt::format("it is another model, with {} {} where the baseline's has {}",
                       base::Grouped(*other), what, base::Grouped(*one));
  }
  return "";
}

// Gate keeps together what the variants of one gate share.
class Gate {
 public:
  Gate(const Spec& spec, const GateWish& wish, const std::string& folder, Bench& bench,
       const std::function<void(std::string_view)>& tell)
      : spec_(spec),
        wish_(wish),
        folder_(folder),
        bench_(bench),
        tell_(tell),
        baseline_said_(folder + "/gate-baseline.positions") {}

  Result<gate::GateRun> Run() {
    for (std::size_t i = 0; i < spec_.variants.size(); ++i) {
      const Variant& variant = spec_.variants[i];
      tell_(fmt::format("{}: a prompt of {} tokens, and {} tokens behind it, twice", variant.label,
                        base::Grouped(base::Count(wish_.prompt)),
                        base::Grouped(base::Count(wish_.positions))));
      auto asked = WithServer(variant, [&](server::Server& server) {
        return i == 0 ? AskBaseline(server) : AskCandidate(server, variant);
      });
      if (!asked) return Fail(std::move(asked.error()).In(variant.label));
    }
    run_.baseline = spec_.variants.front().label;
    run_.prompt = reference_.prompt.size();
    run_.positions = reference_.answer.size();
    run_.baseline_itself = reference_.itself;
    return std::move(run_);
  }

 private:
  template <typename Ask>
  Status WithServer(const Variant& variant, const Ask& ask) {
    auto port = sys::FreePort(static_cast<std::uint16_t>(spec_.port));
    if (!port) return Fail(std::move(port.error()));
    server::LaunchOptions launch = LaunchOf(spec_, variant, *port, folder_);
    launch.log_file = fmt::format("{}/gate-{}.log", folder_, variant.label);
    launch.before_exec = bench_.before_exec;
    auto server = server::Server::Start(launch);
    if (!server) return Fail(std::move(server.error()));
    Status done = server->WaitUntilHealthy(spec_.limits.load, bench_.stop);
    if (done) done = ask(*server);
    server->Stop(spec_.limits.stop);
    if (bench_.ended) bench_.ended(server->identity());
    return done;
  }

  Status AskBaseline(server::Server& server) {
    OneSide side(server, spec_, bench_, baseline_said_);
    auto model = side.Model();
    if (!model) return Fail(std::move(model.error()));
    reference_.model = *model;
    auto prompt = side.Prompt(wish_.prompt);
    if (!prompt) return Fail(std::move(prompt.error()));
    reference_.prompt = *std::move(prompt);
    auto answer = side.Continue(reference_.prompt, wish_.positions);
    if (!answer) return Fail(std::move(answer.error()));
    reference_.answer = *std::move(answer);
    if (base::Tokens(static_cast<std::int64_t>(reference_.answer.size())) != wish_.positions) {
      return Fail(ErrorCode::kServer,
                  fmt::format("ended its answer after {} of {} tokens, and was told to go on",
                              reference_.answer.size(), base::Count(wish_.positions)));
    }
    auto followed = side.FollowTwice(
        reference_, [](std::size_t /*at*/, const Distribution& /*said*/) { return Status(); });
    if (!followed) return followed;
    reference_.itself = side.itself();
    if (!side.flaw()) return {};
    return Fail(ErrorCode::kServer,
                fmt::format("at token {} {}", side.flaw()->at + 1, side.flaw()->text), "",
                "nothing can be compared with a baseline that is broken");
  }

  Status AskCandidate(server::Server& server, const Variant& variant) {
    RecordedPositions said(fmt::format("{}/gate-{}.positions", folder_, variant.label));
    OneSide side(server, spec_, bench_, said);
    gate::Comparison between;
    gate::Evidence evidence{.between = between, .baseline_itself = reference_.itself};
    auto asked = Compare(side, between, evidence);
    if (!asked) return asked;
    evidence.candidate_itself = side.itself();
    evidence.flaw = side.flaw();
    run_.verdicts.push_back({.label = variant.label,
                             .result = gate::Judge(evidence, wish_.level),
                             .positions = between.positions(),
                             .itself = side.itself()});
    return {};
  }

  Status Compare(OneSide& side, gate::Comparison& between, gate::Evidence& evidence) {
    const auto model = side.Model();
    if (!model) return Fail(model.error());
    evidence.not_comparable = OtherModel(reference_.model, *model);
    if (!evidence.not_comparable.empty()) return {};
    const auto prompt = side.Prompt(wish_.prompt);
    if (!prompt) return Fail(prompt.error());
    if (*prompt != reference_.prompt) {
      evidence.not_comparable = "its tokenizer makes other tokens of the same text";
      return {};
    }
    const auto answer = side.Continue(reference_.prompt, wish_.positions);
    if (!answer && answer.error().code != ErrorCode::kServer) return Fail(answer.error());
    if (!answer) {
      side.SetFlaw(0, answer.error().message);
      return {};
    }
    evidence.fork = gate::FindFork(reference_.answer, *answer);
    baseline_said_.Rewind();
    return side.FollowTwice(reference_, [&](std::size_t at, const Distribution& candidate) {
      return TakePosition(at, candidate, between, evidence);
    });
  }

  Status TakePosition(std::size_t at, const Distribution& candidate, gate::Comparison& between,
                      gate::Evidence& evidence) {
    const auto baseline = NextOf(baseline_said_, reference_.model.vocabulary);
    if (!baseline) return Fail(baseline.error());
    between.Add(gate::ComparePositions(*baseline, candidate, reference_.answer[at]));
    auto& fork = evidence.fork;
    if (fork && fork->at == at && !fork->ended_early()) {
      fork->gap = gate::TieGap(*baseline, candidate, *fork->baseline, *fork->candidate);
    }
    return {};
  }

  const Spec& spec_;
  const GateWish& wish_;
  const std::string& folder_;
  Bench& bench_;
  const std::function<void(std::string_view)>& tell_;
  RecordedPositions baseline_said_;
  Reference reference_;
  gate::GateRun run_;
};

}  // namespace

Result<gate::GateRun> RunGate(const Spec& spec, const GateWish& wish, const std::string& folder,
                              Bench& bench, const std::function<void(std::string_view)>& tell) {
  return Gate(spec, wish, folder, bench, tell).Run();
}

}  // namespace culprit::lab
