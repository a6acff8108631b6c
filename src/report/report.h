#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace culprit::report {

// Value is a number or text for machines; monostate is "absent", which every format writes in its
// own way (null, an empty field) and never as 0.
using Value = std::variant<std::monostate, double, std::int64_t, bool, std::string>;

// Cell is one value twice: as it is read by people, already formatted, and as it is read by
// machines, in the unit that the column's key names. text is "" where people need see nothing.
struct Cell {
  std::string text;
  Value value;
};

// Audience says who gets to see a row or a column: people want less of the same than machines, and
// sometimes two numbers in one place.
enum class Audience { kEveryone, kPeople, kMachines };

// Column describes one column of a Table. key is snake_case and ends in its unit
// ("delta_ms_per_token"), unique among what machines see of its table and neither "details" nor
// "is_total", which JSON adds; heading is for people. Text columns are aligned to the left and may
// be shortened; numbers never are.
struct Column {
  std::string key;
  std::string heading;
  enum class Kind { kText, kNumber } kind = Kind::kNumber;
  Audience audience = Audience::kEveryone;
};

enum class Emphasis { kNone, kStrong, kTotal, kFaint };

// Row is one line of a table. depth 1 is a detail of the row of depth 0 above it.
struct Row {
  std::vector<Cell> cells;  // one for each column
  int depth = 0;
  Emphasis emphasis = Emphasis::kNone;
  Audience audience = Audience::kEveryone;
};

// Table is printed with its title above and its notes below. id is its key in JSON.
struct Table {
  std::string id;
  std::string title;
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<std::string> notes;
};

// Note is a sentence that every writer must print. Severe ones come first in a report.
struct Note {
  enum class Level { kInfo, kNotice, kWarning, kError } level;
  std::string id;  // of the finding or warning, snake_case
  std::string text;

  // Severe notes speak against the answer and stand beside it.
  [[nodiscard]] bool severe() const { return level == Level::kWarning || level == Level::kError; }
};

// Name is a level for machines: "warning".
std::string_view Name(Note::Level level);

// Check is one line of the completeness proof.
struct Check {
  std::string id, subject, text;  // subject: which trace, by its label
  bool holds;
};

// Report is the one view model: every sentence and row of an answer is decided before it gets
// here; writers only lay out. All text is printable (base/printable.h) but not escaped: each
// writer escapes for its own format, since "|", "<" and "," are harmless in another.
//
// incomplete: the proof failed and the reader asked for the tables all the same. Each writer marks
// the whole report and each table.
struct Report {
  // "compare", "analyze", "trace-info", "classify", "power", "ab", "doctor", "counters", "gate"
  std::string kind;
  std::string title;
  bool incomplete = false;
  std::vector<std::string> headline;  // sentences; the first is the answer
  std::vector<Check> proof;
  std::vector<Table> tables;
  std::vector<Note> notes;
  std::vector<std::string> advice;  // what to look at next
};

// For returns a report with what one audience, kPeople or kMachines, sees of its tables.
Report For(Audience audience, const Report& report);

// kIncompleteMark is what a writer puts on an incomplete report.
inline constexpr const char* kIncompleteMark =
    "INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.";

}  // namespace culprit::report
