#include "analysis/passes.h"

#include <gtest/gtest.h>

#include "analysis/synthetic_trace.h"
#include "base/number_format.h"

namespace culprit::analysis {
namespace {

using namespace synthetic;

// Seen is what was seen of a trace: the kinds of its passes as letters (T, d), the number of
// dispatches in each, those left over, and the mark.
struct Seen {
  std::string kinds;
  std::vector<std::size_t> lengths;
  std::size_t tail;
  PassMethod method;
  std::string anchor;
  bool operator==(const Seen&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  out << seen.kinds << ":";
  for (const std::size_t length : seen.lengths) out << " " << length;
  return out << " + " << seen.tail << ", method " << static_cast<int>(seen.method) << ", "
             << seen.anchor;
}

std::optional<Passes> FindIn(const trace::Trace& trace, const PassHints& hints) {
  Window window{.begin = trace.start.front(), .end = trace.end.back()};
  SetDispatchRange(trace, window);
  return FindPasses(trace, window, GroupLaunches(trace, window.first, window.last), hints);
}
Seen See(const Works& works, const PassHints& hints = {}) {
  Recording recording;
  recording.Run(works);
  const auto trace = recording.Finish();
  const auto passes = FindIn(trace, hints);
  if (!passes) return {};
  Seen seen{"", {}, trace.size() - passes->tail_first, passes->method, passes->anchor};
  std::size_t next = 0;
  for (const Pass& pass : passes->passes) {
    EXPECT_EQ(pass.first, next) << "passes leave no hole";
    next = pass.last;
    seen.kinds += pass.kind == PassKind::kTarget ? 'T' : 'd';
    seen.lengths.push_back(pass.last - pass.first);
  }
  EXPECT_EQ(passes->tail_first, next);
  return seen;
}
using Lengths = std::vector<std::size_t>;

constexpr const char* kAnchor = "mul_mat_vec_q over 151,936 blocks";

TEST(FindPasses, CutsBehindEachOutputHead) {
  EXPECT_EQ(See(Repeat(Step(), 4) + Works{{kNorm, 50us}}),
            (Seen{"TTTT", Lengths(4, 29), 1, PassMethod::kOutputHead, kAnchor}));
}

TEST(FindPasses, CutsBehindTheOpThatGivesTheLogits) {
  const Works step = {{"MUL_MAT<attn_q, Q8_0>", 50us}, {"MUL_MAT<result_output, Q6_K>", 90us}};
  EXPECT_EQ(See(Repeat(step, 4) + Works{{"ADD<l_out, F32>", 5us}}),
            (Seen{"TTTT", Lengths(4, 2), 1, PassMethod::kOutputHead, "MUL_MAT<result_output>"}));
}

TEST(FindPasses, SeesOneStep) {
  EXPECT_EQ(See(Step()), (Seen{"T", {29}, 0, PassMethod::kOutputHead, kAnchor}));
}

TEST(FindPasses, SeesNothingInAnEmptyWindow) {
  Recording recording;
  recording.Run(Step());
  recording.Rest(1s);
  recording.Run(Step());
  const auto trace = recording.Finish();
  Window window{.begin = trace.end[28] + 1ms, .end = trace.end[28] + 2ms};
  SetDispatchRange(trace, window);
  const auto groups = GroupLaunches(trace, window.first, window.last);
  EXPECT_TRUE(groups.groups.empty());
  EXPECT_FALSE(FindPasses(trace, window, groups, {}));
}

TEST(FindPasses, KnowsASmallVocabularyOnlyWhenTold) {
  const auto step = [](std::uint32_t blocks) {
    return Layer() + Works{{kHead, 400us, {blocks, 1, 1}}};
  };
  // 5000 rows look like those of any projection; without being told, the period is found.
  EXPECT_EQ(See(Repeat(step(5000), 6), {.vocabulary = 5000}),
            (Seen{"TTTTTT", Lengths(6, 10), 0, PassMethod::kOutputHead,
                  "mul_mat_vec_q over 5,000 blocks"}));
  EXPECT_EQ(See(Repeat(step(5000), 6)).method, PassMethod::kPeriod);
}

// Mistral's vocabulary of 32,768 in blocks of 8 would be its 4,096 rows of queries.
TEST(FindPasses, TakesProjectionsWithAShareOfTheVocabularyForNoHeads) {
  const Works step =
      Repeat({{kNorm, 10us, {1, 1, 1}}, {kMul, 50us, {4096, 1, 1}, 2}, {kRope, 10us, {32, 1, 1}}},
             12) +
      Works{{kHead, 400us, {32768, 1, 1}}};
  EXPECT_EQ(See(Repeat(step, 5), {.vocabulary = 32768}),
            (Seen{"TTTTT", Lengths(5, 49), 0, PassMethod::kOutputHead,
                  "mul_mat_vec_q over 32,768 blocks"}));
}

TEST(FindPasses, KnowsHeadsWithSeveralRowsABlock) {
  for (const std::uint32_t rows : {1u, 2u, 4u, 8u, 16u}) {
    const std::uint32_t blocks = (152064 + rows - 1) / rows;
    const Works step = Layer() + Works{{kHead, 400us, {blocks, 1, 1}}};
    EXPECT_EQ(See(Repeat(step, 5), {.vocabulary = 152064}),
              (Seen{"TTTTT", Lengths(5, 10), 0, PassMethod::kOutputHead,
                    "mul_mat_vec_q over " + base::Grouped(blocks) + " blocks"}));
  }
}

TEST(RowsPerBlock, IsNoneForAVocabularyThatIsNone) {
  Recording recording;
  recording.Run(Step());
  const auto trace = recording.Finish();
  for (const std::int64_t vocabulary : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
    for (const LaunchGroup& group : GroupLaunches(trace, 0, trace.size()).groups) {
      EXPECT_EQ(RowsPerBlock(trace, group, vocabulary), 0) << vocabulary;
    }
  }
}

// A draft model of its own: fewer layers, one token at a time; the target verifies several.
Works DraftPass(int layers) {
  return Repeat(Layer(), layers) + Works{{kHead, 300us, {kVocabulary, 1, 1}}};
}
Works VerifyPass(int layers) {
  return Repeat(Layer(), layers) +
         Works{{"void mul_mat_vec_q<(ggml_type)14, 4, false, false>(void const*)",
                1400us,
                {kVocabulary, 1, 1}}};
}

TEST(FindPasses, TellsDraftPassesFromTheTarget) {
  // 51, 52 and 53 dispatches against 581, as recorded.
  Works steps;
  for (int i = 0; i < 12; ++i) {
    const Works draft =
        Works{{kNorm, 10us, {3, 1, 1}, 50}} + Works{{kHead, 300us, {kVocabulary, 1, 1}}};
    steps = steps + Works{{kRope, 10us, {9, 1, 1}, i % 3}} + Repeat(draft, 4);
    steps = steps + Works{{kMul, 10us, {2048, 1, 1}, 580}} + VerifyPass(0);
  }
  const Seen seen = See(steps);
  std::string kinds;
  Lengths lengths;
  for (std::size_t i = 0; i < 12; ++i) {
    kinds += "ddddT";
    lengths.insert(lengths.end(), {51 + i % 3, 51, 51, 51, 581});
  }
  EXPECT_EQ(seen, (Seen{kinds, lengths, 0, PassMethod::kOutputHead, kAnchor}));
}

TEST(FindPasses, CountsAStepWithoutDrafts) {
  const Works with = Repeat(DraftPass(1), 2) + VerifyPass(6);
  EXPECT_EQ(See(Repeat(with, 3) + VerifyPass(6) + Repeat(with, 3)).kinds, "ddTddTddTTddTddTddT");
}

// One layer that proposes tokens and shares the target's head, kernel and grid (MTP).
TEST(FindPasses, TellsADraftHeadOfOneLayerFromTheTargetWithTheSameHead) {
  const Works step =
      Repeat(DraftPass(1), 2) + Repeat(Layer(), 6) + Works{{kHead, 300us, {kVocabulary, 1, 1}}};
  EXPECT_EQ(See(Repeat(step, 4), {.speculative = true}).kinds, "ddTddTddTddT");
  // Nothing says that the server speculates, so a pass is a pass.
  EXPECT_EQ(See(Repeat(step, 4)).kinds, "TTTTTTTTTTTT");
}

TEST(FindPasses, KnowsAFirstTargetPassThatLostItsFrontByItsHead) {
  const Works step = Repeat(DraftPass(1), 2) + VerifyPass(6);
  Works cut = VerifyPass(6);
  cut.erase(cut.begin(), cut.end() - 3);
  EXPECT_EQ(See(cut + Repeat(step, 4)).kinds, "TddTddTddTddT");
}

TEST(FindPasses, TakesOnePassOfAnotherLengthForNoKind) {
  EXPECT_EQ(See(Repeat(Layer(), 40) + Step() + Repeat(Step(), 9), {.speculative = true}).kinds,
            "TTTTTTTTTT");
}

TEST(FindPasses, FindsThePeriodWithoutAHead) {
  // The graph is launched as blocks that no grid tells of; the host takes 100 µs between steps.
  const Works step =
      Works{{"embed", 20us, {}, 1, 100us}} + Repeat(Layer(), 3) + Works{{"logits", 400us}};
  EXPECT_EQ(See(Repeat(step, 8)),
            (Seen{"TTTTTTTT", Lengths(8, 29), 0, PassMethod::kPeriod, "logits"}));
}

TEST(FindPasses, FindsThePeriodWhenNoKernelRunsOnceAStep) {
  // "pair" runs before and after the layers of each step, all in one shape.
  const Works step =
      Works{{"pair", 20us, {}, 1, 100us}} + Repeat(Layer(), 3) + Works{{"pair", 40us}};
  EXPECT_EQ(See(Repeat(step, 8)),
            (Seen{"TTTTTTTT", Lengths(8, 29), 0, PassMethod::kPeriod, "one launch in 2 of pair"}));
}

TEST(FindPasses, TakesLayersThatRepeatForNoSteps) {
  const Works step =
      Works{{"embed", 20us, {}, 1, 100us}} + Repeat(Layer(), 64) + Works{{"logits", 400us}};
  EXPECT_EQ(See(Repeat(step, 10)),
            (Seen{std::string(10, 'T'), Lengths(10, 578), 0, PassMethod::kPeriod, "logits"}));
}

TEST(FindPasses, SeesNoPatternWhereThereIsNone) {
  std::mt19937 random(7);
  Works works;
  for (int i = 0; i < 2000; ++i) {
    works.push_back({"kernel_" + std::to_string(random() % 50), 10us});
  }
  EXPECT_EQ(See(works), Seen{});
  EXPECT_EQ(See({{"alone", 10us}}), Seen{});
}

}  // namespace
}  // namespace culprit::analysis
