#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "gate/position.h"
#include "server/position_stream.h"

namespace {

using namespace culprit;  // NOLINT(google-build-using-namespace)
using gate::ComparePositions;
using gate::Distribution;
using gate::Position;
using server::PositionAnswer;
using server::PositionStream;

// Cuts a text in pieces; sizes are the bytes of `sizes`, over and over.
base::Result<PositionAnswer> Read(std::string_view text, std::string_view sizes) {
  PositionStream stream;
  for (std::size_t i = 0; !text.empty(); ++i) {
    const std::size_t size =
        sizes.empty() ? text.size()
                      : std::size_t{static_cast<unsigned char>(sizes[i % sizes.size()])} + 1;
    const std::string_view piece = text.substr(0, size);
    if (auto fed = stream.Feed(piece); !fed) return base::Fail(std::move(fed.error()));
    text.remove_prefix(piece.size());
  }
  return stream.Finish();
}

// Bit for bit, for a log-probability may be NaN.
bool Same(const PositionAnswer& a, const PositionAnswer& b) {
  if (a.sampled != b.sampled || a.listed.size() != b.listed.size()) return false;
  for (std::size_t i = 0; i < a.listed.size(); ++i) {
    if (a.listed[i].token != b.listed[i].token) return false;
    if (std::memcmp(&a.listed[i].logprob, &b.listed[i].logprob, sizeof(double)) != 0) return false;
  }
  return true;
}

void CheckNumbers(const Position& position) {
  constexpr double kMost = 1 + 2 * gate::kSumTolerance;
  for (const double share : {position.total_variation, position.unseen, position.omitted,
                             position.added, position.recall}) {
    CULPRIT_CHECK(share >= 0 && share <= kMost);
  }
  for (const double nats :
       {position.kl, position.reverse_kl, position.js, position.flip_gap, position.max_delta}) {
    CULPRIT_CHECK(!std::isnan(nats));
  }
  CULPRIT_CHECK(!position.cosine || std::abs(*position.cosine) <= 1);
  CULPRIT_CHECK(!position.rank || *position.rank >= 1);
}

void CheckWithItself(const Distribution& one, gate::TokenId forced) {
  const Position position = ComparePositions(one, one, forced);
  CheckNumbers(position);
  CULPRIT_CHECK(position.identical && position.top_agrees && position.recall == 1);
  CULPRIT_CHECK(position.total_variation == 0 && position.kl == 0 && position.reverse_kl == 0);
  CULPRIT_CHECK(position.js == 0 && position.max_delta == 0 && position.flip_gap == 0);
}

}  // namespace

// The first line says how the answers behind it are cut into pieces; answers are parted by 0xff,
// which no JSON holds. However an answer is cut, it says the same, and each distribution that is
// accepted can be compared with itself and with the one before it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view sizes = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(sizes.size() + 1, rest.size()));
  std::optional<Distribution> before;
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find('\xff'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    auto answer = Read(text, sizes);
    const auto whole = Read(text, "");
    CULPRIT_CHECK(answer.has_value() == whole.has_value());
    if (!answer) {
      CULPRIT_CHECK(answer.error().code == base::ErrorCode::kServer);
      continue;
    }
    CULPRIT_CHECK(Same(*answer, *whole));
    const auto forced = answer->sampled;
    // With a vocabulary, and without one.
    static_cast<void>(Distribution::Make(answer->listed, std::int64_t{forced} + 1));
    auto made = Distribution::Make(std::move(answer->listed));
    if (!made) {
      CULPRIT_CHECK(!Describe(made.error()).empty());
      continue;
    }
    CheckWithItself(*made, forced);
    if (before) CheckNumbers(ComparePositions(*before, *made, forced));
    before = *std::move(made);
  }
  return 0;
}
