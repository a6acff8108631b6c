#include "host/health.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace culprit::host {
namespace {

// OneAnswer is a server that answers one request, whatever it says, with text.
class OneAnswer {
 public:
  explicit OneAnswer(std::string text) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    ::listen(fd_, 1);
    socklen_t size = sizeof(address);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, text = std::move(text)] {
      const int client = ::accept(fd_, nullptr, nullptr);
      char buffer[512];
      if (::recv(client, buffer, sizeof(buffer), 0) > 0) {
        ::send(client, text.data(), text.size(), MSG_NOSIGNAL);
      }
      ::close(client);
    });
  }
  ~OneAnswer() {
    thread_.join();
    ::close(fd_);
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/health";
  }

 private:
  int fd_;
  int port_ = 0;
  std::thread thread_;
};

TEST(AnswersOk, OnlyWhenTheStatusIs200) {
  {
    const OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(AnswersOk(server.url()));
  }
  {
    const OneAnswer server("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    EXPECT_FALSE(AnswersOk(server.url()));
  }
  const OneAnswer server("garbage");
  EXPECT_FALSE(AnswersOk(server.url()));
}

TEST(AnswersOk, OnlyOnThisMachine) {
  for (const char* url : {"", "http://127.0.0.1", "http://127.0.0.1:", "http://127.0.0.1:99999/",
                          "https://127.0.0.1:1/", "http://127.0.0.1:80@example.com/",
                          "http://example.com/health", "http://127.0.0.1:1/ HTTP/1.1\r\nX: y"}) {
    EXPECT_FALSE(AnswersOk(url)) << url;
  }
}

}  // namespace
}  // namespace culprit::host
