#include "store/gate_json.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "base/json.h"

namespace culprit::store {
namespace {

using gate::Position;
using testing::HasSubstr;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// One of each thing that a gate can see.
KeptGate Full() {
  const Position worst{.partial = true,
                       .kl = kInfinite,
                       .reverse_kl = 0.25,
                       .js = 0.125,
                       .total_variation = 0.5,
                       .unseen = 0.0625,
                       .cosine = 0.75,
                       .flip_gap = kInfinite,
                       .recall = 0.95,
                       .rank = 3,
                       .baseline_logprob = -0.5,
                       .candidate_logprob = -2.5,
                       .max_delta = 4,
                       .max_delta_token = 17,
                       .omitted = 0.124,
                       .added = 0.001,
                       .baseline_support = 400,
                       .candidate_support = 6};
  gate::Candidate candidate{.label = "b", .positions = {worst, Position{.identical = true}}};
  candidate.itself = {Position{.identical = true}};
  candidate.fork = gate::Fork{.at = 2, .baseline = 5, .candidate = 6, .gap = kInfinite};
  candidate.loop = gate::Loop{.period = 3, .times = 20, .from = 4};
  candidate.cache = worst;
  candidate.flaw = gate::Flaw{gate::Side::kCandidate, 7, "its probabilities add up to 0.9"};
  candidate.other_chat = "its token 3 is another";
  candidate.not_comparable = "it is another model";
  gate::Probe probe{.prompt = 700, .positions = 2, .ubatch = 128};
  probe.baseline_itself = {worst};
  probe.baseline_loop = gate::Loop{.period = 1, .times = 64, .from = 0};
  probe.baseline_cache = Position{.total_variation = 0.01};
  probe.candidates = {candidate};
  return {{.baseline = "a", .probes = {probe}}, {{"a", "0123"}, {"b", "4567"}}};
}

TEST(GateJson, IsReadAsItWasWritten) {
  const std::string text = WriteGate(Full());
  const auto read = ReadGate(text);
  ASSERT_TRUE(read) << read.error().Text();
  EXPECT_EQ(WriteGate(*read), text);
  const gate::Candidate& candidate = read->run.probes.at(0).candidates.at(0);
  EXPECT_EQ(candidate.positions.at(0).kl, kInfinite);
  EXPECT_EQ(candidate.positions.at(0).reverse_kl, 0.25);
  EXPECT_EQ(candidate.flaw->at, 7u);
  EXPECT_EQ(candidate.positions.at(0).flip_gap, kInfinite);
  EXPECT_EQ(candidate.fork->gap, kInfinite);
  EXPECT_EQ(read->settings.at("b"), "4567");
  // Nothing of the candidate was left out: the judgement is the same.
  EXPECT_EQ(gate::JudgeRun(read->run).at(0).result().text, "it is another model");
}

// What a change of gate.json makes of it.
std::string ErrorOf(const std::function<void(base::Json&)>& change) {
  auto json = base::Json::parse(WriteGate(Full()));
  change(json);
  const auto read = ReadGate(json.dump());
  return read ? "" : read.error().message;
}

TEST(GateJson, MakesTextsOfOthersPrintable) {
  auto json = base::Json::parse(WriteGate(Full()));
  json["probes"][0]["candidates"][0]["flaw"]["text"] = "\x1b[31mred\nsecond";
  const auto read = ReadGate(json.dump());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->run.probes[0].candidates[0].flaw->text, "\\x1b[31mred\\x0asecond");
}

TEST(GateJson, NamesTheKeyThatMakesNoSense) {
  const auto wrong = [](const std::string& key) {
    return "\"" + key + "\" is missing or makes no sense";
  };
  EXPECT_EQ(ErrorOf([](base::Json&) {}), "");
  for (const auto& [key, value] : std::vector<std::pair<const char*, double>>{
           {"kl_nats", -5}, {"total_variation", 1e308}, {"cosine", 5}, {"added", 1.1}}) {
    EXPECT_EQ(ErrorOf([&, key = key, value = value](base::Json& json) {
                json["probes"][0]["candidates"][0]["positions"][0][key] = value;
              }),
              wrong(std::string("probes.0.candidates.0.positions.0.") + key));
  }
  EXPECT_EQ(ErrorOf([](base::Json& json) { json["settings"] = 5; }), wrong("settings"));
  EXPECT_EQ(ErrorOf([](base::Json& json) { json["probes"] = base::Json::array(); }),
            wrong("probes"));
  EXPECT_EQ(ErrorOf([](base::Json& json) {
              json["probes"].push_back(json["probes"][0]);
              json["probes"][1]["candidates"][0]["label"] = "c";
            }),
            wrong("probes"));
  EXPECT_EQ(ErrorOf([](base::Json& json) {
              json["probes"][0]["candidates"][0]["positions"][0]["omitted"] = -1;
            }),
            wrong("probes.0.candidates.0.positions.0.omitted"));
  EXPECT_EQ(ErrorOf([](base::Json& json) {
              json["probes"][0]["candidates"][0]["fork"]["at"] = 18446744073709551615U;
            }),
            wrong("probes.0.candidates.0.fork.at"));
  EXPECT_THAT(ReadGate("{").error().message, HasSubstr("JSON"));
  EXPECT_EQ(ReadGate("[]").error().message, wrong("settings"));
}

}  // namespace
}  // namespace culprit::store
