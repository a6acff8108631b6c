#include "lab/second_opinion.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gpu/scripted_device.h"
#include "lab/calibration.h"
#include "sys/host_time.h"
#include "sys/sample_files.h"

namespace culprit::lab {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

// A fake of the tool: it keeps its command line and what it was given, writes a base or an answer,
// and goes wrong as $FAKE_FAULT says.
constexpr const char* kFake = R"sh(#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/asked"
[ "$FAKE_FAULT" = flag ] && { echo "error: invalid argument: --new" >&2; exit 1; }
[ "$FAKE_FAULT" = hang ] && exec sleep 60
while [ $# -gt 0 ]; do
  case $1 in
    -f) cp "$2" "$here/text" ;;
    --kl-divergence) compares=1 ;;
    --kl-divergence-base) base=$2 ;;
  esac
  shift
done
if [ -z "$compares" ]; then
  if [ "$FAKE_FAULT" = short ]; then
    printf '_logits_1234' > "$base"
    echo "0.00.098.444 E perplexity: you need at least 1024 tokens to evaluate" >&2
  else
    echo "_logits_ and all that belongs to it" > "$base"
  fi
elif [ "$FAKE_FAULT" = vocabulary ]; then
  echo "0.00.098.444 E kl_divergence: inconsistent vocabulary (408 vs 508)" >&2
  cat "$here/answer"
elif [ "$FAKE_FAULT" = lost ] || [ "$FAKE_FAULT" = lost-once -a ! -e "$here/lost" ]; then
  touch "$here/lost"
elif [ "$FAKE_FAULT" = torn ]; then
  echo "0.00.098.444 E kl_divergence: failed reading log-probs for chunk 3" >&2
  head -n 20 "$here/answer"
else
  grep -q logits "$base" && cat "$here/answer"
fi
)sh";

class SecondOpinionTest : public testing::Test {
 protected:
  SecondOpinionTest() {
    fs::create_directory(bin_);
    WriteProgram("llama-server", "");
    WriteProgram("llama-perplexity", kFake);
    fs::copy_file(CULPRIT_SOURCE_DIR "/tests/fixtures/llama-perplexity-0.7.0/kl_divergence.txt",
                  bin_ + "/answer");
  }

  void WriteProgram(const std::string& name, const std::string& text) const {
    std::ofstream(bin_ + "/" + name) << text;
    fs::permissions(bin_ + "/" + name, fs::perms::owner_all);
  }
  [[nodiscard]] experiment::Variant Variant(const std::string& label,
                                            const std::string& fault = "") const {
    return {.label = label,
            .binary = bin_ + "/llama-server",
            .model = "m.gguf",
            .environment = {{"FAKE_FAULT", fault}}};
  }
  base::Result<gate::SecondOpinion> Ask(const experiment::Variant& baseline,
                                        const experiment::Variant& candidate) {
    auto opinion = [&]() -> base::Result<gate::SecondOpinion> {
      const auto base = OpinionBase::Make(baseline, wish_, folder_.path(), bench_);
      if (!base) return base::Fail(base.error());
      return AskForSecondOpinion(*base, candidate, bench_);
    }();
    EXPECT_EQ(started_, ended_);
    for (const auto& process : started_) EXPECT_FALSE(sys::Identify(process.pid));
    for (const auto& file : fs::directory_iterator(folder_.path())) {
      EXPECT_EQ(file.path(), bin_) << "left behind";
    }
    return opinion;
  }
  base::Error ErrorOf(const experiment::Variant& baseline, const experiment::Variant& candidate) {
    auto opinion = Ask(baseline, candidate);
    return opinion ? base::Error{ErrorCode::kUsage, "none"} : opinion.error();
  }
  [[nodiscard]] std::string Kept(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(bin_ + "/" + name).rdbuf();
    return text.str();
  }

  sys::SampleFolder folder_;
  const std::string bin_ = folder_.path() + "/bin";
  OpinionWish wish_{.context = base::Tokens(256), .chunks = 3, .limit = 60s};
  sys::StopSignal stop_;
  gpu::ScriptedDevice device_{[](int) { return gpu::Reading{}; }};
  std::vector<sys::ProcessIdentity> started_, ended_;
  Bench bench_{.device = device_,
               .pace = {.now = sys::BoottimeNow, .sleep = [](base::Nanos) { return true; }},
               .stop = stop_,
               .before_exec =
                   [this](const sys::ProcessIdentity& process) {
                     started_.push_back(process);
                     return base::Status();
                   },
               .ended = [this](const sys::ProcessIdentity& process) { ended_.push_back(process); }};
};

TEST_F(SecondOpinionTest, EachBuildIsAskedAsItsServerRuns) {
  auto a = Variant("a"), b = Variant("b");
  a.arguments = {"-np", "1", "-fa", "on"};
  b.kv = "q4_0";
  const auto opinion = Ask(a, b);
  ASSERT_TRUE(opinion) << opinion.error().Text();
  EXPECT_EQ(opinion->chunks, 4);
  EXPECT_EQ(opinion->context, base::Tokens(256));
  EXPECT_THAT(opinion->left_out, ElementsAre("-np"));
  const std::string stem = folder_.path() + "/second-opinion";
  EXPECT_EQ(Kept("asked"), "-m m.gguf -fa on -c 256 -f " + stem +
                               ".txt --chunks 3 --kl-divergence-base " + stem +
                               ".base\n"
                               "-m m.gguf -ctk q4_0 -ctv q4_0 -c 256 --kl-divergence "
                               "--kl-divergence-base " +
                               stem + ".base\n");
  EXPECT_EQ(Kept("text"), Prose());
  EXPECT_EQ(started_.size(), 2u);
}

TEST_F(SecondOpinionTest, OneBaseServesSeveralCandidates) {
  const auto base = OpinionBase::Make(Variant("a"), wish_, folder_.path(), bench_);
  ASSERT_TRUE(base) << base.error().Text();
  EXPECT_TRUE(AskForSecondOpinion(*base, Variant("b"), bench_));
  EXPECT_TRUE(AskForSecondOpinion(*base, Variant("c"), bench_));
}

TEST_F(SecondOpinionTest, ABuildWithoutTheToolIsAnError) {
  fs::remove(bin_ + "/llama-perplexity");
  const auto error = ErrorOf(Variant("a"), Variant("b"));
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_EQ(error.Text(), "a: " + bin_ +
                              ": llama-perplexity is not there; it must be of the server's own "
                              "build: build that target too, and put it beside llama-server");
}

TEST_F(SecondOpinionTest, ItIsLookedForWhereALinkToTheServerLeads) {
  fs::create_symlink(bin_ + "/llama-server", folder_.path() + "/link");
  auto variant = Variant("a");
  variant.binary = "./link";
  variant.working_directory = folder_.path();
  EXPECT_EQ(FindPerplexity(variant), fs::canonical(bin_).string() + "/llama-perplexity");
}

TEST_F(SecondOpinionTest, AServerInPathHasItBesideItToo) {
  auto variant = Variant("a");
  variant.binary = "llama-server";
  variant.environment.push_back({"PATH", bin_});
  EXPECT_EQ(FindPerplexity(variant), fs::canonical(bin_).string() + "/llama-perplexity");
}

TEST_F(SecondOpinionTest, ATextThatIsTooShortIsAnError) {
  const auto error = ErrorOf(Variant("a", "short"), Variant("b"));
  EXPECT_EQ(error.code, ErrorCode::kServer);
  EXPECT_THAT(error.Text(), HasSubstr("a: llama-perplexity wrote no probabilities: perplexity: you "
                                      "need at least 1024 tokens to evaluate"));
}

TEST_F(SecondOpinionTest, AToolThatLeavesWithAnErrorIsToldWithItsLine) {
  for (const bool baseline : {true, false}) {
    const auto error =
        ErrorOf(Variant("a", baseline ? "flag" : ""), Variant("b", baseline ? "" : "flag"));
    EXPECT_EQ(error.code, ErrorCode::kServer);
    EXPECT_EQ(error.place, baseline ? "a" : "b");
    EXPECT_EQ(error.message, "llama-perplexity left with exit 1: error: invalid argument: --new");
    EXPECT_THAT(error.hint, HasSubstr("its command line was " + bin_ + "/llama-perplexity -m"));
  }
}

// It leaves with exit code 0 all the same.
TEST_F(SecondOpinionTest, AnAnswerThatIsCutOffIsAnError) {
  const auto error = ErrorOf(Variant("a"), Variant("b", "torn"));
  EXPECT_EQ(error.code, ErrorCode::kServer);
  EXPECT_EQ(error.message,
            "llama-perplexity's answer ends before its \"99.0% KLD\": kl_divergence: failed "
            "reading log-probs for chunk 3");
}

TEST_F(SecondOpinionTest, AnAnswerThatItsLoggerLostIsAskedForAgain) {
  EXPECT_TRUE(Ask(Variant("a"), Variant("b", "lost-once")));
  EXPECT_EQ(started_.size(), 3u);
  EXPECT_THAT(ErrorOf(Variant("a"), Variant("b", "lost")).message, HasSubstr("answer ends before"));
  EXPECT_EQ(started_.size(), 3u + 1u + 20u);
}

// It leaves with exit code 0 and a whole table of nonsense.
TEST_F(SecondOpinionTest, AnotherVocabularyIsNoComparison) {
  const auto error = ErrorOf(Variant("a"), Variant("b", "vocabulary"));
  EXPECT_EQ(error.code, ErrorCode::kMismatch);
  EXPECT_THAT(error.message, EndsWith("inconsistent vocabulary (408 vs 508)"));
}

TEST_F(SecondOpinionTest, AToolThatHangsIsEnded) {
  wish_.limit = 0s;
  EXPECT_EQ(ErrorOf(Variant("a", "hang"), Variant("b")).code, ErrorCode::kTimeout);
  stop_.Request();
  EXPECT_EQ(ErrorOf(Variant("a", "hang"), Variant("b")).code, ErrorCode::kInterrupted);
}

TEST(ShareArguments, OnlyWhatChangesTheAnswerIsShared) {
  const auto shared = ShareArguments(std::vector<std::string>{"-c",
                                                              "4096",
                                                              "-ngl",
                                                              "-1",
                                                              "--port",
                                                              "80",
                                                              "--cache_type_k",
                                                              "q8_0",
                                                              "-fa",
                                                              "-np",
                                                              "2",
                                                              "--no-mmap",
                                                              "-ot",
                                                              "blk.*=CPU",
                                                              "-lv",
                                                              "4",
                                                              "--rope-freq-base",
                                                              "1e6",
                                                              "--spec-type",
                                                              "ngram-simple"});
  EXPECT_THAT(shared.words, ElementsAre("-ngl", "-1", "--cache_type_k", "q8_0", "-fa", "--no-mmap",
                                        "-ot", "blk.*=CPU", "--rope-freq-base", "1e6"));
  EXPECT_THAT(shared.left_out, ElementsAre("-c", "--port", "-np", "-lv", "--spec-type"));
  EXPECT_THAT(ShareArguments({}).left_out, IsEmpty());
}

}  // namespace
}  // namespace culprit::lab
