#include "stats/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "base/number_format.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/percentage.h"
#include "experiment/evaluation.h"
#include "experiment/order.h"
#include "report/power_report.h"
#include "stats/sample.h"
#include "store/run_directory.h"

namespace culprit::cli {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

constexpr std::size_t kExperiments = 4'000;
constexpr std::uint64_t kSeed = 1;  // of everything here: the same question has the same answer

struct Options {
  std::string sigma, from;
  std::string margin = "1%";
  std::size_t pairs = 0;
  OutputOptions output;
};

// Noise is the standard deviation of a run, and where it is known from.
struct Noise {
  base::Fraction sigma{0};
  std::string source;  // a sentence; "" when the user said it
};

// The noise in the pairs of a run: a pair's log ratio has the variance of two runs. Each candidate
// has a mean of its own, so that a true change is no noise.
Result<Noise> NoiseOf(const std::string& path) {
  const auto run = store::RunDirectory::Open(path);
  if (!run) return Fail(run.error());
  const auto evaluation = experiment::Evaluate(run->spec(), run->trials());
  double squares = 0;
  std::size_t pairs = 0, degrees = 0;
  for (const auto& candidate : evaluation.candidates) {
    std::vector<double> log_ratios;
    for (const stats::Pair& pair : candidate.decode.pairs) {
      log_ratios.push_back(std::log(pair.candidate / pair.baseline));
    }
    const auto variance = stats::Variance(log_ratios);
    if (!variance) continue;
    squares += *variance * static_cast<double>(log_ratios.size() - 1);
    degrees += log_ratios.size() - 1;
    pairs += log_ratios.size();
  }
  if (degrees == 0 || squares <= 0) {
    return Fail(ErrorCode::kIncomplete, "holds no two complete pairs that differ", path);
  }
  const double of_pairs = std::sqrt(squares / static_cast<double>(degrees));
  const base::Fraction sigma(of_pairs / std::numbers::sqrt2);
  return Noise{
      sigma, fmt::format("the noise is that of decode in {}: the log ratios of its {} pairs have "
                         "a standard deviation of {}, and a pair has two runs of {}",
                         base::Printable(path), pairs, base::FinePercent(base::Fraction(of_pairs)),
                         base::FinePercent(sigma))};
}

Result<Noise> NoiseFor(const Options& options) {
  if (!options.from.empty()) return NoiseOf(options.from);
  if (options.sigma.empty()) {
    return Fail(ErrorCode::kUsage, "nothing says how noisy a run is", "",
                "give --sigma PERCENT, or --from RUNDIR");
  }
  const auto sigma = ParsePercentage(options.sigma, "--sigma");
  if (!sigma) return Fail(sigma.error());
  return Noise{*sigma, ""};
}

// PlacesOfPairs says where the runs of each pair lie when two variants are compared.
std::vector<stats::PairPlaces> PlacesOfPairs(std::size_t pairs) {
  std::vector<stats::PairPlaces> places(pairs);
  for (const experiment::Slot& slot : experiment::OrderOfTrials(2, pairs, kSeed)) {
    stats::PairPlaces& pair = places[slot.pair];
    (slot.variant == 0 ? pair.baseline_at : pair.candidate_at) = slot.position;
  }
  return places;
}

ExitCode Run(const Options& options) {
  const auto noise = NoiseFor(options);
  if (!noise) return PrintError(noise.error());
  const auto margin = ParsePercentage(options.margin, "--margin");
  if (!margin) return PrintError(margin.error());
  std::vector<stats::Design> designs = {stats::Design::Sequential()};
  const bool given = options.pairs > 0;
  for (const std::size_t pairs :
       given ? std::vector{options.pairs} : std::vector<std::size_t>{4, 6, 10}) {
    designs.push_back(stats::Design::Fixed(pairs));
  }
  const std::size_t longest = std::max(designs.front().cap(), designs.back().cap());
  const auto study = stats::StudyPower(noise->sigma, {*margin, {}}, designs, PlacesOfPairs(longest),
                                       kExperiments, kSeed);
  if (auto emitted = Emit(report::PowerReport(study, noise->source), options.output); !emitted) {
    return PrintError(emitted.error());
  }
  return ExitCode::kDone;
}

}  // namespace

Subcommand AddPower(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("power", "What a comparison of so many noisy runs could see");
  auto* sigma = app->add_option("--sigma", options->sigma,
                                "Noise of one run: its standard deviation, like 0.5%")
                    ->type_name("PERCENT");
  app->add_option("--from", options->from, "Take the noise from the pairs of a run directory")
      ->type_name("RUNDIR")
      ->excludes(sigma);
  app->add_option("--margin", options->margin, "The smallest change that matters")
      ->type_name("PERCENT")
      ->capture_default_str();
  app->add_option("--pairs", options->pairs, "Pairs of the fixed design (default: 4, 6 and 10)")
      ->check(CLI::Range(4, 50));
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
