#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::experiment {

// Option is a setting of llama-server that culprit has to know of, however it is spelled.
enum class Option {
  kAddress,       // where it listens
  kModel,         // a file
  kFetchedModel,  // the model, from elsewhere
  kDraftModel,    // a second model, to speculate with
  kSpeculation,   // --spec-type
  kKvTypes,       // of the KV caches
  kThreads,
  kContext,
  kSlots,  // how many requests at once
  kFlashAttention,
  kPlacement,  // which layers and tensors lie on which device
  kChatTemplate,
  kVerbosity,  // of its log
  kSlotFiles,  // where it saves slots
};

// FlagValues are the values that a flag has in a server's arguments, in order: of "--flag value"
// and of "--flag=value". A flag at the very end has the value "".
std::vector<std::string> FlagValues(std::span<const std::string> arguments, std::string_view flag);

// FlagOf is the spelling of an option that is there, the first known one of several; "" when none
// is.
std::string_view FlagOf(Option option, std::span<const std::string> arguments);

// Uses tells whether an option is set.
bool Uses(Option option, std::span<const std::string> arguments);

// Differs tells whether an option's flags are used in two ways.
bool Differs(Option option, std::span<const std::string> a, std::span<const std::string> b);

}  // namespace culprit::experiment
