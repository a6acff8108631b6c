#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace culprit::base {

// ErrorCode is what callers branch on; nobody branches on the text of a message.
enum class ErrorCode {
  kUsage,             // the command line or a rules file is wrong
  kNotFound,          // no such file or folder
  kUnreadable,        // it exists and cannot be read
  kNotATrace,         // readable, and no format we know
  kUnsupportedTrace,  // a format we know and refuse, with a reason
  kDamagedTrace,      // a known format that is torn or contradicts itself
  kBadRequest,        // what was recorded of a request makes no sense
  kNoWindow,          // the stretch to analyse cannot be found
  kIncomplete,        // the completeness proof failed
  kMismatch,          // A and B are not comparable
  kEnvironment,       // this machine cannot do it as it is: permission, tools, ports, a busy GPU
  kTimeout,           // something took longer than it may
  kServer,            // the server under test died, or said what it should not
  kNotRestored,       // the machine is not as it was
  kInterrupted,       // the user asked to stop
};

// Error is one way in which the world said no.
//
// message says what happened; place says where (file, table, row); hint says what to do next.
// place and hint may be empty. Each border that knows more prepends to place with In().
struct Error {
  ErrorCode code;
  std::string message;
  std::string place = {};
  std::string hint = {};

  // In returns the error with a wider place in front: In("trial 7") of "results.db" is
  // "trial 7: results.db".
  [[nodiscard]] Error In(std::string_view where) && {
    place = place.empty() ? std::string(where) : std::string(where) + ": " + place;
    return std::move(*this);
  }

  // Text is the whole error on one line: place: message; hint.
  [[nodiscard]] std::string Text() const {
    std::string text = place.empty() ? message : place + ": " + message;
    if (!hint.empty()) text += "; " + hint;
    return text;
  }
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

// Fail makes the error side of any Result.
inline tl::unexpected<Error> Fail(ErrorCode code, std::string message, std::string place = {},
                                  std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(place), std::move(hint)});
}

inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace culprit::base
