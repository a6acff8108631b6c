#include "server/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sys/sha256.h"

namespace culprit::server {
namespace {

using base::Count;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Tokens;
using sys::StopSignal;

constexpr int kMostRequests = 40;
constexpr std::int64_t kLongest = 4'000'000;  // tokens; contexts end far below
constexpr std::int64_t kSpare = 64;  // ids beyond those wanted: text counts otherwise at a cut
constexpr std::size_t kLongestSource = std::size_t{32} << 20;

struct Material {
  std::vector<TokenId> ids;
  int copies = 1;
};

// At least `wanted` ids: the source, and again behind "Part 2", and so on.
Result<Material> Tokenized(const Client& client, std::string_view source, std::int64_t wanted,
                           const StopSignal& stop) {
  Material material;
  std::string text(source);
  while (true) {
    auto ids = client.Tokenize(text, false, stop);
    if (!ids) return Fail(std::move(ids.error()));
    if (ids->empty()) return Fail(ErrorCode::kUsage, "the text for the prompt has no tokens");
    material.ids = std::move(*ids);
    const auto have = static_cast<std::int64_t>(material.ids.size());
    if (have >= wanted || text.size() > kLongestSource) return material;
    // One copy more than counted: the headings' tokens and the joints are not known yet.
    const std::int64_t copies = material.copies * (wanted / have + 1) + 1;
    while (material.copies < copies && text.size() <= kLongestSource) {
      text += fmt::format("\n\nPart {}\n\n", ++material.copies);
      text += source;
    }
  }
}

// A cut through a character of several tokens leaves U+FFFD at an end.
std::string WithoutHalfCharacters(std::string text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  while (text.ends_with(kReplacement)) text.resize(text.size() - kReplacement.size());
  std::size_t begin = 0;
  while (std::string_view(text).substr(begin).starts_with(kReplacement)) {
    begin += kReplacement.size();
  }
  return text.substr(begin);
}

// Measured is what the server counts for a text in a real request.
Result<Tokens> Measured(const Client& client, Endpoint endpoint, const std::string& text,
                        const StopSignal& stop) {
  const auto completion =
      client.Complete({.endpoint = endpoint, .prompt = text, .cache_prompt = true}, stop);
  if (!completion) return Fail(completion.error());
  return completion->prompt;
}

}  // namespace

Result<ExactPrompt> MakeExactPrompt(const Client& client, Endpoint endpoint,
                                    std::string_view source, Tokens wanted,
                                    const StopSignal& stop) {
  const std::int64_t goal = Count(wanted);
  if (goal < 1 || goal > kLongest) {
    return Fail(ErrorCode::kUsage, fmt::format("no prompt has {} tokens", goal));
  }
  const auto material = Tokenized(client, source, goal + kSpare, stop);
  if (!material) return Fail(material.error());
  const auto& ids = material->ids;

  ExactPrompt prompt{.copies = material->copies};
  std::int64_t start = 0, size = std::max<std::int64_t>(goal - 30, 1);
  std::set<std::int64_t> tried;  // sizes from this start
  for (prompt.requests = 1; prompt.requests <= kMostRequests; ++prompt.requests) {
    size = std::min(size, static_cast<std::int64_t>(ids.size()) - start);
    tried.insert(size);
    const auto text = client.Detokenize({ids.begin() + start, ids.begin() + start + size}, stop);
    if (!text) return Fail(text.error());
    prompt.text = WithoutHalfCharacters(*text);
    const auto measured = Measured(client, endpoint, prompt.text, stop);
    if (!measured) return Fail(measured.error());
    if (*measured == wanted) {
      prompt.tokens = *measured;
      return prompt;
    }
    size += goal - Count(*measured);
    if (size < 1 && Count(*measured) > goal) {
      return Fail(ErrorCode::kUsage,
                  fmt::format("{} tokens are fewer than a prompt needs here: one of {} is the "
                              "shortest",
                              goal, Count(*measured)));
    }
    // Text at a cut may be split otherwise than it was: where sizes come back, cut elsewhere.
    if (size < 1 || tried.contains(size)) {
      tried.clear();
      if (++start + 1 >= static_cast<std::int64_t>(ids.size())) break;
      size = std::max<std::int64_t>(size, 1);
    }
  }
  return Fail(ErrorCode::kServer,
              fmt::format("no cut of the text has exactly {} tokens after {} requests", goal,
                          kMostRequests));
}

std::string PromptFingerprint(std::string_view model, const Props& props) {
  return sys::Sha256Of(
      fmt::format("{}\n{}", sys::Sha256Of(model), sys::Sha256Of(props.chat_template.value_or(""))));
}

}  // namespace culprit::server
