#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "experiment/completion.h"
#include "experiment/workload.h"
#include "sys/http.h"

namespace culprit::server {

using experiment::Endpoint;
using TokenId = std::int32_t;

// Props is what a server says of itself. Texts are hostile until printed.
struct Props {
  std::optional<std::string> build, model_path, chat_template;
  std::optional<std::int64_t> slots;
  std::optional<base::Tokens> context;  // of one slot
};

// CompletionRequest is a greedy request, streamed. A chat's prompt is one user message; another
// prompt is continued as it is.
struct CompletionRequest {
  Endpoint endpoint = Endpoint::kChat;
  std::variant<std::string, std::vector<TokenId>> prompt;  // ids: kCompletion only
  base::Tokens most = base::Tokens(1);                     // tokens to generate
  std::int64_t seed = 42;
  bool cache_prompt = false;
  bool ignore_end = true;  // goes on behind an end-of-text token
  std::optional<std::int64_t> slot;
};

// Client asks one llama-server.
//
// Fails with kServer when the server refuses (its own words are in the message), breaks off or says
// what makes no sense; kTimeout and kInterrupted as sys::Get does; kUsage for a wrong request.
class Client {
 public:
  explicit Client(std::string url, sys::HttpLimits limits = {})
      : url_(std::move(url)), limits_(limits) {}

  [[nodiscard]] base::Result<Props> GetProps(const sys::StopSignal& stop) const;
  // Tokenize counts begin-of-text with add_special, where the model has one.
  [[nodiscard]] base::Result<std::vector<TokenId>> Tokenize(std::string_view text, bool add_special,
                                                            const sys::StopSignal& stop) const;
  [[nodiscard]] base::Result<std::string> Detokenize(const std::vector<TokenId>& tokens,
                                                     const sys::StopSignal& stop) const;
  // SaveSlot and RestoreSlot move a slot's KV cache to and from a file of the server's
  // --slot-save-path, and return its tokens. Fails with kServer where the server has none.
  [[nodiscard]] base::Result<base::Tokens> SaveSlot(std::int64_t slot, const std::string& file,
                                                    const sys::StopSignal& stop) const;
  [[nodiscard]] base::Result<base::Tokens> RestoreSlot(std::int64_t slot, const std::string& file,
                                                       const sys::StopSignal& stop) const;
  // Complete streams one request. The first arrival is that of the first text that is not empty,
  // reasoning included; an answer without usage or timings is an error, for nothing could be
  // checked then.
  [[nodiscard]] base::Result<experiment::Completion> Complete(const CompletionRequest& request,
                                                              const sys::StopSignal& stop) const;

 private:
  [[nodiscard]] base::Result<base::Json> Ask(const std::string& path, const base::Json* body,
                                             const sys::StopSignal& stop) const;
  [[nodiscard]] base::Result<base::Tokens> MoveSlot(std::int64_t slot, const std::string& file,
                                                    const char* action, const char* count,
                                                    const sys::StopSignal& stop) const;

  std::string url_;
  sys::HttpLimits limits_;
};

}  // namespace culprit::server
