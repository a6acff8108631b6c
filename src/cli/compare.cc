#include <fmt/format.h>

#include <map>
#include <memory>

#include "analysis/attribute.h"
#include "cli/commands.h"
#include "cli/load_variant.h"
#include "cli/output.h"
#include "report/compare_report.h"

namespace culprit::cli {
namespace {

using analysis::Attribution;
using analysis::Variant;

struct Options {
  std::vector<std::string> variants;
  AnalysisOptions analysis;
  OutputOptions output;
};

// TellApart numbers labels that occur again: "results", "results #2".
void TellApart(std::vector<Variant>& variants) {
  std::map<std::string, int> seen;
  for (Variant& variant : variants) {
    const int number = ++seen[variant.label];
    if (number > 1) variant.label += fmt::format(" #{}", number);
  }
}

base::Result<std::vector<Variant>> LoadAll(const Options& options) {
  auto rules = LoadRules(options.analysis.rules_file);
  if (!rules) return base::Fail(std::move(rules.error()));
  std::vector<Variant> variants;
  for (const std::string& argument : options.variants) {
    auto variant = LoadVariant(ParseVariant(argument), options.analysis, *rules);
    if (!variant) return base::Fail(std::move(variant.error()));
    variants.push_back(*std::move(variant));
  }
  TellApart(variants);
  return variants;
}

// CheckAll refuses what must not be compared. Sides must fit each other even for a look.
base::Status CheckAll(const std::vector<Variant>& variants, bool& incomplete) {
  const bool asked = incomplete;
  incomplete = false;
  for (const Variant& variant : variants) {
    if (auto fits = analysis::Comparable(variants.front(), variant); !fits) return fits;
    if (variant.analysis.proof.complete()) continue;
    if (!asked) {
      return base::Fail(base::ErrorCode::kIncomplete,
                        "no attribution, because the completeness proof fails: " +
                            variant.analysis.proof.reason(),
                        variant.label, "--incomplete prints the tables all the same");
    }
    incomplete = true;
  }
  return {};
}

ExitCode Run(const Options& options) {
  auto variants = LoadAll(options);
  if (!variants) return PrintError(variants.error());
  bool incomplete = options.analysis.incomplete;
  if (auto checked = CheckAll(*variants, incomplete); !checked) return PrintError(checked.error());
  std::vector<Attribution> attributions;
  for (std::size_t i = 1; i < variants->size(); ++i) {
    attributions.push_back(analysis::Attribute(variants->front(), (*variants)[i]));
  }
  const auto report =
      report::CompareReport(*variants, attributions, options.analysis.kernels, incomplete);
  if (auto emitted = Emit(report, options.output); !emitted) return PrintError(emitted.error());
  return ExitCode::kDone;
}

}  // namespace

Subcommand AddCompare(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "compare", "Which kernels make B slower than A (first is the baseline)");
  app->add_option("variants", options->variants, "[label=]PATH[:UNTRACED_MS_PER_TOKEN|:RUN.json]")
      ->required()
      ->expected(2, -1)
      ->type_name("VARIANT");
  AddAnalysisOptions(*app, options->analysis);
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
