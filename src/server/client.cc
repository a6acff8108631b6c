#include "server/client.h"

#include <fmt/format.h>

#include "base/json_fields.h"
#include "base/printable.h"
#include "server/answer_stream.h"
#include "sys/host_time.h"

namespace culprit::server {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Json;
using base::JsonFields;
using base::Result;
using base::Tokens;
using experiment::Completion;
using sys::StopSignal;

// Text of the user may be broken UTF-8, which JSON cannot say: such bytes become U+FFFD.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Error NoSense(std::string_view what) {
  return {ErrorCode::kServer, fmt::format("the answer has no {} that makes sense", what)};
}

// StatusError is the error of an answer whose status is not 200.
base::Error StatusError(const sys::HttpAnswer& answer) {
  const auto json = base::ParseJson(answer.body);
  if (json) {
    if (auto error = ServerError(*json)) return *std::move(error);
  }
  return {ErrorCode::kServer, fmt::format("llama-server answered with status {}", answer.status)};
}

Result<std::vector<TokenId>> ReadIds(const Json& answer) {
  const Json* list = JsonFields(answer).Find("tokens");
  if (list == nullptr || !list->is_array()) return Fail(NoSense("\"tokens\""));
  std::vector<TokenId> ids;
  ids.reserve(list->size());
  for (const Json& id : *list) {
    // As unsigned, what is negative lies beyond every id as well.
    if (!id.is_number_integer() || id.get<std::uint64_t>() > INT32_MAX) {
      return Fail(NoSense("\"tokens\""));
    }
    ids.push_back(id.get<TokenId>());
  }
  return ids;
}

Json Body(const CompletionRequest& request) {
  Json body{{"stream", true},
            {"temperature", 0},
            {"seed", request.seed},
            {"cache_prompt", request.cache_prompt},
            {"ignore_eos", request.ignore_end}};
  if (request.slot) body["id_slot"] = *request.slot;
  if (request.endpoint == Endpoint::kChat) {
    body["messages"] =
        Json::array({Json{{"role", "user"}, {"content", std::get<std::string>(request.prompt)}}});
    body["stream_options"] = Json{{"include_usage", true}};
    body["max_tokens"] = base::Count(request.most);
  } else {
    std::visit([&body](const auto& prompt) { body["prompt"] = prompt; }, request.prompt);
    body["n_predict"] = base::Count(request.most);
    body["return_tokens"] = true;
  }
  return body;
}

}  // namespace

Result<Json> Client::Ask(const std::string& path, const Json* body, const StopSignal& stop) const {
  const std::string url = url_ + path;
  auto answer =
      body == nullptr ? sys::Get(url, limits_, stop) : sys::Post(url, Dump(*body), limits_, stop);
  if (!answer) return Fail(std::move(answer.error()));
  if (answer->status != 200) return Fail(StatusError(*answer).In(path));
  auto json = base::ParseJson(answer->body);
  if (!json || !json->is_object()) {
    return Fail(ErrorCode::kServer, "llama-server answered with no JSON object", path);
  }
  return json;
}

// {"default_generation_settings":{"params":{…},"n_ctx":4096},"total_slots":1,
//  "model_path":"m.gguf","chat_template":"{%- for …","build_info":"b11669-Debian",…}
Result<Props> Client::GetProps(const StopSignal& stop) const {
  const auto json = Ask("/props", nullptr, stop);
  if (!json) return Fail(json.error());
  JsonFields fields(*json);
  Props props;
  props.build = fields.Get<std::string>("build_info");
  props.model_path = fields.Get<std::string>("model_path");
  props.chat_template = fields.Get<std::string>("chat_template");
  props.slots = fields.Get<std::int64_t>("total_slots");
  if (const Json* defaults = fields.Find("default_generation_settings"); defaults != nullptr) {
    JsonFields inner(*defaults);
    props.context = inner.Count("n_ctx");
    if (!inner.wrong().empty()) fields.Wrong(inner.wrong());
  }
  if (!fields.wrong().empty()) return Fail(NoSense("\"" + fields.wrong() + "\"").In("/props"));
  return props;
}

// {"models":[…],"object":"list","data":[{"id":"m.gguf",…,"meta":{"vocab_type":1,"n_vocab":408,
//  "n_ctx":4096,"n_ctx_train":32768,"n_embd":512,"n_params":12481024,"size":13274624}}]}
Result<ModelFacts> Client::GetModel(const StopSignal& stop) const {
  const auto json = Ask("/v1/models", nullptr, stop);
  if (!json) return Fail(json.error());
  const Json* data = JsonFields(*json).Find("data");
  if (data == nullptr || !data->is_array() || data->empty()) {
    return Fail(NoSense("\"data\"").In("/v1/models"));
  }
  ModelFacts facts;
  JsonFields model(data->front());
  model.Within("meta", [&facts](JsonFields& meta) {
    meta.Take("vocab_type", facts.vocabulary_type);
    meta.Take("n_vocab", facts.vocabulary);
    meta.Take("n_embd", facts.embedding);
    meta.Take("n_params", facts.parameters);
    meta.Take("n_ctx_train", facts.trained_context);
  });
  if (!model.wrong().empty()) {
    return Fail(NoSense("\"" + model.wrong() + "\"").In("/v1/models"));
  }
  return facts;
}

Result<std::vector<TokenId>> Client::Tokenize(std::string_view text, bool add_special,
                                              const StopSignal& stop) const {
  const Json body{{"content", text}, {"add_special", add_special}};
  const auto json = Ask("/tokenize", &body, stop);
  if (!json) return Fail(json.error());
  auto ids = ReadIds(*json);
  if (!ids) return Fail(std::move(ids.error()).In("/tokenize"));
  return ids;
}

// {"prompt":"<|im_start|>system\nAnswer in one word.<|im_end|>\n…<|im_start|>assistant\n"}
Result<std::vector<TokenId>> Client::TokenizeChat(std::string_view system, std::string_view user,
                                                  const StopSignal& stop) const {
  const auto message = [](const char* role, std::string_view text) {
    return Json{{"role", role}, {"content", text}};
  };
  const Json body{{"messages", Json::array({message("system", system), message("user", user)})}};
  const char* const path = "/apply-template";
  const auto json = Ask(path, &body, stop);
  if (!json) return Fail(json.error());
  const auto prompt = JsonFields(*json).Get<std::string>("prompt");
  if (!prompt) return Fail(NoSense("\"prompt\"").In(path));
  return Tokenize(*prompt, true, stop);
}

Result<std::string> Client::Detokenize(const std::vector<TokenId>& tokens,
                                       const StopSignal& stop) const {
  const Json body{{"tokens", tokens}};
  const auto json = Ask("/detokenize", &body, stop);
  if (!json) return Fail(json.error());
  auto text = JsonFields(*json).Get<std::string>("content");
  if (!text) return Fail(NoSense("\"content\"").In("/detokenize"));
  return *std::move(text);
}

// {"id_slot":0,"filename":"a.bin","n_saved":10,"n_written":20788,"timings":{"save_ms":0.615}}
Result<Tokens> Client::MoveSlot(std::int64_t slot, const std::string& file, const char* action,
                                const char* count, const StopSignal& stop) const {
  const Json body{{"filename", file}};
  const std::string path = fmt::format("/slots/{}?action={}", slot, action);
  const auto json = Ask(path, &body, stop);
  if (!json) return Fail(json.error());
  const auto tokens = JsonFields(*json).Count(count);
  if (!tokens) return Fail(NoSense(fmt::format("\"{}\"", count)).In(path));
  return *tokens;
}

Result<Tokens> Client::SaveSlot(std::int64_t slot, const std::string& file,
                                const StopSignal& stop) const {
  return MoveSlot(slot, file, "save", "n_saved", stop);
}

Result<Tokens> Client::RestoreSlot(std::int64_t slot, const std::string& file,
                                   const StopSignal& stop) const {
  return MoveSlot(slot, file, "restore", "n_restored", stop);
}

Result<Completion> Client::Complete(const CompletionRequest& request,
                                    const StopSignal& stop) const {
  const bool chat = request.endpoint == Endpoint::kChat;
  if (chat && !std::holds_alternative<std::string>(request.prompt)) {
    return Fail(ErrorCode::kUsage, "a chat takes text, not token ids");
  }
  const std::string path = chat ? "/v1/chat/completions" : "/completion";
  const std::string body = Dump(Body(request));
  AnswerStream stream(request.endpoint);
  const auto sent = sys::BoottimeNow();
  const auto http = sys::PostStreamed(
      url_ + path, body, limits_, stop,
      [&stream](std::string_view bytes, base::HostTime at) { return stream.Feed(bytes, at); });
  const auto ended = sys::BoottimeNow();
  if (!http) return Fail(http.error());
  if (http->status != 200) return Fail(StatusError(*http).In(path));
  auto completion = stream.Finish();
  if (!completion) return Fail(std::move(completion.error()).In(path));
  completion->clock = base::NamedClock::kBoottime;
  completion->sent = sent;
  completion->ended = ended;
  return completion;
}

Result<std::vector<TokenId>> Client::Generate(const std::vector<TokenId>& text, Tokens most,
                                              const StopSignal& stop) const {
  const Json body{
      {"prompt", text},        {"stream", false},       {"n_predict", base::Count(most)},
      {"temperature", 0},      {"cache_prompt", false}, {"ignore_eos", true},
      {"return_tokens", true}, {"id_slot", 0}};
  const char* const path = "/completion";
  const auto json = Ask(path, &body, stop);
  if (!json) return Fail(json.error());
  if (auto error = ServerError(*json)) return Fail(std::move(*error).In(path));
  auto ids = ReadIds(*json);
  if (!ids) return Fail(std::move(ids.error()).In(path));
  return ids;
}

// Not streamed: a stream leaves out the log-probabilities of a token whose text is half a
// character.
Result<PositionAnswer> Client::GetPosition(const PositionRequest& request,
                                           const StopSignal& stop) const {
  const Json body{{"prompt", std::vector(request.text.begin(), request.text.end())},
                  {"stream", false},
                  {"n_predict", 1},
                  {"temperature", 0},
                  {"id_slot", 0},
                  {"n_probs", request.most},
                  {"post_sampling_probs", false},
                  {"cache_prompt", request.reuse}};
  const char* const path = "/completion";
  PositionStream stream;
  const auto http = sys::PostStreamed(
      url_ + path, Dump(body), limits_, stop,
      [&stream](std::string_view bytes, base::HostTime /*at*/) { return stream.Feed(bytes); });
  if (!http) return Fail(http.error());
  if (http->status != 200) return Fail(StatusError(*http).In(path));
  auto answer = stream.Finish();
  if (!answer) return Fail(std::move(answer.error()).In(path));
  return answer;
}

}  // namespace culprit::server
