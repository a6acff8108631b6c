#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "sys/source.h"
#include "trace/trace.h"

namespace culprit::trace {

// ReadOptions is what a caller may ask of every reader.
struct ReadOptions {
  std::optional<std::int64_t> process;  // only dispatches of this pid, where the format knows pids
  bool full_check = false;              // check the whole file, also parts that are not read
  // progress is called now and then with the share done, in [0, 1]; may be empty.
  std::function<void(double)> progress;
};

// What a reader thinks of a file after looking at its content.
struct NotMine {};
struct Mine {};
// Refused: the reader knows what this is, and that it cannot be a kernel trace. The error is the
// sentence the user gets.
struct Refused {
  base::Error error;
};
using Verdict = std::variant<NotMine, Mine, Refused>;

// Reader is one trace format: a row of the registry.
struct Reader {
  std::string_view name;      // "rocpd"
  std::string_view versions;  // which versions it was tested with
  // Sniff decides by content (source.head(), a database's tables), never by file name alone.
  Verdict (*sniff)(const sys::Source&);
  // Read makes the Trace. Fails with kDamagedTrace, kUnsupportedTrace, kUnreadable or kNotATrace.
  base::Result<Trace> (*read)(const sys::Source&, const ReadOptions&);
};

}  // namespace culprit::trace
