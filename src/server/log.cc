#include "server/log.h"

#include <charconv>

namespace culprit::server {
namespace {

using base::NanosF;
using base::Tokens;
using experiment::DraftCounters;
using experiment::ServerTimings;

// Cursor reads numbers from a line, skipping blanks and expected words.
class Cursor {
 public:
  explicit Cursor(std::string_view rest) : rest_(rest) {}

  // After moves behind the first occurrence of word.
  bool After(std::string_view word) {
    const auto at = rest_.find(word);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + word.size());
    return true;
  }
  template <typename Number>
  std::optional<Number> Read() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
    Number value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// Numbers beyond these are no request's: 115 days, and more tokens than any context holds.
constexpr double kLongestMs = 1e10;
constexpr std::int64_t kMostTokens = 1'000'000'000;

struct TimingLine {
  NanosF time;
  Tokens tokens;
};

//   prompt eval time =    1599.98 ms / 20000 tokens (    0.08 ms per token, 12500.16 tokens per s…
//          eval time =    2049.17 ms /   512 tokens (    4.01 ms per token,   249.37 tokens per s…
std::optional<TimingLine> ReadTimingLine(std::string_view line) {
  Cursor cursor(line);
  if (!cursor.After("eval time =")) return std::nullopt;
  const auto ms = cursor.Read<double>();
  if (!ms || !(*ms >= 0 && *ms <= kLongestMs) || !cursor.After("ms /")) return std::nullopt;
  const auto tokens = cursor.Read<std::int64_t>();
  if (!tokens || *tokens < 0 || *tokens > kMostTokens) return std::nullopt;
  if (!cursor.rest().starts_with(" token")) return std::nullopt;
  return TimingLine{NanosF(*ms * 1e6), Tokens(*tokens)};
}

// draft acceptance rate = 0.97000 (  388 accepted /   400 generated)      (older)
// draft acceptance = 0.56890 (  322 accepted /   566 generated), mean len =  2.70
std::optional<DraftCounters> ReadDraftLine(std::string_view line) {
  Cursor cursor(line);
  if (!cursor.After("draft acceptance") || !cursor.After("(")) return std::nullopt;
  const auto accepted = cursor.Read<std::int64_t>();
  if (!accepted || !cursor.After("accepted /")) return std::nullopt;
  const auto generated = cursor.Read<std::int64_t>();
  if (!generated || *accepted < 0 || *generated < *accepted) return std::nullopt;
  return DraftCounters{Tokens(*generated), Tokens(*accepted)};
}

// print_info: n_vocab               = 151936
void ReadNumberOnce(std::string_view line, std::string_view key,
                    std::optional<std::int64_t>& number) {
  if (number) return;
  Cursor cursor(line);
  if (!cursor.After("print_info: ") || !cursor.rest().starts_with(key)) return;
  if (!cursor.After("=")) return;
  const auto value = cursor.Read<std::int64_t>();
  if (value && *value > 0) number = value;
}

}  // namespace

ServerLog ParseLog(std::string_view text) {
  ServerLog log;
  std::optional<TimingLine> prompt;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);

    if (line.find("prompt eval time =") != std::string_view::npos) {
      prompt = ReadTimingLine(line);
    } else if (const auto decode = ReadTimingLine(line); decode && prompt) {
      ServerTimings timings;
      timings.prompt_time = prompt->time;
      timings.prompt = prompt->tokens;
      timings.predicted_time = decode->time;
      timings.predicted = decode->tokens;
      log.requests.push_back(timings);
      prompt.reset();
    } else if (const auto draft = ReadDraftLine(line); draft && !log.requests.empty()) {
      log.requests.back().draft = draft;
    } else {
      ReadNumberOnce(line, "n_vocab ", log.vocabulary);
      ReadNumberOnce(line, "n_expert_used ", log.experts_used);
      if (Cursor cursor(line); !log.build && cursor.After("build_info: ")) {
        log.build = std::string(cursor.rest());
      }
    }
  }
  return log;
}

}  // namespace culprit::server
