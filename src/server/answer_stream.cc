#include "server/answer_stream.h"

#include <fmt/format.h>

#include "base/json_fields.h"
#include "base/printable.h"
#include "experiment/timings_json.h"

namespace culprit::server {
namespace {

using base::ErrorCode;
using base::Fail;
using base::HostTime;
using base::Json;
using base::JsonFields;
using base::Result;
using base::Status;
using experiment::Completion;
using experiment::Endpoint;

// /completion says how it ended in words of its own: "stop_type": "limit".
std::string FinishReason(const std::string& stop_type) {
  if (stop_type == "limit") return "length";
  return stop_type == "eos" || stop_type == "word" ? "stop" : stop_type;
}

}  // namespace

std::optional<base::Error> ServerError(const Json& answer) {
  if (!answer.is_object()) return std::nullopt;
  JsonFields fields(answer);
  const Json* error = fields.Find("error");
  if (error == nullptr) return std::nullopt;
  const auto message = error->is_object() ? JsonFields(*error).Get<std::string>("message")
                                          : fields.Get<std::string>("error");
  return base::Error{
      ErrorCode::kServer,
      fmt::format("llama-server says: {}",
                  base::Shortened(base::Printable(message.value_or("an error")), 500))};
}

Status AnswerStream::Feed(std::string_view bytes, HostTime arrived) {
  const auto events = events_.Feed(bytes);
  if (!events) return Fail(events.error());
  for (const StreamEvent& event : *events) {
    if (auto read = ReadEvent(event, arrived); !read) return read;
  }
  return {};
}

// data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Hi"}}],"created":…}
// data: {"index":0,"content":"Hi","tokens":[56],"stop":false,"tokens_predicted":1,…}
// data: {"error":{"code":500,"message":"…","type":"server_error"}}
// data: [DONE]
Status AnswerStream::ReadEvent(const StreamEvent& event, HostTime arrived) {
  if (event.data == "[DONE]") return {};
  const auto json = base::ParseJson(event.data);
  if (!json || !json->is_object()) {
    return Fail(ErrorCode::kServer,
                fmt::format("llama-server streamed what is no JSON: {}",
                            base::Shortened(base::Printable(event.data.substr(0, 500)), 80)));
  }
  if (event.name == "error") {
    const Json error{{"error", *json}};
    return Fail(*ServerError(error));
  }
  if (const auto error = ServerError(*json)) return Fail(*error);

  JsonFields fields(*json);
  if (const Json* timings = fields.Find("timings"); timings != nullptr) {
    JsonFields inner(*timings);
    completion_.timings = experiment::ReadTimings(inner);
    if (!inner.wrong().empty()) fields.Wrong("timings." + inner.wrong());
  }
  if (!fields.wrong().empty() && wrong_.empty()) wrong_ = fields.wrong();
  if (endpoint_ == Endpoint::kChat) {
    ReadChatChunk(*json, arrived);
  } else {
    ReadCompletionChunk(*json, arrived);
  }
  return {};
}

// The last chunk has no choices: "choices":[],"usage":{"completion_tokens":4,"prompt_tokens":45,…}
void AnswerStream::ReadChatChunk(const Json& chunk, HostTime arrived) {
  JsonFields fields(chunk);
  if (const Json* choices = fields.Find("choices");
      choices != nullptr && choices->is_array() && !choices->empty()) {
    JsonFields choice(choices->front());
    if (auto reason = choice.Get<std::string>("finish_reason")) completion_.finish_reason = reason;
    if (const Json* delta = choice.Find("delta"); delta != nullptr) {
      AddText(*delta, "reasoning_content", arrived);
      AddText(*delta, "content", arrived);
    }
    if (wrong_.empty()) wrong_ = choice.wrong();
  }
  if (const Json* usage = fields.Find("usage"); usage != nullptr) {
    JsonFields inner(*usage);
    prompt_ = inner.Count("prompt_tokens");
    generated_ = inner.Count("completion_tokens");
    if (wrong_.empty()) wrong_ = inner.wrong();
  }
}

// The last chunk: {"content":"","tokens":[],"stop":true,"stop_type":"limit","tokens_predicted":4,…
void AnswerStream::ReadCompletionChunk(const Json& chunk, HostTime arrived) {
  JsonFields fields(chunk);
  AddText(chunk, "content", arrived);
  const auto ids = fields.Integers("tokens");
  completion_.token_ids.insert(completion_.token_ids.end(), ids.begin(), ids.end());
  const Json* stop = fields.Find("stop");
  if (stop != nullptr && stop->is_boolean() && stop->get<bool>()) {
    prompt_ = fields.Count("tokens_evaluated");
    generated_ = fields.Count("tokens_predicted");
    const auto type = fields.Get<std::string>("stop_type");
    if (type) completion_.finish_reason = FinishReason(*type);
  }
  if (wrong_.empty()) wrong_ = fields.wrong();
}

void AnswerStream::AddText(const Json& part, const char* key, HostTime arrived) {
  JsonFields fields(part);
  const auto more = fields.Get<std::string>(key);
  if (wrong_.empty()) wrong_ = fields.wrong();
  if (!more || more->empty()) return;
  if (!completion_.text) completion_.text.emplace();
  *completion_.text += *more;
  completion_.arrivals.push_back(arrived);
}

Result<Completion> AnswerStream::Finish() {
  if (!wrong_.empty()) {
    return Fail(ErrorCode::kServer,
                fmt::format("\"{}\" of the answer has a value that makes no sense", wrong_));
  }
  if (!prompt_ || !generated_ || !completion_.timings) {
    return Fail(ErrorCode::kServer, "the answer ends without its token counts and timings");
  }
  completion_.prompt = *prompt_;
  completion_.generated = *generated_;
  return std::move(completion_);
}

}  // namespace culprit::server
