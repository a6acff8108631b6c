#pragma once

#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "server/client.h"
#include "server/event_stream.h"

namespace culprit::server {

// AnswerStream makes an Answer of what a server streams to one request.
//
// Feed takes the bytes of the stream with their time; Finish is called once, at its end. Both fail
// with kServer: an error that the server sent, a chunk that is no JSON, an end without counts.
class AnswerStream {
 public:
  explicit AnswerStream(Endpoint endpoint) : endpoint_(endpoint) {}
  base::Status Feed(std::string_view bytes, base::HostTime arrived);
  base::Result<Answer> Finish();

 private:
  base::Status ReadEvent(const StreamEvent& event, base::HostTime arrived);
  void ReadChatChunk(const base::Json& chunk, base::HostTime arrived);
  void ReadCompletionChunk(const base::Json& chunk, base::HostTime arrived);
  void AddText(const base::Json& part, const char* key, std::string& text, base::HostTime arrived);

  Endpoint endpoint_;
  EventStream events_;
  Answer answer_;
  std::optional<base::Tokens> prompt_, generated_;
  std::string wrong_;  // the first field that made no sense
};

// ServerError is the error in a server's answer: {"error": {"message": "…"}}, or absent.
std::optional<base::Error> ServerError(const base::Json& answer);

}  // namespace culprit::server
