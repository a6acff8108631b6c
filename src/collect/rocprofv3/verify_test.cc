#include "collect/rocprofv3/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::collect::rocprofv3 {
namespace {

using base::HostTime;
using base::Nanos;
using namespace std::chrono_literals;
using Kind = Verdict::Kind;

// A request of two seconds, an hour after the machine's start.
const HostTime kSent{Nanos(3600s)}, kEnded{Nanos(3602s)};
const RequestTimes kRequest{kSent, kEnded};
constexpr std::int64_t kAt = 3'600'000'000'000, kSecond = 1'000'000'000;

Rows Whole() {
  return {.dispatches = 100,
          .ids = 100,
          .first_id = 1,
          .last_id = 100,
          .begin = kSent - 10s,
          .end = kEnded + 1ms};
}

TEST(Verify, TakesRowsThatReachOverTheRequest) {
  EXPECT_EQ(Judge(Whole(), kRequest), (Verdict{Kind::kComplete, "", 100}));
  Rows rows = Whole();
  rows.begin = kSent + 250ms;
  rows.end = kEnded - 250ms;
  EXPECT_TRUE(Judge(rows, kRequest).complete());
  // Longer requests have longer ends: a tenth.
  EXPECT_TRUE(Judge({1, 1, 7, 7, kSent, kSent + 91s}, {kSent, kSent + 100s}).complete());
}

// Its decode may be over within what a long request may miss at its end.
TEST(Verify, AsksForThreeQuartersOfAShortRequest) {
  const RequestTimes request{kSent, kSent + 200ms};
  EXPECT_TRUE(Judge({1, 1, 7, 7, kSent + 50ms, kSent + 150ms}, request).complete());
  EXPECT_FALSE(Judge({1, 1, 7, 7, kSent, kSent + 149ms}, request).complete());
  EXPECT_FALSE(Judge({1, 1, 7, 7, kSent - 1s, kSent - 10ms}, request).complete());
}

TEST(Verify, MissesWhatIsNotThere) {
  EXPECT_EQ(Judge(Rows(), kRequest), (Verdict{Kind::kEmpty, "there is no dispatch in it", 0}));
  Rows rows = Whole();
  rows.dispatches = rows.ids = 97;
  EXPECT_EQ(Judge(rows, kRequest),
            (Verdict{Kind::kGaps, "3 of 100 dispatches are missing in it", 97}));
  rows = Whole();
  rows.begin = kSent + 251ms;
  EXPECT_EQ(Judge(rows, kRequest),
            (Verdict{Kind::kUncovered,
                     "its first dispatch is 251.0 ms after the request's beginning", 100}));
  rows = Whole();
  rows.end = kEnded - 1s;
  EXPECT_EQ(
      Judge(rows, kRequest),
      (Verdict{Kind::kUncovered, "its last dispatch is 1.000 s before the request's end", 100}));
  rows.begin = rows.end = HostTime();
  EXPECT_EQ(Judge(rows, kRequest),
            (Verdict{Kind::kUncovered, "its dispatches carry no times", 100}));
}

TEST(Verify, DoesNotMindADispatchTwice) {
  Rows rows = Whole();
  rows.dispatches = 101;
  EXPECT_TRUE(Judge(rows, kRequest).complete());
}

TEST(Verify, SurvivesAnyNumber) {
  RowCount count;
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  count.Add(kLeast, kLeast, kLeast);
  count.Add(kMost, kMost, kMost);
  const Rows rows = count.Finish();
  EXPECT_EQ(rows, (Rows{2, 2, 0, kMost, HostTime(Nanos(kMost)), HostTime(Nanos(kMost))}));
  EXPECT_EQ(Judge(rows, kRequest).kind, Kind::kGaps);
}

class InFolder : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_.path() + "/" + name, std::ios::binary) << bytes;
    return folder_.path() + "/" + name;
  }
  sys::SampleFolder folder_;
};
using VerifyDatabase = InFolder;
using VerifyCsv = InFolder;

// Ten dispatches, a quarter of a second apart.
std::string Sql(int count = 10, int without = 0) {
  std::string sql =
      "CREATE TABLE \"rocpd_kernel_dispatch_0a_1b\" (id INTEGER PRIMARY KEY, dispatch_id INTEGER, "
      "start BIGINT, \"end\" BIGINT);"
      "CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM \"rocpd_kernel_dispatch_0a_1b\";";
  for (int i = 1; i <= count; ++i) {
    if (i == without) continue;
    sql += fmt::format("INSERT INTO \"rocpd_kernel_dispatch_0a_1b\" VALUES ({0}, {0}, {1}, {2});",
                       i, kAt + (i - 1) * kSecond / 4, kAt + i * kSecond / 4);
  }
  return sql;
}

TEST_F(VerifyDatabase, ReadsTheTableOfDispatches) {
  const auto path = Write("a_results.db", sys::MakeDatabase(Sql()));
  EXPECT_EQ(Verify(path, kRequest), (Verdict{Kind::kComplete, "", 10}));
}

TEST_F(VerifyDatabase, SeesHolesAndAMissingEnd) {
  EXPECT_EQ(Verify(Write("a.db", sys::MakeDatabase(Sql(10, 5))), kRequest),
            (Verdict{Kind::kGaps, "1 of 10 dispatches are missing in it", 9}));
  EXPECT_EQ(
      Verify(Write("b.db", sys::MakeDatabase(Sql(4))), kRequest),
      (Verdict{Kind::kUncovered, "its last dispatch is 1.000 s before the request's end", 4}));
  EXPECT_EQ(Verify(Write("c.db", sys::MakeDatabase(Sql(0))), kRequest),
            (Verdict{Kind::kEmpty, "there is no dispatch in it", 0}));
}

TEST_F(VerifyDatabase, RefusesWhatIsNoTrace) {
  EXPECT_EQ(
      Verify(Write("a.db", sys::MakeDatabase("CREATE TABLE t (a)")), kRequest),
      (Verdict{Kind::kBroken, "it cannot be read (there is no table of dispatches in it)", 0}));
  EXPECT_EQ(Verify(Write("b.db", "some text"), kRequest).kind, Kind::kBroken);
  EXPECT_EQ(Verify(folder_.path() + "/none.db", kRequest).kind, Kind::kBroken);
  EXPECT_EQ(Verify(Write("d.db", ""), kRequest).kind, Kind::kBroken);
}

TEST_F(VerifyDatabase, FindsATornFileWhereverItIsCut) {
  const std::string bytes = sys::MakeDatabase(Sql(2000));
  for (std::size_t cut = 0; cut + 512 < bytes.size(); cut += 1777) {
    ASSERT_FALSE(Verify(Write("a.db", bytes.substr(0, cut)), kRequest).complete()) << cut;
  }
}

TEST_F(VerifyDatabase, AFileWithAJournalIsNeverComplete) {
  const auto path = Write("a.db", sys::MakeDatabase(Sql()));
  Write("a.db-journal", std::string(100, 'x'));
  const Verdict verdict = Verify(path, kRequest);
  EXPECT_EQ(verdict.kind, Kind::kUnfinished);
  EXPECT_EQ(verdict.why,
            "it was cut while it was written: without what its journal takes back it holds 10 "
            "dispatches, the last of them 0 ns before the request's end");
  EXPECT_TRUE(std::filesystem::exists(path + "-journal"));
}

constexpr const char* kHeader =
    "\"Kind\",\"Dispatch_Id\",\"Kernel_Name\",\"Start_Timestamp\","
    "\"End_Timestamp\"\n";

std::string Line(int id, std::int64_t start, std::int64_t end) {
  return fmt::format("\"KERNEL_DISPATCH\",{},\"f<1, 2>(char \"\"x\"\")\",{},{}\n", id, start, end);
}

TEST_F(VerifyCsv, ReadsRowsByTheNamesOfTheirColumns) {
  const auto path = Write("a_kernel_trace.csv", kHeader + Line(1, kAt, kAt + 5) +
                                                    Line(2, kAt + kSecond, kAt + 2 * kSecond));
  EXPECT_EQ(Verify(path, kRequest), (Verdict{Kind::kComplete, "", 2}));
}

TEST_F(VerifyCsv, CountsRowsWhereThereAreNoIds) {
  const auto path = Write("a.csv", fmt::format("start_timestamp,end_timestamp\n{},{}\n{},{}\n", kAt,
                                               kAt + 1, kAt + kSecond, kAt + 2 * kSecond));
  EXPECT_EQ(Verify(path, kRequest), (Verdict{Kind::kComplete, "", 2}));
}

TEST_F(VerifyCsv, FindsACutLastLine) {
  const std::string whole = kHeader + Line(1, kAt, kAt + 2 * kSecond);
  EXPECT_EQ(Verify(Write("a.csv", whole + "\"KERNEL_DIS"), kRequest),
            (Verdict{Kind::kBroken, "it cannot be read (its last line is cut)", 0}));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    ASSERT_FALSE(Verify(Write("a.csv", whole.substr(0, cut)), kRequest).complete()) << cut;
  }
}

// A row for each counter of a dispatch; ids of dispatches that were not counted are missing.
TEST_F(VerifyCsv, ReadsCountersByTheSameRules) {
  const Pass pass{.counters = {"A", "B"}};
  const std::string header =
      "Dispatch_Id,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n";
  const std::string whole = header + fmt::format("1,A,1,{0},{1}\n1,B,nan,{0},{1}\n9,A,1,{2},{3}\n",
                                                 kAt, kAt + 5, kAt + kSecond, kAt + 2 * kSecond);
  const auto path = Write("a_counter_collection.csv", whole);
  EXPECT_EQ(Verify(path, kRequest, pass), (Verdict{Kind::kComplete, "", 2, {"A", "B"}}));
  EXPECT_EQ(Verify(path, kRequest).why,
            "it cannot be read (it counts, and its times are no timing)");
  EXPECT_EQ(Verify(Write("b.csv", header), kRequest, pass).kind, Kind::kEmpty);
  EXPECT_EQ(Verify(Write("c.csv", kHeader + Line(1, kAt, kAt + 2 * kSecond)), kRequest, pass).why,
            "it cannot be read (nothing is counted in it)");
  EXPECT_EQ(
      Verify(Write("d.csv", header + fmt::format("1,A,1,{},{}\n", kAt, kAt + 5)), kRequest, pass)
          .kind,
      Kind::kUncovered);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const Verdict verdict = Verify(Write("e.csv", whole.substr(0, cut)), kRequest, pass);
    ASSERT_FALSE(verdict.complete()) << cut;
  }
}

TEST_F(VerifyCsv, RefusesWhatIsNoDispatch) {
  const auto why = [&](const std::string& text) {
    return Verify(Write("a.csv", text), kRequest).why;
  };
  EXPECT_EQ(why("Name,Calls\na,1\n"),
            "it cannot be read (its first line is not that of a kernel trace)");
  EXPECT_EQ(why(std::string(kHeader) + "1,2\n"), "it cannot be read (line 2 is no dispatch)");
  EXPECT_EQ(why(std::string(kHeader) + "K,1,f,-5,6\n"),
            "it cannot be read (line 2 is no dispatch)");
  EXPECT_EQ(why(kHeader), "there is no dispatch in it");
}

}  // namespace
}  // namespace culprit::collect::rocprofv3
