#include "host/journal.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "host/journal_line.h"
#include "sys/sample_files.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

const Setting kService{"service:system:qwen.service", "active", "inactive"};
const Started kServer{{{4711, 123456}, 4000}, "the server"};

class JournalTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_ + "/journal.jsonl"; }
  [[nodiscard]] std::string Text() const {
    std::ifstream in(path());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Reopened expects an unfinished journal.
  [[nodiscard]] Journal Reopened() const {
    auto journal = Journal::OpenUnfinished(folder_);
    EXPECT_TRUE(journal && *journal);
    return **std::move(journal);
  }
  [[nodiscard]] static std::vector<Fact> Facts(const Journal& journal) {
    std::vector<Fact> facts;
    for (const auto& entry : journal.entries()) facts.push_back(entry.fact);
    return facts;
  }
  const sys::SampleFolder sample_;
  const std::string folder_ = sample_.path() + "/state/culprit";
};

TEST_F(JournalTest, IsReadBackAsItWasWritten) {
  {
    auto journal = Journal::Create(folder_);
    ASSERT_TRUE(journal) << journal.error().Text();
    EXPECT_EQ(journal->Append(Health{"http://127.0.0.1:8001/health", 600s}), 1);
    EXPECT_EQ(journal->Append(kService), 2);
    EXPECT_EQ(journal->Append(kServer), 3);
    EXPECT_EQ(journal->Append(Settled{3}), 4);
  }
  const auto again = Reopened();
  EXPECT_THAT(Facts(again), ElementsAre(Fact(Health{"http://127.0.0.1:8001/health", 600s}),
                                        Fact(kService), Fact(kServer), Fact(Settled{3})));
  EXPECT_EQ(again.entries()[3].sequence, 4);
  EXPECT_EQ(again.entries()[3].boot, sys::BootId());
  EXPECT_TRUE(again.IsSettled(3));
  EXPECT_FALSE(again.IsSettled(2));
  EXPECT_EQ(again.damaged(), 0);
}

TEST_F(JournalTest, IsGoneOnceFinished) {
  auto journal = Journal::Create(folder_);
  ASSERT_TRUE(journal && journal->Append(kService));
  EXPECT_TRUE(journal->Finish());
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(*Journal::OpenUnfinished(folder_), std::nullopt);
}

TEST_F(JournalTest, ThatIsDoneButNotYetRemovedIsRemoved) {
  auto journal = Journal::Create(folder_);
  ASSERT_TRUE(journal && journal->Append(kService) && journal->Append(Done{}));
  EXPECT_EQ(*Journal::OpenUnfinished(folder_), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(JournalTest, IsNeverBegunOverAnother) {
  ASSERT_TRUE(Journal::Create(folder_));
  const auto second = Journal::Create(folder_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().Text(), path() + ": cannot be made: File exists");
}

TEST_F(JournalTest, DropsATornLastLineAndGoesOn) {
  {
    auto journal = Journal::Create(folder_);
    ASSERT_TRUE(journal && journal->Append(kService));
  }
  std::ofstream(path(), std::ios::app) << R"({"sequence":2,"setting":"power-pro)";
  {
    auto torn = Reopened();
    EXPECT_THAT(Facts(torn), ElementsAre(Fact(kService)));
    EXPECT_EQ(torn.Append(kServer), 2);
  }
  const auto whole = Reopened();
  EXPECT_THAT(Facts(whole), ElementsAre(Fact(kService), Fact(kServer)));
  EXPECT_EQ(whole.damaged(), 0);
}

TEST_F(JournalTest, CountsDamagedLinesAndKeepsTheRest) {
  {
    auto journal = Journal::Create(folder_);
    ASSERT_TRUE(journal && journal->Append(kService));
  }
  const std::string text = Text();
  std::ofstream(path()) << "\x01noise\n[]\n" << text << R"({"sequence":-1,"settled":1})" << '\n';
  const auto damaged = Reopened();
  EXPECT_THAT(Facts(damaged), ElementsAre(Fact(kService)));
  EXPECT_EQ(damaged.damaged(), 3);
}

TEST_F(JournalTest, ThatIsNoFileIsSaidToBeNone) {
  std::filesystem::create_directories(folder_);
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  const auto error = [&] { return Journal::OpenUnfinished(folder_).error().Text(); };
  EXPECT_THAT(error(), HasSubstr("journal.jsonl: is a pipe or a device, not a file"));
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_EQ(error(), path() + ": is a folder, not a file");
  std::filesystem::remove(path());
  std::filesystem::create_symlink("nothing", path());
  EXPECT_EQ(error(), path() + ": is a link that leads nowhere");
  EXPECT_FALSE(Journal::Create(folder_));
}

TEST_F(JournalTest, ThatIsAbandonedIsKeptUnderAnotherName) {
  auto journal = Journal::Create(folder_);
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->Abandon(), path() + ".abandoned");
  EXPECT_EQ(*Journal::OpenUnfinished(folder_), std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(path() + ".abandoned"));
  for (const char* number : {".2", ".3"}) {
    journal = Journal::Create(folder_);
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->Abandon(), path() + ".abandoned" + number);
  }
}

TEST_F(JournalTest, WithoutAnEntryIsNothingToRestore) {
  ASSERT_TRUE(Journal::Create(folder_));
  for (const char* text : {"", R"({"sequence":1,"setting":"service:sys)"}) {
    std::ofstream(path()) << text;
    EXPECT_EQ(*Journal::OpenUnfinished(folder_), std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
}

TEST(JournalLine, TakesAddressesOfThisMachineForADayAtMost) {
  const auto line = [](const std::string& url, const std::string& within) {
    return R"({"sequence":1,"health":")" + url + R"(","within_s":)" + within + R"(,"boot":"b"})";
  };
  const std::string own = "http://127.0.0.1:8001/health";
  EXPECT_EQ(ParseJournalLine(line(own, "86400")), (JournalEntry{1, "b", Health{own, 86'400s}}));
  EXPECT_EQ(ParseJournalLine(line(own, "86401")), std::nullopt);
  for (const char* url : {"http://example.com/health", "http://127.0.0.1.example.com:80/",
                          "file:///etc/passwd", "http://127.0.0.1:99999/", ""}) {
    EXPECT_EQ(ParseJournalLine(line(url, "1")), std::nullopt) << url;
  }
}

TEST(JournalLine, RefusesNumbersThatAreNoProcess) {
  const auto line = [](const std::string& pid) {
    return R"({"sequence":1,"process":)" + pid +
           R"(,"started_ticks":5,"session":7,"what":"x","boot":"b"})";
  };
  EXPECT_EQ(ParseJournalLine(line("4711")), (JournalEntry{1, "b", Started{{{4711, 5}, 7}, "x"}}));
  for (const char* pid : {"0", "1", "-1", "4294967297", "18446744073709551615", "4.5", "\"9\""}) {
    EXPECT_EQ(ParseJournalLine(line(pid)), std::nullopt) << pid;
  }
}

TEST(JournalLine, HoldsAnyBytes) {
  const JournalEntry entry{1, "b", Setting{"power-profile", "a\n\"\xff", "b"}};
  const std::string line = JournalLine(entry, 1789000000s);
  EXPECT_EQ(line, R"({"sequence":1,"setting":"power-profile","was":"a\n\"\ufffd","want":"b",)"
                  R"("boot":"b","unix_time_s":1789000000})"
                  "\n");
}

}  // namespace
}  // namespace culprit::host
