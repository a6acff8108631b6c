#include "lab/trial.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/prctl.h>

#include <csignal>

#include "lab/fake_lab.h"
#include "sys/text_file.h"

namespace culprit::lab {
namespace {

using base::ErrorCode;
using base::Json;
using experiment::Objection;
using experiment::TrialRecord;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class Trial : public FakeLab {
 protected:
  base::Result<TrialRecord> Run(Bench& bench) {
    const PlannedTrial planned{.id = 7,
                               .pair = 3,
                               .position = 6,
                               .baseline = true,
                               .variant = &a(),
                               .folder = folder_.path(),
                               .slots = folder_.path()};
    return RunTrial(spec_, kPrompt, planned, bench);
  }
  base::Result<TrialRecord> Run() {
    Bench bench = BenchWith(device_);
    return Run(bench);
  }
  // The text of the only objection to a trial with a fault.
  std::string OnlyObjection(const std::string& fault, const std::string& id) {
    Set(a(), "FAKE_FAULT", fault);
    const auto record = Run();
    EXPECT_TRUE(record) << record.error().Text();
    if (!record || record->objections.size() != 1) return "not one objection";
    EXPECT_EQ(record->objections.front().id, id);
    EXPECT_FALSE(record->completion);
    ExpectNoServerIsLeft();
    return record->objections.front().text;
  }

  gpu::ScriptedDevice device_{Idle};
};

TEST_F(Trial, WarmsUpAndThenMeasuresOnce) {
  Set(a(), "FAKE_REQUESTS", folder_.path() + "/requests");
  spec_.workload.endpoint = experiment::Endpoint::kChat;
  spec_.workload.seed = 43;
  const auto record = Run();
  ASSERT_TRUE(record) << record.error().Text();
  const auto request = [](int tokens) {
    return Json{{"path", "/v1/chat/completions"},
                {"body",
                 {{"stream", true},
                  {"temperature", 0},
                  {"seed", 43},
                  {"cache_prompt", false},
                  {"ignore_eos", true},
                  {"messages", Json::array({{{"role", "user"}, {"content", kPrompt}}})},
                  {"stream_options", {{"include_usage", true}}},
                  {"max_tokens", tokens}}}};
  };
  EXPECT_THAT(Lines("requests"), ElementsAre(request(16), request(8)));
  EXPECT_EQ(record->completion->generated, base::Tokens(8));
  ExpectNoServerIsLeft();
}

TEST_F(Trial, RecordsWhatItIsAndWhatTheServerSays) {
  a().kv = "q8_0";
  const auto record = Run();
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_TRUE(record->valid());
  EXPECT_EQ(record->id, 7);
  EXPECT_EQ(record->pair, 3);
  EXPECT_EQ(record->position, 6);
  EXPECT_TRUE(record->baseline);
  EXPECT_EQ(record->variant, "a");
  EXPECT_GT(record->load_time, base::Nanos(0));
  EXPECT_EQ(record->completion->prompt, base::Tokens(4));
  EXPECT_EQ(record->completion->arrivals.size(), 8u);
  EXPECT_EQ(record->gate->why_not, "");
  EXPECT_TRUE(record->gate->idle);
  EXPECT_THAT(record->facts,
              UnorderedElementsAre(
                  Pair("backend", "CPU"), Pair("build", "b11669-fake"),
                  Pair("chat_template_sha256", testing::SizeIs(16)), Pair("context_tokens", "4096"),
                  Pair("flash_attention", "enabled"), Pair("kv_cache_mib", "4.25"),
                  Pair("kv_cache_type", "q8_0/q8_0"), Pair("layers_on_device", "0/5"),
                  Pair("model", "none"), Pair("slots", "1"), Pair("threads", "2")));
  // The fake is a script: what runs is Python.
  EXPECT_THAT(record->objects, testing::Contains(Pair(HasSubstr("/python3"), testing::SizeIs(64))));
  EXPECT_THAT(sys::ReadText(folder_.path() + "/server.log").value(), HasSubstr("model loaded"));
}

TEST_F(Trial, KeepsLittleOfWhatAHostileServerSays) {
  Set(a(), "FAKE_FAULT", "hostile-props");
  const auto record = Run();
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_EQ(record->facts.at("build").size(), 1000u);
  for (const auto& [key, value] : record->facts) EXPECT_LE(value.size(), 1000u) << key;
}

TEST_F(Trial, EndsWhatTheServerLeavesBehind) {
  Set(a(), "FAKE_FAULT", "daemon");
  const auto record = Run();
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_TRUE(record->valid());
  EXPECT_THAT(record->facts.at("left_behind"), testing::MatchesRegex("[0-9]+ sleep"));
}

TEST_F(Trial, TakesTheServersDeathWithItsReason) {
  EXPECT_THAT(OnlyObjection("die-loading", "server_failed"),
              HasSubstr("llama-server left before it was healthy (killed by signal 6): "
                        "/build/ggml/src/ggml-backend.cpp:1234: GGML_ASSERT(fake) failed"));
}

TEST_F(Trial, TakesADeathDuringTheRequest) {
  EXPECT_THAT(OnlyObjection("die-request", "server_failed"),
              HasSubstr("llama-server left during a request (killed by signal 6): "
                        "/build/ggml/src/ggml-cpu/ops.cpp:4321: GGML_ASSERT(fake) failed"));
}

TEST_F(Trial, TakesAWrongModel) {
  EXPECT_THAT(OnlyObjection("wrong-model", "server_failed"), HasSubstr("failed to open GGUF file"));
}

TEST_F(Trial, TakesWhatARefusingServerSays) {
  EXPECT_THAT(OnlyObjection("error-json", "server_failed"), HasSubstr("the fake refuses"));
}

TEST_F(Trial, TakesAnErrorInTheMiddleOfAnAnswer) {
  EXPECT_THAT(OnlyObjection("error-event", "server_failed"), HasSubstr("Compute error."));
}

TEST_F(Trial, TakesAnAnswerThatIsNone) {
  EXPECT_THAT(OnlyObjection("garbage-sse", "server_failed"),
              HasSubstr("streamed what is no JSON: \\x00\uFFFD\\x1b[31m{{{"));
}

TEST_F(Trial, EndsAServerThatNeverGetsReady) {
  spec_.limits.load = std::chrono::seconds(1);
  EXPECT_THAT(OnlyObjection("hang-load", "server_failed"), HasSubstr("not healthy within 1 s"));
}

TEST_F(Trial, EndsARequestThatHangs) {
  spec_.limits.request = std::chrono::seconds(1);
  EXPECT_THAT(OnlyObjection("hang-request", "server_failed"), HasSubstr("within 1 s"));
}

TEST_F(Trial, TakesABinaryThatIsNone) {
  a().binary = folder_.path() + "/gone";
  const auto record = Run();
  ASSERT_TRUE(record) << record.error().Text();
  ASSERT_EQ(record->objections.size(), 1u);
  EXPECT_EQ(record->objections[0].id, "server_failed");
  EXPECT_THAT(record->objections[0].text, HasSubstr("/gone"));
}

TEST_F(Trial, KillsAServerThatIgnoresTermAndSaysSo) {
  Set(a(), "FAKE_FAULT", "ignore-term");
  spec_.limits.stop = std::chrono::seconds(0);
  const auto record = Run();
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_TRUE(record->valid());
  EXPECT_EQ(record->facts.at("stopped"), "killed");
  ExpectNoServerIsLeft();
}

TEST_F(Trial, EndsTheServersChildrenToo) {
  Set(a(), "FAKE_FAULT", "spawn-child");
  const auto record = Run();
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_TRUE(record->valid());
  ExpectNoServerIsLeft();
}

TEST_F(Trial, ObjectsWhenTheLogLacksWhatIsExpected) {
  a().expect_log = {"model loaded$", "flash ?head"};
  const auto record = Run();
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_THAT(record->objections,
              ElementsAre(Objection{"log_lacks",
                                    "no line of the server's log matches \"flash ?head\": what the "
                                    "variant is about did not engage"}));
}

TEST_F(Trial, NamesOtherUsersOfTheDevice) {
  gpu::ScriptedDevice device(Idle, std::vector<pid_t>{::getpid()});
  Bench bench = BenchWith(device);
  const auto record = Run(bench);
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_THAT(record->foreign_processes, ElementsAre(fmt::format("{} lab_test", ::getpid())));
}

TEST_F(Trial, OverlooksADisplayServer) {
  gpu::ScriptedDevice device(Idle, std::vector<pid_t>{::getpid()});
  Bench bench = BenchWith(device);
  ASSERT_EQ(::prctl(PR_SET_NAME, "Xorg"), 0);
  const auto record = Run(bench);
  ::prctl(PR_SET_NAME, "lab_test");
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_THAT(record->foreign_processes, IsEmpty());
}

TEST_F(Trial, SplitsReadingsIntoPrefillAndDecode) {
  // Half a second of either; the sampler looks each 200 ms.
  Set(a(), "FAKE_PREFILL_MS_PER_TOKEN", "125");
  Set(a(), "FAKE_MS_PER_TOKEN", "70");
  const auto script = [](int number) {
    gpu::Reading reading = Idle(number);
    reading.power = gpu::Watts(100 + number);
    return reading;
  };
  gpu::ScriptedDevice device(script);
  Bench bench = BenchWith(device);
  const auto record = Run(bench);
  ASSERT_TRUE(record) << record.error().Text();
  const auto power = [&](const char* phase) {
    return record->readings.at(phase).values.at("power_w");
  };
  EXPECT_EQ(power("before").mean, 101);  // the gate took the first
  EXPECT_GE(power("prefill").min, 102);
  EXPECT_LT(power("prefill").max, power("decode").min);
  EXPECT_LT(power("decode").max, power("after").mean);
  EXPECT_GT(record->energy_j.value_or(0), 0);
  EXPECT_TRUE(record->readings.at("decode").values.contains("server_cpu_cores"));
}

TEST_F(Trial, WaitsUntilTheMachineIsIdle) {
  gpu::ScriptedDevice device(
      [](int number) { return gpu::Reading{.busy = base::Fraction(number < 3 ? 0.5 : 0)}; });
  spec_.limits.idle_readings = 2;
  spec_.limits.idle_tries = 10;
  Bench bench = BenchWith(device);
  const auto record = Run(bench);
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_TRUE(record->gate->idle);
  EXPECT_TRUE(record->valid());
}

TEST_F(Trial, GoesOnWhenTheMachineStaysBusyAndRecordsIt) {
  gpu::ScriptedDevice device([](int) { return gpu::Reading{.busy = base::Fraction(0.5)}; });
  Bench bench = BenchWith(device);
  const auto record = Run(bench);
  ASSERT_TRUE(record) << record.error().Text();
  EXPECT_FALSE(record->gate->idle);
  EXPECT_THAT(record->gate->why_not, HasSubstr("still busy after 2 readings"));
}

class Interrupted : public Trial {
 protected:
  void ExpectInterrupted(Bench& bench) {
    const auto record = Run(bench);
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().code, ErrorCode::kInterrupted);
    ExpectNoServerIsLeft();
  }
};

TEST_F(Interrupted, WhileItWaitsForTheMachine) {
  gpu::ScriptedDevice device([this](int) {
    stop_.Request(SIGINT);
    return gpu::Reading{.busy = base::Fraction(0.5)};
  });
  Bench bench = BenchWith(device);
  ExpectInterrupted(bench);
  EXPECT_THAT(servers_, IsEmpty());
}

TEST_F(Interrupted, WhileTheServerLoads) {
  Set(a(), "FAKE_FAULT", "hang-load");
  Bench bench = BenchWith(device_);
  bench.before_exec = [this](const sys::ProcessIdentity& process) {
    servers_.push_back(process);
    stop_.Request(SIGTERM);
    return base::Status();
  };
  ExpectInterrupted(bench);
}

TEST_F(Interrupted, DuringTheRequest) {
  Set(a(), "FAKE_MS_PER_TOKEN", "20");
  spec_.workload.output = base::Tokens(3000);
  gpu::ScriptedDevice device([this](int number) {
    // The gate's, before, the sampler's first, and its second, when the request is 200 ms old.
    if (number == 3) stop_.Request(SIGHUP);
    return Idle(number);
  });
  Bench bench = BenchWith(device);
  ExpectInterrupted(bench);
}

}  // namespace
}  // namespace culprit::lab
