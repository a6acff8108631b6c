// Reads a table of runs that somebody measured without culprit (ReadRunTable).
#include <fmt/format.h>

#include <array>
#include <map>

#include "base/did_you_mean.h"
#include "base/parse_number.h"
#include "experiment/contract.h"
#include "store/recorded_runs.h"
#include "sys/csv_rows.h"

namespace culprit::store {
namespace {

using base::ErrorCode;
using base::Fail;
using base::NanosF;
using base::Result;
using base::Status;
using base::Tokens;
using experiment::TrialRecord;
using sys::CsvRows;

constexpr std::array<std::string_view, 9> kColumns = {
    "variant",       "output_tokens", "decode_tok_s",         "decode_ms_per_token",
    "prompt_tokens", "prefill_tok_s", "prefill_ms_per_token", "acceptance",
    "text"};

// Acceptances come as shares; counters of this many drafts keep five digits of them.
constexpr std::int64_t kDrafts = 100'000;

class RunTableReader {
 public:
  explicit RunTableReader(std::string path) : path_(std::move(path)) {}

  Result<RecordedRuns> Read() {
    auto source = sys::Source::Open(path_);
    if (!source) return Fail(std::move(source.error()));
    auto stream = source->Stream();
    if (!stream) return Fail(std::move(stream.error()));
    CsvRows rows(**stream);
    while (true) {
      auto state = rows.Next();
      if (!state) return Fail(std::move(state.error()));
      line_ = rows.line();
      if (*state == CsvRows::State::kEnd) break;
      if (*state != CsvRows::State::kRow) return Fail(Wrong("this row has no end").error());
      auto added = columns_.empty() ? ReadHeader(rows.fields()) : ReadRow(rows.fields());
      if (!added) return Fail(std::move(added.error()));
    }
    return Finish();
  }

 private:
  [[nodiscard]] Status Wrong(std::string what, std::string hint = {}) const {
    return Fail(ErrorCode::kBadRequest, std::move(what), fmt::format("{}:{}", path_, line_),
                std::move(hint));
  }

  Status ReadHeader(std::span<const sys::CsvField> fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string_view name =
          i == 0 ? sys::WithoutByteOrderMark(fields[i].text) : fields[i].text;
      if (std::find(kColumns.begin(), kColumns.end(), name) == kColumns.end()) {
        return Wrong(fmt::format("a table of runs has no column \"{}\"", name),
                     base::DidYouMean(name, kColumns));
      }
      if (!columns_.emplace(name, i).second) {
        return Wrong(fmt::format("there are two columns \"{}\"", name));
      }
    }
    width_ = fields.size();
    if (columns_.contains("variant")) return {};
    return Wrong("there is no column \"variant\"");
  }

  [[nodiscard]] std::string_view Text(std::string_view column) const {
    const auto it = columns_.find(std::string(column));
    return it == columns_.end() || it->second >= row_.size() ? "" : row_[it->second].text;
  }

  // A positive number; absent when the field is empty.
  Result<std::optional<double>> Number(std::string_view column) const {
    const std::string_view text = Text(column);
    if (text.empty()) return std::nullopt;
    const auto value = base::ParseNumber<double>(text);
    if (!value || !(*value >= 1e-6 && *value <= 1e9)) {
      return Fail(Wrong(fmt::format("\"{}\" is no {}", text, column)).error());
    }
    return value;
  }

  // What one token costs, by either column; absent when both are empty.
  Result<std::optional<NanosF>> Cost(std::string_view rate, std::string_view cost) const {
    const auto per_second = Number(rate), ms = Number(cost);
    if (!per_second) return Fail(per_second.error());
    if (!ms) return Fail(ms.error());
    if (*per_second && *ms) return Fail(Wrong(fmt::format("both {} and {}", rate, cost)).error());
    if (*per_second) return NanosF(1e9 / **per_second);
    if (*ms) return NanosF(**ms * 1e6);
    return std::nullopt;
  }

  Result<std::optional<std::int64_t>> Count(std::string_view column, std::int64_t least) const {
    const auto number = Number(column);
    if (!number) return Fail(number.error());
    if (!*number) return std::nullopt;
    const auto count = static_cast<std::int64_t>(**number);
    if (static_cast<double>(count) != **number || count < least) {
      return Fail(Wrong(fmt::format("\"{}\" is no {}", Text(column), column)).error());
    }
    return count;
  }

  Status ReadRow(std::span<const sys::CsvField> fields) {
    row_ = fields;
    if (fields.size() != width_) {
      return Wrong(fmt::format("this row has {} fields, the header {}", fields.size(), width_),
                   fields.size() > width_ ? "write decimals with a point: 64.83" : "");
    }
    const auto decode = Cost("decode_tok_s", "decode_ms_per_token");
    const auto prefill = Cost("prefill_tok_s", "prefill_ms_per_token");
    const auto output = Count("output_tokens", 2), prompt = Count("prompt_tokens", 1);
    const auto acceptance = Number("acceptance");
    if (!decode) return Fail(decode.error());
    if (!prefill) return Fail(prefill.error());
    if (!output) return Fail(output.error());
    if (!prompt) return Fail(prompt.error());
    if (!acceptance) return Fail(acceptance.error());
    if (*acceptance && **acceptance > 1) {
      return Wrong(fmt::format("an acceptance of {} is above 1", **acceptance), "0.96 is 96 %");
    }
    if (!*decode && !*prefill) return Wrong("this run has no time", "give a rate or a cost");
    if (*decode && !*output) {
      return Wrong("output_tokens is missing", "a rate says nothing without the length of the run");
    }
    if (*prefill && !*prompt) {
      return Wrong("prompt_tokens is missing", "a rate says nothing without the length of the run");
    }
    experiment::ServerTimings timings;
    timings.prompt = Tokens(prompt->value_or(0));
    if (*decode) timings.predicted = Tokens(**output);
    if (*prefill) timings.prompt_time = **prefill * static_cast<double>(**prompt);
    if (*decode) timings.predicted_time = **decode * static_cast<double>(**output - 1);
    if (*acceptance) {
      timings.draft = experiment::DraftCounters{
          Tokens(kDrafts), Tokens(std::llround(**acceptance * static_cast<double>(kDrafts)))};
    }
    return Add(timings);
  }

  Status Add(const experiment::ServerTimings& timings) {
    TrialRecord trial;
    trial.variant = Text("variant");
    if (auto fits = experiment::CheckLabel(trial.variant); !fits) {
      return Wrong(fits.error().message, fits.error().hint);
    }
    auto& variants = runs_.spec.variants;
    if (!counts_.contains(trial.variant)) variants.push_back({.label = trial.variant});
    trial.pair = counts_[trial.variant]++;
    trial.position = static_cast<int>(runs_.trials.size());
    trial.id = trial.position + 1;
    trial.baseline = trial.variant == variants.front().label;
    experiment::Completion completion;
    completion.prompt = timings.prompt;
    completion.generated = timings.predicted;
    completion.timings = timings;
    if (const auto text = Text("text"); !text.empty()) completion.text = text;
    trial.completion = completion;
    runs_.trials.push_back(std::move(trial));
    return {};
  }

  Result<RecordedRuns> Finish() {
    if (runs_.spec.variants.size() < 2) {
      return Fail(ErrorCode::kMismatch, "holds runs of fewer than two variants", path_);
    }
    runs_.spec.workload.prompt = runs_.trials.front().completion->prompt;
    runs_.spec.workload.output = runs_.trials.front().completion->generated;
    runs_.lengths_known =
        base::Count(runs_.spec.workload.prompt) > 0 && base::Count(runs_.spec.workload.output) > 0;
    Complete(runs_);
    return std::move(runs_);
  }

  std::string path_;
  std::int64_t line_ = 0;
  std::map<std::string, std::size_t> columns_;
  std::size_t width_ = 0;
  std::span<const sys::CsvField> row_;
  std::map<std::string, int> counts_;
  RecordedRuns runs_;
};

}  // namespace

Result<RecordedRuns> ReadRunTable(const std::string& path) { return RunTableReader(path).Read(); }

}  // namespace culprit::store
