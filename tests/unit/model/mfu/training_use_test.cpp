// SPDX-License-Identifier: Apache-2.0
#include "src/model/mfu/training_use.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <limits>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

TrainingRun run_of(const char* id, std::int64_t gpus, double tokens_per_second, double tflops) {
  TrainingRun run;
  run.model = find_model(model_catalogue(), id);
  run.gpus = gpus;
  run.tokens_per_second = tokens_per_second;
  run.peaks = {{FlopPerSecond(tflops * 1e12), "a test"}};
  return run;
}

double mfu_of(TrainingRun run, Convention convention) {
  run.convention = convention;
  return use_of_training(run).against.front().mfu;
}

}  // namespace

TEST_CASE("PaLM: 46.2 %, and 45.7 % without attention", "[mfu]") {
  // 238.3 thousand tokens/s on 6144 TPU v4 (arXiv 2204.02311, appendix B).
  const TrainingRun run = run_of("palm-540b", 6144, 238.3e3, 275);
  CHECK_THAT(mfu_of(run, Convention::palm), WithinAbs(0.4623, 1e-4));
  CHECK_THAT(mfu_of(run, Convention::six_nd), WithinAbs(0.4573, 1e-4));
}

TEST_CASE("Megatron-Turing NLG: 30.2 %", "[mfu]") {
  // 1920 sequences of 2048 tokens in 60.1 s on 2240 A100.
  const TrainingRun run = run_of("mt-nlg-530b", 2240, 1920 * 2048 / 60.1, 312);
  CHECK_THAT(mfu_of(run, Convention::palm), WithinAbs(0.3024, 2e-4));
}

TEST_CASE("the 1T run of Megatron: 52 % with recomputation, 39.2 % without", "[mfu]") {
  // 163 TFLOP/s on each of 3072 A100 (arXiv 2104.04473, table 1): 3072 sequences in 102.63 s.
  TrainingRun run = run_of("megatron-1t", 3072, 3072 * 2048 / 102.630, 312);
  run.convention = Convention::narayanan;
  const TrainingUse use = use_of_training(run);
  CHECK_THAT(use.against.front().hfu, WithinAbs(0.522, 2e-3));
  CHECK_THAT(use.against.front().mfu, WithinAbs(0.392, 2e-3));
  CHECK_THAT(use.hardware_rate.value(), WithinRel(163e12, 2e-3));
  CHECK(use.recomputation == Recomputation::full);
}

TEST_CASE("DeepSeek-V3: 34.6 %, 1543 tokens/s on each GPU, 0.36 USD per million tokens", "[mfu]") {
  // 14.8e12 tokens in 2.664e6 GPU-hours at 2 USD (arXiv 2412.19437, table 1); H800: 989 TFLOP/s.
  TrainingRun run = run_of("deepseek-v3", 2048, 14.8e12 / (2.664e6 * 3600.0) * 2048, 989);
  run.convention = Convention::six_nd;
  run.price = dollars_per_hour(2.0);
  run.tokens = 14.8e12;
  const TrainingUse use = use_of_training(run);
  CHECK_THAT(use.against.front().mfu, WithinAbs(0.346, 5e-4));
  CHECK_THAT(use.tokens_per_second_per_gpu, WithinAbs(1543, 1));
  CHECK_THAT(use.per_million_tokens.value().value(), WithinAbs(0.36, 1e-3));
  CHECK_THAT(use.campaign.value().gpu_hours, WithinRel(2.664e6, 1e-9));
  CHECK_THAT(use.campaign.value().cost.value().value(), WithinRel(5.328e6, 1e-9));
}

TEST_CASE("GPT-3 at 140 000 tokens/s on 1024 A100: 46 %, 25 days and 1.22 million USD", "[mfu]") {
  // 3 (2 x 174.56e9 + 4 x 96 x 12288 x 2048) = 1.0764e12 a token; 140000 / 1024 = 136.72 tokens/s;
  // 300e9 / 140000 s = 24.80 days; x 1024 GPUs = 609 524 hours.
  TrainingRun run = run_of("gpt3-175b", 1024, 140000, 312);
  run.price = dollars_per_hour(2.0);
  run.tokens = 300e9;
  const TrainingUse use = use_of_training(run);
  CHECK_THAT(use.model_flops.value(), WithinRel(1.0764e12, 1e-4));
  CHECK_THAT(use.against.front().mfu, WithinAbs(0.4717, 1e-4));
  CHECK(use.against.front().hfu == use.against.front().mfu);
  CHECK_THAT(use.campaign->time.value(), WithinRel(300e9 / 140000, 1e-12));
  CHECK_THAT(use.campaign->cost.value().value(), WithinRel(1219047.6, 1e-6));
  CHECK(use.conventions_differ);
  CHECK(use.conventions.size() == conventions().size());
}

TEST_CASE("a utilisation above one is said to be impossible", "[mfu]") {
  const TrainingUse use = use_of_training(run_of("gpt2", 1, 1e6, 312));
  REQUIRE(use.against.front().mfu > 1.0);
  REQUIRE_FALSE(use.remarks.empty());
  CHECK(use.remarks.front().find("more than the peak cannot be") == 0);
}

TEST_CASE("a window and a longer sequence are remarked on", "[mfu]") {
  TrainingRun run = run_of("mistral-7b", 8, 1000, 312);
  CHECK(use_of_training(run).remarks.size() == 1);
  run.sequence = 16384;
  CHECK(use_of_training(run).remarks.size() == 2);
  run.sequence = 4096;
  CHECK(use_of_training(run).remarks.empty());
}

TEST_CASE("what is not positive, finite or possible is refused", "[mfu]") {
  const TrainingRun good = run_of("gpt2", 1, 1000, 312);
  TrainingRun bad = good;
  bad.gpus = 0;
  CHECK_THROWS_AS(use_of_training(bad), UserError);
  bad = good;
  bad.tokens_per_second = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(use_of_training(bad), UserError);
  bad = good;
  bad.peaks.clear();
  CHECK_THROWS_AS(use_of_training(bad), UserError);
  bad = good;
  bad.tokens = 0.0;
  CHECK_THROWS_AS(use_of_training(bad), UserError);
  bad = good;
  bad.sequence = 2048;  // GPT-2 has 1024 positions
  CHECK_THROWS_AS(use_of_training(bad), UserError);
}
