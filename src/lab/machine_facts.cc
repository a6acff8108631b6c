#include "lab/machine_facts.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/parse_number.h"
#include "collect/registry.h"
#include "experiment/server_flags.h"
#include "gpu/attribute.h"
#include "gpu/registry.h"
#include "host/health.h"
#include "host/journal.h"
#include "host/knob.h"
#include "host/machine_lock.h"
#include "host/power_profile.h"
#include "host/services.h"
#include "lab/control_groups.h"
#include "lab/trial.h"
#include "lab/variant_files.h"
#include "sys/folder.h"
#include "sys/host_time.h"
#include "sys/ports.h"

namespace culprit::lab {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Status;
using experiment::Spec;

// What a path names, or the nearest above it that is there.
std::string NearestThere(fs::path path) {
  while (!sys::IsThere(path.string()) && path.has_relative_path()) path = path.parent_path();
  return path.empty() ? "." : path.string();
}

Status CheckWritable(const std::string& folder) {
  if (!sys::IsFolder(folder)) return Fail(ErrorCode::kEnvironment, "is no folder", folder);
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return Fail(ErrorCode::kEnvironment, "cannot be written", folder);
}

MachineFacts::Journaling LookAtJournaling() {
  MachineFacts::Journaling facts{.state_folder = host::StateFolder(), .lock = {}, .unfinished = {}};
  facts.writable = facts.state_folder && CheckWritable(NearestThere(*facts.state_folder));
  const auto lock = host::MachineLock::Acquire("culprit doctor", false, {});
  if (!lock) {
    facts.lock = Fail(lock.error());
    return facts;  // a journal is that run's then
  }
  if (!facts.state_folder) return facts;
  const auto journal = host::Journal::OpenUnfinished(*facts.state_folder);
  if (!journal) {
    facts.unfinished = Fail(journal.error());
  } else if (*journal) {
    facts.unfinished = Fail(ErrorCode::kNotRestored,
                            "a run was broken off and the machine is not "
                            "put back",
                            (*journal)->path());
  }
  return facts;
}

void LookAtDevices(const Inspection& inspection, MachineFacts& facts) {
  const gpu::Places places{inspection.root + "/sys", inspection.root + "/proc", inspection.nvml};
  auto found = gpu::FindDevices(places);
  for (const auto& device : found.devices) static_cast<void>(device->Read(sys::BoottimeNow()));
  if (inspection.pause) inspection.pause();
  for (const auto& device : found.devices) {
    MachineFacts::Device one{device->info().name, device->info().vendor, {}, {}};
    one.busy = device->Read(sys::BoottimeNow()).busy;
    if (const auto pids = device->Processes()) {
      one.others = gpu::ForeignProcesses(places.proc, *pids, ::getpgrp());
      std::erase_if(*one.others, [](const auto& process) { return DrawsTheScreen(process); });
    }
    facts.devices.push_back(std::move(one));
  }
  facts.device_problems = std::move(found.problems);
}

// An AMD device is opened as /dev/kfd and /dev/dri/renderD128.
void LookAtDeviceFiles(const std::string& root, MachineFacts& facts) {
  const bool amd = std::any_of(facts.devices.begin(), facts.devices.end(), [](const auto& device) {
    return device.vendor == gpu::Vendor::kAmd;
  });
  if (!amd) return;
  std::vector<std::string> paths = gpu::NumberedEntries(root + "/dev/dri", "renderD");
  paths.insert(paths.begin(), root + "/dev/kfd");
  for (const std::string& path : paths) {
    facts.device_files.push_back({path, ::access(path.c_str(), R_OK | W_OK) == 0});
  }
}

// 3.08 5.34 5.95 4/109 1803
std::optional<double> LoadAverage(const std::string& root) {
  const std::string text = gpu::ReadAttribute(root + "/proc/loadavg").value_or("");
  double load = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), load);
  if (error != std::errc()) return std::nullopt;
  return load;
}

// always [madvise] never
std::optional<std::string> ChosenInBrackets(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto begin = text->find('['), end = text->find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  return text->substr(begin + 1, end - begin - 1);
}

// MemTotal:       65536000 kB
std::optional<std::uint64_t> TotalMemory(const std::string& root) {
  const auto line = gpu::ReadAttribute(root + "/proc/meminfo");
  if (!line || !line->starts_with("MemTotal:")) return std::nullopt;
  const auto digits = line->find_first_of("0123456789");
  if (digits == std::string::npos) return std::nullopt;
  const auto kib = base::ParseNumber(line->substr(digits, line->find(' ', digits) - digits));
  if (!kib || *kib < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*kib) * 1024;
}

void LookAtProcessors(const std::string& root, MachineFacts& facts) {
  const ControlGroupLimits limits = ReadControlGroups(root);
  auto& processors = facts.processors;
  processors.online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  processors.allowed = limits.processors;
  cpu_set_t own;
  if (::sched_getaffinity(0, sizeof own, &own) == 0) {
    const double bound = CPU_COUNT(&own);
    processors.allowed = std::min(processors.allowed.value_or(bound), bound);
  }
  processors.load = LoadAverage(root);
  processors.governor =
      gpu::ReadAttribute(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  processors.huge_pages =
      ChosenInBrackets(gpu::ReadAttribute(root + "/sys/kernel/mm/transparent_hugepage/enabled"));
  facts.memory = {TotalMemory(root), limits.memory_bytes};
}

base::Status CheckCollector(const Spec& spec, const experiment::Variant& variant) {
  if (spec.collector.empty()) return {};
  const auto collector = collect::MakeCollector(spec.collector);
  if (!collector) return Fail(collector.error());
  return (*collector)->Check(SubjectOf(LaunchOf(spec, variant, 0, "")), sys::StopSignal());
}

bool HasModel(const experiment::Variant& variant) {
  return variant.model || experiment::Uses(experiment::Option::kFetchedModel, variant.arguments);
}

void LookAtVariants(const Spec& spec, MachineFacts& facts) {
  for (const auto& variant : spec.variants) {
    MachineFacts::Variant one{.label = variant.label,
                              .folder = CheckFolder(variant),
                              .binary = CheckBinary(variant),
                              .model = CheckModel(variant),
                              .collector = {},
                              .has_model = HasModel(variant),
                              .model_bytes = {}};
    if (one.folder && one.binary) one.binary = TryBinary(variant);
    if (one.folder && one.binary) one.collector = CheckCollector(spec, variant);
    if (variant.model) {
      std::error_code error;
      const auto size = fs::file_size(*variant.model, error);
      if (!error) one.model_bytes = size;
    }
    facts.variants.push_back(std::move(one));
  }
}

// Logs and records take little; the KV caches of a kept prompt may take as much as the model.
void LookAtDisk(const Spec& spec, const Inspection& inspection, MachineFacts& facts) {
  constexpr std::uint64_t kRunDirectory = std::uint64_t{1} << 30;
  std::uint64_t needed = kRunDirectory;
  for (const auto& variant : facts.variants) {
    if (spec.workload.cache_prompt) needed += variant.model_bytes.value_or(0);
  }
  const std::string folder = NearestThere(inspection.run_folder);
  facts.disk = {folder, CheckWritable(folder), {}, needed};
  std::error_code error;
  const auto space = fs::space(folder, error);
  if (!error) facts.disk.free = space.available;
}

void LookAtCoreDumps(const std::string& root, MachineFacts& facts) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) == 0) facts.core_dumps.limit = limit.rlim_cur;
  facts.core_dumps.pattern =
      gpu::ReadAttribute(root + "/proc/sys/kernel/core_pattern").value_or("");
}

MachineFacts::Setting LookAtSetting(const std::string& id, bool optional) {
  constexpr std::chrono::seconds kRest{2};
  const host::Announce nobody = [](const sys::ProcessIdentity&, std::string_view) {
    return Status();
  };
  auto knob = host::MakeKnob(id, kRest);
  if (!knob) return {id, Fail(knob.error()), {}, optional};
  MachineFacts::Setting setting{(*knob)->Description(), (*knob)->Read(), {}, optional};
  const bool changes = setting.present && *setting.present != host::kStopped;
  if (changes) setting.can_return = (*knob)->CanReturn(*setting.present, nobody);
  return setting;
}

void LookAtSettings(const Spec& spec, MachineFacts& facts) {
  using host::ServiceScope;
  for (const auto& unit : spec.machine.stop_services) {
    facts.settings.push_back(LookAtSetting(host::ServiceId(ServiceScope::kSystem, unit), false));
  }
  for (const auto& unit : spec.machine.stop_user_services) {
    facts.settings.push_back(LookAtSetting(host::ServiceId(ServiceScope::kUser, unit), false));
  }
  if (spec.machine.power_profile) {
    facts.settings.push_back(LookAtSetting(std::string(host::kPowerProfileId), true));
  }
  for (const int port : spec.machine.health) {
    const std::string url = fmt::format("http://127.0.0.1:{}/health", port);
    facts.health.push_back({url, host::AnswersOk(url)});
  }
}

}  // namespace

MachineFacts InspectMachine(const Spec& spec, const Inspection& inspection) {
  MachineFacts facts{.journaling = LookAtJournaling()};
  facts.ports = {spec.port, sys::FreePort(static_cast<std::uint16_t>(spec.port))};
  LookAtDevices(inspection, facts);
  LookAtDeviceFiles(inspection.root, facts);
  LookAtProcessors(inspection.root, facts);
  LookAtVariants(spec, facts);
  LookAtDisk(spec, inspection, facts);
  LookAtCoreDumps(inspection.root, facts);
  LookAtSettings(spec, facts);
  return facts;
}

}  // namespace culprit::lab
