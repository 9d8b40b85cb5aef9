// SPDX-License-Identifier: Apache-2.0
#include "src/model/inference/roofline.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/inference/servers.h"

using namespace scaleworth;
using namespace scaleworth::inference;

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
