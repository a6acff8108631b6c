#include "lab/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/number_format.h"
#include "gpu/idle.h"

namespace culprit::lab {
namespace {

using Level = Symptom::Level;

class Examination {
 public:
  explicit Examination(const MachineFacts& facts) : facts_(facts) {}

  std::vector<Symptom> Run() {
    ExamineJournaling();
    ExaminePort();
    ExamineDevices();
    ExamineProcessors();
    ExamineMemory();
    ExamineDisk();
    ExamineCoreDumps();
    ExamineSettings();
    ExamineVariants();
    return std::move(symptoms_);
  }

 private:
  void Add(Level level, std::string id, std::string text, std::string hint = {}) {
    symptoms_.push_back({level, std::move(id), std::move(text), std::move(hint)});
  }
  // An error has its own hint, or gets this one.
  void Add(Level level, std::string id, base::Error error, std::string hint = {}) {
    if (!error.hint.empty()) hint = std::exchange(error.hint, "");
    Add(level, std::move(id), error.Text(), std::move(hint));
  }

  void ExamineJournaling() {
    const auto& [state, writable, lock, unfinished] = facts_.journaling;
    if (!state) {
      Add(Level::kProblem, "state_folder", state.error(), "set HOME or CULPRIT_STATE_DIR");
    } else if (!writable) {
      Add(Level::kProblem, "state_folder",
          *state + " cannot be written: no journal, so nothing is borrowed",
          "give it to this user, or set CULPRIT_STATE_DIR");
    } else {
      Add(Level::kOk, "state_folder", *state + " can be written");
    }
    if (!lock) {
      Add(Level::kProblem, "machine_lock", lock.error(), "a run waits until that one has ended");
    } else if (!unfinished) {
      Add(Level::kProblem, "journal", unfinished.error(), "culprit restore puts it back");
    } else {
      Add(Level::kOk, "machine_lock", "nobody else measures here, and nothing is left to restore");
    }
  }

  void ExaminePort() {
    const auto& [wanted, free] = facts_.ports;
    if (!free) {
      Add(Level::kProblem, "port", free.error(), "name another first port with --port");
    } else if (*free != wanted) {
      Add(Level::kNotice, "port",
          fmt::format("port {} is taken: servers will listen on {}", wanted, *free));
    } else {
      Add(Level::kOk, "port", fmt::format("port {} is free", wanted));
    }
  }

  void ExamineDevices() {
    for (const auto& device : facts_.devices) ExamineDevice(device);
    for (const auto& problem : facts_.device_problems) {
      Add(Level::kProblem, "device_not_found", problem);
    }
    for (const auto& [path, usable] : facts_.device_files) {
      if (usable) continue;
      Add(Level::kProblem, "device_permission", path + " cannot be opened by this user",
          "join the groups render and video, and log in again");
    }
  }

  void ExamineDevice(const MachineFacts::Device& device) {
    const std::string name = fmt::format("{} ({})", device.name, gpu::Name(device.vendor));
    if (!device.busy) {
      Add(Level::kWarning, "device_unreadable", name + " does not say how busy it is",
          "a run cannot wait for it to be idle");
    } else if (*device.busy > gpu::RuleFor(device.vendor).busy) {
      Add(Level::kWarning, "device_busy",
          fmt::format("{} is {} busy", name, base::Percent(*device.busy)),
          "each trial waits until it is idle: stop what uses it");
    } else {
      Add(Level::kOk, "device", name + " is idle");
    }
    if (device.others && !device.others->empty()) {
      std::vector<std::string> names;
      for (const auto& [pid, command] : *device.others) {
        names.push_back(fmt::format("{} {}", pid, command));
      }
      Add(Level::kWarning, "foreign_process",
          fmt::format("{} is in use by {}", name, fmt::join(names, ", ")),
          "a trial that shares its device is void: stop it, or have a run stop its service with "
          "--stop-service");
    }
  }

  void ExamineProcessors() {
    const auto& processors = facts_.processors;
    const double usable = processors.allowed.value_or(processors.online);
    if (usable < processors.online) {
      Add(Level::kWarning, "cpu_limit",
          fmt::format("only {} of {} processors may be used", base::Plain(usable),
                      processors.online),
          "servers must not start more threads (-t), or they are throttled");
    }
    // A server alone takes a part of its load with it for a minute.
    constexpr double kQuiet = 0.25;
    if (processors.load && *processors.load > kQuiet * usable) {
      Add(Level::kWarning, "load",
          fmt::format("the load average is {}", base::Plain(*processors.load)),
          "other programs are running: their noise is in every trial");
    } else if (processors.load) {
      Add(Level::kOk, "load", fmt::format("the load average is {}", base::Plain(*processors.load)));
    }
    if (processors.governor && *processors.governor != "performance") {
      Add(Level::kNotice, "governor",
          fmt::format("the processors' governor is {}: clocks follow the load",
                      *processors.governor),
          "--power-profile performance, where powerprofilesctl is installed");
    }
    if (processors.huge_pages) {
      Add(Level::kNotice, "huge_pages",
          fmt::format("transparent huge pages: {}", *processors.huge_pages));
    }
  }

  void ExamineMemory() {
    const auto& [total, allowed] = facts_.memory;
    if (total && allowed && *allowed < *total) {
      Add(Level::kWarning, "memory_limit",
          fmt::format("only {} of {} memory may be used", base::Bytes(*allowed),
                      base::Bytes(*total)),
          "a server that takes more is killed");
    }
  }

  void ExamineDisk() {
    const auto& [folder, usable, free, needed] = facts_.disk;
    if (!usable) {
      Add(Level::kProblem, "run_directory", usable.error(), "name another place with --into");
    }
    if (!free || !needed) return;
    const std::string text = fmt::format("{} free for the run directory in {}, {} wanted",
                                         base::Bytes(*free), folder, base::Bytes(*needed));
    Add(*free < *needed ? Level::kProblem : Level::kOk, "disk", text,
        *free < *needed ? "make room, or name another place with --into" : "");
  }

  void ExamineCoreDumps() {
    const auto& [limit, pattern] = facts_.core_dumps;
    constexpr std::uint64_t kLarge = std::uint64_t{1} << 30;
    if (pattern.starts_with('|')) {  // a program gets it all, whatever the limit
      Add(Level::kNotice, "core_dumps",
          "the memory of a server that crashes is piped into " + pattern.substr(1),
          "with a large model that takes minutes");
    } else if (!pattern.empty() && limit >= kLarge) {
      Add(Level::kWarning, "core_dumps",
          "a server that crashes writes its whole memory to the disk, model included",
          "forbid it with ulimit -c 0");
    } else {
      Add(Level::kOk, "core_dumps", "a server that crashes leaves no core file");
    }
  }

  void ExamineSettings() {
    for (const auto& [what, present, can_return, optional] : facts_.settings) {
      const Level bad = optional ? Level::kWarning : Level::kProblem;
      if (!present) {
        base::Error error = present.error();
        Add(bad, "setting", std::move(error).In(what));
      } else if (!can_return) {
        base::Error error = can_return.error();
        Add(bad, "setting", std::move(error).In(what));
      } else {
        Add(Level::kOk, "setting", fmt::format("{} is {} and can be changed", what, *present));
      }
    }
    for (const auto& [url, answers] : facts_.health) {
      if (answers) {
        Add(Level::kOk, "health", url + " answers");
      } else {
        Add(Level::kWarning, "health", url + " does not answer 200 now",
            "it will not be waited for at the end");
      }
    }
  }

  void ExamineVariants() {
    for (const auto& variant : facts_.variants) {
      for (const base::Status* status : {&variant.folder, &variant.binary, &variant.model}) {
        if (*status) continue;
        base::Error error = status->error();
        Add(Level::kProblem, "variant", std::move(error).In(variant.label));
      }
      if (!variant.has_model) {
        Add(Level::kWarning, "no_model", variant.label + " names no model",
            "give model=PATH or --model, unless the server has one of its own");
      }
      if (!variant.collector) {
        base::Error error = variant.collector.error();
        Add(Level::kProblem, "collector", std::move(error).In(variant.label));
      }
      const auto& limit = facts_.memory.allowed ? facts_.memory.allowed : facts_.memory.total;
      if (variant.model_bytes && limit && *variant.model_bytes > *limit) {
        Add(Level::kWarning, "model_size",
            fmt::format("{}: its model has {}, more than the memory of {}", variant.label,
                        base::Bytes(*variant.model_bytes), base::Bytes(*limit)));
      }
    }
  }

  const MachineFacts& facts_;
  std::vector<Symptom> symptoms_;
};

}  // namespace

std::vector<Symptom> Examine(const MachineFacts& facts) { return Examination(facts).Run(); }

}  // namespace culprit::lab
