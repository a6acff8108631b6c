#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <string_view>

namespace culprit::collect::rocprofv3 {

// Marks are what the tool has said on stderr so far.
struct Marks {
  bool own_stop = false;  // the server's own stop has begun
  bool handler = false;   // the tool's signal handler has
  bool children = false;  // it waits for the server's children
  bool finalizing = false;
  bool returned = false;  // main returned by itself
  bool writing = false;   // a result file was begun
  bool done = false;      // everything of the server's process is written
  bool failed = false;    // it could not write
  std::string failure;    // the line that says so
  std::string uncounted;  // the first line that says what it cannot count
  bool operator==(const Marks&) const = default;

  // flushes tells whether the end of the trace has begun.
  [[nodiscard]] bool flushes() const { return finalizing || returned || writing || done; }
};

// LogMarks reads a growing log, in pieces of any size.
//
// All processes of a server share one log, and the lines that say "written" name no process. So
// they count for the server only once there are as many of them as processes that began to write,
// the server among them.
class LogMarks {
 public:
  explicit LogMarks(pid_t server) : server_(server) {}
  void Add(std::string_view text);
  [[nodiscard]] const Marks& marks() const { return marks_; }

 private:
  void ReadLine(std::string_view line);
  [[nodiscard]] bool IsDone() const;

  pid_t server_;
  Marks marks_;
  std::string line_;         // the last one, not yet ended
  std::set<pid_t> writers_;  // that said which process they are; at most kMostWriters
  std::size_t finalized_ = 0;
};

}  // namespace culprit::collect::rocprofv3
