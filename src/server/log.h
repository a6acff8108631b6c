#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/completion.h"

namespace culprit::server {

// ServerLog is what a llama-server log of any age says that analysis needs.
//
// requests has the timing blocks in the order printed; a block that lacks its second line (the
// log breaks off) is left out. Everything else is absent when the log does not say it.
struct ServerLog {
  std::vector<experiment::ServerTimings> requests;
  std::optional<std::int64_t> vocabulary;    // rows of the target's output head
  std::optional<std::int64_t> experts_used;  // per token
  std::optional<std::string> build;
};

// ParseLog never fails: a text that is no log of llama-server gives an empty ServerLog. Where
// two models are loaded (speculation), the first one printed is the target.
// Source: llama.cpp builds of 2026-05 and 0.7.0; see log_test.cc for the lines.
ServerLog ParseLog(std::string_view text);

}  // namespace culprit::server
