// json: nlohmann's library behind a Result. Keys keep the order in which they were added, so that
// the same report is the same bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"

namespace culprit::base {

using Json = nlohmann::ordered_json;

// IsDeeperThan tells whether brackets of a document nest deeper than limit.
inline bool IsDeeperThan(std::size_t limit, std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > limit) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

// ParseJson reads one document. Fails with kUnreadable, byte position in the message. What nests
// deeper than 100 is refused: each level of a hostile text of brackets takes 70 times its byte.
inline Result<Json> ParseJson(std::string_view text) {
  if (IsDeeperThan(100, text)) return Fail(ErrorCode::kUnreadable, "JSON that nests too deeply");
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    return Fail(ErrorCode::kUnreadable, std::string("not valid JSON: ") + e.what());
  }
}

}  // namespace culprit::base
