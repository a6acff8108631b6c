// http: libcurl, for servers on this machine only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "sys/stop_signal.h"

namespace culprit::sys {

struct HttpLimits {
  std::chrono::nanoseconds connect = std::chrono::seconds(5);
  std::chrono::nanoseconds idle = std::chrono::seconds(60);  // without a single byte
  std::chrono::nanoseconds total = std::chrono::minutes(10);
  std::size_t answer_bytes = std::size_t{64} << 20;
};

struct HttpAnswer {
  int status = 0;
  std::string body;  // empty where a sink took it
};

// ChunkSink is given the bytes of a body as they arrive and when that was, in CLOCK_BOOTTIME. An
// error from it ends the request at once and becomes the request's error.
using ChunkSink = std::function<base::Status(std::string_view bytes, base::HostTime arrived)>;

// Get, Post and PostStreamed are one request each, on a connection of its own. Proxies and the
// environment are ignored, redirects are not followed.
//
// PostStreamed gives its sink the body of an answer with status 200; any other body comes back in
// the HttpAnswer. Fails with kUsage for a URL that is not http:// to 127.0.0.1, [::1] or localhost,
// kTimeout, kInterrupted as soon as stop is requested, and kServer when the connection is refused
// or breaks, or the answer exceeds its limit or is no HTTP. Every status is an answer, not an
// error.
base::Result<HttpAnswer> Get(const std::string& url, const HttpLimits& limits,
                             const StopSignal& stop);
base::Result<HttpAnswer> Post(const std::string& url, const std::string& json,
                              const HttpLimits& limits, const StopSignal& stop);
base::Result<HttpAnswer> PostStreamed(const std::string& url, const std::string& json,
                                      const HttpLimits& limits, const StopSignal& stop,
                                      const ChunkSink& sink);

}  // namespace culprit::sys
