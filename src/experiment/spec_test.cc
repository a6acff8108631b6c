#include "experiment/spec.h"

#include <gmock/gmock.h>

namespace culprit::experiment {
namespace {

Spec Example() {
  Spec spec;
  spec.variants = {{.label = "f16", .binary = "/opt/a/llama-server"},
                   {.label = "q4", .binary = "/opt/a/llama-server", .kv = "q4_0"}};
  return spec;
}

TEST(Spec, IsReadWithWhatIsCommonToAllVariants) {
  const auto spec = ParseSpec(R"(
[common]
binary = "/opt/a/llama-server"
model = "/m/x.gguf"
arguments = "-ngl 99 -fa on"
environment = {A = "1", B = false}

[workload]
name = "sustained"
prompt_tokens = 1000
endpoint = "completion"

[design]
pairs = 6
decode_margin = 0.005

[machine]
stop_services = ["qwen-mtp.service"]
health = [8001, 8002]
power_profile = "performance"
load_timeout_s = 60

[[variant]]
label = "f16"

[[variant]]
label = "q4"
kv = "q4_0"
arguments = ["-t", "2"]
)",
                              "x.toml");
  ASSERT_TRUE(spec) << spec.error().Text();
  const Variant f16{.label = "f16",
                    .binary = "/opt/a/llama-server",
                    .model = "/m/x.gguf",
                    .environment = {{"A", "1"}, {"B", std::nullopt}},
                    .arguments = {"-ngl", "99", "-fa", "on"}};
  Variant q4 = f16;
  q4.label = "q4";
  q4.kv = "q4_0";
  q4.arguments = {"-ngl", "99", "-fa", "on", "-t", "2"};
  Spec expected;
  expected.variants = {f16, q4};
  expected.workload = {.prompt = base::Tokens(1000),
                       .output = base::Tokens(1024),
                       .endpoint = Endpoint::kCompletion};
  expected.design = {.pairs = 6, .decode_margin = base::Fraction(0.005)};
  expected.machine = {.stop_services = {"qwen-mtp.service"},
                      .health = {8001, 8002},
                      .power_profile = "performance"};
  expected.limits.load = std::chrono::seconds(60);
  EXPECT_EQ(*spec, expected);
}

TEST(Spec, IsWrittenSoThatItReadsBackAsTheSame) {
  Spec spec = Example();
  spec.variants[1].environment = {{"A", "quote \" and \\"}, {"B", std::nullopt}};
  spec.variants[1].arguments = {"--x", "a b", "'"};
  spec.variants[1].expect_log = {"a|b \\d"};
  spec.variants[1].expect_symbol = {"sym"};
  spec.variants[1].working_directory = "/tmp";
  spec.variants[1].approximate = true;
  spec.gate = {.wanted = false,
               .level = "kl=0.1",
               .positions = base::Tokens(64),
               .prompts = {base::Tokens(500), base::Tokens(6000)},
               .ubatches = {128}};
  spec.design = {.pairs = 8, .seed = 77, .decode_margin = base::Fraction(0.003)};
  spec.machine = {.stop_services = {"a.service"},
                  .stop_user_services = {"b.service"},
                  .health = {8001},
                  .power_profile = "performance"};
  spec.port = 9000;
  spec.collector = "rocprofv3";
  const auto again = ParseSpec(WriteSpec(spec), "written");
  ASSERT_TRUE(again) << again.error().Text();
  EXPECT_EQ(*again, spec);
}

TEST(Spec, SaysInWhichLineWhatIsWrong) {
  const auto error = [](std::string_view text) { return ParseSpec(text, "x.toml").error().Text(); };
  EXPECT_EQ(error("[varaint]\n"),
            "x.toml:1: an experiment has no \"varaint\"; did you mean \"variant\"?");
  EXPECT_EQ(error("[design]\n\npair = 3\n"),
            "x.toml:3: [design] has no key \"pair\"; did you mean \"pairs\"?");
  EXPECT_EQ(error("[design]\npairs = \"3\"\n"), "x.toml:2: \"pairs\" must be a whole number");
  EXPECT_EQ(error("[[variant]]\nlabel = \"a\"\n"),
            "x.toml:1: a variant needs a label and a binary");
  EXPECT_EQ(
      error("[[variant]]\nanswers = \"roughly\"\n"),
      "x.toml:2: answers: \"roughly\" says nothing of answers; they are exact or approximate");
  EXPECT_EQ(error("[workload]\nname = \"long\"\n"),
            "x.toml:2: \"long\" is no workload; say screening, trace-matched or sustained, or give "
            "the output tokens");
}

TEST(Spec, RefusesWhatCannotBeRun) {
  const auto error = [](auto change) {
    Spec spec = Example();
    change(spec);
    const auto status = CheckSpec(spec);
    return status ? std::string() : status.error().Text();
  };
  EXPECT_EQ(error([](Spec&) {}), "");
  EXPECT_EQ(error([](Spec& s) { s.variants.clear(); }),
            "no variant is given; add --variant label=BINARY");
  EXPECT_EQ(error([](Spec& s) { s.variants[1].label = "f16"; }),
            "two variants are called f16; give each a label of its own");
  EXPECT_EQ(error([](Spec& s) { s.gate.positions = base::Tokens(0); }),
            "the number of positions to compare is 0; give 1 to 100000");
  EXPECT_EQ(error([](Spec& s) {
              s.gate.prompts = {base::Tokens(5), base::Tokens(-5)};
            }),
            "the length of a prompt to compare behind is -5; give 1 to 10000000");
  EXPECT_EQ(error([](Spec& s) { s.gate.ubatches = {0}; }),
            "a size of ubatches is 0; give 1 to 1000000");
  EXPECT_EQ(error([](Spec& s) { s.workload.output = base::Tokens(1); }),
            "the number of output tokens is 1; give 2 to 1000000");
  EXPECT_EQ(error([](Spec& s) { s.port = 80; }), "the port is 80; give 1024 to 65535");
  EXPECT_EQ(error([](Spec& s) { s.design.decode_margin = base::Fraction(1); }),
            "the decode margin is 1; give a share above 0 and below 0.5: 0.01 is 1 %");
  EXPECT_EQ(error([](Spec& s) { s.design.same_variant = true; }),
            "an A/A run takes one variant; leave out the others");
}

TEST(Spec, OfOneVariantCanBeTracedAndNotCompared) {
  Spec spec = Example();
  EXPECT_TRUE(CheckComparison(spec));
  spec.variants.pop_back();
  EXPECT_TRUE(CheckSpec(spec));
  EXPECT_EQ(CheckComparison(spec).error().Text(),
            "one variant alone cannot be compared; add a second --variant, or --aa to measure this "
            "machine's noise");
  spec.design.same_variant = true;
  EXPECT_TRUE(CheckComparison(spec));
}

TEST(Spec, WaitsForADayAtMost) {
  for (auto limit : {&Limits::load, &Limits::request, &Limits::stop, &Limits::health}) {
    Spec spec = Example();
    spec.limits.*limit = std::chrono::seconds(86'400);
    EXPECT_TRUE(CheckSpec(spec));
    spec.limits.*limit = std::chrono::seconds(86'401);
    EXPECT_FALSE(CheckSpec(spec));
    spec.limits.*limit = std::chrono::seconds(-1);
    EXPECT_FALSE(CheckSpec(spec));
  }
}

TEST(Spec, RefusesTextsThatNoProgramCanBeGiven) {
  const std::string nul("a\0b", 3);
  for (const Variant& bad :
       {Variant{.binary = nul}, Variant{.model = nul}, Variant{.kv = nul},
        Variant{.environment = {{nul, "1"}}}, Variant{.environment = {{nul, std::nullopt}}},
        Variant{.environment = {{"A", nul}}}, Variant{.arguments = {"-t", nul}},
        Variant{.working_directory = nul}, Variant{.expect_log = {nul}},
        Variant{.expect_symbol = {nul}}}) {
    Spec spec = Example();
    spec.variants[1] = bad;
    spec.variants[1].label = "q4";
    const auto status = CheckValues(spec);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, base::ErrorCode::kUsage);
    EXPECT_EQ(status.error().Text(),
              "q4: \"a\\x00b\" has a NUL in it; no program can be given one");
  }
}

TEST(Spec, RefusesNamesThatNoVariableCanHave) {
  for (const std::string name : {"", "A=B", "="}) {
    for (const std::optional<std::string>& value : {std::optional<std::string>("1"), {}}) {
      Spec spec = Example();
      spec.variants[0].environment = {{name, value}};
      const auto status = CheckSpec(spec);
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().Text(),
                "f16: \"" + name +
                    "\" can be no name of an environment variable; write env=NAME=VALUE, or "
                    "env=-NAME to take a variable away");
    }
  }
}

TEST(Spec, RefusesArgumentsThatCulpritSetsItself) {
  const auto error = [](std::vector<std::string> arguments) {
    Spec spec = Example();
    spec.variants[1].model = "m.gguf";
    spec.variants[1].kv = "q4_0";
    spec.variants[1].arguments = std::move(arguments);
    const auto status = CheckSpec(spec);
    return status ? std::string() : status.error().Text();
  };
  EXPECT_EQ(error({"-c", "4096", "-mu", "x"}), "");
  EXPECT_EQ(error({"--port=9000"}),
            "q4: culprit sets --port itself; take it out of the arguments: servers listen on "
            "127.0.0.1; --port says where");
  EXPECT_EQ(error({"-m", "other.gguf"}),
            "q4: culprit sets -m itself; take it out of the arguments: the model is named already");
  EXPECT_EQ(
      error({"-ctk", "f16"}),
      "q4: culprit sets -ctk itself; take it out of the arguments: kv= sets the types of both "
      "caches");
}

}  // namespace
}  // namespace culprit::experiment
