#include "sys/recovered_copy.h"

#include <stdlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace culprit::sys {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;

constexpr std::string_view kJournal = "-journal";
constexpr std::string_view kLog = "-wal";
constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);

bool HasContent(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) > 0 && !error;
}

// A super-journal's name ends a journal: name, its length, a checksum, and the magic once more.
bool NamesSuperJournal(const std::string& journal) {
  std::ifstream in(journal, std::ios::binary | std::ios::ate);
  std::array<char, 8> last{};
  if (!in || in.tellg() < 16) return false;
  in.seekg(-8, std::ios::end);
  in.read(last.data(), last.size());
  return std::string_view(last.data(), last.size()) == kJournalMagic;
}

}  // namespace

bool RecoveredCopy::NeedsOne(const std::string& database) {
  return HasContent(database + std::string(kJournal)) || HasContent(database + std::string(kLog));
}

base::Result<std::shared_ptr<const RecoveredCopy>> RecoveredCopy::Make(
    const std::string& database) {
  std::error_code error;
  std::string folder = fs::temp_directory_path(error) / "culprit-XXXXXX";
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    return Fail(ErrorCode::kUnreadable, "no folder can be made for a copy to recover", folder,
                "point TMPDIR at a folder with room for the trace");
  }
  auto copy = std::make_shared<const RecoveredCopy>(std::move(folder));
  for (const std::string_view companion : {std::string_view(""), kJournal, kLog}) {
    const std::string from = database + std::string(companion);
    if (!companion.empty() && !HasContent(from)) continue;
    if (!fs::copy_file(from, copy->database() + std::string(companion), error) || error) {
      return Fail(ErrorCode::kUnreadable, "cannot be copied to recover it: " + error.message(),
                  from, "point TMPDIR at a folder with room for the trace");
    }
  }
  if (NamesSuperJournal(copy->database() + std::string(kJournal))) {
    return Fail(ErrorCode::kDamagedTrace, "the journal belongs to a transaction over several files",
                database + std::string(kJournal), "trace again");
  }
  return copy;
}

RecoveredCopy::~RecoveredCopy() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace culprit::sys
