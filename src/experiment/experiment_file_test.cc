// data/experiment.toml, which `culprit init` writes, against the reader of such files.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "experiment/spec.h"

namespace culprit::experiment {
namespace {

std::string ReadFile(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(CULPRIT_SOURCE_DIR "/" + name).rdbuf();
  return text.str();
}

// Settings are commented out by a "#" without a space.
std::string WithEverySetting(const std::string& file) {
  return std::regex_replace(file, std::regex("(^|\n)#([a-z])"), "$1$2");
}

TEST(ExperimentFile, IsAnExperimentAsItStands) {
  const auto spec = ParseSpec(ReadFile("data/experiment.toml"), "experiment.toml");
  ASSERT_TRUE(spec) << spec.error().Text();
  EXPECT_TRUE(CheckSpec(*spec));
  const std::string model = "/path/to/model.gguf", binary = "/path/to/llama-server";
  Spec want;
  want.variants = {{.label = "f16", .binary = binary, .model = model},
                   {.label = "q4", .binary = binary, .model = model, .kv = "q4_0"}};
  EXPECT_EQ(*spec, want) << "nothing else is set";
}

TEST(ExperimentFile, IsAnExperimentWithoutItsComments) {
  const std::string bare =
      std::regex_replace(ReadFile("data/experiment.toml"), std::regex("(^|\n)#[^\n]*"), "$1");
  EXPECT_EQ(bare.find('#'), std::string::npos);
  EXPECT_TRUE(ParseSpec(bare, "experiment.toml"));
}

TEST(ExperimentFile, StatesTheDefaultOfEachSettingThatHasOne) {
  const auto spec =
      ParseSpec(WithEverySetting(ReadFile("data/experiment.toml")), "experiment.toml");
  ASSERT_TRUE(spec) << spec.error().Text();
  EXPECT_TRUE(CheckSpec(*spec));
  const Spec defaults;
  EXPECT_EQ(spec->workload, defaults.workload);
  EXPECT_EQ(spec->limits, defaults.limits);
  EXPECT_EQ(spec->port, defaults.port);
  Design design = spec->design;
  EXPECT_TRUE(design.pairs && design.seed) << "examples: the default is none";
  design.pairs.reset();
  design.seed.reset();
  EXPECT_EQ(design, defaults.design);
}

// The reader asks for each key by table.Take("key", …) or table.Node("key").
TEST(ExperimentFile, NamesEveryKeyThatTheReaderKnows) {
  const std::string reader = ReadFile("src/experiment/spec_toml.cc");
  const std::string file = "\n" + WithEverySetting(ReadFile("data/experiment.toml"));
  const std::regex asks("table\\.(Take|Node)\\(\"([a-z_]+)\"");
  std::set<std::string> keys;
  for (std::sregex_iterator it(reader.begin(), reader.end(), asks), end; it != end; ++it) {
    keys.insert((*it)[2]);
  }
  EXPECT_GE(keys.size(), 29U);
  for (const std::string& key : keys) {
    EXPECT_NE(file.find("\n" + key + " = "), std::string::npos) << key << " is not documented";
  }
}

}  // namespace
}  // namespace culprit::experiment
