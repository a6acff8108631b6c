// The real llama-perplexity beside CULPRIT_LLAMA_SERVER, with the model in CULPRIT_TEST_MODEL.
#include "lab/second_opinion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "gpu/scripted_device.h"
#include "sys/host_time.h"
#include "sys/sample_files.h"

namespace culprit::lab {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

class RealSecondOpinion : public testing::Test {
 protected:
  void SetUp() override {
    const char* binary = std::getenv("CULPRIT_LLAMA_SERVER");
    const char* model = std::getenv("CULPRIT_TEST_MODEL");
    if (binary == nullptr || model == nullptr) {
      GTEST_SKIP() << "CULPRIT_LLAMA_SERVER and CULPRIT_TEST_MODEL name no server and model";
    }
    f16_ = {.label = "f16", .binary = binary, .model = model, .arguments = {"-t", "1"}};
    if (const auto program = FindPerplexity(f16_); !program) {
      GTEST_SKIP() << program.error().Text();
    }
  }
  [[nodiscard]] experiment::Variant Cache(const std::string& type) const {
    auto variant = f16_;
    variant.label = type;
    variant.kv = type;
    return variant;
  }
  gate::SecondOpinion Ask(const OpinionBase& base, const experiment::Variant& candidate) {
    const auto opinion = AskForSecondOpinion(base, candidate, bench_);
    EXPECT_TRUE(opinion) << opinion.error().Text();
    if (!opinion) return {};
    std::printf("%s: KL divergence %g ± %g, worst %g; same likeliest %g; perplexity %g\n",
                candidate.label.c_str(), opinion->kl.value, opinion->kl.error, opinion->kl_worst,
                opinion->same_top.value, opinion->perplexity.value);
    return *opinion;
  }

  sys::SampleFolder folder_;
  experiment::Variant f16_;
  gpu::ScriptedDevice device_{[](int) { return gpu::Reading{}; }};
  Bench bench_{.device = device_,
               .pace = {.now = sys::BoottimeNow, .sleep = [](base::Nanos) { return true; }}};
};

TEST_F(RealSecondOpinion, FindsFourBitsFurtherFromTheBaselineThanEight) {
  const auto base = OpinionBase::Make(f16_, {.chunks = 4, .limit = 300s}, folder_.path(), bench_);
  ASSERT_TRUE(base) << base.error().Text();
  const auto again = Ask(*base, f16_), q8 = Ask(*base, Cache("q8_0")),
             q4 = Ask(*base, Cache("q4_0"));
  EXPECT_EQ(again.positions(), 4 * 255);
  // It keeps the baseline's log-probabilities in 16 bits.
  EXPECT_LT(std::abs(again.kl.value), 1e-5);
  EXPECT_LT(again.kl_worst, 1e-4);
  EXPECT_EQ(again.same_top.value, 1);
  EXPECT_GT(q8.kl.value, again.kl.value + again.kl.error);
  EXPECT_GT(q4.kl.value, 10 * q8.kl.value);
  EXPECT_GT(q4.kl_worst, q8.kl_worst);
}

TEST_F(RealSecondOpinion, ATextTooShortForTheContextIsToldInItsOwnWords) {
  const auto base = OpinionBase::Make(f16_, {.context = base::Tokens(1'000'000), .limit = 300s},
                                      folder_.path(), bench_);
  ASSERT_FALSE(base);
  EXPECT_EQ(base.error().code, ErrorCode::kServer);
  std::printf("%s\n", base.error().Text().c_str());
}

// Its logger may lose the line that tells why.
TEST_F(RealSecondOpinion, AModelThatIsNotThereIsAnError) {
  f16_.model = "/none/nothere.gguf";
  const auto base = OpinionBase::Make(f16_, {.limit = 300s}, folder_.path(), bench_);
  ASSERT_FALSE(base);
  EXPECT_TRUE(base.error().message.starts_with("llama-perplexity left with exit 1"));
  std::printf("%s\n", base.error().Text().c_str());
}

}  // namespace
}  // namespace culprit::lab
