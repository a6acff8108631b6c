#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "server/client.h"

namespace culprit::server {

// ExactPrompt is a text that a server counts as exactly so many tokens, chat template and
// begin-of-text included.
//
// text is valid UTF-8 when the source was. copies tells how often the source was laid end to end to
// be long enough, with a numbered heading between: 1 is the wish, for repeated text flatters
// speculation.
struct ExactPrompt {
  std::string text;
  base::Tokens tokens{};
  int copies = 1;
  int requests = 0;  // asked to find it
};

// MakeExactPrompt cuts source where the server needs it: cut, detokenize, ask for one token, and
// correct the cut by what the server counted, until it is exact. These requests use the server's
// prompt cache, so that a long prompt is processed about once.
//
// Fails with kUsage when fewer tokens are wanted than the template alone takes, when source is
// empty, or when the prompt has no room in the server's context; with kServer when no cut is exact.
// Source: the first user's practice, which verifies each prompt by a real request.
base::Result<ExactPrompt> MakeExactPrompt(const Client& client, Endpoint endpoint,
                                          std::string_view source, base::Tokens wanted,
                                          const sys::StopSignal& stop);

// PromptFingerprint changes when a prompt must be made anew: with the model or the chat template.
// model is whatever tells models apart, best the hash of the file.
std::string PromptFingerprint(std::string_view model, const Props& props);

}  // namespace culprit::server
