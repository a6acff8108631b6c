#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit::server {

// StreamEvent is one server-sent event. name is "" but where the server gives one; an error that
// builds before 2025 send as "error: {…}" is called "error".
struct StreamEvent {
  std::string name;
  std::string data;
  bool operator==(const StreamEvent&) const = default;
};

// EventStream takes the bytes of a text/event-stream in pieces of any size and gives its events.
//
// Bytes are passed on as they are: data may hold NULs and broken UTF-8. What follows the last empty
// line is no event, however the stream ends. Source: HTML standard, "Server-sent events".
class EventStream {
 public:
  // Feed returns the events that these bytes complete. Fails with kServer when one is longer than
  // 16 MiB.
  base::Result<std::vector<StreamEvent>> Feed(std::string_view bytes);

 private:
  void EndLine(std::vector<StreamEvent>& events);

  std::string line_;
  StreamEvent event_;
  bool has_data_ = false;
  bool after_return_ = false;  // a line feed would belong to the line end before it
  bool first_line_ = true;
};

}  // namespace culprit::server
