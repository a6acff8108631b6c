#include "server/event_stream.h"

#include <gmock/gmock.h>

namespace culprit::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<StreamEvent> FeedWhole(std::string_view text) {
  return EventStream().Feed(text).value();
}

constexpr std::string_view kStream =
    "\xEF\xBB\xBF"
    "data: {\"content\":\"Hi\"}\n\n"
    ": keep alive\r\n\r\n"
    "event: progress\r\ndata:one\r\ndata: two\r\nid: 7\r\n\r\n"
    "data\r\r"
    "error: {\"code\":500}\n\n"
    "data: [DONE]\n\n"
    "data: never ended\n";

TEST(EventStream, GivesTheEventsOfAStream) {
  EXPECT_THAT(FeedWhole(kStream),
              ElementsAre(StreamEvent{"", "{\"content\":\"Hi\"}"},
                          StreamEvent{"progress", "one\ntwo"}, StreamEvent{"", ""},
                          StreamEvent{"error", "{\"code\":500}"}, StreamEvent{"", "[DONE]"}));
}

TEST(EventStream, DoesNotCareWhereChunksEnd) {
  for (std::size_t size = 1; size < kStream.size(); ++size) {
    EventStream stream;
    std::vector<StreamEvent> events;
    for (std::size_t at = 0; at < kStream.size(); at += size) {
      const auto more = stream.Feed(kStream.substr(at, size)).value();
      events.insert(events.end(), more.begin(), more.end());
    }
    EXPECT_EQ(events, FeedWhole(kStream)) << "in chunks of " << size;
  }
}

TEST(EventStream, PassesBytesOnAsTheyAre) {
  using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)
  EXPECT_THAT(FeedWhole("data: \xFF\0\x1B[31m\n\n"sv),
              ElementsAre(StreamEvent{"", std::string("\xFF\0\x1B[31m"sv)}));
}

TEST(EventStream, TextThatIsNoStreamHasNoEvents) {
  EXPECT_THAT(FeedWhole("<html>\n\n500: no\n\n"), IsEmpty());
}

TEST(EventStream, RefusesAnEndlessEvent) {
  EventStream stream;
  const std::string line = "data: " + std::string(1 << 20, 'x') + "\n";
  int fed = 0;
  while (fed < 100 && stream.Feed(line)) ++fed;
  EXPECT_EQ(fed, 15);
}

}  // namespace
}  // namespace culprit::server
