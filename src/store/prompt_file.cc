#include "store/prompt_file.h"

#include "base/json_fields.h"
#include "sys/atomic_file.h"
#include "sys/source.h"

namespace culprit::store {

using base::ErrorCode;
using base::Fail;
using base::Json;
using base::Result;

base::Status WritePromptFile(const std::string& path, const PromptFile& prompt) {
  const Json json{{"tokens", base::Count(prompt.tokens)},
                  {"endpoint", experiment::Name(prompt.endpoint)},
                  {"fingerprint", prompt.fingerprint},
                  {"text", prompt.text}};
  return sys::WriteFileAtomically(path,
                                  json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<PromptFile> ReadPromptFile(const std::string& path) {
  auto bytes = sys::ReadWhole(path);
  if (!bytes) return Fail(std::move(bytes.error()));
  auto json = base::ParseJson(bytes->view());
  if (!json) return Fail(ErrorCode::kBadRequest, std::move(json.error().message), path);
  base::JsonFields fields(*json);
  const auto text = fields.Get<std::string>("text"), endpoint = fields.Get<std::string>("endpoint");
  const auto tokens = fields.Count("tokens");
  const auto named = experiment::EndpointByName(endpoint.value_or(""));
  if (!fields.wrong().empty() || !text || !tokens || !named) {
    return Fail(ErrorCode::kBadRequest, "is no calibrated prompt", path,
                "culprit calibrate makes one");
  }
  return PromptFile{*text, *tokens, *named, fields.Get<std::string>("fingerprint").value_or("")};
}

}  // namespace culprit::store
