#include "host/health.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace culprit::host {

namespace {

struct Address {
  std::uint16_t port = 0;
  std::string path;
};

// http://127.0.0.1:8001/health
std::optional<Address> Parse(const std::string& url) {
  std::string_view rest = url;
  std::string_view start = "http://127.0.0.1:";
  if (!rest.starts_with(start)) start = "http://localhost:";
  if (!rest.starts_with(start)) return std::nullopt;
  rest.remove_prefix(start.size());
  std::uint16_t port = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), port);
  rest.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest.data()));
  const bool plain = rest.find_first_of(" \r\n") == std::string_view::npos;
  const bool complete = rest.empty() || rest[0] == '/';
  if (parsed.ec != std::errc() || !plain || !complete) return std::nullopt;
  return Address{port, std::string(rest.empty() ? "/" : rest)};
}

}  // namespace

bool IsOfThisMachine(const std::string& url) { return Parse(url).has_value(); }

bool AnswersOk(const std::string& url) {
  const auto asked = Parse(url);
  if (!asked) return false;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const timeval limit{.tv_sec = 2, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(asked->port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string request = "GET " + asked->path + " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n";
  constexpr std::size_t kStatusLine = 12;  // HTTP/1.1 200
  std::array<char, kStatusLine> answer{};
  const bool answered =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::send(fd, request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()) &&
      ::recv(fd, answer.data(), kStatusLine, MSG_WAITALL) == static_cast<ssize_t>(kStatusLine);
  ::close(fd);
  const std::string_view status(answer.data(), kStatusLine);
  return answered && status.starts_with("HTTP/1.") && status.ends_with(" 200");
}

}  // namespace culprit::host
