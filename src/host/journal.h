#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sys/open_file.h"
#include "sys/process_group.h"

namespace culprit::host {

// What a journal can say. Setting: this setting is about to be changed. Started: this process is
// about to run. Health: this address answered 200 before anything was changed, and must again.
// Settled: the entry with this number needs nothing any more. Done: everything is as it was.
struct Setting {
  std::string id, was, want;
  bool operator==(const Setting&) const = default;
};
struct Started {
  sys::GroupIdentity group;
  std::string what;
  bool operator==(const Started&) const = default;
};
struct Health {
  std::string url;
  std::chrono::seconds within;
  bool operator==(const Health&) const = default;
};
struct Settled {
  std::int64_t sequence;
  bool operator==(const Settled&) const = default;
};
struct Done {
  bool operator==(const Done&) const = default;
};
using Fact = std::variant<Setting, Started, Health, Settled, Done>;

struct JournalEntry {
  std::int64_t sequence;  // 1, 2, 3 …
  std::string boot;       // of the machine, when it was written
  Fact fact;
  bool operator==(const JournalEntry&) const = default;
};

// AtStep is called before and after everything that a crash may cut in two. For tests.
using AtStep = std::function<void(std::string_view step)>;

// Journal says what was done to the machine, each time before it is done: whoever finds it can put
// the machine back. It is a file of JSON lines, one an entry, that is only appended to:
//
//   {"sequence":1,"setting":"service:system:qwen.service","was":"active","want":"inactive",
//    "boot":"0c6c…","unix_time_s":1789000000}
//
// An entry is on the disk when Append returns. A last line that is torn was never acted upon, and
// is dropped; damage elsewhere is counted, and the rest still holds.
//
// Owner: whoever holds the machine's lock.
class Journal {
 public:
  // Create begins the journal of a folder, which is made when missing, and reserves room on the
  // disk. Fails with kUnreadable when that cannot be, or when there is one already.
  static base::Result<Journal> Create(const std::string& folder, AtStep at_step = {});
  // OpenUnfinished is absent when the folder has no journal, or one that is done or was never begun
  // (it goes then).
  static base::Result<std::optional<Journal>> OpenUnfinished(const std::string& folder,
                                                             AtStep at_step = {});

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<JournalEntry>& entries() const { return entries_; }
  // damaged counts lines that could not be read.
  [[nodiscard]] std::int64_t damaged() const { return damaged_; }
  [[nodiscard]] bool IsSettled(std::int64_t sequence) const { return settled_.contains(sequence); }

  // Append returns the number of the entry. Fails with kUnreadable; nothing is half-written then.
  base::Result<std::int64_t> Append(const Fact& fact);
  // Finish says that everything is as it was, and removes the file.
  base::Status Finish();
  // Abandon keeps the file under another name, where nobody acts upon it; returns that name. Those
  // of earlier times stay.
  base::Result<std::string> Abandon();

  void Step(std::string_view step) const {
    if (at_step_) at_step_(step);
  }

 private:
  Journal(std::string path, sys::Fd file, AtStep at_step)
      : path_(std::move(path)), file_(std::move(file)), at_step_(std::move(at_step)) {}
  base::Status Load();
  void Keep(JournalEntry entry);

  std::string path_;
  sys::Fd file_;
  std::int64_t size_ = 0;  // of the whole lines
  std::int64_t last_sequence_ = 0;
  std::vector<JournalEntry> entries_;
  std::set<std::int64_t> settled_;
  std::int64_t damaged_ = 0;
  AtStep at_step_;
};

// StateFolder is where the journal lives: $CULPRIT_STATE_DIR, else culprit in $XDG_STATE_HOME,
// else ~/.local/state/culprit. Fails with kEnvironment when there is no home either.
base::Result<std::string> StateFolder();

}  // namespace culprit::host
