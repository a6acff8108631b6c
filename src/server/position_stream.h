#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiment/logprobs.h"
#include "server/json_scanner.h"

namespace culprit::server {

using experiment::TokenId;
using experiment::TokenLogprob;

// PositionAnswer is what a server says of the position behind a text: the token that it sampled,
// and log-probabilities as it lists them, still to be checked (gate::Distribution).
struct PositionAnswer {
  TokenId sampled = 0;
  std::vector<TokenLogprob> listed;
};

// PositionStream makes a PositionAnswer of what a server answers to one request for one token. The
// answer for 152,000 tokens has 12 to 20 MB; what is kept is 16 bytes of each of its entries, which
// have over 20, so that the limit of a request bounds it.
//
// Feed takes bytes in pieces of any size; Finish is called once, at the end. Both fail with
// kServer: no JSON, an error that the server sent, no or several positions, an entry without token
// or number.
class PositionStream : private JsonScanner::Handler {
 public:
  base::Status Feed(std::string_view bytes);
  base::Result<PositionAnswer> Finish();

 private:
  enum class Name { kOther, kPositions, kTop, kId, kLogprob };
  static constexpr std::size_t kDepths = 6;  // of {"completion_probabilities":[{"top_logprobs":[{

  bool Open(char bracket) override;
  void Close() override;
  void Key(std::string_view key) override;
  void Number(double value) override;
  void Literal(std::string_view word) override;
  void Take(double value);
  [[nodiscard]] bool InPosition() const;
  [[nodiscard]] bool InEntry() const;

  JsonScanner scanner_{*this};
  std::string head_;  // the begin of the answer: all of it where it is an error
  std::array<Name, kDepths> names_{};
  std::size_t depth_ = 0, positions_ = 0;
  std::optional<TokenId> id_;
  std::optional<double> logprob_;
  bool sampled_known_ = false, torn_ = false;
  PositionAnswer answer_;
};

}  // namespace culprit::server
