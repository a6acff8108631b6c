#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "server/event_stream.h"

// However a stream is cut into chunks, it holds the same events. The first byte says how it is cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace culprit::server;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const std::size_t chunk = std::size_t{data[0]} + 1;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = EventStream().Feed(text);
  CULPRIT_CHECK(whole);
  EventStream stream;
  std::vector<StreamEvent> events;
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    const auto more = stream.Feed(text.substr(at, chunk));
    CULPRIT_CHECK(more);
    events.insert(events.end(), more->begin(), more->end());
  }
  CULPRIT_CHECK(events == *whole);
  return 0;
}
