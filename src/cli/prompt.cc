#include "cli/prompt.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/number_format.h"
#include "cli/output.h"
#include "experiment/server_flags.h"
#include "experiment/words.h"
#include "lab/calibration.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using experiment::Option;
using store::PromptFile;

constexpr const char* kNoModel = "the variant names no --model";

// Where a prompt is kept. It depends on all that a count of tokens may depend on; "" for a model
// that is no file.
std::string KeptIn(const PromptMaking& making) {
  const auto& variant = making.spec.variants.front();
  if (!variant.model) return "";
  const auto model = making.bench.hashes.Of(*variant.model, making.bench.stop);
  if (!model) return "";
  const auto& workload = making.spec.workload;
  const std::string key = sys::Sha256Of(fmt::format(
      "{}\n{}\n{}\n{}\n{}", *model, experiment::Name(workload.endpoint), Count(workload.prompt),
      experiment::JoinWords(variant.arguments), sys::Sha256Of(lab::Prose())));
  return fmt::format("{}/prompts/{}.json", making.state_folder, key.substr(0, 32));
}

// Without it the next run takes longer, that is all.
void Keep(const std::string& file, const PromptFile& prompt) {
  if (file.empty()) return;
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  static_cast<void>(store::WritePromptFile(file, prompt));
}

}  // namespace

Result<PromptFile> FindPrompt(const PromptMaking& making) {
  const std::string file = KeptIn(making);
  if (!file.empty()) {
    if (auto prompt = store::ReadPromptFile(file)) return prompt;
  }
  return MakePrompt(making, lab::Prose());
}

Result<PromptFile> MakePrompt(const PromptMaking& making, std::string_view text) {
  const auto& variant = making.spec.variants.front();
  Say(fmt::format("calibrating a prompt of {} tokens with {}",
                  base::Grouped(Count(making.spec.workload.prompt)), variant.label));
  auto made = lab::Calibrate(making.spec, variant, text, making.log_folder, making.bench);
  if (!made) {
    base::Error error = std::move(made.error()).In("calibration");
    const bool named = variant.model || Uses(Option::kModel, variant.arguments) ||
                       Uses(Option::kFetchedModel, variant.arguments);
    if (error.code == ErrorCode::kServer && !named) {
      error.hint = error.hint.empty() ? kNoModel : fmt::format("{}; {}", kNoModel, error.hint);
    }
    return Fail(std::move(error));
  }
  if (made->prompt.copies > 1) {
    Say(fmt::format("the prompt repeats its text {} times: speculation will look better than it is",
                    made->prompt.copies));
  }
  PromptFile prompt{std::move(made->prompt.text), made->prompt.tokens,
                    making.spec.workload.endpoint, std::move(made->fingerprint)};
  if (text == lab::Prose()) Keep(KeptIn(making), prompt);
  return prompt;
}

Result<PromptFile> ReadPromptFor(const experiment::Workload& workload, const std::string& file) {
  auto prompt = store::ReadPromptFile(file);
  if (!prompt) return prompt;
  if (prompt->tokens == workload.prompt && prompt->endpoint == workload.endpoint) return prompt;
  return Fail(ErrorCode::kUsage,
              fmt::format("is a {} prompt of {} tokens, not a {} prompt of {}",
                          experiment::Name(prompt->endpoint), Count(prompt->tokens),
                          experiment::Name(workload.endpoint), Count(workload.prompt)),
              file,
              fmt::format("add --prompt-tokens {} --endpoint {}, or make another with culprit "
                          "calibrate",
                          Count(prompt->tokens), experiment::Name(prompt->endpoint)));
}

}  // namespace culprit::cli
