#include "experiment/server_flags.h"

#include <algorithm>
#include <map>

namespace culprit::experiment {
namespace {

using Flags = std::vector<std::string_view>;

// FlagsOf are those of llama.cpp 0.7.0 and builds before it; source: `llama-server --help`.
const Flags& FlagsOf(Option option) {
  static const std::map<Option, Flags> all = {
      {Option::kAddress, {"--host", "--port"}},
      {Option::kModel, {"-m", "--model"}},
      {Option::kFetchedModel,
       {"-mu", "--model-url", "-dr", "--docker-repo", "-hf", "-hfr", "--hf-repo"}},
      {Option::kDraftModel,
       {"-md", "--model-draft", "--spec-draft-model", "-hfd", "-hfrd", "--hf-repo-draft",
        "--spec-draft-hf"}},
      {Option::kSpeculation, {"--spec-type"}},
      {Option::kKvTypes, {"-ctk", "-ctv", "--cache-type-k", "--cache-type-v"}},
      {Option::kThreads, {"-t", "--threads"}},
      {Option::kContext, {"-c", "--ctx-size"}},
      {Option::kSlots, {"-np", "--parallel"}},
      {Option::kFlashAttention, {"-fa", "--flash-attn"}},
      {Option::kPlacement,
       {"-ngl", "--gpu-layers", "--n-gpu-layers", "-dev", "--device", "-ot", "--override-tensor",
        "-ncmoe", "--n-cpu-moe", "-cmoe", "--cpu-moe", "-fit", "--fit", "-sm", "--split-mode",
        "-ts", "--tensor-split", "-mg", "--main-gpu"}},
      {Option::kChatTemplate, {"--chat-template", "--chat-template-file"}},
      {Option::kVerbosity,
       {"-lv", "--verbosity", "--log-verbosity", "-v", "--verbose", "--log-verbose"}},
      {Option::kSlotFiles, {"--slot-save-path"}}};
  return all.at(option);
}

}  // namespace

std::vector<std::string> FlagValues(std::span<const std::string> arguments, std::string_view flag) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == flag) {
      values.push_back(i + 1 < arguments.size() ? arguments[i + 1] : "");
    } else if (word.starts_with(flag) && word[flag.size()] == '=') {
      values.push_back(word.substr(flag.size() + 1));
    }
  }
  return values;
}

std::string_view FlagOf(Option option, std::span<const std::string> arguments) {
  for (const std::string_view flag : FlagsOf(option)) {
    if (!FlagValues(arguments, flag).empty()) return flag;
  }
  return "";
}

bool Uses(Option option, std::span<const std::string> arguments) {
  return !FlagOf(option, arguments).empty();
}

bool Differs(Option option, std::span<const std::string> a, std::span<const std::string> b) {
  const Flags& flags = FlagsOf(option);
  return std::any_of(flags.begin(), flags.end(), [&](std::string_view flag) {
    return FlagValues(a, flag) != FlagValues(b, flag);
  });
}

}  // namespace culprit::experiment
