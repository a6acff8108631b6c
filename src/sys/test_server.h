// test_server: an HTTP server for tests of several layers, as wrong as a test wants it.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/check.h"

namespace culprit::sys {

// TestServer answers on a free port of 127.0.0.1, one connection after another, in a thread of its
// own. The handler gets the whole request and the socket, which is closed when it returns.
class TestServer {
 public:
  using Handler = std::function<void(const std::string& request, int socket)>;
  explicit TestServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    CULPRIT_CHECK(::bind(listener_, generic, size) == 0 && ::listen(listener_, 8) == 0);
    CULPRIT_CHECK(::getsockname(listener_, generic, &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url(std::string_view path = "") const {
    return fmt::format("http://127.0.0.1:{}{}", port_, path);
  }

  [[nodiscard]] std::string last_request() const {
    const std::lock_guard lock(mutex_);
    return last_request_;
  }

  static void Send(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the client has gone
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  static std::string Answer(std::string_view body, std::string_view status = "200 OK") {
    return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
  }
  // WaitForClient returns when the client has closed its end.
  static void WaitForClient(int socket) {
    char byte = 0;
    while (::recv(socket, &byte, 1, 0) > 0) {
    }
  }

 private:
  void Serve() {
    while (true) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket < 0) return;
      if (const std::string request = Receive(socket); !request.empty()) {
        {
          const std::lock_guard lock(mutex_);
          last_request_ = request;
        }
        handler_(request, socket);
      }
      ::close(socket);
    }
  }
  static std::string Receive(int socket) {
    std::string request;
    std::array<char, 4096> buffer{};
    while (!IsWhole(request)) {
      const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
      if (got <= 0) return "";
      request.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return request;
  }
  static bool IsWhole(const std::string& request) {
    const auto header_end = request.find("\r\n\r\n");
    if (header_end == std::string::npos) return false;
    const auto length = request.find("Content-Length: ");
    const std::size_t body =
        length < header_end ? std::strtoull(request.c_str() + length + 16, nullptr, 10) : 0;
    return request.size() >= header_end + 4 + body;
  }

  Handler handler_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::string last_request_;
  std::thread thread_;
};

}  // namespace culprit::sys
