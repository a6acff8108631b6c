#include "lab/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/number_format.h"
#include "lab/gate_side.h"
#include "sys/ports.h"

namespace culprit::lab {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using base::Tokens;
using experiment::Spec;
using experiment::TokenId;
using experiment::Variant;
using gate::Candidate;
using gate::Distribution;
using gate::Probe;

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

// How two servers' tokens of one conversation differ, as a clause; "" when they do not.
std::string OtherChat(const std::vector<TokenId>& baseline, const std::vector<TokenId>& candidate) {
  const auto [one, other] =
      std::mismatch(baseline.begin(), baseline.end(), candidate.begin(), candidate.end());
  if (one == baseline.end() && other == candidate.end()) return "";
  const auto at = one - baseline.begin() + 1;
  if (one == baseline.end() || other == candidate.end()) {
    return fmt::format("by the baseline's chat template it has {} tokens, by the candidate's {}",
                       baseline.size(), candidate.size());
  }
  return fmt::format("its token {} is {} to the baseline and {} to the candidate", at, *one,
                     *other);
}

bool IsFlaw(const base::Error& error) {
  return error.code == ErrorCode::kServer || error.code == ErrorCode::kTimeout;
}

// Reference is what the baseline said of one text, which its candidates are held against.
struct Reference {
  GateText text;
  RecordedPositions said;
};

// Setting is one way of starting all variants, and what the baseline said there.
struct Setting {
  std::optional<std::int64_t> ubatch;
  server::ModelFacts model = {};
  std::optional<std::vector<TokenId>> chat = {};
  std::vector<Reference> references = {};
  std::vector<Probe> probes = {};
};

// Gate keeps together what the variants of one gate share.
class Gate {
 public:
  Gate(const Spec& spec, const std::string& folder, Bench& bench,
       const std::function<void(std::string_view)>& tell)
      : spec_(spec), folder_(folder), bench_(bench), tell_(tell) {}

  Result<gate::GateRun> Run() {
    auto level = gate::ParseLevel(spec_.gate.level);
    if (!level) return Fail(std::move(level.error()));
    gate::GateRun run{.baseline = spec_.variants.front().label, .level = *std::move(level)};
    for (const Variant& variant : spec_.variants) {
      if (variant.approximate) run.approximate.push_back(variant.label);
    }
    std::vector<std::optional<std::int64_t>> ubatches = {std::nullopt};
    ubatches.insert(ubatches.end(), spec_.gate.ubatches.begin(), spec_.gate.ubatches.end());
    for (const auto& ubatch : ubatches) {
      Setting setting{.ubatch = ubatch};
      if (auto done = RunSetting(setting); !done) return Fail(std::move(done.error()));
      std::move(setting.probes.begin(), setting.probes.end(), std::back_inserter(run.probes));
    }
    return run;
  }

 private:
  Status RunSetting(Setting& setting) {
    for (std::size_t i = 0; i < spec_.variants.size(); ++i) {
      Variant variant = spec_.variants[i];
      if (setting.ubatch) {  // the last of several flags counts
        variant.arguments.insert(variant.arguments.end(), {"-ub", std::to_string(*setting.ubatch)});
      }
      Tell(variant.label, setting.ubatch);
      auto asked = i == 0 ? AskBaseline(variant, setting) : AskCandidate(variant, setting);
      if (!asked) return Fail(std::move(asked.error()).In(variant.label));
    }
    return {};
  }

  void Tell(const std::string& label, std::optional<std::int64_t> ubatch) const {
    std::vector<std::string> prompts;
    for (const Tokens prompt : PromptsOf(spec_)) prompts.push_back(base::Grouped(Count(prompt)));
    tell_(fmt::format("gate: {}{}: a prompt of {} tokens, and {} tokens behind it, twice", label,
                      ubatch ? fmt::format(", ubatches of {}", *ubatch) : "",
                      fmt::join(prompts, " and one of "),
                      base::Grouped(base::Count(PositionsOf(spec_)))));
  }

  // The server runs while ask does. never_healthy is why it does not, where that is its fault.
  template <typename Ask>
  Status WithServer(const Variant& variant, const Setting& setting,
                    std::optional<base::Error>& never_healthy, const Ask& ask) {
    const std::string ubatch = setting.ubatch ? fmt::format("@ub{}", *setting.ubatch) : "";
    auto port = sys::FreePort(static_cast<std::uint16_t>(spec_.port));
    if (!port) return Fail(std::move(port.error()));
    server::LaunchOptions launch = LaunchOf(spec_, variant, *port, folder_);
    launch.log_file = fmt::format("{}/{}{}.log", folder_, variant.label, ubatch);
    launch.before_exec = bench_.before_exec;
    auto server = server::Server::Start(launch);
    if (!server) return Fail(std::move(server.error()));
    Status done = server->WaitUntilHealthy(spec_.limits.load, bench_.stop);
    if (done)
      done = ask(*server);
    else if (IsFlaw(done.error()))
      never_healthy = std::move(done.error());
    server->Stop(spec_.limits.stop);
    if (bench_.ended) bench_.ended(server->identity());
    return never_healthy ? Status() : done;
  }

  Status AskBaseline(const Variant& variant, Setting& setting) {
    std::optional<base::Error> never_healthy;
    auto asked = WithServer(variant, setting, never_healthy, [&](server::Server& server) {
      GateSide side(server, spec_, bench_);
      auto model = side.Model();
      if (!model) return Status(Fail(std::move(model.error())));
      setting.model = *model;
      if (auto chat = side.Chat(); chat) setting.chat = *std::move(chat);  // else none to compare
      for (const Tokens prompt : PromptsOf(spec_)) {
        auto probe = AskBaselineFor(prompt, side, setting);
        if (!probe) return Status(Fail(std::move(probe.error())));
        setting.probes.push_back(*std::move(probe));
      }
      return Status();
    });
    return never_healthy ? Fail(*std::move(never_healthy)) : asked;
  }

  Result<Probe> AskBaselineFor(Tokens tokens, GateSide& side, Setting& setting) {
    auto prompt = side.Prompt(tokens);
    if (!prompt) return Fail(std::move(prompt.error()));
    auto answer = side.Continue(*prompt, PositionsOf(spec_));
    if (!answer) return Fail(std::move(answer.error()));
    if (Tokens(static_cast<std::int64_t>(answer->size())) != PositionsOf(spec_)) {
      return Fail(ErrorCode::kServer,
                  fmt::format("generated {} tokens, and {} were asked for, whatever they are",
                              answer->size(), Count(PositionsOf(spec_))));
    }
    const std::string file = fmt::format("{}/baseline-{}.positions", folder_, prompt->size());
    Reference& reference = setting.references.emplace_back(
        Reference{{*std::move(prompt), *std::move(answer)}, RecordedPositions(file)});
    const GateText& text = reference.text;
    auto followed =
        side.FollowTwice(text, reference.said,
                         [](std::size_t /*at*/, const Distribution& /*said*/) { return Status(); });
    if (!followed) return Fail(std::move(followed.error()));
    if (const auto& flaw = followed->flaw) {
      return Fail(ErrorCode::kServer, fmt::format("at token {} {}", *flaw->at + 1, flaw->text), "",
                  "nothing can be compared with a baseline that is broken");
    }
    Probe probe{.prompt = text.prompt.size(),
                .positions = text.answer.size(),
                .ubatch = setting.ubatch,
                .baseline_itself = std::move(followed->itself),
                .baseline_loop = gate::FindLoop(text.answer, gate::kExcusingTokens),
                .baseline_cache = followed->cache};
    return probe;
  }

  Status AskCandidate(const Variant& variant, Setting& setting) {
    for (Probe& probe : setting.probes) probe.candidates.push_back({.label = variant.label});
    std::optional<base::Error> never_healthy;
    auto asked = WithServer(variant, setting, never_healthy, [&](server::Server& server) {
      GateSide side(server, spec_, bench_);
      return CompareAll(side, setting);
    });
    if (never_healthy) SetFlaw({gate::Side::kCandidate, {}, never_healthy->message}, 0, setting);
    return asked;
  }

  // From a probe on.
  static void SetFlaw(const gate::Flaw& flaw, std::size_t from, Setting& setting) {
    for (std::size_t i = from; i < setting.probes.size(); ++i) {
      setting.probes[i].candidates.back().flaw = flaw;
    }
  }

  Status CompareAll(GateSide& side, Setting& setting) {
    const auto model = side.Model();
    if (!model && !IsFlaw(model.error())) return Fail(model.error());
    if (!model) {
      SetFlaw({gate::Side::kCandidate, {}, model.error().message}, 0, setting);
      return {};
    }
    const std::string other_model = OtherModel(setting.model, *model);
    const auto other_chat = CompareChat(side, setting);
    if (!other_chat) return Fail(other_chat.error());
    for (std::size_t i = 0; i < setting.probes.size(); ++i) {
      Candidate& candidate = setting.probes[i].candidates.back();
      candidate.not_comparable = other_model;
      candidate.other_chat = *other_chat;
      if (!other_model.empty()) continue;
      if (auto done = Compare(side, i, setting); !done) return done;
      if (!candidate.flaw || !side.lost()) continue;
      SetFlaw(*candidate.flaw, i + 1, setting);
      return {};
    }
    return {};
  }

  static Result<std::string> CompareChat(GateSide& side, const Setting& setting) {
    if (!setting.chat) return std::string();
    const auto chat = side.Chat();
    if (chat) return OtherChat(*setting.chat, *chat);
    if (!IsFlaw(chat.error())) return Fail(chat.error());
    return std::string();  // an older build may not tell
  }

  Status Compare(GateSide& side, std::size_t probe, Setting& setting) {
    Reference& reference = setting.references[probe];
    const GateText& text = reference.text;
    Candidate& candidate = setting.probes[probe].candidates.back();
    const auto flawed = [&candidate](const base::Error& error) {
      if (!IsFlaw(error)) return Status(Fail(error));
      candidate.flaw = {gate::Side::kCandidate, {}, error.Text()};
      return Status();
    };
    const auto prompt = side.Prompt(Tokens(static_cast<std::int64_t>(text.prompt.size())));
    if (!prompt && prompt.error().code != ErrorCode::kUsage) return flawed(prompt.error());
    if (!prompt || *prompt != text.prompt) {
      candidate.not_comparable = "its tokenizer makes other tokens of the same text";
      return {};
    }
    const auto answer = side.Continue(text.prompt, Tokens(std::ssize(text.answer)));
    if (!answer) return flawed(answer.error());
    if (answer->size() > text.answer.size()) {
      return flawed(
          {ErrorCode::kServer, fmt::format("it generated {} tokens, and {} were asked for",
                                           answer->size(), text.answer.size())});
    }
    candidate.fork = gate::FindFork(text.answer, *answer);
    candidate.loop = gate::FindLoop(*answer);
    reference.said.Rewind();
    RecordedPositions said(folder_ + "/candidate.positions");
    auto followed = side.FollowTwice(text, said, [&](std::size_t at, const Distribution& own) {
      auto baseline = NextOf(reference.said, setting.model.vocabulary);
      if (!baseline) return Status(Fail(std::move(baseline.error())));
      candidate.positions.push_back(gate::ComparePositions(*baseline, own, text.answer[at]));
      auto& fork = candidate.fork;
      if (fork && fork->at == at && !fork->ended_early()) {
        fork->gap = gate::TieGap(*baseline, own, *fork->baseline, *fork->candidate);
      }
      return Status();
    });
    if (!followed) return Fail(std::move(followed.error()));
    candidate.itself = std::move(followed->itself);
    candidate.cache = followed->cache;
    candidate.flaw = std::move(followed->flaw);
    return {};
  }

  const Spec& spec_;
  const std::string& folder_;
  Bench& bench_;
  const std::function<void(std::string_view)>& tell_;
};

// The texts of a gate are made of token ids, which only completions take.
Spec ForTheGate(const Spec& spec) {
  Spec own = spec;
  own.workload.endpoint = experiment::Endpoint::kCompletion;
  own.workload.cache_prompt = false;
  return own;
}

}  // namespace

Tokens PositionsOf(const Spec& spec) {
  const auto usual = Tokens(128);
  return spec.gate.positions.value_or(std::min(usual, spec.workload.output));
}

std::vector<Tokens> PromptsOf(const Spec& spec) {
  auto prompts = spec.gate.prompts;
  if (prompts.empty()) prompts.push_back(spec.workload.prompt);
  std::sort(prompts.begin(), prompts.end());
  prompts.erase(std::unique(prompts.begin(), prompts.end()), prompts.end());
  return prompts;
}

Result<gate::GateRun> RunGate(const Spec& spec, const std::string& folder, Bench& bench,
                              const std::function<void(std::string_view)>& tell) {
  const Spec own = ForTheGate(spec);
  return Gate(own, folder, bench, tell).Run();
}

}  // namespace culprit::lab
