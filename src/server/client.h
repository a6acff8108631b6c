#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "experiment/completion.h"
#include "experiment/logprobs.h"
#include "experiment/workload.h"
#include "server/position_stream.h"
#include "sys/http.h"

namespace culprit::server {

using experiment::Endpoint;
using experiment::TokenId;

// Props is what a server says of itself. Texts are hostile until printed.
struct Props {
  std::optional<std::string> build, model_path, chat_template;
  std::optional<std::int64_t> slots;
  std::optional<base::Tokens> context;  // of one slot
};

// ModelFacts is what a server tells of its model that stays the same when its weights are quantised
// another way. What it does not tell is absent.
struct ModelFacts {
  std::optional<std::int64_t> vocabulary_type, vocabulary, embedding, parameters, trained_context;
  bool operator==(const ModelFacts&) const = default;
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

// PositionRequest asks the first slot, whose cache then holds the text, for the log-probabilities
// of what could come behind a text of token ids.
//
// most is how many tokens are listed, best the whole vocabulary. reuse lets the server keep the
// part of the text that it has in its KV cache. It matters beyond time: how many tokens are
// evaluated together changes the last digits, so that the same numbers come only from the same
// requests in the same order, the first of them without reuse.
struct PositionRequest {
  std::span<const TokenId> text;
  std::int64_t most = 0;
  bool reuse = true;
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
  [[nodiscard]] base::Result<ModelFacts> GetModel(const sys::StopSignal& stop) const;
  // Tokenize counts begin-of-text with add_special, where the model has one.
  [[nodiscard]] base::Result<std::vector<TokenId>> Tokenize(std::string_view text, bool add_special,
                                                            const sys::StopSignal& stop) const;
  // TokenizeChat is a system message and a user's, as the server's chat template joins them and its
  // tokenizer reads them, special tokens included. Fails with kServer where it has no template.
  [[nodiscard]] base::Result<std::vector<TokenId>> TokenizeChat(std::string_view system,
                                                                std::string_view user,
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
  // Generate continues a text of token ids greedily and tells the ids of what it made. Other than a
  // stream it tells all of them, also of a token whose text is half a character.
  [[nodiscard]] base::Result<std::vector<TokenId>> Generate(const std::vector<TokenId>& text,
                                                            base::Tokens most,
                                                            const sys::StopSignal& stop) const;
  // GetPosition asks for one position; its memory goes with what is listed, not with the answer's
  // text. An answer without log-probabilities is an error.
  [[nodiscard]] base::Result<PositionAnswer> GetPosition(const PositionRequest& request,
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
