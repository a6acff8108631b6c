#include "host/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "host/journal_line.h"
#include "sys/atomic_file.h"
#include "sys/folder.h"

namespace culprit::host {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;

constexpr off_t kReserved = 256 << 10;       // some 1,500 entries
constexpr std::size_t kLargest = 64U << 20;  // no journal of ours is nearly as long

std::string JournalPath(const std::string& folder) { return folder + "/journal.jsonl"; }

tl::unexpected<base::Error> Failed(const std::string& path, const char* what, int error) {
  return Fail(ErrorCode::kUnreadable, fmt::format("{}: {}", what, std::strerror(error)), path);
}

// The journal's own name must be on the disk before anything is changed.
Status SyncFolder(const std::string& path) {
  return sys::FlushFolder(fs::path(path).parent_path());
}

Result<std::string> ReadAll(int fd, const std::string& path) {
  std::string text;
  std::array<char, 1 << 14> buffer{};
  while (text.size() <= kLargest) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed(path, "cannot be read", errno);
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return Fail(ErrorCode::kUnreadable, "is far too long to be a journal", path);
}

// Reserve makes a full disk fail now, while nothing is changed yet.
bool Reserve(int fd) {
  if (::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, kReserved) == 0) return true;
  return errno == EOPNOTSUPP || errno == ENOSYS;
}

}  // namespace

Result<Journal> Journal::Create(const std::string& folder, AtStep at_step) {
  const std::string path = JournalPath(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Failed(folder, "cannot be made", error.value());
  sys::Fd file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return Failed(path, "cannot be made", errno);
  Journal journal(path, std::move(file), std::move(at_step));
  Status made = {};
  if (!Reserve(journal.file_.get())) made = Failed(path, "no room on the disk", errno);
  if (made) made = SyncFolder(path);
  if (!made) {
    ::unlink(path.c_str());
    return Fail(std::move(made.error()));
  }
  journal.Step("journal made");
  return journal;
}

Result<std::optional<Journal>> Journal::OpenUnfinished(const std::string& folder, AtStep at_step) {
  const std::string path = JournalPath(folder);
  auto file = sys::OpenFile(path, O_RDWR | O_APPEND);
  if (!file && file.error().code == ErrorCode::kNotFound) return std::nullopt;
  // What cannot be added to can still be acted upon.
  if (!file) file = sys::OpenFile(path, O_RDONLY);
  if (!file) return Fail(std::move(file.error()));
  Journal journal(path, *std::move(file), std::move(at_step));
  if (auto loaded = journal.Load(); !loaded) return Fail(std::move(loaded.error()));
  // Without an entry, not even a damaged one, nothing was done yet.
  const bool done = journal.entries_.empty()
                        ? journal.damaged_ == 0
                        : std::holds_alternative<Done>(journal.entries_.back().fact);
  if (!done) return journal;
  if (auto finished = journal.Finish(); !finished) return Fail(std::move(finished.error()));
  return std::nullopt;
}

Status Journal::Load() {
  auto text = ReadAll(file_.get(), path_);
  if (!text) return Fail(std::move(text.error()));
  std::string_view rest = *text;
  while (true) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) break;
    auto entry = ParseJournalLine(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    if (!entry) {
      ++damaged_;
      continue;
    }
    Keep(*std::move(entry));
  }
  size_ = static_cast<std::int64_t>(text->size() - rest.size());
  if (rest.empty()) return {};
  // A file that cannot be cut cannot be added to either, which Append will say.
  [[maybe_unused]] const int cut = ::ftruncate(file_.get(), size_);
  return {};
}

void Journal::Keep(JournalEntry entry) {
  last_sequence_ = std::max(last_sequence_, entry.sequence);
  if (const auto* settled = std::get_if<Settled>(&entry.fact)) settled_.insert(settled->sequence);
  entries_.push_back(std::move(entry));
}

Result<std::int64_t> Journal::Append(const Fact& fact) {
  using std::chrono::seconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const JournalEntry entry{last_sequence_ + 1, sys::BootId(), fact};
  const std::string line = JournalLine(entry, std::chrono::duration_cast<seconds>(now));
  Step("before journal: " + line);
  if (!sys::WriteAll(file_.get(), line) || ::fdatasync(file_.get()) != 0) {
    const int error = errno;
    [[maybe_unused]] const int cut = ::ftruncate(file_.get(), size_);
    return Failed(path_, "cannot be written", error);
  }
  size_ += static_cast<std::int64_t>(line.size());
  Keep(entry);
  Step("after journal: " + line);
  return entry.sequence;
}

Status Journal::Finish() {
  // On a full disk it goes without having said so: nothing is left to do in either case.
  static_cast<void>(Append(Done{}));
  if (::unlink(path_.c_str()) != 0) return Failed(path_, "cannot be removed", errno);
  Step("journal removed");
  return SyncFolder(path_);
}

Result<std::string> Journal::Abandon() {
  std::string name = path_ + ".abandoned";
  for (int i = 2; sys::IsThere(name); ++i) name = fmt::format("{}.abandoned.{}", path_, i);
  if (::rename(path_.c_str(), name.c_str()) != 0) return Failed(path_, "cannot be renamed", errno);
  if (auto synced = SyncFolder(path_); !synced) return Fail(std::move(synced.error()));
  return name;
}

Result<std::string> StateFolder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (auto own = variable("CULPRIT_STATE_DIR"); !own.empty()) return own;
  if (auto state = variable("XDG_STATE_HOME"); !state.empty()) return state + "/culprit";
  if (auto home = variable("HOME"); !home.empty()) return home + "/.local/state/culprit";
  return Fail(ErrorCode::kEnvironment, "there is no folder to keep the journal in", "",
              "set CULPRIT_STATE_DIR");
}

}  // namespace culprit::host
