// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/serving.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/transformer/servers.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
constexpr Request chat{1024.0, 256.0, 0.0};
}  // namespace

TEST_CASE("a batch in steady state shares its steps, not its prompts", "[inference]") {
  // Step at context 1152: (15,009,849,344 + 32 * 150,994,944) B / 3.35e12 B/s = 5.92289 ms.
  // One request: 14.7265 ms + 255 * 5.92289 ms / 32 = 61.9245 ms.
  const OperatingPoint point = operate(example::server("llama-3.1-8b"), chat, 32.0);
  CHECK_THAT(point.step.time.value(), WithinRel(5.92289e-3, 1e-5));
  CHECK_THAT(point.prefill_per_request.value(), WithinRel(14.7265e-3, 1e-5));
  CHECK_THAT(point.output_tokens_per_s, WithinRel(256.0 / 61.9245e-3, 1e-5));
  CHECK_THAT(point.input_tokens_per_s, WithinRel(4.0 * point.output_tokens_per_s, 1e-12));
  // 31 prompts of others among 255 tokens: 5.92289 + 31 * 14.7265 / 255 = 7.71317 ms.
  CHECK_THAT(point.time_per_output_token->value(), WithinRel(7.71317e-3, 1e-5));
  CHECK(point.fits == true);
  CHECK(point.ceiling_output_tokens_per_s > point.output_tokens_per_s);
}

TEST_CASE("prompts of a group wait for each other and save each other's weights", "[inference]") {
  // Three prompts of 128 tokens in a pass of 5.434 ms: 1.811 ms each instead of 4.486.
  const Server server = example::server("llama-3.1-8b");
  const OperatingPoint point = operate(server, {128.0, 128.0, 0.0}, 32.0);
  CHECK(point.group == 3.0);
  CHECK_THAT(point.prefill_per_request.value(), WithinAbs(1.811e-3, 1e-6));
  CHECK_THAT(point.time_to_first_token.value(), WithinAbs(5.434e-3, 2e-6));
  CHECK(operate(server, {128.0, 128.0, 0.0}, 1.0).group == 1.0);
}

TEST_CASE("one token of output is the prompt's alone", "[inference]") {
  const OperatingPoint point = operate(example::server("llama-3.1-8b"), {1024.0, 1.0, 0.0}, 8.0);
  CHECK(point.decode_per_request.value() == 0.0);
  CHECK_FALSE(point.time_per_output_token.has_value());
  CHECK_THAT(point.ceiling_output_tokens_per_s, WithinRel(point.output_tokens_per_s, 1e-12));
}

TEST_CASE("input pays for its prompt's pass and output for the steps", "[inference]") {
  // 2.50 USD/h: 14.7265e-3 s / 1024 tokens and 47.1980e-3 s / 256 tokens, times 1e6.
  const OperatingPoint point = operate(example::server("llama-3.1-8b"), chat, 32.0);
  const TokenCost cost = token_cost(point, chat, dollars_per_hour(2.5));
  CHECK_THAT(cost.per_million_input.value(), WithinRel(0.00998705, 1e-5));
  CHECK_THAT(cost.per_million_output.value(), WithinRel(0.128033, 1e-5));
  CHECK_THAT(
      cost.per_request.value(),
      WithinRel(
          (1024 * cost.per_million_input.value() + 256 * cost.per_million_output.value()) / 1e6,
          1e-12));
  // 40 % duty is 2.5 times the cost, a peak of twice the mean doubles it again.
  const TokenCost idle = token_cost(point, chat, dollars_per_hour(2.5), {0.4, 2.0});
  CHECK_THAT(idle.per_request.value(), WithinRel(5.0 * cost.per_request.value(), 1e-12));
}

TEST_CASE("measured times take the place of the roof's", "[inference]") {
  const Server server = example::server("llama-3.1-8b");
  MeasuredTimes measured;
  measured.prefill = Seconds(0.030);
  measured.decode_step = Seconds(0.010);
  // 30 + 255 * 10 / 32 = 109.6875 ms.
  const OperatingPoint timed = operate(server, chat, 32.0, measured);
  CHECK_THAT(timed.output_tokens_per_s, WithinRel(256.0 / 0.1096875, 1e-9));
  measured = {};
  measured.output_tokens_per_s = 1000.0;
  const OperatingPoint rated = operate(server, chat, 32.0, measured);
  CHECK_THAT(rated.output_tokens_per_s, WithinRel(1000.0, 1e-12));
  // The division among prompt and steps stays that of the model: 14.7265 of 61.9245.
  CHECK_THAT(rated.prefill_per_request.value(), WithinRel(0.256 * 14.7265 / 61.9245, 1e-5));
  measured.output_tokens_per_s = 0.0;
  CHECK_THROWS_AS(operate(server, chat, 32.0, measured), UserError);
}

TEST_CASE("the break-even utilisation is the published one", "[inference]") {
  // 2.50 USD/h, 2500 tokens/s, 0.50 USD per million tokens: 0.556.
  const Dollars request = api_cost({1.0, 100.0, 0.0}, {Dollars(0.0), Dollars(0.5), {}});
  CHECK_THAT(request.value(), WithinRel(50e-6, 1e-12));
  CHECK_THAT(break_even_utilisation(dollars_per_hour(2.5), 25.0, request), WithinAbs(0.5556, 5e-5));
  CHECK_THROWS_AS(break_even_utilisation(dollars_per_hour(2.5), 25.0, Dollars(0)), UserError);
}

TEST_CASE("an API may charge less for what it finds in its cache", "[inference]") {
  // 500 tokens at 1 USD, 500 at 0.10 and 100 of output at 4 USD per million.
  const ApiPrice price{Dollars(1.0), Dollars(4.0), Dollars(0.1)};
  CHECK_THAT(api_cost({1000.0, 100.0, 0.5}, price).value(), WithinRel(950e-6, 1e-12));
}

TEST_CASE("loads and requests without meaning are refused", "[inference]") {
  CHECK_THROWS_AS(load_multiplier({0.0, 1.0}), UserError);
  CHECK_THROWS_AS(load_multiplier({1.1, 1.0}), UserError);
  CHECK_THROWS_AS(load_multiplier({1.0, 0.5}), UserError);
  CHECK_THROWS_AS(operate(example::server("llama-3.1-8b"), {0.0, 1.0, 0.0}, 1.0), UserError);
  CHECK_THROWS_AS(operate(example::server("llama-3.1-8b"), {1.0, 1.0, 1.0}, 1.0), UserError);
  CHECK_THROWS_AS(operate(example::server("llama-3.1-8b"), {1e13, 1.0, 0.0}, 1.0), UserError);
  CHECK_THROWS_AS(operate(example::server("llama-3.1-8b"), chat, 1e13), UserError);
}

TEST_CASE("a decode step of one sequence takes as long as reading weights and cache",
          "[inference]") {
  // 7,504,924,672 * 2 B of weights + 1024 * 131,072 B of cache at 3.35e12 B/s.
  const Phase step = decode_step(example::server("llama-3.1-8b"), 1.0, 1024.0);
  CHECK(step.products.bytes.value() == 15009849344.0);
  CHECK(step.attention.bytes.value() == 134217728.0);
  CHECK_THAT(step.time.value(), WithinRel(15144067072.0 / 3.35e12, 1e-12));
  CHECK(step.bound == PhaseBound::memory);
  // 2 FLOPs per weight, and 4 * 32 * 128 per layer and token of context.
  CHECK(step.products.flops.value() == 15009849344.0);
  CHECK(step.attention.flops.value() == 1024.0 * 524288.0);
}

TEST_CASE("a prompt is bound by compute, half of its pairs being masked", "[inference]") {
  // 2 (1024 * 6,979,588,096 + 525,336,576) + 524,288 * 1024 * 1025 / 2 at 989.4e12 FLOP/s.
  const Phase prompt = prefill(example::server("llama-3.1-8b"), 1024.0);
  CHECK(prompt.products.flops.value() == 14295247093760.0);
  CHECK(prompt.attention.flops.value() == 275146342400.0);
  CHECK_THAT(prompt.time.value(), WithinRel(14570393436160.0 / 989.4e12, 1e-12));
  CHECK(prompt.bound == PhaseBound::compute);
}

TEST_CASE("what is found in the cache is attended to but not computed", "[inference]") {
  const Server server = example::server("llama-3.1-8b");
  const Phase all = prefill(server, 1024.0);
  const Phase first = prefill(server, 512.0);
  const Phase second = prefill(server, 512.0, 512.0);
  CHECK(first.attention.flops + second.attention.flops == all.attention.flops);
  CHECK(second.attention.flops > first.attention.flops);
  CHECK(second.products.flops == first.products.flops);
}

TEST_CASE("short prompts share a pass until it is bound by compute", "[inference]") {
  // 128 tokens compute for 1.811 ms and leave 5 us of cache; weights take 4.4806 ms to read:
  // 4.4806 / 1.806 = 2.48, so three prompts.
  const Server server = example::server("llama-3.1-8b");
  CHECK(prompts_at_ridge(server, 128.0, 0.0, 64.0) == 3.0);
  CHECK(prompts_at_ridge(server, 128.0, 0.0, 2.0) == 2.0);
  CHECK(prompts_at_ridge(server, 1024.0, 0.0, 64.0) == 1.0);
  const Phase one = prefill(server, 128.0);
  const Phase three = prefill(server, 128.0, 0.0, 3.0);
  CHECK_THAT(three.compute.value(), WithinRel(3.0 * one.compute.value(), 1e-12));
  CHECK(three.products.bytes == one.products.bytes);
}

TEST_CASE("a window bounds the cache and the pairs of a prompt", "[inference]") {
  Server server = example::server("llama-2-7b");
  server.model.attention.front().window = 4;
  CHECK(cache_bytes(server, 100.0) == cache_bytes(server, 4.0));
  // Tokens 1 to 6 see 1 + 2 + 3 + 4 + 4 + 4 = 18 tokens in each of 32 layers.
  CHECK(prefill(server, 6.0).attention.flops.value() == 18.0 * 32 * 4 * 4096);
  // Behind 3 cached tokens, three new ones see 4 each.
  CHECK(prefill(server, 3.0, 3.0).attention.flops.value() == 12.0 * 32 * 4 * 4096);
}

TEST_CASE("the ridge batch of bf16 weights is the ridge of the GPU", "[inference]") {
  // 989.4e12 / 3.35e12 = 295.3 FLOP/B, and a batch of B does 2 B FLOPs for 2 bytes.
  const Server server = example::server("llama-3.1-8b");
  CHECK_THAT(ridge(server.group).value(), WithinAbs(295.34, 0.01));
  CHECK_THAT(*ridge_batch(server, 0.0), WithinAbs(295.34, 0.01));
}

TEST_CASE("the cache moves the ridge out, and beyond some context there is none", "[inference]") {
  // Each sequence of 128 tokens: (15,009,849,344 + 67,108,864) FLOPs and 16,777,216 B, so
  // B = 15,009,849,344 / 3.35e12 / (15.2383e-6 - 5.0081e-6) = 438.
  const Server server = example::server("llama-3.1-8b");
  CHECK_THAT(*ridge_batch(server, 128.0), WithinAbs(437.97, 0.05));
  const Phase at = decode_step(server, *ridge_batch(server, 128.0), 128.0);
  CHECK_THAT(at.compute.value(), WithinRel(at.memory.value(), 1e-9));
  CHECK_FALSE(ridge_batch(server, 1024.0).has_value());
}

TEST_CASE("experts move the ridge out by what they spread a batch", "[inference]") {
  const Server server = example::server("mixtral-8x7b");
  const double batch = *ridge_batch(server, 0.0);
  // All 46.57e9 weights are read at that size, 12.75e9 of them multiplied: 295.3 * 3.65.
  CHECK_THAT(batch, WithinRel(295.34 * 46.57 / 12.75, 0.005));
  const Phase at = decode_step(server, batch, 1.0);
  CHECK_THAT(at.compute.value(), WithinRel(at.memory.value(), 0.01));
}

TEST_CASE("a group divides the work and pays for its all-reduces where they are known",
          "[inference]") {
  const Phase one = decode_step(example::server("llama-3.1-8b"), 8.0, 1024.0);
  Server pair = example::server("llama-3.1-8b", example::h100(2));
  CHECK_THAT(decode_step(pair, 8.0, 1024.0).time.value(), WithinRel(0.5 * one.time.value(), 1e-12));
  // Two all-reduces in each of 32 layers: 10 us + 2 (1/2) 8 * 4096 * 2 B / 400 GB/s = 10.16384 us.
  pair.group.link = GroupLink{Seconds(10e-6), BytesPerSecond(400e9)};
  const Phase linked = decode_step(pair, 8.0, 1024.0);
  CHECK_THAT(linked.communication.value(), WithinRel(64 * 10.16384e-6, 1e-9));
  CHECK_THAT(linked.time.value(), WithinRel(0.5 * one.time.value() + 64 * 10.16384e-6, 1e-9));
}

TEST_CASE("memory holds as many caches as fit beside the weights", "[inference]") {
  // 80 GiB - 16,060,522,496 B = 69,838,823,424 B; 1280 tokens take 167,772,160 B: 416.3.
  const Server server = example::server("llama-3.1-8b");
  CHECK(batch_in_memory(server, 1280.0) == 416);
  CHECK(batch_in_memory(example::server("llama-3.1-70b"), 1280.0) == 0);
  Server unknown = server;
  unknown.group.memory.reset();
  CHECK_FALSE(batch_in_memory(unknown, 1280.0).has_value());
}

TEST_CASE("a stage of a pipeline keeps its part of the weights", "[inference]") {
  // 80 GiB - 16,060,522,496 B / 2 = 77,869,084,672 B, at 167,772,160 B: 464.1.
  Server server = example::server("llama-3.1-8b");
  server.group.stages = 2;
  CHECK(batch_in_memory(server, 1280.0) == 464);
}

TEST_CASE("a tenth of the memory is left to the server unless said otherwise", "[inference]") {
  // 0.9 x 80 GiB - 16,060,522,496 B = 61,248,888,832 B, at 167,772,160 B: 365.07.
  Server server = example::server("llama-3.1-8b");
  server.group.memory_part = ServingGroup{}.memory_part;
  CHECK(batch_in_memory(server, 1280.0) == 365);
}

TEST_CASE(
    "only products with weights multiply in the format of these, and none where only weights "
    "are quantised",
    "[inference]") {
  CHECK(products_format({"mxfp4", "bf16", "bf16"}) == "bf16");
  CHECK(products_format({"int4", "bf16", "fp16"}) == "fp16");
  CHECK(products_format({"mxfp4", "fp8", "fp8"}) == "fp8");
  CHECK(products_format({"nvfp4", "bf16", "bf16"}) == "nvfp4");
  CHECK(products_format({"fp8", "bf16", "bf16"}) == "fp8");
}

TEST_CASE("scores and values are computed at the peak of their own format", "[inference]") {
  // fp8 weights: 14,295,247,093,760 FLOPs at 1978.9e12, and 275,146,342,400 of bf16 at 989.4e12.
  Server server = example::server("llama-3.1-8b", example::h100(1, 1978.9e12));
  server.group.attention_peak = FlopPerSecond(989.4e12);
  const Phase prompt = prefill(server, 1024.0);
  CHECK_THAT(prompt.attention.compute.value(), WithinRel(275146342400.0 / 989.4e12, 1e-12));
  CHECK_THAT(prompt.compute.value(),
             WithinRel(14295247093760.0 / 1978.9e12 + 275146342400.0 / 989.4e12, 1e-12));
  // One byte a weight, one for the cache: the ridge moves with both peaks.
  server.formats = {"fp8", "fp8"};
  const Phase at = decode_step(server, *ridge_batch(server, 64.0), 64.0);
  CHECK_THAT(at.compute.value(), WithinRel(at.memory.value(), 1e-9));
}

TEST_CASE("the roof of an all-reduce is the datasheet's link in one direction", "[inference]") {
  const auto bus = [](const char* gpu, int gpus) {
    return datasheet_link(find_gpu(gpu_catalogue(), gpu), gpus).value().bus_bandwidth.value();
  };
  CHECK(bus("a100-80gb", 8) == 300e9);
  // Hopper's switches add up: 2 3/4 of 450 GB/s, so that n bytes take n / 450 GB/s.
  CHECK_THAT(bus("h100-sxm-80gb", 4), WithinRel(675e9, 1e-12));
  // PCIe 4.0 x16: 16 lanes of 16 GT/s, 128 bits in 130.
  CHECK_THAT(bus("l40s", 2), WithinRel(16 * 16e9 / 8 * 128 / 130, 1e-12));
  CHECK_FALSE(datasheet_link(GpuDatasheet{}, 2).has_value());
  Server server = example::server("llama-3.1-8b", example::h100(4));
  server.group.link = datasheet_link(find_gpu(gpu_catalogue(), "h100-sxm-80gb"), 4);
  // 64 all-reduces of 1024 x 4096 x 2 B.
  CHECK_THAT(prefill(server, 1024.0).communication.value(),
             WithinRel(64 * 1024.0 * 4096 * 2 / 450e9, 1e-12));
}

TEST_CASE("all-reduces are part of the ceiling of tensor parallelism", "[inference]") {
  Server pair = example::server("llama-3.1-8b", example::h100(2));
  const double alone = 256.0 / operate(pair, chat, 32.0).ceiling_output_tokens_per_s;
  // A request's share of 64 all-reduces of 1 s: of its prompt and of 255 steps of 32 requests.
  pair.group.link = GroupLink{Seconds(1.0), BytesPerSecond(1e18)};
  CHECK_THAT(operate(pair, chat, 32.0).ceiling_output_tokens_per_s,
             WithinRel(256.0 / (alone + 64 * (1 + 255.0 / 32)), 1e-9));
}

TEST_CASE("an efficiency lengthens its part of a phase", "[inference]") {
  Server server = example::server("llama-3.1-8b");
  const Phase roof = decode_step(server, 1.0, 1024.0);
  server.group.bandwidth_efficiency = 0.5;
  CHECK_THAT(decode_step(server, 1.0, 1024.0).time.value(),
             WithinRel(2.0 * roof.time.value(), 1e-12));
}

TEST_CASE("phases refuse what has no meaning", "[inference]") {
  Server server = example::server("llama-3.1-8b");
  CHECK_THROWS_AS(decode_step(server, 0.0, 10.0), UserError);
  CHECK_THROWS_AS(decode_step(server, 1.0, 0.0), UserError);
  CHECK_THROWS_AS(prefill(server, 0.0), UserError);
  server.group.compute_efficiency = 1.2;
  CHECK_THROWS_AS(prefill(server, 1.0), UserError);
}

TEST_CASE("the cache of a token follows from the heads of keys and values", "[inference]") {
  // MHA: 2 * 32 heads * 128 * 32 layers * 2 B = 0.5 MiB.
  CHECK(cache_bytes(example::server("llama-2-7b"), 1.0).value() == 512.0 * 1024);
  // GQA with 8 of 64 heads: 2 * 8 * 128 * 80 * 2 B = 320 KiB.
  CHECK(cache_bytes(example::server("llama-3.1-70b"), 1.0).value() == 320.0 * 1024);
  TransformerModel one_head = find_model(model_catalogue(), "llama-2-7b");
  one_head.kv_heads = 1;
  // MQA: a 32nd of the first.
  CHECK(cache_bytes({served_model(one_head), {}, {}}, 1.0).value() == 2 * 8192.0);
}

TEST_CASE("latent attention keeps one compressed vector for each token and layer", "[inference]") {
  // DeepSeek-V3: (512 + 64) elements * 61 layers * 2 B.
  const Server server = example::server("deepseek-v3");
  CHECK(cache_bytes(server, 1.0).value() == 576.0 * 61 * 2);
  // 128 heads meet 512 + 64 and 512 elements in a decode step, 192 and 128 in a prompt.
  const Phase step = decode_step(server, 1.0, 1000.0);
  CHECK(step.attention.flops.value() == 2.0 * 128 * 1088 * 61 * 1000);
  CHECK(prefill(server, 1.0).attention.flops.value() == 2.0 * 128 * 320 * 61);
}

TEST_CASE("experts apart from shared ones and dense layers are read as a batch takes them",
          "[inference]") {
  // DeepSeek-V3: 256 experts of 3 * 2048 * 7168 weights in 58 of 61 layers, 8 for each token;
  // 32 tokens take 256 (1 - (1 - 8/256)^32) = 163.3 of them.
  const ServedModel model = example::server("deepseek-v3").model;
  CHECK(model.expert_layers == 58);
  CHECK(model.expert_weights == 3.0 * 2048 * 7168);
  CHECK_THAT(expected_experts(model, 32.0), WithinAbs(163.3, 0.05));
  // 37e9 of 671e9 are active, input embeddings included.
  CHECK_THAT(active_weights(model) + 129280.0 * 7168, WithinRel(37.5e9, 0.01));
}

TEST_CASE("layers with a window keep no more than they see", "[inference]") {
  // GPT-OSS alternates full layers and windows of 128 tokens: 18 of 36 each.
  const Server server = example::server("gpt-oss-120b");
  const double layer = 2.0 * 8 * 64 * 2;
  CHECK(cache_bytes(server, 1000.0).value() == layer * 18 * (1000 + 128));
}

TEST_CASE("a step reads all weights but the input embeddings", "[inference]") {
  // Llama 3.1 8B: 32 layers of 218,112,000, a last norm of 4096 and a head of 128256 * 4096.
  const ServedModel model = example::server("llama-3.1-8b").model;
  CHECK(model.parameters == 8030261248.0);
  CHECK(model.shared_weights == 6979588096.0);
  CHECK(weights_read(model, 1.0) == 7504924672.0);
  CHECK(weights_read(model, 64.0) == 7504924672.0);
}

TEST_CASE("the experts that a batch reads grow with it", "[inference]") {
  // 8 experts, 2 of them for each token: 8 (1 - 0.75^B).
  const ServedModel model = example::server("mixtral-8x7b").model;
  CHECK_THAT(expected_experts(model, 1.0), WithinRel(2.0, 1e-12));
  CHECK_THAT(expected_experts(model, 4.0), WithinRel(5.46875, 1e-12));
  CHECK_THAT(expected_experts(model, 1000.0), WithinRel(8.0, 1e-12));
  // All experts in memory, 46.7e9; a token's own are 12.9e9 with both embeddings.
  CHECK_THAT(model.parameters, WithinRel(46.7e9, 0.002));
  CHECK_THAT(active_weights(model), WithinRel(12.9e9 - 32000.0 * 4096, 0.003));
  CHECK_THAT(weights_read(model, 1000.0), WithinRel(model.parameters - 32000.0 * 4096, 1e-6));
  CHECK(expected_experts(example::server("llama-2-7b").model, 7.0) == 0.0);
}

TEST_CASE("number formats have their scales in them, and others are refused", "[inference]") {
  CHECK(bytes_of_element("bf16") == 2.0);
  CHECK(bytes_of_element("fp8") == 1.0);
  CHECK(bytes_of_element("nvfp4") == 0.5625);
  CHECK_THROWS_AS(bytes_of_element("fp7"), UserError);
}

namespace {
ServingQuestion question(const std::string& model, int gpus) {
  ServingQuestion asked;
  asked.server = example::server(model, example::h100(gpus));
  return asked;
}
}  // namespace

TEST_CASE("batches go up to what memory holds, which is the cheapest", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 1);
  asked.rate = dollars_per_hour(2.0);
  const ServingAnswer answer = serve(asked);
  // 416 requests of 1280 tokens fit, and 462 of 1152 tokens.
  CHECK(answer.memory.full_length_batch == 416);
  CHECK(answer.memory.mean_length_batch == 462);
  REQUIRE(answer.batches.size() == 6);
  CHECK(answer.batches[4].batch == 256.0);
  CHECK(answer.batches[5].batch == 416.0);
  CHECK(answer.chosen == 5);
  CHECK(answer.batches[5].cost->per_request < answer.batches[0].cost->per_request);
  CHECK(answer.memory.least_gpus == 1);
}

TEST_CASE("the ceiling is that of as many requests of mean length as memory holds", "[inference]") {
  // 69,838,823,424 B hold 244 caches of 2176 tokens and 462 of 1152. A step of 462 reads
  // 15,009,849,344 + 462 x 150,994,944 B, and a request takes 2047 / 462 of it; its products take
  // less than half of that.
  ServingQuestion asked = question("llama-3.1-8b", 1);
  asked.request = {128.0, 2048.0, 0.0};
  const ServingAnswer answer = serve(asked);
  REQUIRE(answer.memory.full_length_batch == 244);
  CHECK(answer.ceiling_batch == 462.0);
  const double read = (15009849344.0 + 462 * 150994944.0) / 3.35e12 * 2047 / 462;
  CHECK_THAT(answer.ceiling_output_tokens_per_s, WithinRel(2048.0 / read, 1e-12));
  CHECK(answer.ceiling_output_tokens_per_s >
        1.15 * answer.batches.back().ceiling_output_tokens_per_s);
  asked.batches = {32};  // the batch asked does not change what memory holds
  CHECK(serve(asked).ceiling_output_tokens_per_s == answer.ceiling_output_tokens_per_s);
  asked.server.group.memory.reset();
  CHECK(serve(asked).ceiling_batch == 32.0);
}

TEST_CASE("a model that does not fit says on how many GPUs it would", "[inference]") {
  // 70.55e9 * 2 B and a request of 0.42e9 B on GPUs of 85.9e9 B.
  const ServingAnswer answer = serve(question("llama-3.1-70b", 1));
  CHECK(answer.memory.least_gpus == 2);
  CHECK_FALSE(answer.chosen.has_value());
  CHECK(answer.batches.front().excluded == ServingLimit::memory);
}

TEST_CASE("a limit on the time per token excludes larger batches", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 1);
  asked.batches = {256, 16, 64};
  asked.limits.per_token = Seconds(10e-3);
  const ServingAnswer answer = serve(asked);
  // At 64: 7.365 + 63 * 14.73 / 255 = 11.0 ms; at 16: 5.202 + 0.866 ms.
  CHECK(answer.batches[1].excluded == ServingLimit::per_token);
  CHECK(answer.chosen == 0);
}

TEST_CASE("limits and links that are no times are refused", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 2);
  asked.limits.per_token = Seconds(std::nan(""));
  CHECK_THROWS_AS(serve(asked), UserError);
  asked.limits = {};
  asked.server.group.link = GroupLink{Seconds(std::nan("")), BytesPerSecond(1e9)};
  CHECK_THROWS_AS(serve(asked), UserError);
}

TEST_CASE("utilisation meets the break-even of the chosen batch", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 1);
  asked.batches = {32};
  asked.rate = dollars_per_hour(2.5);
  asked.load = {0.4, 2.0};
  asked.api = ApiPrice{Dollars(0.05), Dollars(0.10), {}};
  const ServingAnswer answer = serve(asked);
  // A request costs the API's buyer 51.2e-6 + 25.6e-6 USD, and us 61.9245e-3 * 2.5 / 3600 = 43e-6.
  CHECK_THAT(answer.api_request->value(), WithinRel(76.8e-6, 1e-12));
  CHECK_THAT(*answer.batches[0].break_even, WithinRel(43.0031e-6 / 76.8e-6, 1e-5));
  CHECK_THAT(answer.utilisation, WithinRel(0.2, 1e-12));
  CHECK_THAT(answer.loaded_cost->per_request.value(), WithinRel(5.0 * 43.0031e-6, 1e-5));
}

TEST_CASE("a measured rate belongs to one batch", "[inference]") {
  ServingQuestion asked = question("llama-3.1-8b", 1);
  asked.measured.output_tokens_per_s = 1000.0;
  CHECK_THROWS_AS(serve(asked), UserError);
  asked.batches = {32};
  CHECK_THAT(serve(asked).batches[0].output_tokens_per_s, WithinRel(1000.0, 1e-12));
}

TEST_CASE("stages share the weights and send on", "[inference]") {
  Server server = example::server("llama-3.1-8b", example::h100(8));
  server.group.link = GroupLink{Seconds(0.0), BytesPerSecond(787.5e9)};
  const Phase whole = decode_step(server, 64, 1024);
  const Bytes weights = weight_bytes(server);
  server.group.stages = 2;
  CHECK_THAT(weight_bytes(server) / weights, WithinRel(0.5, 1e-12));
  // 10 us and 64 x 4096 x 2 B / 8 / 50 GB/s = 1.31 us.
  CHECK_THAT((decode_step(server, 64, 1024).time - whole.time).value(), WithinRel(11.31e-6, 1e-3));
}
