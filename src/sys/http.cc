#include "sys/http.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/check.h"
#include "sys/host_time.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr std::size_t kHeaderLimit = 256 << 10;

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using Url = std::unique_ptr<CURLU, Free<curl_url_cleanup>>;
using Easy = std::unique_ptr<CURL, Free<curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, Free<curl_multi_cleanup>>;
using Headers = std::unique_ptr<curl_slist, Free<curl_slist_free_all>>;
using UrlPart = std::unique_ptr<char, Free<curl_free>>;

// Transfer is what the callbacks know of one request.
struct Transfer {
  CURL* easy;
  const HttpLimits& limits;
  const ChunkSink* sink;  // null: the body is kept
  HttpAnswer answer = {};
  std::size_t header_bytes = 0, body_bytes = 0;
  steady_clock::time_point last_byte = steady_clock::now();
  Status refused = {};  // why a callback ended the request
};

std::string PartOf(const Url& url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, 0) != CURLUE_OK) return "";
  return UrlPart(text).get();
}

Status CheckIsLocal(const std::string& text) {
  const Url url(curl_url());
  CULPRIT_CHECK(url);
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return Fail(ErrorCode::kUsage, "is not a URL", text);
  }
  const std::string host = PartOf(url, CURLUPART_HOST);
  const bool local = host == "127.0.0.1" || host == "[::1]" || host == "localhost";
  if (PartOf(url, CURLUPART_SCHEME) != "http" || !local || !PartOf(url, CURLUPART_USER).empty()) {
    return Fail(ErrorCode::kUsage, "only http:// to this machine is ever asked", text);
  }
  return {};
}

bool IsLoopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof(in));
    return ntohl(in.sin_addr.s_addr) >> 24 == 127;
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 in6{};
    std::memcpy(&in6, &address, sizeof(in6));
    return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr) != 0;
  }
  return false;
}

// The last word on loopback: whatever a name resolved to, no other address gets a socket.
curl_socket_t OpenSocket(void* /*transfer*/, curlsocktype /*purpose*/, curl_sockaddr* address) {
  if (!IsLoopback(address->addr)) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Returning another number than it was given makes curl end the request.
std::size_t OnHeader(char* /*bytes*/, std::size_t /*one*/, std::size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  transfer.last_byte = steady_clock::now();
  transfer.header_bytes += size;
  if (transfer.header_bytes <= kHeaderLimit) return size;
  transfer.refused = Fail(ErrorCode::kServer, "the answer's header is longer than 256 KiB");
  return 0;
}

std::size_t OnBody(char* bytes, std::size_t /*one*/, std::size_t size, void* context) {
  const auto arrived = BoottimeNow();
  auto& transfer = *static_cast<Transfer*>(context);
  transfer.last_byte = steady_clock::now();
  transfer.body_bytes += size;
  if (transfer.body_bytes > transfer.limits.answer_bytes) {
    transfer.refused = Fail(ErrorCode::kServer, fmt::format("the answer is longer than {} bytes",
                                                            transfer.limits.answer_bytes));
    return 0;
  }
  long status = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
  if (transfer.sink == nullptr || status != 200) {
    transfer.answer.body.append(bytes, size);
    return size;
  }
  transfer.refused = (*transfer.sink)(std::string_view(bytes, size), arrived);
  return transfer.refused ? size : 0;
}

long Millis(nanoseconds time) {
  const auto ms = std::chrono::ceil<milliseconds>(time).count();
  return static_cast<long>(std::clamp<std::int64_t>(ms, 1, 1L << 30));
}

double Seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

void SetOptions(Transfer& transfer, const std::string& url, const std::string* json,
                curl_slist* headers) {
  CURL* easy = transfer.easy;
  const auto set = [easy](CURLoption option, auto value) {
    CULPRIT_CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
  };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http");
  set(CURLOPT_NOPROXY, "*");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_CONNECTTIMEOUT_MS, Millis(transfer.limits.connect));
  set(CURLOPT_TIMEOUT_MS, Millis(transfer.limits.total));
  set(CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
  set(CURLOPT_HEADERFUNCTION, &OnHeader);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(CURLOPT_WRITEFUNCTION, &OnBody);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  if (json == nullptr) return;
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDS, json->c_str());
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json->size()));
  set(CURLOPT_HTTPHEADER, headers);
}

Status ErrorOf(CURLcode code, const Transfer& transfer) {
  if (!transfer.refused) return transfer.refused;
  switch (code) {
    case CURLE_OK:
      return {};
    case CURLE_OPERATION_TIMEDOUT: {
      curl_off_t connected = 0;
      curl_easy_getinfo(transfer.easy, CURLINFO_CONNECT_TIME_T, &connected);
      if (connected == 0) {
        return Fail(ErrorCode::kTimeout,
                    fmt::format("no connection within {} s", Seconds(transfer.limits.connect)));
      }
      return Fail(ErrorCode::kTimeout,
                  fmt::format("not answered within {} s", Seconds(transfer.limits.total)));
    }
    case CURLE_COULDNT_CONNECT: {
      long error = 0;
      curl_easy_getinfo(transfer.easy, CURLINFO_OS_ERRNO, &error);
      return Fail(
          ErrorCode::kServer,
          fmt::format("cannot connect: {}", error != 0 ? std::strerror(static_cast<int>(error))
                                                       : curl_easy_strerror(code)));
    }
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return Fail(ErrorCode::kServer, "the connection broke before the answer was whole");
    default:
      return Fail(ErrorCode::kServer, curl_easy_strerror(code));
  }
}

// Drive runs the one transfer of multi to its end.
Status Drive(CURLM* multi, Transfer& transfer, const StopSignal& stop) {
  int running = 1;
  while (true) {
    CULPRIT_CHECK(curl_multi_perform(multi, &running) == CURLM_OK);
    if (running == 0) break;
    if (stop.requested()) return Fail(Interrupted());
    const auto idle = steady_clock::now() - transfer.last_byte;
    if (idle >= transfer.limits.idle) {
      return Fail(ErrorCode::kTimeout,
                  fmt::format("not a byte within {} s", Seconds(transfer.limits.idle)));
    }
    curl_waitfd wait{.fd = stop.fd(), .events = CURL_WAIT_POLLIN, .revents = 0};
    const auto left = std::min(Millis(transfer.limits.idle - idle), 60'000L);
    curl_multi_poll(multi, &wait, 1, static_cast<int>(left), nullptr);
  }
  int queued = 0;
  const CURLMsg* message = curl_multi_info_read(multi, &queued);
  CULPRIT_CHECK(message != nullptr && message->msg == CURLMSG_DONE);
  return ErrorOf(message->data.result, transfer);
}

Result<HttpAnswer> Run(const std::string& url, const std::string* json, const HttpLimits& limits,
                       const StopSignal& stop, const ChunkSink* sink) {
  static std::once_flag initialized;
  std::call_once(initialized, [] { curl_global_init(CURL_GLOBAL_NOTHING); });
  if (auto local = CheckIsLocal(url); !local) return Fail(std::move(local.error()));
  const Easy easy(curl_easy_init());
  const Multi multi(curl_multi_init());
  // Without the second, curl asks "Expect: 100-continue" before a long prompt and waits a second.
  Headers headers(curl_slist_append(nullptr, "Content-Type: application/json"));
  CULPRIT_CHECK(easy && multi && headers && curl_slist_append(headers.get(), "Expect:"));

  Transfer transfer{.easy = easy.get(), .limits = limits, .sink = sink};
  SetOptions(transfer, url, json, headers.get());
  CULPRIT_CHECK(curl_multi_add_handle(multi.get(), easy.get()) == CURLM_OK);
  auto done = Drive(multi.get(), transfer, stop);
  curl_multi_remove_handle(multi.get(), easy.get());
  if (!done) return Fail(std::move(done.error()).In(url));
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  transfer.answer.status = static_cast<int>(status);
  return std::move(transfer.answer);
}

}  // namespace

Result<HttpAnswer> Get(const std::string& url, const HttpLimits& limits, const StopSignal& stop) {
  return Run(url, nullptr, limits, stop, nullptr);
}

Result<HttpAnswer> Post(const std::string& url, const std::string& json, const HttpLimits& limits,
                        const StopSignal& stop) {
  return Run(url, &json, limits, stop, nullptr);
}

Result<HttpAnswer> PostStreamed(const std::string& url, const std::string& json,
                                const HttpLimits& limits, const StopSignal& stop,
                                const ChunkSink& sink) {
  return Run(url, &json, limits, stop, &sink);
}

}  // namespace culprit::sys
