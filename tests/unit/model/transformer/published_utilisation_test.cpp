// SPDX-License-Identifier: Apache-2.0
/// Utilisations as published, recomputed from architecture and throughput.
#include "src/model/transformer/utilisation.h"
#include "tests/catch.h"
#include "tests/unit/model/public_tables.h"

#include <string>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;
using scaleworth::tests::public_rows;
using scaleworth::tests::PublicRow;

namespace {

constexpr double points = 0.01;
constexpr double a100 = 312e12;
constexpr std::int64_t sequence = 2048;

double value(const PublicRow& row, const char* key) {
  return std::stod(row.at(key));
}

/// A GPT of the row's shape, with the vocabulary that Megatron pads to.
TrainingRun run_of(const PublicRow& row, const char* seconds, Convention convention) {
  TransformerModel gpt;
  gpt.layers = std::stoll(row.at("layers"));
  gpt.hidden = std::stoll(row.at("hidden"));
  gpt.heads = std::stoll(row.at("heads"));
  gpt.kv_heads = gpt.heads;
  gpt.head_size = gpt.hidden / gpt.heads;
  gpt.ffn = 4 * gpt.hidden;
  gpt.vocabulary = 51200;
  gpt.tied_embeddings = true;
  gpt.sequence = sequence;
  gpt.published_parameters = 1.0;
  TrainingRun run;
  run.model = gpt;
  run.gpus = std::stoll(row.at("gpus"));
  run.tokens_per_second = value(row, "batch") * sequence / value(row, seconds);
  run.convention = convention;
  run.peaks = {{FlopPerSecond(a100)}};
  return run;
}

}  // namespace

TEST_CASE("Korthikanti's four models: MFU and HFU within 0.2 points", "[mfu]") {
  for (const PublicRow& row : public_rows("korthikanti2022_table5.csv")) {
    INFO(row.at("model"));
    TrainingRun run = run_of(row, "iter_s_seqpar_selective", Convention::korthikanti);
    run.recomputation = Recomputation::selective;
    const Utilisation use = use_of_training(run).against.front();
    CHECK_THAT(use.mfu, WithinAbs(value(row, "MFU_pct") * points, 0.2 * points));
    CHECK_THAT(use.hfu, WithinAbs(value(row, "HFU_pct") * points, 0.2 * points));
    CHECK_THAT(use.mfu, WithinAbs(value(row, "recomputed_MFU_pct") * points, 0.06 * points));
    CHECK_THAT(use.hfu, WithinAbs(value(row, "recomputed_HFU_pct") * points, 0.06 * points));
    const TrainingRun full = run_of(row, "iter_s_full_recompute", Convention::korthikanti);
    CHECK_THAT(use_of_training(full).against.front().mfu,
               WithinAbs(value(row, "recomputed_MFU_full_recompute_pct") * points, 0.06 * points));
  }
}

TEST_CASE("Megatron's table 1: all rows' HFU within 0.2 points, and the MFU that it hides",
          "[mfu]") {
  for (const PublicRow& row : public_rows("megatron_sc21_table1.csv")) {
    INFO(row.at("params_B"));
    const TrainingRun run = run_of(row, "derived_iter_s", Convention::narayanan);
    const TrainingUse use = use_of_training(run);
    const double achieved = value(row, "achieved_tflops_per_gpu_incl_recompute") * 1e12;
    CHECK_THAT(use.against.front().hfu, WithinAbs(achieved / a100, 0.2 * points));
    CHECK_THAT(use.against.front().mfu,
               WithinAbs(value(row, "derived_MFU_pct_no_recompute") * points, 0.2 * points));
    CHECK_THAT(use.hardware_rate.value() * static_cast<double>(run.gpus),
               WithinRel(value(row, "aggregate_pflops") * 1e15, 0.006));
  }
}
