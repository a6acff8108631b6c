#include "store/completion_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_fields.h"
#include "experiment/timings_json.h"
#include "sys/source.h"

namespace culprit::store {
namespace {

using base::ErrorCode;
using base::Fail;
using base::HostTime;
using base::Json;
using base::JsonFields;
using base::NamedClock;
using base::Result;
using base::Tokens;
using experiment::Completion;
using experiment::ServerTimings;

// "clock": "CLOCK_BOOTTIME ns"
NamedClock ReadClock(const JsonFields& fields, const std::vector<HostTime>& arrivals) {
  const Json* clock = fields.Find("clock");
  const std::string name = clock != nullptr && clock->is_string() ? clock->get<std::string>() : "";
  for (const NamedClock known :
       {NamedClock::kBoottime, NamedClock::kRealtime, NamedClock::kMonotonic}) {
    if (name.starts_with(base::Name(known))) return known;
  }
  constexpr std::int64_t kNanosOf2001 = 1'000'000'000'000'000'000;
  const bool since_1970 =
      !arrivals.empty() && arrivals.front().time_since_epoch().count() > kNanosOf2001;
  return since_1970 ? NamedClock::kRealtime : NamedClock::kUnknown;
}

Json WriteTimings(const ServerTimings& timings) {
  Json json;
  if (timings.cached) json["cache_n"] = base::Count(*timings.cached);
  json["prompt_n"] = base::Count(timings.prompt);
  json["prompt_ms"] = timings.prompt_time.count() / 1e6;
  json["predicted_n"] = base::Count(timings.predicted);
  json["predicted_ms"] = timings.predicted_time.count() / 1e6;
  if (timings.draft) {
    json["draft_n"] = base::Count(timings.draft->drafted);
    json["draft_n_accepted"] = base::Count(timings.draft->accepted);
  }
  return json;
}

base::Error WrongKey(std::string_view key) {
  return {ErrorCode::kBadRequest, fmt::format("\"{}\" has a value that makes no sense there", key)};
}

}  // namespace

Result<Completion> ReadCompletion(std::string_view json) {
  auto parsed = base::ParseJson(json);
  if (!parsed) return Fail(ErrorCode::kBadRequest, std::move(parsed.error().message));
  if (!parsed->is_object()) return Fail(ErrorCode::kBadRequest, "is JSON, but no object");

  Completion completion;
  JsonFields fields(*parsed);
  if (const Json* timings = fields.Find("timings"); timings != nullptr && timings->is_object()) {
    JsonFields inner(*timings);
    completion.timings = experiment::ReadTimings(inner);
    if (!inner.wrong().empty()) return Fail(WrongKey("timings." + inner.wrong()));
  }
  completion.sent = fields.Instant("t_send");
  completion.ended = fields.Instant("t_end");
  completion.arrivals = fields.Instants(fields.Find("t_chunk") != nullptr ? "t_chunk" : "t_token");
  completion.clock = ReadClock(fields, completion.arrivals);
  completion.finish_reason = fields.Get<std::string>("finish_reason");
  completion.text = fields.Get<std::string>("text");
  completion.token_ids = fields.Integers("tokens");
  const auto evaluated = fields.Count("tokens_evaluated");
  const auto predicted = fields.Count("tokens_predicted");
  if (!fields.wrong().empty()) return Fail(WrongKey(fields.wrong()));

  if (!completion.timings && completion.arrivals.empty()) {
    return Fail(ErrorCode::kBadRequest, "holds neither a request's times nor a server's timings",
                "", "give the JSON answer of llama-server, or what the client recorded");
  }
  if (!std::is_sorted(completion.arrivals.begin(), completion.arrivals.end())) {
    return Fail(ErrorCode::kBadRequest, "the tokens' times of arrival run backwards");
  }
  const auto& timings = completion.timings;
  if (timings && predicted && *predicted != timings->predicted) {
    return Fail(ErrorCode::kBadRequest,
                fmt::format("contradicts itself: tokens_predicted is {}, timings.predicted_n {}",
                            base::Count(*predicted), base::Count(timings->predicted)));
  }
  const auto cached = timings ? base::Count(timings->cached.value_or(Tokens(0))) : 0;
  completion.prompt =
      evaluated.value_or(timings ? Tokens(base::Count(timings->prompt) + cached) : Tokens(0));
  completion.generated = predicted.value_or(
      timings ? timings->predicted : Tokens(static_cast<std::int64_t>(completion.arrivals.size())));
  return completion;
}

std::string WriteCompletion(const Completion& completion) {
  Json json;
  if (completion.clock != NamedClock::kUnknown) json["clock"] = base::Name(completion.clock);
  if (completion.sent) json["t_send"] = completion.sent->time_since_epoch().count();
  if (!completion.arrivals.empty()) {
    Json& arrivals = json["t_chunk"] = Json::array();
    for (const HostTime time : completion.arrivals) {
      arrivals.push_back(time.time_since_epoch().count());
    }
  }
  if (completion.ended) json["t_end"] = completion.ended->time_since_epoch().count();
  json["tokens_evaluated"] = base::Count(completion.prompt);
  json["tokens_predicted"] = base::Count(completion.generated);
  if (completion.finish_reason) json["finish_reason"] = *completion.finish_reason;
  if (completion.timings) json["timings"] = WriteTimings(*completion.timings);
  if (!completion.token_ids.empty()) json["tokens"] = completion.token_ids;
  if (completion.text) json["text"] = *completion.text;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Completion> ReadCompletionFile(const std::string& path) {
  auto bytes = sys::ReadWhole(path);
  if (!bytes) return Fail(std::move(bytes.error()));
  auto completion = ReadCompletion(bytes->view());
  if (!completion) return Fail(std::move(completion.error()).In(path));
  return completion;
}

}  // namespace culprit::store
