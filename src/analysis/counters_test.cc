#include "analysis/counters.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/number_format.h"

namespace culprit::analysis {
namespace {

using ::testing::ElementsAre;

constexpr const char* kNorm = "void rms_norm_f32<1024, true, false>(float const*, float*, int)";
constexpr const char* kNarrowNorm =
    "void rms_norm_f32<256, true, false>(float const*, float*, int)";
constexpr const char* kMul = "void mul_mat_vec_q<(ggml_type)12, 1, false, false>(void const*)";
constexpr const char* kOlderMul = "void mul_mat_vec_q<(ggml_type)12, 1, false>(void const*)";

// A row a dispatch: kernel, work-items of a workgroup, VGPRs, value of the counter.
struct Dispatch {
  const char* kernel;
  int workgroup, vgpr;
  double value;
};

trace::CounterSet SetOf(const std::string& counter, const std::vector<Dispatch>& dispatches) {
  trace::CounterSet set;
  const trace::CounterId id(std::size_t{0});
  set.counters = {set.strings.Intern(counter)};
  for (const Dispatch& dispatch : dispatches) {
    const auto threads = static_cast<std::uint32_t>(dispatch.workgroup);
    trace::CountedKernel kernel{.name = set.strings.Intern(dispatch.kernel),
                                .geometry = {{4096 / threads, 1, 1}, {threads, 1, 1}},
                                .resources = {.vgpr = dispatch.vgpr},
                                .launches = 1,
                                .counters = {}};
    kernel.counters[id] = {dispatch.value, 1};
    set.kernels.push_back(std::move(kernel));
    ++set.launches;
  }
  return set;
}

template <typename... Sets>
Counted CountedOf(const std::string& label, Sets... sets) {
  std::vector<trace::CounterSet> passes;  // they cannot be copied
  (passes.push_back(std::move(sets)), ...);
  return CountVariant(label, passes, std::nullopt, ShippedRules());
}

// "norm 2/- W 4/-": launches of A and B, and the mean of a counter.
std::string Show(const CounterRow& row, const std::string& counter) {
  const auto launches = [](const std::optional<Tally>& tally) {
    return tally ? std::to_string(tally->launches) : "-";
  };
  const auto mean = [&](const std::optional<Tally>& tally) -> std::string {
    if (!tally || !tally->counters.contains(counter)) return "-";
    return base::Plain(tally->counters.at(counter).mean().value());
  };
  return fmt::format("{}{}{} {}/{} {}/{}", row.is_category() ? "" : "  ", row.name,
                     row.workgroup ? fmt::format(" {}", *row.workgroup) : "", launches(row.a),
                     launches(row.b), mean(row.a), mean(row.b));
}

std::vector<std::string> RowsOf(const Counted& a, const Counted* b,
                                const std::string& counter = "W") {
  std::vector<std::string> rows;
  for (const CounterRow& row : CounterRows(a, b)) rows.push_back(Show(row, counter));
  return rows;
}

TEST(Counters, AreAddedUpByCategoryAndKernel) {
  const Counted counted = CountedOf(
      "a",
      SetOf("W",
            {{kNorm, 1024, 16, 4}, {kMul, 32, 24, 10}, {kMul, 32, 32, 20}, {kMul, 64, 8, 30}}));
  EXPECT_THAT(
      RowsOf(counted, nullptr),
      ElementsAre("dense Q4_K 3/- 20/-", "  mul_mat_vec_q 32 2/- 15/-",
                  "  mul_mat_vec_q 64 1/- 30/-", "norm 1/- 4/-", "  rms_norm_f32 1024 1/- 4/-"));
  EXPECT_EQ(CounterRows(counted, nullptr)[1].a->largest.vgpr, 32);
}

TEST(Counters, StandBesideThoseOfTheSameWork) {
  const Counted a = CountedOf("a", SetOf("W", {{kNorm, 1024, 16, 4}, {kMul, 32, 24, 10}}));
  const Counted b =
      CountedOf("b", SetOf("W", {{kOlderMul, 32, 24, 30}, {kNarrowNorm, 256, 16, 8}}));
  EXPECT_THAT(RowsOf(a, &b),
              ElementsAre("dense Q4_K 1/1 10/30", "  mul_mat_vec_q 32 1/1 10/30", "norm 1/1 4/8",
                          "  rms_norm_f32 1024 1/- 4/-", "  rms_norm_f32 256 -/1 -/8"));
}

// Each pass is another run of the same request: its launches are no more launches.
TEST(Counters, OfSeveralPassesAreOnesOfOneRun) {
  const Counted counted =
      CountedOf("a", SetOf("W", {{kMul, 32, 24, 10}, {kMul, 32, 24, 20}}),
                SetOf("X", {{kMul, 32, 24, 1}, {kMul, 32, 24, 1}, {kNorm, 32, 24, 7}}));
  EXPECT_THAT(RowsOf(counted, nullptr),
              ElementsAre("dense Q4_K 2/- 15/-", "  mul_mat_vec_q 32 2/- 15/-", "norm 1/- -/-",
                          "  rms_norm_f32 32 1/- -/-"));
  EXPECT_THAT(RowsOf(counted, nullptr, "X")[1], "  mul_mat_vec_q 32 2/- 1/-");
  EXPECT_THAT(counted.counters, ElementsAre("W", "X"));
  EXPECT_THAT(counted.launches_of_passes, ElementsAre(2, 3));
  EXPECT_EQ(counted.launches_of_counter.at("X"), 3);
}

TEST(Counters, ChangeOnlyWhereThereAreTwo) {
  EXPECT_EQ(Change(4, 5), base::Fraction(0.25));
  EXPECT_EQ(Change(4, 4), base::Fraction(0));
  EXPECT_EQ(Change(0, 4), std::nullopt);
  EXPECT_EQ(Change(std::nullopt, 4), std::nullopt);
  EXPECT_EQ(Change(4, std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace culprit::analysis
