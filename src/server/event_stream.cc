#include "server/event_stream.h"

namespace culprit::server {

namespace {
constexpr std::size_t kLongestEvent = std::size_t{16} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
}  // namespace

base::Result<std::vector<StreamEvent>> EventStream::Feed(std::string_view bytes) {
  std::vector<StreamEvent> events;
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_return_ = false;
    const auto end = bytes.find_first_of("\r\n");
    const auto part = bytes.substr(0, end);
    if (line_.size() + event_.data.size() + part.size() > kLongestEvent) {
      return base::Fail(base::ErrorCode::kServer, "an event of the stream is longer than 16 MiB");
    }
    line_ += part;
    if (end == std::string_view::npos) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    EndLine(events);
  }
  return events;
}

//   data: {"choices":[{"delta":{"content":"Hi"}}]}
//   : a comment, sent to keep the connection open
//   (an empty line ends the event)
void EventStream::EndLine(std::vector<StreamEvent>& events) {
  std::string_view line = line_;
  if (first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  first_line_ = false;
  if (line.empty()) {
    if (has_data_) events.push_back(std::move(event_));
    event_ = {};
    has_data_ = false;
  } else {
    const auto colon = line.find(':');
    const auto field = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "data" || field == "error") {
      if (has_data_) event_.data += '\n';
      event_.data += value;
      has_data_ = true;
    }
    if (field == "event") event_.name = value;
    if (field == "error") event_.name = field;
  }
  line_.clear();
}

}  // namespace culprit::server
