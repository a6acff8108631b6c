#include "report/second_opinion_table.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

Report WithTable() {
  const CandidateOpinion opinions[] = {{"again",
                                        {.chunks = 4,
                                         .context = base::Tokens(512),
                                         .perplexity = {9.5, 0.31},
                                         .kl = {0, 0},
                                         .same_top = {1, 0}}},
                                       {"q4\x1b[31m",
                                        {.chunks = 4,
                                         .context = base::Tokens(512),
                                         .perplexity = {9.8123, 0.315},
                                         .kl = {0.006832, 0.000516},
                                         .same_top = {0.98137, 0.00424},
                                         .rms_delta = {0.00734, 0.00192},
                                         .kl_median = 0.000566,
                                         .kl_p99 = 0.080001,
                                         .kl_worst = 0.151475,
                                         .left_out = {"-np", "--spec-type"}}}};
  return {.kind = "gate", .title = "Correctness", .tables = {SecondOpinionTable("f16", opinions)}};
}

TEST(SecondOpinionTable, IsARowACandidate) {
  EXPECT_EQ(WriteTerminal(WithTable(), {}), R"(Correctness

What llama-perplexity says beside f16
                             KL divergence,                              same
  candidate   positions                mean    median  99 %  worst  likeliest  RMS Δp  perplexity
  ───────────────────────────────────────────────────────────────────────────────────────────────
  again           1,020               0 ± 0         0     0      0   100.00 %  0.00 %         9.5
  q4\x1b[31m      1,020  0.00683 ± 0.000516  0.000566  0.08  0.151    98.14 %  0.73 %        9.81
  In nats, ± one standard error, as llama-perplexity of each variant's own build computes them
  without its server. RMS Δp: how far the probability of the text's own token is off.
  q4\x1b[31m: llama-perplexity was not given -np --spec-type
)");
}

TEST(SecondOpinionTable, MachinesGetEachErrorInAColumnOfItsOwn) {
  const auto json = base::ParseJson(WriteJson(WithTable())).value();
  EXPECT_EQ(json.at("tables")[0].at("rows")[1], base::ParseJson(R"({
    "candidate": "q4\\x1b[31m", "positions": 1020, "kl_nats": 0.006832, "kl_error_nats": 0.000516,
    "kl_median_nats": 0.000566, "kl_p99_nats": 0.080001, "kl_worst_nats": 0.151475,
    "same_likeliest_share": 0.98137, "same_likeliest_error_share": 0.00424,
    "rms_delta_share": 0.00734, "rms_delta_error_share": 0.00192, "perplexity": 9.8123,
    "perplexity_error": 0.315})")
                                                    .value());
}

}  // namespace
}  // namespace culprit::report
