#include "store/gate_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/json_fields.h"
#include "base/printable.h"

namespace culprit::store {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Json;
using base::JsonFields;
using base::Result;
using gate::Candidate;
using gate::Flaw;
using gate::Fork;
using gate::GateRun;
using gate::Loop;
using gate::Position;
using gate::Probe;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// More than any text has tokens, or any gate has probes and candidates.
constexpr std::size_t kMost = 100'000'000;

// Sums of many numbers may lie a little beyond what they can be.
bool IsWithin(double value, double least, double most) {
  constexpr double kRounding = 1e-6;
  return value >= least - kRounding && value <= most + kRounding;
}

struct Number {
  const char* key;
  double Position::*value;
};
constexpr Number kFinite[] = {{"js_nats", &Position::js},
                              {"total_variation", &Position::total_variation},
                              {"unseen", &Position::unseen},
                              {"recall", &Position::recall},
                              {"max_delta_nats", &Position::max_delta},
                              {"omitted", &Position::omitted},
                              {"added", &Position::added}};
// Infinite where a side rules out a token: absent then.
constexpr Number kDivergences[] = {{"kl_nats", &Position::kl},
                                   {"reverse_kl_nats", &Position::reverse_kl},
                                   {"flip_gap_nats", &Position::flip_gap}};

template <typename T>
void Put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

Json Write(const Position& position) {
  Json json{{"identical", position.identical},
            {"partial", position.partial},
            {"top_agrees", position.top_agrees},
            {"baseline_support", position.baseline_support},
            {"candidate_support", position.candidate_support}};
  for (const auto& [key, value] : kFinite) json[key] = position.*value;
  for (const auto& [key, value] : kDivergences) {
    if (std::isfinite(position.*value)) json[key] = position.*value;
  }
  Put(json, "cosine", position.cosine);
  Put(json, "rank", position.rank);
  Put(json, "baseline_logprob", position.baseline_logprob);
  Put(json, "candidate_logprob", position.candidate_logprob);
  Put(json, "max_delta_token", position.max_delta_token);
  return json;
}

Position ReadPosition(JsonFields& fields) {
  Position position;
  fields.Need("identical", position.identical);
  fields.Need("partial", position.partial);
  fields.Need("top_agrees", position.top_agrees);
  fields.Need("baseline_support", position.baseline_support);
  fields.Need("candidate_support", position.candidate_support);
  for (const auto& [key, value] : kFinite) {
    fields.Need(key, position.*value);
    const bool in_nats = std::string_view(key).ends_with("_nats");
    if (!IsWithin(position.*value, 0, in_nats ? kInfinite : 1)) fields.Wrong(key);
  }
  for (const auto& [key, value] : kDivergences) {
    position.*value = kInfinite;
    fields.Take(key, position.*value);
    if (!IsWithin(position.*value, 0, kInfinite)) fields.Wrong(key);
  }
  fields.Take("cosine", position.cosine);
  if (position.cosine && !IsWithin(*position.cosine, -1, 1)) fields.Wrong("cosine");
  fields.Take("rank", position.rank);
  fields.Take("baseline_logprob", position.baseline_logprob);
  fields.Take("candidate_logprob", position.candidate_logprob);
  fields.Take("max_delta_token", position.max_delta_token);
  return position;
}

Json Write(const std::vector<Position>& positions) {
  Json list = Json::array();
  for (const Position& position : positions) list.push_back(Write(position));
  return list;
}

void Take(JsonFields& fields, const char* key, std::vector<Position>& positions) {
  fields.Each(key, [&](const std::string&, JsonFields& position) {
    positions.push_back(ReadPosition(position));
  });
}

void Put(Json& json, const char* key, const std::optional<Position>& position) {
  if (position) json[key] = Write(*position);
}

void Take(JsonFields& fields, const char* key, std::optional<Position>& position) {
  fields.Within(key, [&](JsonFields& found) { position = ReadPosition(found); });
}

// From 0 to kMost, so that they can be added to and counted to.
void NeedPlace(JsonFields& fields, const char* key, std::size_t& value) {
  fields.Need(key, value);
  if (value > kMost) fields.Wrong(key);
}

void Put(Json& json, const char* key, const std::optional<Loop>& loop) {
  if (loop) json[key] = {{"period", loop->period}, {"times", loop->times}, {"from", loop->from}};
}

void Take(JsonFields& fields, const char* key, std::optional<Loop>& loop) {
  fields.Within(key, [&](JsonFields& found) {
    loop.emplace();
    NeedPlace(found, "period", loop->period);
    NeedPlace(found, "times", loop->times);
    NeedPlace(found, "from", loop->from);
  });
}

Json Write(const Fork& fork) {
  Json json{{"at", fork.at}};
  Put(json, "baseline", fork.baseline);
  Put(json, "candidate", fork.candidate);
  if (fork.gap && std::isfinite(*fork.gap)) json["gap_nats"] = *fork.gap;
  if (fork.gap && !std::isfinite(*fork.gap)) json["ruled_out"] = true;
  return json;
}

Fork ReadFork(JsonFields& fields) {
  Fork fork;
  NeedPlace(fields, "at", fork.at);
  fields.Take("baseline", fork.baseline);
  fields.Take("candidate", fork.candidate);
  fields.Take("gap_nats", fork.gap);
  if (fork.gap && *fork.gap < 0) fields.Wrong("gap_nats");
  bool ruled_out = false;
  fields.Take("ruled_out", ruled_out);
  if (ruled_out) fork.gap = kInfinite;
  return fork;
}

Json Write(const Flaw& flaw) {
  Json json{{"text", flaw.text}};
  Put(json, "at", flaw.at);
  return json;
}

// A baseline with a flaw is no gate: what is kept is the candidate's.
Flaw ReadFlaw(JsonFields& fields) {
  Flaw flaw{gate::Side::kCandidate, {}, ""};
  fields.Need("text", flaw.text);
  flaw.text = base::Printable(flaw.text);  // the file may be somebody else's
  fields.Take("at", flaw.at);
  if (flaw.at && *flaw.at > kMost) fields.Wrong("at");
  return flaw;
}

Json Write(const Candidate& candidate) {
  Json json{{"label", candidate.label},
            {"positions", Write(candidate.positions)},
            {"itself", Write(candidate.itself)}};
  if (candidate.fork) json["fork"] = Write(*candidate.fork);
  Put(json, "loop", candidate.loop);
  Put(json, "cache", candidate.cache);
  if (candidate.flaw) json["flaw"] = Write(*candidate.flaw);
  if (!candidate.other_chat.empty()) json["other_chat"] = candidate.other_chat;
  if (!candidate.not_comparable.empty()) json["not_comparable"] = candidate.not_comparable;
  return json;
}

Candidate ReadCandidate(JsonFields& fields) {
  Candidate candidate;
  fields.Need("label", candidate.label);
  Take(fields, "positions", candidate.positions);
  Take(fields, "itself", candidate.itself);
  fields.Within("fork", [&](JsonFields& fork) { candidate.fork = ReadFork(fork); });
  Take(fields, "loop", candidate.loop);
  Take(fields, "cache", candidate.cache);
  fields.Within("flaw", [&](JsonFields& flaw) { candidate.flaw = ReadFlaw(flaw); });
  fields.Take("other_chat", candidate.other_chat);
  fields.Take("not_comparable", candidate.not_comparable);
  candidate.other_chat = base::Printable(candidate.other_chat);
  candidate.not_comparable = base::Printable(candidate.not_comparable);
  return candidate;
}

Json Write(const Probe& probe) {
  Json json{{"prompt_tokens", probe.prompt},
            {"positions", probe.positions},
            {"baseline_itself", Write(probe.baseline_itself)}};
  Put(json, "ubatch", probe.ubatch);
  Put(json, "baseline_loop", probe.baseline_loop);
  Put(json, "baseline_cache", probe.baseline_cache);
  json["candidates"] = Json::array();
  for (const Candidate& candidate : probe.candidates)
    json["candidates"].push_back(Write(candidate));
  return json;
}

Probe ReadProbe(JsonFields& fields) {
  Probe probe;
  NeedPlace(fields, "prompt_tokens", probe.prompt);
  NeedPlace(fields, "positions", probe.positions);
  fields.Take("ubatch", probe.ubatch);
  if (probe.ubatch && *probe.ubatch < 1) fields.Wrong("ubatch");
  Take(fields, "baseline_itself", probe.baseline_itself);
  Take(fields, "baseline_loop", probe.baseline_loop);
  Take(fields, "baseline_cache", probe.baseline_cache);
  fields.Each("candidates", [&](const std::string&, JsonFields& candidate) {
    probe.candidates.push_back(ReadCandidate(candidate));
    if (probe.candidates.back().positions.size() > probe.positions) candidate.Wrong("positions");
  });
  return probe;
}

// All probes are about the same candidates.
bool IsWhole(const GateRun& run) {
  if (run.probes.empty() || run.probes.front().candidates.empty()) return false;
  const auto& first = run.probes.front().candidates;
  for (const Probe& probe : run.probes) {
    if (probe.candidates.size() != first.size()) return false;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (probe.candidates[i].label != first[i].label) return false;
    }
  }
  return true;
}

}  // namespace

std::string WriteGate(const KeptGate& kept) {
  const GateRun& run = kept.run;
  Json json{{"baseline", run.baseline}, {"settings", kept.settings}};
  json["probes"] = Json::array();
  for (const Probe& probe : run.probes) json["probes"].push_back(Write(probe));
  // What servers say may be no UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<KeptGate> ReadGate(std::string_view text) {
  const auto json = base::ParseJson(text);
  if (!json) return Fail(ErrorCode::kBadRequest, json.error().message);
  JsonFields fields(*json);
  KeptGate kept;
  GateRun& run = kept.run;
  fields.Need("settings", kept.settings);
  fields.Need("baseline", run.baseline);
  fields.Each("probes", [&](const std::string&, JsonFields& probe) {
    run.probes.push_back(ReadProbe(probe));
  });
  if (fields.wrong().empty() && !IsWhole(run)) fields.Wrong("probes");
  if (fields.wrong().empty()) return kept;
  return Fail(ErrorCode::kBadRequest,
              fmt::format("\"{}\" is missing or makes no sense", fields.wrong()));
}

}  // namespace culprit::store
