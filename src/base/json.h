// json: nlohmann's library behind a Result. Keys keep the order in which they were added, so that
// the same report is the same bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"

namespace culprit::base {

using Json = nlohmann::ordered_json;

// ParseJson reads one document. Fails with kUnreadable, byte position in the message.
inline Result<Json> ParseJson(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    return Fail(ErrorCode::kUnreadable, std::string("not valid JSON: ") + e.what());
  }
}

}  // namespace culprit::base
