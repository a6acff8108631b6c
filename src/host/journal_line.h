#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/journal.h"

namespace culprit::host {

// JournalLine is an entry as it stands in the file, with its line end; unix_time is for people.
std::string JournalLine(const JournalEntry& entry, std::chrono::seconds unix_time);

// ParseJournalLine is absent when the line is no entry.
std::optional<JournalEntry> ParseJournalLine(std::string_view line);

}  // namespace culprit::host
