#include "cli/load_variant.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "analysis/difference.h"
#include "base/parse_number.h"
#include "cli/output.h"
#include "server/log.h"
#include "store/completion_json.h"
#include "store/trial_folder.h"
#include "sys/source.h"
#include "trace/registry.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using analysis::Analysis;
using analysis::Phase;
using analysis::Variant;
using analysis::WindowQuery;
using base::Count;
using base::ErrorCode;
using base::Fail;
using base::NanosF;
using base::Result;
using base::Status;
using base::Tokens;
using experiment::Completion;

bool Exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// MsPerToken reads an untraced time. What lies beyond is a typing error, and would end in figures
// like inf.
std::optional<double> MsPerToken(std::string_view text) {
  constexpr double kNanosecond = 1e-6;
  constexpr double kHour = 3.6e6;
  const auto value = base::ParseNumber<double>(text);
  if (!value || !(*value >= kNanosecond && *value <= kHour)) return std::nullopt;
  return value;
}

// "runs/b9.1/" → "b9.1"; "traces/q4.csv.xz" → "q4"
std::string LabelOf(const std::string& path) {
  fs::path p(path);
  if (!p.has_filename()) p = p.parent_path();
  std::string name = p.filename().string();
  std::error_code ignored;
  if (fs::is_directory(p, ignored)) return name;
  const std::string stem = name.substr(0, name.find('.'));
  return stem.empty() ? name : stem;
}

Result<server::ServerLog> ReadLog(const std::string& path) {
  auto bytes = sys::ReadWhole(path);
  if (!bytes) return Fail(std::move(bytes.error()));
  return server::ParseLog(bytes->view());
}

base::Nanos FromMillis(double ms) { return base::Nanos(std::llround(ms * 1e6)); }

Status AddGivenWindow(const AnalysisOptions& options, WindowQuery& query) {
  if (options.from_ms.has_value() != options.to_ms.has_value()) {
    return Fail(ErrorCode::kUsage, "--from and --to go together");
  }
  if (!options.from_ms) return {};
  constexpr double kYear = 3.2e10;  // in ms: keeps the sum of both inside 64-bit nanoseconds
  for (const double ms : {*options.from_ms, *options.to_ms}) {
    if (!std::isfinite(ms) || std::abs(ms) > kYear) {
      return Fail(ErrorCode::kUsage, "--from and --to are milliseconds from the first dispatch");
    }
  }
  query.given = {FromMillis(*options.from_ms), FromMillis(*options.to_ms)};
  return {};
}

analysis::By ByOf(const AnalysisOptions& options) {
  return options.by == "layer" ? analysis::By::kLayer : analysis::By::kCategory;
}

// MakeQuery collects what is known about the traced request. read: of its file, which need not be
// read again then.
Result<WindowQuery> MakeQuery(const store::TrialFiles& files, const std::optional<Completion>& read,
                              const AnalysisOptions& options) {
  WindowQuery query;
  query.phase = options.phase == "prefill" ? Phase::kPrefill : Phase::kDecode;
  query.whole_trace = options.whole;
  query.vocabulary = options.vocabulary;
  if (options.request == 0) return Fail(ErrorCode::kUsage, "requests are counted from 1");
  query.request = options.request - 1;
  if (options.tokens) {
    if (*options.tokens < 1) return Fail(ErrorCode::kUsage, "--tokens must be at least 1");
    query.tokens = Tokens(*options.tokens);
  }
  if (auto given = AddGivenWindow(options, query); !given) return Fail(std::move(given.error()));
  if (read && options.request_file.empty()) {
    query.completion = read;
  } else if (files.request) {
    auto completion = store::ReadCompletionFile(*files.request);
    if (!completion) return Fail(std::move(completion.error()));
    query.completion = *std::move(completion);
  }
  if (files.log) {
    auto log = ReadLog(*files.log);
    if (!log) return Fail(std::move(log.error()));
    query.logged = std::move(log->requests);
    if (!query.vocabulary) query.vocabulary = log->vocabulary;
  }
  return query;
}

Status AddUntraced(const VariantArgument& argument, const store::TrialFiles& files,
                   Variant& variant) {
  if (!argument.with_untraced) return {};
  if (argument.untraced_ms) {
    variant.untraced.emplace_back(NanosF(*argument.untraced_ms * 1e6));
    variant.warnings.push_back(
        "the untraced time is a bare number: nobody can check that it was measured at the length "
        "of the trace; give the JSON of the run instead");
    return {};
  }
  const bool named = argument.untraced_file.has_value();
  std::vector<UntracedRun> runs;
  for (const auto& path : named ? std::vector{*argument.untraced_file} : files.untraced) {
    auto run = store::ReadCompletionFile(path);
    if (!run) return Fail(std::move(run.error()));
    runs.emplace_back(path, *run);
  }
  return AddUntracedRuns(runs, named, variant);
}

// Loaded is a variant's input, read and not yet analysed.
struct Loaded {
  store::TrialFiles files;
  WindowQuery query;
  trace::Trace trace;
};

Result<Loaded> Load(store::TrialFiles files, const std::optional<Completion>& read,
                    const AnalysisOptions& options) {
  if (!options.request_file.empty()) files.request = options.request_file;
  if (!options.log_file.empty()) files.log = options.log_file;
  auto query = MakeQuery(files, read, options);
  if (!query) return Fail(std::move(query.error()));

  auto trace =
      ReadWithProgress(files.trace, {.process = options.process, .full_check = options.full_check});
  if (!trace) return Fail(std::move(trace.error()));
  return Loaded{std::move(files), *std::move(query), *std::move(trace)};
}

Result<Loaded> Load(const VariantArgument& argument, const AnalysisOptions& options) {
  auto files = store::FindTrialFiles(argument.path);
  if (!files) {
    base::Error error = std::move(files.error());
    if (error.code == ErrorCode::kNotFound && argument.path.find(':') != std::string::npos) {
      error.hint =
          "behind the last : stands an untraced time in ms per token, or the .json of a run";
    }
    return Fail(std::move(error));
  }
  return Load(*std::move(files), std::nullopt, options);
}

// AnalyzeAs analyses what was loaded. untraced adds what was measured without a profiler.
Result<Variant> AnalyzeAs(
    const std::string& label, const Result<Loaded>& loaded, const AnalysisOptions& options,
    const analysis::RuleSet& rules,
    const std::function<Status(const store::TrialFiles& files, Variant& variant)>& untraced) {
  if (!loaded) return Fail(loaded.error());
  auto analysis = analysis::Analyze(loaded->trace, loaded->query, rules, ByOf(options));
  if (!analysis) return Fail(std::move(analysis.error()));
  Variant variant{label, *std::move(analysis), {}, {}};
  if (auto added = untraced(loaded->files, variant); !added) {
    return Fail(std::move(added.error()).In(label));
  }
  return variant;
}

// Generated is how many tokens a request made, the first one included.
std::optional<Tokens> Generated(const WindowQuery& query) {
  if (query.completion && Count(query.completion->generated) > 0) {
    return query.completion->generated;
  }
  if (query.request < query.logged.size()) return query.logged[query.request].predicted;
  return std::nullopt;
}

}  // namespace

void AddAnalysisOptions(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--phase", options.phase, "Which part of the request")
      ->check(CLI::IsMember({"decode", "prefill"}))
      ->capture_default_str();
  command
      .add_option("--by", options.by, "What time is added up by; layers need a trace of ggml ops")
      ->check(CLI::IsMember({"category", "layer"}))
      ->capture_default_str();
  command.add_option("--request", options.request, "Which request of the server's log, from 1");
  command
      .add_option("--request-file", options.request_file,
                  "The request as its client saw it, or the server's JSON answer")
      ->type_name("FILE");
  command.add_option("--log", options.log_file, "The server's log of the traced run")
      ->type_name("FILE");
  command.add_option("--from", options.from_ms, "Begin of the window, ms from the first dispatch")
      ->type_name("MS");
  command.add_option("--to", options.to_ms, "End of the window, ms from the first dispatch")
      ->type_name("MS");
  command.add_option("--tokens", options.tokens, "Tokens to divide by (decode: after the first)");
  command.add_flag("--whole", options.whole, "Take the whole trace when nothing else is known");
  command.add_option("--vocab", options.vocabulary, "Rows of the output head")
      ->check(CLI::PositiveNumber);
  command.add_option("--process", options.process, "Only this process's dispatches")
      ->type_name("PID");
  command.add_option("--rules", options.rules_file, "Your own category rules, tried first")
      ->type_name("FILE");
  command.add_option("--kernels", options.kernels, "Kernels listed under each category")
      ->capture_default_str();
  command.add_flag("--incomplete", options.incomplete,
                   "Print the tables although the completeness proof fails");
  command.add_flag("--full-check", options.full_check, "Check parts of the file not read as well");
}

VariantArgument ParseVariant(const std::string& argument) {
  VariantArgument variant;
  std::string rest = argument;
  // A label is a plain word in front of "=": no path separators, and the whole is no path itself.
  const auto equals = rest.find('=');
  const bool labelled =
      equals != std::string::npos && equals > 0 && !Exists(argument) && rest.find('/') > equals;
  if (labelled) {
    variant.label = rest.substr(0, equals);
    rest.erase(0, equals + 1);
  }
  if (const auto colon = rest.rfind(':'); colon != std::string::npos && !Exists(rest)) {
    const std::string tail = rest.substr(colon + 1);
    if (const auto ms = MsPerToken(tail)) {
      variant.untraced_ms = ms;
      rest.resize(colon);
    } else if (tail.ends_with(".json") && Exists(rest.substr(0, colon))) {
      variant.untraced_file = tail;
      rest.resize(colon);
    }
  }
  variant.path = rest;
  if (variant.label.empty()) variant.label = LabelOf(rest);
  return variant;
}

Result<trace::Trace> ReadWithProgress(const std::string& path, trace::ReadOptions options) {
  Progress progress("reading " + path);
  options.progress = [&](double share) { progress.Show(share); };
  return trace::ReadTrace(path, options);
}

Result<analysis::RuleSet> LoadRules(const std::string& file) {
  if (file.empty()) return analysis::ShippedRules();
  auto bytes = sys::ReadWhole(file);
  if (!bytes) return Fail(std::move(bytes.error()));
  auto rules = analysis::ParseRules(file, bytes->view());
  if (!rules) return Fail(std::move(rules.error()));
  return analysis::InFront(*std::move(rules));
}

Result<Variant> LoadTraced(const experiment::TrialRecord& traced, const store::TrialFiles& files,
                           std::span<const UntracedRun> untraced, const AnalysisOptions& options,
                           const analysis::RuleSet& rules) {
  return AnalyzeAs(traced.variant, Load(files, traced.completion, options), options, rules,
                   [&](const store::TrialFiles&, Variant& variant) {
                     return AddUntracedRuns(untraced, true, variant);
                   });
}

Result<Variant> LoadVariant(const VariantArgument& argument, const AnalysisOptions& options,
                            const analysis::RuleSet& rules) {
  return AnalyzeAs(argument.label, Load(argument, options), options, rules,
                   [&](const store::TrialFiles& files, Variant& variant) {
                     return AddUntraced(argument, files, variant);
                   });
}

Result<Variant> LoadDifference(const VariantArgument& longer, const VariantArgument& shorter,
                               const AnalysisOptions& options, const analysis::RuleSet& rules) {
  std::vector<Analysis> sides;
  std::vector<std::optional<Tokens>> generated;
  for (const VariantArgument* argument : {&longer, &shorter}) {
    auto loaded = Load(*argument, options);
    if (!loaded) return Fail(std::move(loaded.error()));
    generated.push_back(Generated(loaded->query));
    auto whole = analysis::Analyze(loaded->trace,
                                   {.vocabulary = loaded->query.vocabulary, .whole_trace = true},
                                   rules, ByOf(options));
    if (!whole) return Fail(std::move(whole.error()));
    sides.push_back(*std::move(whole));
  }
  std::optional<Tokens> more;
  if (options.tokens) more = Tokens(*options.tokens);
  if (!more && generated[0] && generated[1]) {
    more = Tokens(Count(*generated[0]) - Count(*generated[1]));
  }
  if (!more) {
    return Fail(ErrorCode::kUsage, "nothing says how many tokens more the longer run generated",
                longer.path, "give --tokens N");
  }
  auto rest = analysis::AnalyzeDifference(sides[0], sides[1], *more);
  if (!rest) return Fail(std::move(rest.error()));
  return Variant{longer.label, *std::move(rest), {}, {}};
}

}  // namespace culprit::cli
