#include "store/completion_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sys/source.h"

namespace culprit::store {
namespace {

using base::ErrorCode;
using base::Fail;
using base::HostTime;
using base::Json;
using base::NamedClock;
using base::Nanos;
using base::NanosF;
using base::Result;
using base::Tokens;
using experiment::Completion;
using experiment::DraftCounters;
using experiment::ServerTimings;

// 73 years in nanoseconds: stamps up to it can be subtracted and added without a thought.
constexpr std::int64_t kLastStamp = std::int64_t{1} << 61;

// Fields reads keys of one object and remembers the first that has a wrong type, so that a reader
// can ask for all it wants and check once.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  [[nodiscard]] const Json* Find(const char* key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }
  std::optional<std::int64_t> Integer(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) return Wrong(key);
    if (!value->is_number_integer()) return Wrong(key);
    return value->get<std::int64_t>();
  }
  std::optional<Tokens> Count(const char* key) {
    const auto value = Integer(key);
    if (!value) return std::nullopt;
    if (*value < 0 || *value > 1'000'000'000) return Wrong(key), std::nullopt;
    return Tokens(*value);
  }
  // Milliseconds as the server sends them: "prompt_ms": 1488.075
  std::optional<NanosF> Milliseconds(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    const double ms = value->is_number() ? value->get<double>() : -1;
    if (!std::isfinite(ms) || ms < 0 || ms > 1e10) return Wrong(key), std::nullopt;
    return NanosF(ms * 1e6);
  }
  std::optional<HostTime> Instant(const char* key) {
    const auto value = Integer(key);
    if (!value) return std::nullopt;
    if (*value < 0 || *value > kLastStamp) return Wrong(key), std::nullopt;
    return HostTime(Nanos(*value));
  }
  std::vector<HostTime> Instants(const char* key) {
    std::vector<HostTime> instants;
    const Json* list = Find(key);
    if (list == nullptr) return instants;
    if (!list->is_array()) return Wrong(key), instants;
    for (const Json& item : *list) {
      // As unsigned, what is negative lies beyond the last stamp as well.
      if (!item.is_number_integer() || item.get<std::uint64_t>() > kLastStamp) {
        return Wrong(key), instants;
      }
      instants.emplace_back(Nanos(item.get<std::int64_t>()));
    }
    return instants;
  }
  std::optional<std::string> Text(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) return Wrong(key);
    return value->get<std::string>();
  }
  // [1234, 17], or a list for each chunk: [[1234], [17, 5]].
  std::vector<std::int64_t> Integers(const char* key) {
    std::vector<std::int64_t> integers;
    const Json* list = Find(key);
    if (list == nullptr) return integers;
    if (!list->is_array()) return Wrong(key), integers;
    for (const Json& item : *list) {
      const Json chunk = item.is_array() ? item : Json::array({item});
      for (const Json& id : chunk) {
        if (!id.is_number_integer()) return Wrong(key), integers;
        integers.push_back(id.get<std::int64_t>());
      }
    }
    return integers;
  }
  std::nullopt_t Wrong(std::string_view key) {
    if (wrong_.empty()) wrong_ = key;
    return std::nullopt;
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  const Json& object_;
  std::string wrong_;
};

// {"cache_n":0,"prompt_n":20000,"prompt_ms":1488.075,"predicted_n":512,"predicted_ms":1871.374,
//  "draft_n":566,"draft_n_accepted":322}; the draft counters are absent without speculation.
std::optional<ServerTimings> ReadTimings(Fields& fields) {
  const auto prompt = fields.Count("prompt_n");
  const auto prompt_time = fields.Milliseconds("prompt_ms");
  const auto predicted = fields.Count("predicted_n");
  const auto predicted_time = fields.Milliseconds("predicted_ms");
  if (!prompt || !prompt_time || !predicted || !predicted_time) return std::nullopt;
  ServerTimings timings;
  timings.prompt = *prompt;
  timings.prompt_time = *prompt_time;
  timings.cached = fields.Count("cache_n");
  timings.predicted = *predicted;
  timings.predicted_time = *predicted_time;
  const auto drafted = fields.Count("draft_n");
  const auto accepted = fields.Count("draft_n_accepted");
  if (drafted && accepted && *accepted > *drafted) fields.Wrong("draft_n_accepted");
  if (drafted && accepted) timings.draft = DraftCounters{*drafted, *accepted};
  return timings;
}

// "clock": "CLOCK_BOOTTIME ns"
NamedClock ReadClock(const Fields& fields, const std::vector<HostTime>& arrivals) {
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
  Fields fields(*parsed);
  if (const Json* timings = fields.Find("timings"); timings != nullptr && timings->is_object()) {
    Fields inner(*timings);
    completion.timings = ReadTimings(inner);
    if (!inner.wrong().empty()) return Fail(WrongKey("timings." + inner.wrong()));
  }
  completion.sent = fields.Instant("t_send");
  completion.ended = fields.Instant("t_end");
  completion.arrivals = fields.Instants(fields.Find("t_chunk") != nullptr ? "t_chunk" : "t_token");
  completion.clock = ReadClock(fields, completion.arrivals);
  completion.finish_reason = fields.Text("finish_reason");
  completion.text = fields.Text("text");
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
  auto source = sys::Source::Open(path);
  if (!source) return Fail(std::move(source.error()));
  auto bytes = source->ReadAll();
  if (!bytes) return Fail(std::move(bytes.error()));
  auto completion = ReadCompletion(bytes->view());
  if (!completion) return Fail(std::move(completion.error()).In(path));
  return completion;
}

}  // namespace culprit::store
