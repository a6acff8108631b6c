#include "experiment/timings_json.h"

namespace culprit::experiment {

// {"cache_n":0,"prompt_n":20000,"prompt_ms":1488.075,"predicted_n":512,"predicted_ms":1871.374,
//  "draft_n":566,"draft_n_accepted":322}; the draft counters are absent without speculation.
std::optional<ServerTimings> ReadTimings(base::JsonFields& fields) {
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

}  // namespace culprit::experiment
