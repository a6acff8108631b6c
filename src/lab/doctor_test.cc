#include "lab/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace culprit::lab {
namespace {

using base::ErrorCode;
using base::Fail;
using Level = Symptom::Level;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

MachineFacts HealthyMachine() {
  MachineFacts facts{.journaling = {.state_folder = "/home/me/.local/state/culprit",
                                    .writable = true,
                                    .lock = {},
                                    .unfinished = {}}};
  facts.ports = {8101, 8101};
  facts.devices = {{"Radeon 8060S", gpu::Vendor::kAmd, base::Fraction(0), {{}}}};
  facts.device_files = {{"/dev/kfd", true}, {"/dev/dri/renderD128", true}};
  facts.processors = {32, 32, 0.2, "performance", {}};
  facts.memory = {128 * kGib, {}};
  facts.disk = {".", {}, 90 * kGib, kGib};
  facts.core_dumps = {0, "core"};
  return facts;
}

// Everything but what is as it should be.
std::vector<Symptom> Complaints(const MachineFacts& facts) {
  auto symptoms = Examine(facts);
  std::erase_if(symptoms, [](const Symptom& symptom) { return symptom.level == Level::kOk; });
  return symptoms;
}

TEST(Doctor, HasNothingToSayOfAHealthyMachine) {
  EXPECT_THAT(Complaints(HealthyMachine()), IsEmpty());
  EXPECT_THAT(
      Examine(HealthyMachine()),
      ElementsAre(
          Symptom{Level::kOk, "state_folder", "/home/me/.local/state/culprit can be written", ""},
          Symptom{Level::kOk, "machine_lock",
                  "nobody else measures here, and nothing is left to restore", ""},
          Symptom{Level::kOk, "port", "port 8101 is free", ""},
          Symptom{Level::kOk, "device", "Radeon 8060S (AMD) is idle", ""},
          Symptom{Level::kOk, "load", "the load average is 0.20", ""},
          Symptom{Level::kOk, "disk", "90.0 GiB free for the run directory in ., 1.0 GiB wanted",
                  ""},
          Symptom{Level::kOk, "core_dumps", "a server that crashes leaves no core file", ""}));
}

TEST(Doctor, SeesThatModelAndCollectorAreNotThere) {
  MachineFacts facts = HealthyMachine();
  MachineFacts::Variant variant{
      .label = "f16",
      .folder = {},
      .binary = {},
      .model = {},
      .collector = Fail(ErrorCode::kEnvironment, "is not there", "rocprofv3", "install it"),
      .has_model = false,
      .model_bytes = {}};
  facts.variants.push_back(variant);
  EXPECT_THAT(
      Complaints(facts),
      ElementsAre(
          Symptom{Level::kWarning, "no_model", "f16 names no model",
                  "give model=PATH or --model, unless the server has one of its own"},
          Symptom{Level::kProblem, "collector", "f16: rocprofv3: is not there", "install it"}));
}

TEST(Doctor, StopsAtWhatIsLeftOfAnotherRun) {
  MachineFacts facts = HealthyMachine();
  facts.journaling.unfinished = Fail(ErrorCode::kNotRestored, "was broken off", "journal.jsonl");
  EXPECT_THAT(Complaints(facts),
              ElementsAre(Symptom{Level::kProblem, "journal", "journal.jsonl: was broken off",
                                  "culprit restore puts it back"}));
  facts.journaling.lock = Fail(ErrorCode::kEnvironment, "in use by process 7");
  EXPECT_THAT(Complaints(facts),
              ElementsAre(Symptom{Level::kProblem, "machine_lock", "in use by process 7",
                                  "a run waits until that one has ended"}));
  facts = HealthyMachine();
  facts.journaling.writable = false;
  EXPECT_EQ(Complaints(facts).front().id, "state_folder");
}

TEST(Doctor, TellsWhatSpoilsTrials) {
  MachineFacts facts = HealthyMachine();
  facts.devices[0].busy = base::Fraction(1);
  facts.devices[0].others = {{4711, "python3"}};
  facts.processors = {32, 4, 9.5, "powersave", "always"};
  facts.memory.allowed = 16 * kGib;
  EXPECT_THAT(
      Complaints(facts),
      ElementsAre(
          Symptom{Level::kWarning, "device_busy", "Radeon 8060S (AMD) is 100.0 % busy",
                  "each trial waits until it is idle: stop what uses it"},
          Symptom{Level::kWarning, "foreign_process",
                  "Radeon 8060S (AMD) is in use by 4711 python3",
                  "a trial that shares its device is void: stop it, or have a run stop its "
                  "service with --stop-service"},
          Symptom{Level::kWarning, "cpu_limit", "only 4 of 32 processors may be used",
                  "servers must not start more threads (-t), or they are throttled"},
          Symptom{Level::kWarning, "load", "the load average is 9.50",
                  "other programs are running: their noise is in every trial"},
          Symptom{Level::kNotice, "governor",
                  "the processors' governor is powersave: clocks follow the load",
                  "--power-profile performance, where powerprofilesctl is installed"},
          Symptom{Level::kNotice, "huge_pages", "transparent huge pages: always", ""},
          Symptom{Level::kWarning, "memory_limit", "only 16.0 GiB of 128.0 GiB memory may be used",
                  "a server that takes more is killed"}));
}

TEST(Doctor, ComplainsOfDevicesThatCannotBeOpened) {
  MachineFacts facts = HealthyMachine();
  facts.device_files[0].usable = false;
  facts.device_problems = {
      {ErrorCode::kEnvironment, "driver and library differ", "NVML", "reboot"}};
  EXPECT_THAT(
      Complaints(facts),
      ElementsAre(
          Symptom{Level::kProblem, "device_not_found", "NVML: driver and library differ", "reboot"},
          Symptom{Level::kProblem, "device_permission", "/dev/kfd cannot be opened by this user",
                  "join the groups render and video, and log in again"}));
}

TEST(Doctor, WeighsCoreDumpsByWhereTheyGo) {
  MachineFacts facts = HealthyMachine();
  facts.core_dumps = {~std::uint64_t{0}, "core.%p"};
  EXPECT_EQ(Complaints(facts).front().level, Level::kWarning);
  facts.core_dumps = {0, "|/usr/lib/systemd/systemd-coredump %P"};
  EXPECT_EQ(Complaints(facts).front().level, Level::kNotice) << "the limit does not count there";
}

TEST(Doctor, LetsARunGoOnWithoutWhatIsOptional) {
  MachineFacts facts = HealthyMachine();
  facts.settings = {
      {"service qwen.service", "active", Fail(ErrorCode::kEnvironment, "no sudo"), false},
      {"power profile", Fail(ErrorCode::kNotFound, "is not installed"), {}, true}};
  facts.health = {{"http://127.0.0.1:8001/health", false}};
  EXPECT_THAT(
      Complaints(facts),
      ElementsAre(
          Symptom{Level::kProblem, "setting", "service qwen.service: no sudo", ""},
          Symptom{Level::kWarning, "setting", "power profile: is not installed", ""},
          Symptom{Level::kWarning, "health", "http://127.0.0.1:8001/health does not answer 200 now",
                  "it will not be waited for at the end"}));
}

TEST(Doctor, NamesTheVariantThatCannotRun) {
  MachineFacts facts = HealthyMachine();
  facts.disk.free = kGib / 2;
  facts.variants.push_back({.label = "q4",
                            .folder = {},
                            .binary = Fail(ErrorCode::kEnvironment, "is no program", "bin/x"),
                            .model = {},
                            .collector = {},
                            .model_bytes = 200 * kGib});
  EXPECT_THAT(
      Complaints(facts),
      ElementsAre(Symptom{Level::kProblem, "disk",
                          "512.0 MiB free for the run directory in ., 1.0 GiB wanted",
                          "make room, or name another place with --into"},
                  Symptom{Level::kProblem, "variant", "q4: bin/x: is no program", ""},
                  Symptom{Level::kWarning, "model_size",
                          "q4: its model has 200.0 GiB, more than the memory of 128.0 GiB", ""}));
}

}  // namespace
}  // namespace culprit::lab
