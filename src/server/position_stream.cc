#include "server/position_stream.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/json.h"
#include "server/answer_stream.h"

namespace culprit::server {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;

constexpr std::size_t kHead = 64 << 10;

std::optional<TokenId> AsToken(double value) {
  const bool fits = value >= std::numeric_limits<TokenId>::min() &&
                    value <= std::numeric_limits<TokenId>::max() && value == std::trunc(value);
  return fits ? std::optional(static_cast<TokenId>(value)) : std::nullopt;
}

}  // namespace

Status PositionStream::Feed(std::string_view bytes) {
  head_ += bytes.substr(0, kHead - head_.size());
  return scanner_.Feed(bytes);
}

// {"content":"it","tokens":[371],…,"completion_probabilities":[{"id":371,"token":"it","bytes":[105,
//  116],"logprob":-0.456,"top_logprobs":[{"id":371,"token":"it","bytes":[105,116],"logprob":-0.456},
bool PositionStream::InPosition() const { return depth_ == 3 && names_[1] == Name::kPositions; }
bool PositionStream::InEntry() const {
  return depth_ == 5 && names_[1] == Name::kPositions && names_[3] == Name::kTop;
}

// The bytes of a token's text, a third of the answer, are told to nobody.
bool PositionStream::Open(char /*bracket*/) {
  ++depth_;
  if (depth_ >= kDepths) return false;
  names_[depth_] = Name::kOther;
  if (InPosition()) ++positions_;
  if (InEntry()) id_.reset(), logprob_.reset();
  return true;
}

void PositionStream::Close() {
  if (InEntry()) {
    torn_ |= !id_ || !logprob_;
    if (id_ && logprob_ && positions_ == 1) answer_.listed.push_back({*id_, *logprob_});
  }
  --depth_;
}

void PositionStream::Key(std::string_view key) {
  if (depth_ >= kDepths) return;
  Name& name = names_[depth_];
  name = Name::kOther;
  if (depth_ == 1 && key == "completion_probabilities") name = Name::kPositions;
  if (depth_ == 3 && key == "top_logprobs") name = Name::kTop;
  if (key == "id") name = Name::kId;
  if (key == "logprob") name = Name::kLogprob;
}

void PositionStream::Number(double value) { Take(value); }

// A log-probability that is NaN or infinite is null: JSON has no word for it.
void PositionStream::Literal(std::string_view word) {
  if (word == "null" && InEntry() && names_[depth_] == Name::kLogprob) {
    Take(std::numeric_limits<double>::quiet_NaN());
  }
}

void PositionStream::Take(double value) {
  if (InPosition() && names_[depth_] == Name::kId) {
    const auto token = AsToken(value);
    torn_ |= !token;
    answer_.sampled = token.value_or(0);
    sampled_known_ = true;
  }
  if (!InEntry()) return;
  if (names_[depth_] == Name::kId) id_ = AsToken(value);
  if (names_[depth_] == Name::kLogprob) logprob_ = value;
}

Result<PositionAnswer> PositionStream::Finish() {
  if (head_.size() < kHead) {
    const auto json = base::ParseJson(head_);
    if (!json) return Fail(ErrorCode::kServer, "llama-server answered with no JSON");
    if (auto error = ServerError(*json)) return Fail(*std::move(error));
  }
  if (!scanner_.done()) {
    return Fail(ErrorCode::kServer, "llama-server's answer ends in the middle");
  }
  if (positions_ == 0 || !sampled_known_) {
    return Fail(
        ErrorCode::kServer,
        "llama-server answered without log-probabilities: it ended its answer, or its build "
        "is from before December 2024");
  }
  if (positions_ > 1) {
    return Fail(ErrorCode::kServer,
                "llama-server told of several positions where it was asked for one");
  }
  if (torn_) {
    return Fail(ErrorCode::kServer,
                "llama-server lists a token without its number or its log-probability");
  }
  return std::move(answer_);
}

}  // namespace culprit::server
