// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/utilisation.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/transformer/known_model.h"

#include <cstring>
#include <limits>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
/// Full over causal attention by the parts of the PaLM formula.
double full_over_causal(const char* id, std::int64_t sequence) {
  ForwardFlops forward = forward_flops(Convention::palm, known(id), sequence);
  const double full = forward.total();
  forward.attention /= 2.0;
  return full / forward.total();
}
}  // namespace

TEST_CASE("every convention is found by its name, and a wrong one brings a suggestion", "[mfu]") {
  for (const ConventionWords& words : conventions()) {
    CHECK(parse_convention(words.name) == words.convention);
    CHECK(words_of(words.convention).counts == words.counts);
  }
  CHECK_THROWS_AS(parse_convention("plam"), UserError);
}

TEST_CASE("the closed formulas hold for blocks of GPT", "[mfu]") {
  const TransformerModel& gpt = known("gpt3-175b");
  const double s = 2048;
  const double h = 12288;
  const double layers = 96;
  const double vocabulary = 50257;
  const double square = layers * h * h;
  CHECK_THAT(quoted_flops(Convention::narayanan, gpt, 2048),
             WithinRel(96 * square * (1 + s / (6 * h) + vocabulary / (16 * layers * h)), 1e-12));
  CHECK_THAT(model_flops(Convention::korthikanti, gpt, 2048),
             WithinRel(72 * square * (1 + s / (6 * h) + vocabulary / (12 * layers * h)), 1e-12));
  CHECK_THAT(hardware_flops(Convention::korthikanti, gpt, 2048, Recomputation::selective),
             WithinRel(72 * square * (1 + s / (3 * h) + vocabulary / (12 * layers * h)), 1e-12));
  const double parameters = parameter_count(gpt);
  CHECK_THAT(model_flops(Convention::palm, gpt, 2048),
             WithinRel(6 * parameters + 12 * layers * h * s, 1e-12));
  CHECK_THAT(model_flops(Convention::llm_foundry, gpt, 2048),
             WithinRel(6 * parameters + 12 * layers * h * s, 1e-12));
  CHECK_THAT(hardware_flops(Convention::llm_foundry, gpt, 2048, Recomputation::none),
             WithinRel(6 * parameters + 12 * layers * h * s, 1e-12));
  CHECK_THAT(model_flops(Convention::torchtitan, gpt, 2048),
             WithinRel(6 * (parameters - (50257 + 2048) * h) + 12 * layers * h * s, 1e-12));
  CHECK_THAT(model_flops(Convention::six_nd, gpt, 2048), WithinRel(6 * 175e9, 1e-12));
  // 50257 is padded to 393 x 128 = 50304.
  CHECK_THAT(model_flops(Convention::megatron, gpt, 2048),
             WithinRel(72 * square * (1 + s / (12 * h) + 50304 / (12 * layers * h)), 1e-12));
}

TEST_CASE("recomputation repeats attention or the layers, never the logits", "[mfu]") {
  const TransformerModel& gpt = known("gpt3-175b");
  const ForwardFlops forward = forward_flops(Convention::full, gpt, 2048);
  const auto hardware = [&](Recomputation recomputation) {
    return hardware_flops(Convention::full, gpt, 2048, recomputation);
  };
  CHECK(hardware(Recomputation::none) == 3.0 * forward.total());
  CHECK(hardware(Recomputation::selective) == 3.0 * forward.total() + forward.attention);
  CHECK_THAT(hardware(Recomputation::full), WithinRel(4.0 * forward.total() - forward.head, 1e-12));
}

TEST_CASE("llm-foundry's HFU with full recomputation is 4/3 of its MFU, logits included", "[mfu]") {
  // mosaicml/llm-foundry, collect_results.py: 4 (2 N + 4 L h s) over 3 (2 N + 4 L h s); N without
  // the embedding of untied models: 32 (4 4096^2 + 3 4096 11008 + 2 4096) + 4096 + 32000 4096.
  const TransformerModel& model = known("llama-7b");
  const double n = 32.0 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008 + 8192) + 4096 + 32000.0 * 4096;
  const double forward = 2 * n + 4.0 * 32 * 4096 * 2048;
  CHECK_THAT(model_flops(Convention::llm_foundry, model, 2048), WithinRel(3 * forward, 1e-12));
  CHECK_THAT(hardware_flops(Convention::llm_foundry, model, 2048, Recomputation::full),
             WithinRel(4 * forward, 1e-12));
}

TEST_CASE("llm-foundry counts the stream's width where heads are narrower or wider", "[mfu]") {
  // Qwen3 32B: 64 heads of 128 = 8192 on 5120; 12 L s (8192 - 5120) between the two.
  const TransformerModel& model = known("qwen3-32b");
  CHECK_THAT(model_flops(Convention::palm, model, 4096) -
                 model_flops(Convention::llm_foundry, model, 4096),
             WithinRel(12.0 * 64 * 4096 * 3072, 1e-9));
}

TEST_CASE("6 N is the published number unless that has the input embedding in it", "[mfu]") {
  CHECK(model_flops(Convention::six_nd, known("deepseek-v3"), 4096) == 6 * 37e9);
  CHECK(model_flops(Convention::six_nd, known("gpt-oss-120b"), 4096) == 6 * 5.1e9);
  // Qwen3 30B-A3B, published as 3.3e9 with an embedding of 0.31e9. In a layer: attention
  // 2048 2 (32 + 4) 128, 8 experts of 3 768 2048, a router 128 2048, norms; and a head.
  const double layer = 2048.0 * 2 * 36 * 128 + 8.0 * 3 * 768 * 2048 + 128.0 * 2048 + 4096;
  const double active = 48 * layer + 2048 + 151936.0 * 2048;
  CHECK_THAT(active, WithinRel(3.0419e9, 1e-4));
  CHECK_THAT(model_flops(Convention::six_nd, known("qwen3-30b-a3b"), 4096),
             WithinRel(6 * active, 1e-12));
  // Dense: 8.03e9 with, 7.50e9 without.
  CHECK_THAT(model_flops(Convention::six_nd, known("llama-3.1-8b"), 8192),
             WithinRel(6.0 * (8030261248.0 - 128256.0 * 4096), 1e-12));
}

TEST_CASE("full attention over causal grows with the sequence, the input embedding left out",
          "[mfu]") {
  // (6 N + 12 L h s) / (6 N + 6 L h s) with N = 7.505e9 and 403.75e9; the embedding in N would
  // make the first 1.118 and the last 1.400.
  CHECK_THAT(full_over_causal("llama-3.1-8b", 8192), WithinAbs(1.1252, 1e-4));
  CHECK_THAT(full_over_causal("llama-3.1-8b", 32768), WithinAbs(1.3640, 1e-4));
  CHECK_THAT(full_over_causal("llama-3.1-8b", 131072), WithinAbs(1.6960, 1e-4));
  CHECK_THAT(full_over_causal("llama-3.1-405b", 8192), WithinAbs(1.0402, 1e-4));
  CHECK_THAT(full_over_causal("llama-3.1-405b", 32768), WithinAbs(1.1435, 1e-4));
  CHECK_THAT(full_over_causal("llama-3.1-405b", 131072), WithinAbs(1.4013, 1e-4));
}

TEST_CASE("6 N alone misses a fifth of what 8B computes at 8192 tokens", "[mfu]") {
  // 12.885e9 of attention and 6 x 7.505e9.
  const TransformerModel& model = known("llama-3.1-8b");
  const double missed = 1.0 - model_flops(Convention::six_nd, model, 8192) /
                                  model_flops(Convention::palm, model, 8192);
  CHECK_THAT(missed, WithinAbs(0.2225, 0.0002));
}

TEST_CASE("formulas count the whole sequence where windows end attention", "[mfu]") {
  const TransformerModel& mistral = known("mistral-7b");  // a window of 4096
  const double inside = forward_flops(Convention::full, mistral, 16384).attention;
  CHECK(forward_flops(Convention::palm, mistral, 16384).attention == 4.0 * inside);
  CHECK(forward_flops(Convention::megatron, mistral, 16384).attention == 2.0 * inside);
  CHECK(forward_flops(Convention::narayanan, mistral, 16384).attention == 4.0 * inside);
}

TEST_CASE("Megatron-Bridge counts windows and Megatron-LM does not, both without router", "[mfu]") {
  // gpt-oss 120B, 36 layers, half of them with a window W of 128, T = 4096 tokens. In a layer:
  // 2880 (2 4096 + 2 512) weights of attention and 4 experts of 3 2880^2. flop_utils.py has
  // 2 4096 (W - W (W - 1) / 2T) multiplications of scores and values, training.py 4096 T.
  const TransformerModel& model = known("gpt-oss-120b");
  const double weights = 36 * (2880.0 * 9216 + 4.0 * 3 * 2880 * 2880) + 2880.0 * 201088;
  const double whole = 4096.0 * 4096;
  const double window = 2.0 * 4096 * (128 - 128.0 * 127 / 8192);
  const double bridge = 6 * (weights + 18 * whole + 18 * window);
  const double lm = 6 * (weights + 36 * whole);
  CHECK_THAT(model_flops(Convention::megatron_bridge, model, 4096), WithinRel(bridge, 1e-6));
  CHECK_THAT(model_flops(Convention::megatron, model, 4096), WithinRel(lm, 1e-12));
  CHECK_THAT(lm / bridge, WithinAbs(1.0521, 1e-4));
}

TEST_CASE("a layer of multi-token prediction counts as in Megatron, and in no formula", "[mfu]") {
  // DeepSeek-V3 with one, terms as training.py writes them, norms of the latent vectors included.
  TransformerModel model = known("deepseek-v3");
  const double before = model_flops(Convention::palm, model, 4096);
  const double alone = model_flops(Convention::narayanan, model, 4096);
  model.mtp_layers = 1;
  const double query = 1536.0 * (7168 + 128 * 192 + 1);
  const double key_value = 512.0 * (7168 + 128 * 256 + 1) + 7168.0 * 64;
  const double attention = query + key_value + 128.0 * 128 * 7168;
  const double feed_forward = 7168.0 * 3 * (18432.0 * 3 + 2048.0 * (8 + 1) * (58 + 1));
  const double joins = 3.0 * 7168 + 2.0 * 7168 * 7168;
  const double logits = 7168.0 * 129280 * (1 + 1);
  const double scores = 128.0 * 192 / 2 + 128.0 * 128 / 2;
  const double megatron = 6 * (62 * attention + feed_forward + joins + logits + 62 * scores * 4096);
  CHECK_THAT(model_flops(Convention::megatron, model, 4096), WithinRel(megatron, 1e-5));
  CHECK_THAT(model_flops(Convention::megatron_bridge, model, 4096), WithinRel(megatron, 1e-5));
  // The products of the architecture have the routers of 59 layers besides.
  CHECK_THAT(model_flops(Convention::causal, model, 4096),
             WithinRel(megatron + 6 * 59.0 * 256 * 7168, 1e-5));
  CHECK(model_flops(Convention::palm, model, 4096) == before);
  CHECK(model_flops(Convention::narayanan, model, 4096) == alone);
}

TEST_CASE("no convention lies outside 6 N and the products with recomputation", "[mfu]") {
  for (const TransformerModel& model : model_catalogue()) {
    INFO(model.id);
    const double most = quoted_flops(Convention::narayanan, model, model.sequence) +
                        6.0 * (weights(model).input_embedding + weights(model).positions +
                               weights(model).norms + weights(model).relative_positions);
    for (const ConventionWords& words : conventions()) {
      INFO(words.name);
      const double quoted = quoted_flops(words.convention, model, model.sequence);
      CHECK(quoted > 0.0);
      CHECK(quoted <= most * 1.02);
    }
  }
}

namespace {
PeakRequest request(const char* gpu, const char* format = "") {
  PeakRequest wanted;
  wanted.gpu = &find_gpu(gpu_catalogue(), gpu);
  wanted.number_format = format;
  return wanted;
}

}  // namespace

TEST_CASE("a datasheet's peak states number format, density and clock", "[mfu]") {
  const PeakChoice choice = choose_peaks(request("a100-80gb"));
  REQUIRE(choice.peaks.size() == 1);
  CHECK(choice.peaks[0].rate.value() == 312e12);
  CHECK(choice.peaks[0].basis == Finding(FindingId::of_datasheet_at, "bf16", 1410.0));
  CHECK(choice.remarks.empty());
}

TEST_CASE("a GPU without bf16 is held against fp16", "[mfu]") {
  const PeakChoice choice = choose_peaks(request("v100-sxm2-32gb"));
  CHECK(choice.number_format == "fp16");
  CHECK(choice.peaks[0].rate.value() == 125e12);
}

TEST_CASE("runs in 8 bits are held against both peaks in use", "[mfu]") {
  const PeakChoice choice = choose_peaks(request("h100-sxm-80gb", "fp8"));
  REQUIRE(choice.peaks.size() == 2);
  CHECK_THAT(choice.peaks[0].rate.value(), WithinRel(1979e12, 0.001));
  CHECK_THAT(choice.peaks[1].rate.value(), WithinRel(989e12, 0.001));
  REQUIRE(choice.remarks.size() == 1);
  CHECK(choice.remarks[0] == Finding(FindingId::no_agreed_peak, "fp8"));
}

TEST_CASE("a given peak that is the one with sparsity is called so", "[mfu]") {
  PeakRequest wanted = request("h100-sxm-80gb");
  wanted.given = FlopPerSecond(1979e12);
  const PeakChoice choice = choose_peaks(wanted);
  REQUIRE(choice.peaks.size() == 2);
  CHECK(choice.peaks[0].basis == Finding(FindingId::as_given));
  REQUIRE(choice.remarks.size() == 1);
  CHECK(choice.remarks[0].id == FindingId::sparse_peak_or);
  CHECK(choice.remarks[0].arguments.at(1) == "bf16");
  CHECK(std::get<std::string>(choice.remarks[0].arguments.at(3).value).starts_with("fp8"));
  wanted.given = FlopPerSecond(800e12);
  CHECK(choose_peaks(wanted).remarks.empty());
}

TEST_CASE("without a GPU the given peak stands alone, and without both there is none", "[mfu]") {
  PeakRequest wanted;
  CHECK_THROWS_AS(choose_peaks(wanted), UserError);
  wanted.given = FlopPerSecond(275e12);
  CHECK(choose_peaks(wanted).peaks.size() == 1);
  CHECK_THROWS_AS(choose_peaks(request("v100-sxm2-32gb", "fp8")), UserError);
}

TEST_CASE("the slowest GPU's steady products are the measured ceiling", "[mfu]") {
  GpuFormat slow;
  slow.format.precision = NumberFormat::bf16;
  slow.steady = GpuGemm{};
  slow.steady->rate.value = FlopPerSecond(600e12);
  GpuFormat fast = slow;
  fast.steady->rate.value = FlopPerSecond(700e12);
  std::vector<GpuResult> gpus(2);
  gpus[0].formats = {fast};
  GpuFormat unmeasured;
  unmeasured.format.precision = NumberFormat::fp16;
  gpus[1].formats = {slow, unmeasured};
  CHECK(slowest_steady(gpus, NumberFormat::bf16).product->rate.value.value() == 600e12);
  CHECK(slowest_steady(gpus, NumberFormat::fp16).product == nullptr);
  CHECK(slowest_steady({}, NumberFormat::bf16).product == nullptr);
}

namespace {
TrainingRun run_of(const char* id, std::int64_t gpus, double tokens_per_second, double tflops) {
  TrainingRun run;
  run.model = find_model(model_catalogue(), id);
  run.gpus = gpus;
  run.tokens_per_second = tokens_per_second;
  run.peaks = {{FlopPerSecond(tflops * 1e12), FindingId::as_given}};
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
  CHECK_THAT(use.million.cost.value().value(), WithinAbs(0.36, 1e-3));
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

TEST_CASE("a utilisation above one is impossible, and by causal attention told apart", "[mfu]") {
  const auto use_at = [](double rate) { return use_of_training(run_of("gpt2", 1, rate, 312)); };
  const double full = 1e4 / use_at(1e4).against.front().mfu;  // tokens/s at 100 %
  const TrainingUse use = use_at(1.01 * full);
  REQUIRE(use.against.front().mfu > 1.0);
  REQUIRE_FALSE(use.remarks.empty());
  CHECK(use.remarks.front() == Finding(FindingId::more_than_peak, *use.above_peak));
  CHECK(*use.above_peak < 1.0);
  CHECK(use_at(8.0 * full).above_peak > 7.0);  // the rate of eight GPUs
  CHECK_FALSE(use_at(0.99 * full).above_peak);
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
