#include "gate/second_opinion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/parse_number.h"

namespace culprit::gate {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return words;
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(words.back().size());
  }
}

// Rows is the tool's output, line by line.
class Rows {
 public:
  explicit Rows(std::string_view text) {
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      Add(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
  }

  [[nodiscard]] std::int64_t chunks() const { return chunks_; }

  // Maximum KLD:   0.151475
  [[nodiscard]] Result<double> Number(const std::string& name) const {
    const auto words = Find(name);
    return words.size() == 1 ? NumberOf(name, words[0]) : Fail(Missing(name));
  }

  // Mean    KLD:   0.006832 ±   0.000516
  [[nodiscard]] Result<Estimate> WithError(const std::string& name) const {
    const auto words = Find(name);
    return words.size() == 3 ? EstimateOf(name, words) : Fail(Missing(name));
  }

  // Same top p: 98.137 ± 0.424 %
  [[nodiscard]] Result<Estimate> ShareOf(const std::string& name) const {
    const auto words = Find(name);
    if (words.size() != 4 || words[3] != "%") return Fail(Missing(name));
    auto percent = EstimateOf(name, words);
    if (!percent) return percent;
    return Estimate{percent->value / 100, percent->error / 100};
  }

 private:
  void Add(std::string_view line) {
    const auto colon = line.find(':');
    const auto words = Words(line.substr(0, colon));
    if (words.empty()) return;
    if (colon == std::string_view::npos) {
      // "   4    1014059.7061 ± 133048.9308 …": the numbers up to the fourth chunk
      if (const auto chunk = base::ParseNumber(words[0])) chunks_ = *chunk;
      return;
    }
    std::string name(words[0]);
    for (std::size_t i = 1; i < words.size(); ++i) name += " " + std::string(words[i]);
    rows_.emplace(std::move(name), Words(line.substr(colon + 1)));
  }

  [[nodiscard]] std::vector<std::string_view> Find(const std::string& name) const {
    const auto row = rows_.find(name);
    return row == rows_.end() ? std::vector<std::string_view>() : row->second;
  }

  static base::Error Missing(const std::string& name) {
    return {ErrorCode::kServer,
            fmt::format("llama-perplexity's answer ends before its \"{}\"", name)};
  }

  static Result<double> NumberOf(const std::string& name, std::string_view word) {
    const auto number = base::ParseNumber<double>(word);
    if (!number) return Fail(Missing(name));
    if (!std::isfinite(*number)) {
      return Fail(ErrorCode::kServer, fmt::format("llama-perplexity's \"{}\" is no number", name));
    }
    return *number;
  }

  static Result<Estimate> EstimateOf(const std::string& name,
                                     const std::vector<std::string_view>& words) {
    if (words[1] != "±") return Fail(Missing(name));
    const auto value = NumberOf(name, words[0]), error = NumberOf(name, words[2]);
    if (!value) return Fail(value.error());
    if (!error) return Fail(error.error());
    return Estimate{*value, *error};
  }

  std::map<std::string, std::vector<std::string_view>> rows_;
  std::int64_t chunks_ = 0;
};

}  // namespace

Result<SecondOpinion> ParsePerplexity(std::string_view text) {
  const Rows rows(text);
  SecondOpinion opinion{.chunks = rows.chunks()};
  std::optional<base::Error> wrong;
  const auto take = [&wrong](auto found, auto& to) {
    if (found) {
      to = *found;
    } else if (!wrong) {
      wrong = std::move(found.error());
    }
  };
  take(rows.WithError("Mean PPL(Q)"), opinion.perplexity);
  take(rows.WithError("Mean KLD"), opinion.kl);
  take(rows.Number("Maximum KLD"), opinion.kl_worst);
  take(rows.Number("99.0% KLD"), opinion.kl_p99);
  take(rows.Number("Median KLD"), opinion.kl_median);
  take(rows.ShareOf("RMS Δp"), opinion.rms_delta);
  take(rows.ShareOf("Same top p"), opinion.same_top);
  if (wrong) return Fail(*std::move(wrong));
  return opinion;
}

}  // namespace culprit::gate
