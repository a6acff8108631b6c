#include "stats/power.h"

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/percentage.h"
#include "experiment/order.h"
#include "report/power_report.h"

namespace culprit::cli {
namespace {

constexpr std::size_t kExperiments = 4'000;
constexpr std::uint64_t kSeed = 1;  // of everything here: the same question has the same answer

struct Options {
  std::string sigma;
  std::string margin = "1%";
  std::size_t pairs = 0;
  OutputOptions output;
};

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
  const auto sigma = ParsePercentage(options.sigma, "--sigma");
  if (!sigma) return PrintError(sigma.error());
  const auto margin = ParsePercentage(options.margin, "--margin");
  if (!margin) return PrintError(margin.error());
  std::vector<stats::Design> designs = {stats::Design::Sequential()};
  const bool given = options.pairs > 0;
  for (const std::size_t pairs :
       given ? std::vector{options.pairs} : std::vector<std::size_t>{4, 6, 10}) {
    designs.push_back(stats::Design::Fixed(pairs));
  }
  const std::size_t longest = std::max(designs.front().cap(), designs.back().cap());
  const auto study = stats::StudyPower(*sigma, {*margin, {}}, designs, PlacesOfPairs(longest),
                                       kExperiments, kSeed);
  if (auto emitted = Emit(report::PowerReport(study), options.output); !emitted) {
    return PrintError(emitted.error());
  }
  return ExitCode::kDone;
}

}  // namespace

Subcommand AddPower(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("power", "What a comparison of so many noisy runs could see");
  app->add_option("--sigma", options->sigma, "Noise of one run: its standard deviation, like 0.5%")
      ->required()
      ->type_name("PERCENT");
  app->add_option("--margin", options->margin, "The smallest change that matters")
      ->type_name("PERCENT")
      ->capture_default_str();
  app->add_option("--pairs", options->pairs, "Pairs of the fixed design (default: 4, 6 and 10)")
      ->check(CLI::Range(4, 50));
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
