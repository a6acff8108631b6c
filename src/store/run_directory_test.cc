#include "store/run_directory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "store/completion_json.h"
#include "store/record_json.h"
#include "sys/atomic_file.h"
#include "sys/sample_files.h"
#include "sys/text_file.h"

namespace culprit::store {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::HostTime;
using base::Nanos;
using base::Tokens;
using experiment::TrialRecord;

experiment::Spec TwoVariants() {
  experiment::Spec spec;
  spec.variants = {{.label = "f16", .binary = "/opt/a"}, {.label = "q4", .binary = "/opt/a"}};
  return spec;
}

TrialRecord FullRecord() {
  TrialRecord record;
  record.id = 7;
  record.pair = 3;
  record.position = 6;
  record.variant = "q4";
  record.started = "2026-11-30T07:00:00Z";
  experiment::Completion completion;
  completion.clock = base::NamedClock::kBoottime;
  completion.sent = HostTime(Nanos(1'000));
  completion.arrivals = {HostTime(Nanos(2'000)), HostTime(Nanos(3'000))};
  completion.ended = HostTime(Nanos(4'000));
  completion.prompt = Tokens(20'000);
  completion.generated = Tokens(2);
  completion.finish_reason = "length";
  completion.text = "a\n\"b\"";
  completion.token_ids = {5, 17};
  completion.timings = experiment::ServerTimings{.prompt = Tokens(20'000)};
  completion.timings->prompt_time = base::NanosF(1488.075e6);
  completion.timings->cached = Tokens(0);
  completion.timings->predicted = Tokens(2);
  completion.timings->predicted_time = base::NanosF(3.5e6);
  completion.timings->draft = experiment::DraftCounters{Tokens(3), Tokens(0)};
  record.completion = completion;
  record.facts = {{"kv_cache_mib", "1572"}, {"backend", "ROCm0"}};
  record.objects = {{"/opt/a", "abc"}};
  record.gate = experiment::Gate{.idle = true, .cooled = false, .waited = Nanos(5), .why_not = ""};
  record.readings["decode"] = {.values = {{"power_w", {.mean = 90.5, .min = 80, .max = 100}}},
                               .throttled = {{"thermal"}}};
  record.energy_j = 12.5;
  record.foreign_processes = {"17 python3"};
  record.load_time = Nanos(6'000'000'000);
  record.objections = {{"throttled", "the device throttled"}};
  return record;
}

// The records compare by what they are written as.
std::string AsText(const TrialRecord& record) {
  return WriteRecord(record) + (record.completion ? WriteCompletion(*record.completion) : "");
}

TEST(RunDirectory, GivesBackWhatWasPutIn) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  auto run = RunDirectory::Create(path, TwoVariants(),
                                  {.culprit_version = "0.1.0",
                                   .machine = {{"gpu", "H200"}},
                                   .floors = {.decode = base::Fraction(0.015)}});
  ASSERT_TRUE(run) << run.error().Text();
  ASSERT_TRUE(run->WritePrompt("Once upon"));
  ASSERT_TRUE(run->BeginTrial());
  ASSERT_TRUE(run->EndTrial(FullRecord()));
  EXPECT_TRUE(fs::exists(path + "/trials/007-q4/request.json"));
  EXPECT_FALSE(fs::exists(path + "/trials/.next"));

  const auto again = RunDirectory::Open(path);
  ASSERT_TRUE(again) << again.error().Text();
  EXPECT_EQ(again->spec(), TwoVariants());
  EXPECT_EQ(again->info().machine.at("gpu"), "H200");
  EXPECT_EQ(again->info().floors.decode, base::Fraction(0.015));
  EXPECT_FALSE(again->info().floors.prefill);
  EXPECT_EQ(again->ReadPrompt().value(), "Once upon");
  ASSERT_EQ(again->trials().size(), 1U);
  TrialRecord expected = FullRecord();
  expected.setting = again->trials()[0].setting;
  EXPECT_EQ(expected.setting.size(), 16U);
  EXPECT_EQ(AsText(again->trials()[0]), AsText(expected));
}

TEST(RunDirectory, KeepsTracedTrialsApart) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  auto run = RunDirectory::Create(path, TwoVariants(), {});
  ASSERT_TRUE(run && run->BeginTrial() && run->EndTrial(FullRecord()));
  TrialRecord traced = FullRecord();
  traced.id = 1;
  traced.collector = "rocprofv3";
  traced.trace = experiment::CollectedTrace{.file = "rocprofv3/1_results.db",
                                            .others = {"rocprofv3/2_results.db"},
                                            .bytes = 123,
                                            .flush = Nanos(4'000),
                                            .how = "it was told to",
                                            .notes = {"a note"}};
  const auto next = run->BeginTrial();
  ASSERT_TRUE(next);
  std::ofstream(*next + "/a.db") << "x";
  ASSERT_TRUE(run->EndTrial(traced));
  EXPECT_TRUE(fs::exists(path + "/traces/001-q4/a.db"));

  const auto again = RunDirectory::Open(path);
  ASSERT_TRUE(again) << again.error().Text();
  EXPECT_EQ(again->trials().size(), 1U);
  ASSERT_EQ(again->traces().size(), 1U);
  EXPECT_EQ(again->traces()[0].collector, "rocprofv3");
  EXPECT_EQ(again->traces()[0].trace, traced.trace);
  const std::string trial = path + "/traces/001-q4";
  EXPECT_EQ(again->FolderOf(again->traces()[0]), trial);
  const TrialFiles files = again->FilesOf(again->traces()[0]);
  EXPECT_EQ(files.trace, trial + "/rocprofv3/1_results.db");
  EXPECT_EQ(files.request, trial + "/request.json");
  EXPECT_EQ(files.log, std::nullopt) << "it has none";
}

// A count must never meet a time: what counted is in a third place, and nowhere else.
TEST(RunDirectory, KeepsTrialsThatCountedApartFromBoth) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  auto run = RunDirectory::Create(path, TwoVariants(), {.counter_passes = {{"A", "B"}, {"C"}}});
  ASSERT_TRUE(run && run->BeginTrial() && run->EndTrial(FullRecord()));
  TrialRecord counted = FullRecord();
  counted.id = 1;
  counted.collector = "rocprofv3 --pmc";
  counted.counters = {"A", "B"};
  ASSERT_TRUE(run->BeginTrial() && run->EndTrial(counted));
  const std::string place = path + "/counters/001-q4";
  EXPECT_TRUE(fs::exists(place + "/trial.json"));

  const auto again = RunDirectory::Open(path);
  ASSERT_TRUE(again) << again.error().Text();
  EXPECT_EQ(again->trials().size(), 1U);
  EXPECT_TRUE(again->traces().empty());
  ASSERT_EQ(again->counters().size(), 1U);
  EXPECT_EQ(again->counters()[0].counters, counted.counters);
  EXPECT_EQ(again->FolderOf(again->counters()[0]), place);
  EXPECT_EQ(again->info().counter_passes.size(), 2U);

  fs::create_directory(path + "/traces");
  fs::copy(place, path + "/traces/001-q4");
  const auto moved = RunDirectory::Open(path);
  ASSERT_TRUE(moved);
  ASSERT_EQ(moved->traces().size(), 1U);
  EXPECT_FALSE(moved->traces()[0].valid());
  EXPECT_EQ(moved->FolderOf(moved->traces()[0]), path + "/traces/001-q4");
  fs::copy(path + "/trials/007-q4", path + "/counters/002-q4");
  const auto timed = RunDirectory::Open(path);
  ASSERT_TRUE(timed);
  ASSERT_EQ(timed->counters().size(), 2U);
  EXPECT_FALSE(timed->counters()[1].valid());
  fs::copy(place, path + "/trials/008-q4");
  const auto refused = RunDirectory::Open(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().Text(),
            path +
                "/trials/008-q4: this trial ran under rocprofv3 --pmc: its times are no speed, and "
                "its place is counters/");
}

// A traced trial is slow because it is traced, wherever somebody moves its folder.
TEST(RunDirectory, RefusesTracedTrialsAmongTimedOnes) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  auto run = RunDirectory::Create(path, TwoVariants(), {});
  TrialRecord traced = FullRecord();
  traced.collector = "rocprofv3";
  ASSERT_TRUE(run && run->BeginTrial() && run->EndTrial(traced));
  const std::string moved = path + "/trials/007-q4";
  fs::rename(path + "/traces/007-q4", moved);
  const auto refused = RunDirectory::Open(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBadRequest);
  EXPECT_EQ(refused.error().Text(),
            moved +
                ": this trial ran under rocprofv3: its times are no speed, and its place is "
                "traces/");
}

// Nor does it become a timed one when somebody takes what it counted out of its record.
TEST(RunDirectory, RefusesCountsThatNoLongerSayWhatTheyCounted) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  auto run = RunDirectory::Create(path, TwoVariants(), {});
  TrialRecord edited = FullRecord();
  edited.trace = experiment::CollectedTrace{.file = "rocprofv3/a_counter_collection.csv"};
  ASSERT_TRUE(run && run->BeginTrial() && run->EndTrial(edited));
  fs::rename(path + "/traces/007-q4", path + "/trials/007-q4");
  EXPECT_FALSE(RunDirectory::Open(path));
}

// A verdict looks at no trace, so a damaged one must not keep it back.
TEST(RunDirectory, TakesADamagedTraceForALostOne) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  auto run = RunDirectory::Create(path, TwoVariants(), {});
  ASSERT_TRUE(run && run->BeginTrial() && run->EndTrial(FullRecord()));
  fs::create_directories(path + "/traces/003-q4");
  std::ofstream(path + "/traces/003-q4/trial.json") << R"({"id": 3,)";
  const auto again = RunDirectory::Open(path);
  ASSERT_TRUE(again) << again.error().Text();
  EXPECT_EQ(again->trials().size(), 1U);
  ASSERT_EQ(again->traces().size(), 1U);
  const TrialRecord& trace = again->traces()[0];
  EXPECT_EQ(std::pair(trace.id, trace.variant), std::pair(3, std::string("q4")));
  EXPECT_TRUE(trace.traced() && !trace.valid());
  EXPECT_EQ(again->FolderOf(trace), path + "/traces/003-q4");
}

TEST(RunDirectory, KeepsThePromptOfALongContext) {
  const sys::SampleFolder folder;
  auto run = RunDirectory::Create(folder.path() + "/run", TwoVariants(), {});
  ASSERT_TRUE(run) << run.error().Text();
  const std::string prompt(5'000'000, 'a');
  ASSERT_TRUE(run->WritePrompt(prompt));
  EXPECT_TRUE(run->ReadPrompt().value() == prompt);
}

TEST(RunDirectory, DoesNotSeeATrialThatNeverEnded) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  auto run = RunDirectory::Create(path, TwoVariants(), {});
  ASSERT_TRUE(run);
  const auto next = run->BeginTrial();
  ASSERT_TRUE(next);
  std::ofstream(*next + "/trial.json") << "{\"id\": 1, torn";
  EXPECT_TRUE(RunDirectory::Open(path)->trials().empty());
  ASSERT_TRUE(run->BeginTrial());
  EXPECT_TRUE(fs::is_empty(*next));
}

TEST(RunDirectory, IsNeverMadeOverSomethingElse) {
  const sys::SampleFolder folder;
  std::ofstream(folder.path() + "/thesis.tex") << "x";
  const auto run = RunDirectory::Create(folder.path(), TwoVariants(), {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kUsage);
  EXPECT_EQ(run.error().message, "is there already");
}

TEST(RunDirectory, IsRemovedOnlyWhileItHoldsNothing) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  auto run = RunDirectory::Create(path, TwoVariants(), {});
  ASSERT_TRUE(run && run->WritePrompt("Once upon"));
  std::ofstream(path + "/calibration.log") << "why it failed";
  EXPECT_FALSE(run->RemoveUnused());
  EXPECT_TRUE(IsRunDirectory(path));
  fs::remove(path + "/calibration.log");
  EXPECT_TRUE(run->RemoveUnused());
  EXPECT_FALSE(fs::exists(path));

  auto used = RunDirectory::Create(path, TwoVariants(), {});
  ASSERT_TRUE(used && used->BeginTrial());
  EXPECT_FALSE(used->RemoveUnused());
  EXPECT_TRUE(fs::exists(path + "/trials/.next"));
}

TEST(RunDirectory, IsMadeByOneOfTwoThatBeginAtOnce) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { made += RunDirectory::Create(path, TwoVariants(), {}) ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(RunDirectory, RefusesTrialsOfAnotherExperimentThanItHolds) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  auto run = RunDirectory::Create(path, TwoVariants(), {});
  ASSERT_TRUE(run && run->BeginTrial());
  TrialRecord valid = FullRecord();
  valid.objections.clear();
  ASSERT_TRUE(run->EndTrial(valid));
  const auto opened_with = [&](const experiment::Spec& spec) {
    const auto written =
        sys::WriteFileAtomically(path + "/experiment.toml", experiment::WriteSpec(spec));
    EXPECT_TRUE(written);
    const auto again = RunDirectory::Open(path);
    return again ? std::string("opened") : again.error().Text();
  };
  experiment::Spec machine = TwoVariants(), workload = TwoVariants(), other = TwoVariants();
  machine.design.pairs = 12;
  machine.limits.idle_readings = 0;
  machine.variants[1].expect_log = {"x"};
  EXPECT_EQ(opened_with(machine), "opened");
  workload.workload.output = Tokens(64);
  EXPECT_EQ(opened_with(workload),
            path +
                ": trial 7 (q4) was run with another variant or workload than experiment.toml "
                "has now; undo that change, or begin a run of its own");
  other.variants[0].arguments = {"-t", "2"};  // nothing valid was run with it
  EXPECT_EQ(opened_with(other), "opened");
}

TEST(RunDirectory, SaysWhenItsTrialsCannotBeListed) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  ASSERT_TRUE(RunDirectory::Create(path, TwoVariants(), {}));
  fs::create_directory(path + "/trials/lost+found");  // nobody's trial
  EXPECT_TRUE(RunDirectory::Open(path));
  fs::remove_all(path + "/trials");
  const auto run = RunDirectory::Open(path);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(run.error().Text(), path + "/trials: No such file or directory");
}

TEST(RunDirectory, SaysWhichLinkLeadsNowhere) {
  const sys::SampleFolder folder;
  auto run = RunDirectory::Create(folder.path() + "/run", TwoVariants(), {});
  ASSERT_TRUE(run);
  ASSERT_TRUE(run->BeginTrial());
  ASSERT_TRUE(run->EndTrial(FullRecord()));
  const std::string request = run->FolderOf(FullRecord()) + "/request.json";
  const auto error = [&] { return RunDirectory::Open(run->path()).error().Text(); };
  fs::remove(request);
  fs::create_symlink("request.json", request);
  EXPECT_EQ(error(), request + ": Too many levels of symbolic links");
  fs::remove(request);
  fs::create_symlink("nothing", request);
  EXPECT_EQ(error(), request + ": is a link that leads nowhere");
  fs::remove(request);
  fs::create_symlink("loop", run->path() + "/trials/loop");
  const auto without = RunDirectory::Open(run->path());
  ASSERT_TRUE(without) << without.error().Text();
  EXPECT_EQ(without->trials().size(), 1U);
}

TEST(RunDirectory, NamesTheFileThatIsDamaged) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  EXPECT_EQ(RunDirectory::Open(path).error().code, ErrorCode::kNotFound);
  auto run = RunDirectory::Create(path, TwoVariants(), {});
  ASSERT_TRUE(run);
  ASSERT_TRUE(run->BeginTrial());
  ASSERT_TRUE(run->EndTrial(FullRecord()));
  std::ofstream(path + "/trials/007-q4/trial.json") << R"({"id": "seven"})";
  const auto damaged = RunDirectory::Open(path);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kBadRequest);
  EXPECT_THAT(damaged.error().Text(),
              testing::HasSubstr("trials/007-q4/trial.json: is no record of a trial: \"id\" is "
                                 "missing or makes no sense"));
}

TEST(RunDirectory, NamesTheKeyThatMakesNoSense) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  ASSERT_TRUE(RunDirectory::Create(path, TwoVariants(), {}));
  for (const auto& [key, rest] : std::vector<std::pair<std::string, std::string>>{
           {"format", R"("format": true)"},
           {"format", R"("format": 1.9)"},
           {"format", R"("culprit": "x")"},
           {"culprit", R"("format": 1, "culprit": 5)"},
           {"machine", R"("format": 1, "machine": {"device": 5})"},
           {"notes", R"("format": 1, "notes": [5])"},
           {"noise_floor", R"("format": 1, "noise_floor": [])"},
           {"noise_floor.decode", R"("format": 1, "noise_floor": {"decode": -1})"},
           {"noise_floor.prefill", R"("format": 1, "noise_floor": {"prefill": 1e300})"},
           {"noise_floor.prefill", R"("format": 1, "noise_floor": {"prefill": "x"})"}}) {
    ASSERT_TRUE(sys::WriteFileAtomically(path + "/run.json", "{" + rest + "}"));
    const auto run = RunDirectory::Open(path);
    ASSERT_FALSE(run) << rest;
    EXPECT_EQ(run.error().Text(),
              fmt::format("{}/run.json: \"{}\" is missing or makes no sense", path, key));
  }
  ASSERT_TRUE(sys::WriteFileAtomically(path + "/run.json",
                                       R"({"format": 1, "noise_floor": {"decode": null}})"));
  EXPECT_TRUE(RunDirectory::Open(path));
}

TEST(RunDirectory, RefusesALaterFormat) {
  const sys::SampleFolder folder;
  const std::string path = folder.path() + "/run";
  ASSERT_TRUE(RunDirectory::Create(path, TwoVariants(), {}));
  std::ofstream(path + "/run.json") << R"({"format": 2})";
  EXPECT_EQ(RunDirectory::Open(path).error().Text(),
            path + "/run.json: has format 2; this culprit reads format 1; take a newer one");
}

}  // namespace
}  // namespace culprit::store
