#pragma once

#include <string>

#include "base/result.h"
#include "experiment/workload.h"

namespace culprit::store {

// PromptFile is a calibrated prompt: a text that one model's server counts as exactly `tokens`.
//
// fingerprint is of the model and its chat template; with another one the count is not known and
// the prompt must be calibrated again.
struct PromptFile {
  std::string text;
  base::Tokens tokens{};
  experiment::Endpoint endpoint = experiment::Endpoint::kChat;
  std::string fingerprint;
};

// WritePromptFile writes JSON, whole or not at all. ReadPromptFile fails with kNotFound,
// kUnreadable or kBadRequest.
base::Status WritePromptFile(const std::string& path, const PromptFile& prompt);
base::Result<PromptFile> ReadPromptFile(const std::string& path);

}  // namespace culprit::store
