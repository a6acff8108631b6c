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

Result<Completion> ReadCompletionFile(const std::string& path) {
  auto source = sys::Source::Open(path);
  if (!source) return Fail(std::move(source.error()));
  auto bytes = source->ReadAll();
  if (!bytes) return Fail(std::move(bytes.error()));
  auto completion = ReadCompletion(bytes->view());
  if (!completion) return Fail(std::move(completion.error()).In(path));
  return completion;
}

}  // namespace culprit::store
