#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "experiment/completion.h"
#include "experiment/workload.h"
#include "server/event_stream.h"

namespace culprit::server {

// AnswerStream makes a Completion of what a server streams to one request.
//
// Feed takes the bytes of the stream with their time; Finish is called once, at its end. Both fail
// with kServer: an error that the server sent, a chunk that is no JSON, an end without counts.
class AnswerStream {
 public:
  explicit AnswerStream(experiment::Endpoint endpoint) : endpoint_(endpoint) {}
  base::Status Feed(std::string_view bytes, base::HostTime arrived);
  base::Result<experiment::Completion> Finish();

 private:
  base::Status ReadEvent(const StreamEvent& event, base::HostTime arrived);
  void ReadChatChunk(const base::Json& chunk, base::HostTime arrived);
  void ReadCompletionChunk(const base::Json& chunk, base::HostTime arrived);
  void AddText(const base::Json& part, const char* key, base::HostTime arrived);

  experiment::Endpoint endpoint_;
  EventStream events_;
  experiment::Completion completion_;
  std::optional<base::Tokens> prompt_, generated_;
  std::string wrong_;  // the first field that made no sense
};

// ServerError is the error in a server's answer: {"error": {"message": "…"}}, or absent.
std::optional<base::Error> ServerError(const base::Json& answer);

}  // namespace culprit::server
