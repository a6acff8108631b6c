#include "sys/http.h"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>

#include "sys/ports.h"
#include "sys/test_server.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

const HttpLimits kLimits{.connect = 60s, .idle = 60s, .total = 60s};

TEST(HttpThread, GetsStatusAndBody) {
  const TestServer server([](const std::string&, int socket) {
    TestServer::Send(socket, TestServer::Answer("{\"error\": 1}", "503 Service Unavailable"));
  });
  const auto answer = Get(server.url("/health"), kLimits, StopSignal());
  ASSERT_TRUE(answer) << answer.error().Text();
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body, "{\"error\": 1}");
  EXPECT_TRUE(server.last_request().starts_with("GET /health HTTP/1.1\r\n"));
}

TEST(HttpThread, PostsALongBodyWithoutAskingFirst) {
  const TestServer server(
      [](const std::string&, int socket) { TestServer::Send(socket, TestServer::Answer("ok")); });
  const std::string body(3'000'000, 'x');
  const auto answer = Post(server.url("/tokenize"), body, kLimits, StopSignal());
  ASSERT_TRUE(answer) << answer.error().Text();
  const std::string seen = server.last_request();
  EXPECT_TRUE(seen.ends_with("\r\n\r\n" + body));
  EXPECT_EQ(seen.find("Expect"), std::string::npos);
  EXPECT_NE(seen.find("Content-Type: application/json"), std::string::npos);
}

TEST(HttpThread, StreamsChunksWithTheirTimes) {
  const TestServer server([](const std::string&, int socket) {
    TestServer::Send(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    TestServer::Send(socket, "3\r\ntwo\r\n0\r\n\r\n");
  });
  std::string text;
  std::vector<base::HostTime> times;
  const auto answer = PostStreamed(server.url(), "{}", kLimits, StopSignal(),
                                   [&](std::string_view bytes, base::HostTime at) -> base::Status {
                                     text += bytes;
                                     times.push_back(at);
                                     return {};
                                   });
  ASSERT_TRUE(answer) << answer.error().Text();
  EXPECT_EQ(text, "onetwo");
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_EQ(answer->body, "");
}

TEST(HttpThread, GivesASinkNothingOfARefusal) {
  const TestServer server([](const std::string&, int socket) {
    TestServer::Send(socket, TestServer::Answer("no", "400 Bad Request"));
  });
  const auto answer = PostStreamed(server.url(), "{}", kLimits, StopSignal(),
                                   [](std::string_view, base::HostTime) -> base::Status {
                                     return base::Fail(ErrorCode::kServer, "must not be called");
                                   });
  ASSERT_TRUE(answer) << answer.error().Text();
  EXPECT_EQ(answer->status, 400);
  EXPECT_EQ(answer->body, "no");
}

TEST(HttpThread, EndsWithTheErrorOfTheSink) {
  const TestServer server([](const std::string&, int socket) {
    TestServer::Send(socket, "HTTP/1.1 200 OK\r\n\r\ngarbage");
    TestServer::WaitForClient(socket);
  });
  const auto answer = PostStreamed(server.url(), "{}", kLimits, StopSignal(),
                                   [](std::string_view, base::HostTime) -> base::Status {
                                     return base::Fail(ErrorCode::kServer, "garbage");
                                   });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().Text(), server.url() + ": garbage");
}

TEST(Http, SaysThatNobodyListens) {
  const auto port = FreePort(18101);
  ASSERT_TRUE(port);
  const auto url = fmt::format("http://127.0.0.1:{}/health", *port);
  const auto answer = Get(url, kLimits, StopSignal());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kServer);
  EXPECT_EQ(answer.error().Text(), url + ": cannot connect: Connection refused");
}

TEST(HttpThread, SaysThatTheConnectionBroke) {
  const TestServer server([](const std::string&, int socket) {
    TestServer::Send(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  });
  const auto answer = Get(server.url(), kLimits, StopSignal());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kServer);
  EXPECT_EQ(answer.error().message, "the connection broke before the answer was whole");
}

TEST(HttpThread, SaysThatTheServerFellSilent) {
  const TestServer server([](const std::string&, int socket) {
    TestServer::Send(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    TestServer::WaitForClient(socket);
  });
  HttpLimits limits = kLimits;
  limits.idle = 50ms;
  const auto idle = Get(server.url(), limits, StopSignal());
  ASSERT_FALSE(idle);
  EXPECT_EQ(idle.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(idle.error().message, "not a byte within 0.05 s");
  limits = kLimits;
  limits.total = 50ms;
  const auto late = Get(server.url(), limits, StopSignal());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(late.error().message, "not answered within 0.05 s");
}

TEST(HttpThread, EndsAtOnceWhenTheUserWantsToStop) {
  const StopSignal stop;
  const TestServer server([&stop](const std::string&, int socket) {
    stop.Request(SIGINT);
    TestServer::WaitForClient(socket);
  });
  const auto answer = Get(server.url(), kLimits, stop);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kInterrupted);
}

TEST(HttpThread, KeepsNoMoreThanItsLimit) {
  const TestServer server([](const std::string&, int socket) {
    TestServer::Send(socket, TestServer::Answer(std::string(5000, 'x')));
  });
  HttpLimits limits = kLimits;
  limits.answer_bytes = 4999;
  const auto answer = Get(server.url(), limits, StopSignal());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "the answer is longer than 4999 bytes");
}

TEST(HttpThread, KeepsNoEndlessHeader) {
  const TestServer server([](const std::string&, int socket) {
    TestServer::Send(socket, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 300; ++i) {
      TestServer::Send(socket, "X-Line: " + std::string(1000, 'x') + "\r\n");
    }
    TestServer::WaitForClient(socket);
  });
  const auto answer = Get(server.url(), kLimits, StopSignal());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "the answer's header is longer than 256 KiB");
}

TEST(HttpThread, FollowsNoRedirectAndNoProxy) {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  const TestServer server([](const std::string&, int socket) {
    TestServer::Send(socket,
                     "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: "
                     "0\r\n\r\n");
  });
  const auto answer = Get(server.url(), kLimits, StopSignal());
  ::unsetenv("http_proxy");
  ASSERT_TRUE(answer) << answer.error().Text();
  EXPECT_EQ(answer->status, 302);
}

TEST(Http, AsksNobodyButThisMachine) {
  for (const char* url :
       {"http://192.0.2.1/", "http://example.org/", "https://127.0.0.1/", "file:///etc/passwd",
        "http://127.0.0.1@192.0.2.1/", "http://user:pw@127.0.0.1/", "http://0.0.0.0/",
        "http://127.0.0.1.example.org/", "http://[::2]/", "gopher://127.0.0.1/", "", "localhost"}) {
    const auto answer = Get(url, kLimits, StopSignal());
    ASSERT_FALSE(answer) << url;
    EXPECT_EQ(answer.error().code, ErrorCode::kUsage) << url;
  }
}

}  // namespace
}  // namespace culprit::sys
