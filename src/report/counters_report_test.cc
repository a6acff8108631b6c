#include "report/counters_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "report/writers.h"

namespace culprit::report {
namespace {

using analysis::Counted;
using testing::HasSubstr;
using testing::Not;

// One kernel, with a counter of each name.
Counted CountedWith(const std::vector<std::string>& counters, std::int64_t launches = 4) {
  Counted counted{.label = "a", .counters = counters, .kernels = {}};
  analysis::TalliedKernel kernel{"norm", "rms", 64, "rms_norm", "void rms_norm()", {}};
  kernel.tally.launches = launches;
  for (const std::string& name : counters) kernel.tally.counters[name] = {8, launches};
  counted.kernels = {kernel};
  counted.launches_of_passes = {launches};
  return counted;
}

TEST(CountersReport, TellsCountersApartHoweverTheyAreCalled) {
  std::vector<Counted> variants(2, CountedWith({"SQ_WAVES", "sq waves", "SQ/WAVES", "", "name"}));
  const Report report = CountersReport(variants, {.title = "t"});
  for (const Table& table : For(Audience::kMachines, report).tables) {
    std::set<std::string> keys;
    for (const Column& column : table.columns) {
      EXPECT_TRUE(keys.insert(column.key).second) << column.key;
      EXPECT_EQ(column.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
                std::string::npos)
          << column.key;
    }
  }
  EXPECT_THAT(WriteJson(report), HasSubstr("a_sq_waves_2_per_launch"));
}

// The schema wants keys that begin with a letter.
TEST(CountersReport, MakesKeysOfNamesThatBeginWithNoLetter) {
  const std::string text =
      WriteJson(CountersReport({{CountedWith({"_GPU_UTIL", "1st"})}}, {.title = "t"}));
  EXPECT_THAT(text, HasSubstr("\"counter__gpu_util_per_launch\""));
  EXPECT_THAT(text, HasSubstr("\"counter_1st_per_launch\""));
}

TEST(CountersReport, HasNoTimes) {
  std::vector<Counted> variants(2, CountedWith({"SQ_WAVES"}));
  variants[0].tokens = variants[1].tokens = base::Tokens(2);
  const std::string text = WriteJson(CountersReport(variants, {.title = "t"}));
  EXPECT_THAT(text, HasSubstr("a_launches_per_token"));
  for (const char* word : {"_ms", "_ns", "_us", "seconds", "duration", "µs"}) {
    EXPECT_THAT(text, Not(HasSubstr(word)));
  }
}

TEST(CountersReport, SaysWhatIsMissing) {
  Counted counted = CountedWith({"A", "B"});
  counted.kernels[0].tally.counters["B"].count = 3;
  counted.launches_of_counter = {{"A", 4}, {"B", 4}};
  counted.launches_of_passes = {4, 5};
  const std::string text =
      WriteJson(CountersReport({&counted, 1}, {.title = "t", .missing = {"b has no counts of C"}}));
  EXPECT_THAT(text, HasSubstr("b has no counts of C"));
  EXPECT_THAT(text, HasSubstr("not every launch has a value, and means are of those that have: B 3 "
                              "of 4\""));
  EXPECT_THAT(text, HasSubstr("passes launched different numbers of kernels: 4, 5"));
}

}  // namespace
}  // namespace culprit::report
