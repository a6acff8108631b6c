#include "store/trial_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "experiment/trial_record.h"
#include "store/run_directory.h"
#include "sys/folder.h"

namespace culprit::store {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;

std::string_view WithoutCompression(std::string_view name) {
  for (const std::string_view suffix : {".gz", ".xz"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

bool MayBeTrace(std::string_view name) {
  constexpr std::array<std::string_view, 7> kEndings = {".db",   ".sqlite", ".sqlite3", ".csv",
                                                        ".json", ".rpd",    ".ggml-ops"};
  const std::string_view plain = WithoutCompression(name);
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return plain.ends_with(ending); });
}

// Listing sorts the files of one folder by what they are for.
struct Listing {
  std::vector<std::string> traces, databases, kernel_csvs, untraced;
  std::optional<std::string> request, log;
};

Result<Listing> List(const fs::path& folder) {
  Listing listing;
  const auto names = sys::NamesIn(folder.string());
  if (!names) return Fail(names.error());
  for (const std::string& name : *names) {
    const std::string path = (folder / name).string();
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) continue;
    const std::string_view plain = WithoutCompression(name);
    if (plain == kRequestFile) {
      listing.request = path;
    } else if (plain == experiment::kServerLog) {
      listing.log = path;
    } else if (plain.starts_with("untraced-") && plain.ends_with(".json")) {
      listing.untraced.push_back(path);
    } else if (plain != kRecordFile && MayBeTrace(name)) {
      listing.traces.push_back(path);
      if (plain.ends_with("results.db")) listing.databases.push_back(path);
      if (plain.ends_with("_kernel_trace.csv")) listing.kernel_csvs.push_back(path);
    }
  }
  return listing;
}

// ChooseTrace picks the one trace of a folder.
Result<std::string> ChooseTrace(const Listing& listing, const std::string& folder) {
  for (const auto* preferred : {&listing.databases, &listing.kernel_csvs, &listing.traces}) {
    if (preferred->size() == 1) return preferred->front();
    if (preferred->size() < 2) continue;
    return Fail(ErrorCode::kNotATrace,
                "is a folder with several traces: " + preferred->at(0) + ", " + preferred->at(1) +
                    (preferred->size() > 2 ? ", …" : ""),
                folder, "give the file");
  }
  return Fail(
      ErrorCode::kNotATrace, "is a folder without a trace", folder,
      "a trace is a profiler's *.db, *.sqlite, *.csv, *.json or *.ggml-ops, plain or .gz or .xz");
}

}  // namespace

Result<TrialFiles> FindTrialFiles(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return Fail(ErrorCode::kNotFound, "there is no such file or folder", path);
  }
  const bool folder = fs::is_directory(status);
  if (folder && IsRunDirectory(path)) {
    return Fail(ErrorCode::kUsage, "is a run directory, which has a trace of each variant", path,
                "take a folder in its traces/; culprit compare takes all of them");
  }
  const fs::path parent = fs::path(path).parent_path();
  const fs::path where = folder ? fs::path(path) : (parent.empty() ? fs::path(".") : parent);
  auto listing = List(where);
  if (!listing && folder) return Fail(std::move(listing.error()));

  TrialFiles files;
  if (folder) {
    auto trace = ChooseTrace(*listing, path);
    if (!trace) return Fail(std::move(trace.error()));
    files.trace = *std::move(trace);
  } else {
    files.trace = path;
    if (!listing || listing->traces.size() != 1) return files;
  }
  files.request = listing->request;
  files.log = listing->log;
  files.untraced = listing->untraced;
  return files;
}

}  // namespace culprit::store
