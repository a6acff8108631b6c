#include "store/run_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "base/json_fields.h"
#include "base/parse_number.h"
#include "store/completion_json.h"
#include "store/gate_json.h"
#include "store/record_json.h"
#include "sys/atomic_file.h"
#include "sys/folder.h"
#include "sys/sha256.h"
#include "sys/source.h"
#include "sys/text_file.h"

namespace culprit::store {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Json;
using base::Result;
using base::Status;
using experiment::TrialRecord;

// Readers of one format understand all runs of it; a run of a later one is refused.
constexpr int kFormat = 1;

constexpr const char* kSpecFile = "experiment.toml";
constexpr const char* kInfoFile = "run.json";
constexpr const char* kPromptFile = "prompt.txt";
constexpr const char* kGateFile = "gate.json";
constexpr const char* kGate = "gate";
constexpr const char* kTrials = "trials";
constexpr const char* kTraces = "traces";
constexpr const char* kCounters = "counters";
constexpr const char* kNext = "trials/.next";

std::string WriteJson(const RunInfo& info) {
  Json json{{"format", kFormat},
            {"culprit", info.culprit_version},
            {"created", info.created},
            {"machine", info.machine},
            {"notes", info.notes}};
  if (!info.counter_passes.empty()) json["counter_passes"] = info.counter_passes;
  if (info.floors.decode) json["noise_floor"]["decode"] = info.floors.decode->value();
  if (info.floors.prefill) json["noise_floor"]["prefill"] = info.floors.prefill->value();
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A floor of more than 100 times is none that a machine can have.
std::optional<base::Fraction> Floor(base::JsonFields& floors, const char* metric) {
  const auto floor = floors.Share(metric, 100);
  return floor ? std::optional(base::Fraction(*floor)) : std::nullopt;
}

Result<RunInfo> ReadJson(std::string_view text) {
  auto json = base::ParseJson(text);
  if (!json) return Fail(ErrorCode::kBadRequest, std::move(json.error().message));
  base::JsonFields fields(*json);
  std::int64_t format = kFormat;
  fields.Need("format", format);
  if (format != kFormat) {
    return Fail(ErrorCode::kBadRequest, fmt::format("has format {}", format), "",
                fmt::format("this culprit reads format {}; take a newer one", kFormat));
  }
  RunInfo info;
  fields.Take("culprit", info.culprit_version);
  fields.Take("created", info.created);
  fields.Take("machine", info.machine);
  fields.Take("notes", info.notes);
  fields.Take("counter_passes", info.counter_passes);
  fields.Within("noise_floor", [&](base::JsonFields& floors) {
    info.floors = {Floor(floors, "decode"), Floor(floors, "prefill")};
  });
  if (fields.wrong().empty()) return info;
  return Fail(ErrorCode::kBadRequest,
              fmt::format("\"{}\" is missing or makes no sense", fields.wrong()));
}

Status CannotWrite(const std::string& path, const std::error_code& error) {
  return Fail(ErrorCode::kUnreadable, fmt::format("cannot be written: {}", error.message()), path);
}

// Emptied makes an empty folder of a path.
Result<std::string> Emptied(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) fs::create_directories(folder, error);
  if (error) return Fail(CannotWrite(folder.string(), error).error());
  return folder.string();
}

Result<TrialRecord> ReadTrial(const std::string& folder) {
  const std::string file = folder + "/" + kRecordFile, request = folder + "/" + kRequestFile;
  auto text = sys::ReadText(file);
  if (!text) return Fail(std::move(text.error()));
  auto record = ReadRecord(*text);
  if (!record) return Fail(std::move(record.error()).In(file));
  if (sys::IsThere(request)) {
    auto completion = ReadCompletionFile(request);
    if (!completion) return Fail(std::move(completion.error()));
    record->completion = *std::move(completion);
  }
  return record;
}

// What is left of a trace whose record cannot be read: "003-f16" is the third, of f16. Counters are
// such a trace, and have their kind from their folder.
TrialRecord DamagedTrace(const std::string& name, const base::Error& error, bool counted) {
  const std::size_t dash = std::min(name.find('-'), name.size() - 1);
  TrialRecord record{.variant = name.substr(dash + 1), .collector = "unknown"};
  record.id = base::ParseNumber<int>(name.substr(0, dash)).value_or(0);
  if (counted) record.counters = {"unknown"};
  record.objections = {{"record_damaged", error.Text()}};
  return record;
}

// PlaceOf is where a trial belongs. Whatever ran under a collector has no times, though somebody
// may have taken what it counted out of its record.
const char* PlaceOf(const TrialRecord& record) {
  if (record.counted()) return kCounters;
  return record.traced() || record.trace ? kTraces : kTrials;
}

// A trial that got among others would be taken for one of them: a traced one's times for a speed.
Result<TrialRecord> InItsPlace(Result<TrialRecord> record, const std::string& folder,
                               std::string_view place) {
  if (!record) return record;
  const std::string_view belongs = PlaceOf(*record);
  if (belongs == place) return record;
  if (belongs == kTrials) {
    return Fail(ErrorCode::kBadRequest, "nothing watched this trial: its place is trials/", folder);
  }
  return Fail(ErrorCode::kBadRequest,
              fmt::format("this trial ran under {}: its times are no speed, and its place is {}/",
                          record->collector.empty() ? "a collector" : record->collector, belongs),
              folder);
}

// In the order of their ids. A trace is no part of a verdict: it may be damaged.
Result<std::vector<TrialRecord>> ReadTrials(const fs::path& where) {
  const bool counted = where.filename() == kCounters;
  const bool traces = counted || where.filename() == kTraces;
  auto names = sys::NamesIn(where.string());
  if (!names) return Fail(std::move(names.error()));
  std::vector<TrialRecord> trials;
  for (const std::string& name : *names) {
    const std::string folder = (where / name).string();
    if (std::isdigit(name.front()) == 0 || !sys::IsFolder(folder)) continue;  // nobody's trial
    auto trial = InItsPlace(ReadTrial(folder), folder, where.filename().native());
    if (!trial && !traces) return Fail(std::move(trial.error()));
    trials.push_back(trial ? *std::move(trial) : DamagedTrace(name, trial.error(), counted));
  }
  std::sort(trials.begin(), trials.end(),
            [](const TrialRecord& a, const TrialRecord& b) { return a.id < b.id; });
  return trials;
}

// SettingOf tells trials that may be judged together: those of one variant and workload. What may
// be changed in between is the machine, the design, and what is expected of a variant's log. Only
// what is set counts, so that a setting that is new to culprit makes no old run a stranger.
std::string SettingOf(const experiment::Spec& spec, const std::string& label) {
  const experiment::Workload& workload = spec.workload;
  Json setting = {{"prompt", Count(workload.prompt)},
                  {"output", Count(workload.output)},
                  {"endpoint", experiment::Name(workload.endpoint)},
                  {"seed", workload.seed},
                  {"cache_prompt", workload.cache_prompt}};
  for (const experiment::Variant& variant : spec.variants) {
    if (variant.label != label) continue;
    setting["binary"] = variant.binary;
    setting["arguments"] = variant.arguments;
    if (variant.model) setting["model"] = *variant.model;
    if (variant.kv) setting["kv"] = *variant.kv;
    if (variant.working_directory) setting["cwd"] = *variant.working_directory;
    // In the order of their names, as the file keeps them; the last of several counts.
    std::map<std::string, std::optional<std::string>> environment;
    for (const auto& [key, value] : variant.environment) environment[key] = value;
    for (const auto& [key, value] : environment) {
      setting["environment"].push_back({key, value ? Json(*value) : Json()});
    }
  }
  // Texts of a file need be no UTF-8.
  return sys::Sha256Of(setting.dump(-1, ' ', false, Json::error_handler_t::replace)).substr(0, 16);
}

// The gate of this experiment: the same variants with the same settings, all of them.
bool IsOf(const KeptGate& kept, const experiment::Spec& spec) {
  std::vector<std::string> labels = {kept.run.baseline}, wanted;
  for (const auto& candidate : kept.run.probes.front().candidates) {
    labels.push_back(candidate.label);
  }
  for (const auto& variant : spec.variants) wanted.push_back(variant.label);
  bool ours = labels == wanted && kept.settings.size() == wanted.size();
  for (const auto& [label, setting] : kept.settings) ours &= setting == SettingOf(spec, label);
  return ours;
}

}  // namespace

Result<RunDirectory> RunDirectory::Create(const std::string& path, const experiment::Spec& spec,
                                          const RunInfo& info) {
  std::error_code error;
  const auto taken = [&] {
    return Fail(ErrorCode::kUsage, "is there already", path,
                IsRunDirectory(path) ? "take another folder, or go on with it by --resume"
                                     : "take another folder");
  };
  if (fs::exists(path, error) && !fs::is_empty(path, error)) return Result<RunDirectory>(taken());
  fs::create_directories(path, error);
  // Of two that begin at once, one makes this folder.
  const bool ours = !error && fs::create_directory(fs::path(path) / kTrials, error);
  if (error) return Fail(CannotWrite(path, error).error());
  if (!ours) return Result<RunDirectory>(taken());
  RunDirectory run(path, spec, info);
  if (auto written = run.WriteInfo(info); !written) return Fail(std::move(written.error()));
  // Last: it makes the folder a run directory.
  auto written = sys::WriteFileAtomically(path + "/" + kSpecFile, experiment::WriteSpec(spec));
  if (!written) return Fail(std::move(written.error()));
  return run;
}

Result<RunDirectory> RunDirectory::Open(const std::string& path) {
  std::error_code denied;
  static_cast<void>(fs::status(path + "/" + kSpecFile, denied));
  if (denied == std::errc::permission_denied) {
    return Fail(ErrorCode::kUnreadable, denied.message(), path);
  }
  if (!IsRunDirectory(path)) {
    return Fail(sys::IsThere(path) ? ErrorCode::kBadRequest : ErrorCode::kNotFound,
                sys::IsThere(path) ? "is no run directory" : "no such folder", path,
                "culprit ab makes one; it holds experiment.toml and run.json");
  }
  const std::string spec_file = path + "/" + kSpecFile, info_file = path + "/" + kInfoFile;
  auto spec_text = sys::ReadText(spec_file);
  if (!spec_text) return Fail(std::move(spec_text.error()));
  auto spec = experiment::ParseSpec(*spec_text, spec_file);
  if (!spec) return Fail(std::move(spec.error()));
  if (auto fits = experiment::CheckSpec(*spec); !fits) {
    return Fail(std::move(fits.error()).In(spec_file));
  }
  auto info_text = sys::ReadText(info_file);
  if (!info_text) return Fail(std::move(info_text.error()));
  auto info = ReadJson(*info_text);
  if (!info) return Fail(std::move(info.error()).In(info_file));
  RunDirectory run(path, *std::move(spec), *std::move(info));
  if (auto read = run.ReadGate(); !read) return Fail(std::move(read.error()));
  for (const auto& [name, list] :
       {std::pair(kTrials, &run.trials_), std::pair(kTraces, &run.traces_),
        std::pair(kCounters, &run.counters_)}) {
    // The others come with the first of their kind.
    if (name != kTrials && !sys::IsThere(path + "/" + name)) continue;
    auto trials = ReadTrials(fs::path(path) / name);
    if (!trials) return Fail(std::move(trials.error()));
    *list = *std::move(trials);
    if (auto fits = run.CheckSettings(*list); !fits) return Fail(std::move(fits.error()));
  }
  return run;
}

Status RunDirectory::CheckSettings(const std::vector<TrialRecord>& trials) const {
  for (const TrialRecord& trial : trials) {
    if (!trial.valid() || trial.setting.empty()) continue;
    if (trial.setting == SettingOf(spec_, trial.variant)) continue;
    return Fail(
        ErrorCode::kMismatch,
        fmt::format("trial {} ({}) was run with another variant or workload than {} has now",
                    trial.id, trial.variant, kSpecFile),
        path_, "undo that change, or begin a run of its own");
  }
  return {};
}

Status RunDirectory::WritePrompt(std::string_view prompt) const {
  return sys::WriteFileAtomically(path_ + "/" + kPromptFile, prompt);
}

// The prompt of a long context is larger than what ReadText takes.
Result<std::string> RunDirectory::ReadPrompt() const {
  auto bytes = sys::ReadWhole(path_ + "/" + kPromptFile);
  if (!bytes) return Fail(std::move(bytes.error()));
  return std::string(bytes->view());
}

Status RunDirectory::WriteInfo(RunInfo info) {
  info_ = std::move(info);
  return sys::WriteFileAtomically(path_ + "/" + kInfoFile, WriteJson(info_));
}

Status RunDirectory::ReadGate() {
  const std::string file = path_ + "/" + kGateFile;
  if (!sys::IsThere(file)) return MeanGate();
  auto bytes = sys::ReadWhole(file);
  if (!bytes) return Fail(std::move(bytes.error()));
  auto kept = store::ReadGate(bytes->view());
  if (!kept) {
    kept.error().hint = "move it away, and --resume compares the answers again";
    return Fail(std::move(kept.error()).In(file));
  }
  if (!IsOf(*kept, spec_)) {
    return Fail(
        ErrorCode::kMismatch,
        fmt::format("the gate was run with another variant or workload than {} has now", kSpecFile),
        file, "undo that change, or begin a run of its own");
  }
  gate_ = std::move(kept->run);
  return MeanGate();
}

// What passes is what the experiment says now: the judgement is made anew each time.
Status RunDirectory::MeanGate() {
  auto level = gate::ParseLevel(spec_.gate.level);
  if (!level) return Fail(std::move(level.error()).In(path_ + "/" + kSpecFile));
  if (!gate_) return {};
  gate_->level = *std::move(level);
  gate_->approximate.clear();
  for (const experiment::Variant& variant : spec_.variants) {
    if (variant.approximate) gate_->approximate.push_back(variant.label);
  }
  return {};
}

Result<std::string> RunDirectory::BeginGate() const { return Emptied(fs::path(path_) / kGate); }

Status RunDirectory::EndGate(gate::GateRun run) {
  KeptGate kept{.run = std::move(run), .settings = {}};
  for (const experiment::Variant& variant : spec_.variants) {
    kept.settings[variant.label] = SettingOf(spec_, variant.label);
  }
  auto written = sys::WriteFileAtomically(path_ + "/" + kGateFile, WriteGate(kept));
  if (written) gate_ = std::move(kept.run);
  return written;
}

Result<std::string> RunDirectory::BeginTrial() const { return Emptied(fs::path(path_) / kNext); }

Status RunDirectory::EndTrial(TrialRecord record) {
  record.setting = SettingOf(spec_, record.variant);
  const std::string next = path_ + "/" + kNext, folder = FolderOf(record);
  auto written = sys::WriteFileAtomically(next + "/" + kRecordFile, WriteRecord(record));
  if (written && record.completion) {
    written =
        sys::WriteFileAtomically(next + "/" + kRequestFile, WriteCompletion(*record.completion));
  }
  if (written) written = sys::FlushFolder(next);
  if (!written) return written;
  const fs::path parent = fs::path(folder).parent_path();
  std::error_code error;
  fs::create_directories(parent, error);  // traces/ and counters/ come with the first
  if (!error) fs::rename(next, folder, error);
  if (error) return CannotWrite(folder, error);
  if (auto flushed = sys::FlushFolder(parent.string()); !flushed) return flushed;
  ListOf(record).push_back(std::move(record));
  return {};
}

std::vector<TrialRecord>& RunDirectory::ListOf(const TrialRecord& record) {
  const char* const place = PlaceOf(record);
  if (place == kCounters) return counters_;
  return place == kTraces ? traces_ : trials_;
}

bool RunDirectory::RemoveUnused() const {
  const fs::path path(path_);
  std::error_code error;
  // Whatever else lies there is somebody's: a log, a trial that another process runs.
  const auto names = sys::NamesIn(path_), trials = sys::NamesIn(path_ + "/" + kTrials);
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    const bool ours = name == kSpecFile || name == kInfoFile || name == kPromptFile ||
                      (name == kTrials && trials && trials->empty());
    if (!ours) return false;
  }
  for (const char* name : {kSpecFile, kInfoFile, kPromptFile, kTrials}) {
    fs::remove(path / name, error);
  }
  fs::remove(path, error);
  return !error;
}

std::string RunDirectory::FolderOf(const TrialRecord& record) const {
  return fmt::format("{}/{}/{:03}-{}", path_, PlaceOf(record), record.id, record.variant);
}

TrialFiles RunDirectory::FilesOf(const TrialRecord& record) const {
  const std::string folder = FolderOf(record) + "/";
  const auto if_there = [](std::string path) {
    return sys::IsThere(path) ? std::optional(std::move(path)) : std::nullopt;
  };
  return {.trace = record.trace ? folder + record.trace->file : "",
          .request = if_there(folder + kRequestFile),
          .log = if_there(folder + experiment::kServerLog)};
}

bool IsRunDirectory(const std::string& path) {
  std::error_code error;
  const bool spec = fs::is_regular_file(fs::path(path) / kSpecFile, error);
  if (error == std::errc::permission_denied) return true;  // who opens it is told
  return spec && fs::is_regular_file(fs::path(path) / kInfoFile, error);
}

}  // namespace culprit::store
