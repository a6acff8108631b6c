#pragma once

#include <span>
#include <string>
#include <string_view>

namespace culprit::base {

// DidYouMean is a hint for a word that is none of `words`: the nearest of them when it is less than
// three edits away, otherwise all of them. Empty words are passed over.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> words);

}  // namespace culprit::base
