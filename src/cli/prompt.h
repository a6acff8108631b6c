#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "experiment/spec.h"
#include "lab/trial.h"
#include "store/prompt_file.h"

namespace culprit::cli {

// PromptMaking is what it takes to make a prompt for an experiment: the server of its baseline,
// whose log goes to log_folder, and the state folder, which keeps what was made.
struct PromptMaking {
  const experiment::Spec& spec;
  const std::string& state_folder;
  const std::string& log_folder;
  lab::Bench& bench;
};

// FindPrompt returns the prompt that was made before for the same model, arguments and workload, or
// makes it. MakePrompt makes it anew from text, and keeps it when text is what FindPrompt would
// take, lab::Prose(). Both fail as lab::Calibrate does.
base::Result<store::PromptFile> FindPrompt(const PromptMaking& making);
base::Result<store::PromptFile> MakePrompt(const PromptMaking& making, std::string_view text);

// ReadPromptFor reads the user's file. Fails with kUsage when it is for another workload, and as
// store::ReadPromptFile does.
base::Result<store::PromptFile> ReadPromptFor(const experiment::Workload& workload,
                                              const std::string& file);

}  // namespace culprit::cli
