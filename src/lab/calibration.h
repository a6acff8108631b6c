#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "experiment/spec.h"
#include "lab/trial.h"
#include "server/prompt.h"

namespace culprit::lab {

// Calibration is a prompt of exactly as many tokens as a workload asks for, and what it was made
// for. fingerprint changes with the model and its chat template.
struct Calibration {
  server::ExactPrompt prompt;
  std::string fingerprint;
};

// Fingerprint is that of a variant's server, which answered with props. Where a model is no file
// that can be read, its name stands for it.
std::string Fingerprint(const experiment::Variant& variant, const server::Props& props,
                        const Bench& bench);

// Prose is the text that prompts are cut from: data/prose, joined in order of the files' names.
const std::string& Prose();

// Calibrate starts a variant's server in folder, makes a prompt of source for the workload and ends
// the server. Fails with kServer when the server does not come up, kUsage when the prompt cannot be
// made, kInterrupted.
base::Result<Calibration> Calibrate(const experiment::Spec& spec,
                                    const experiment::Variant& variant, std::string_view source,
                                    const std::string& folder, Bench& bench);

}  // namespace culprit::lab
