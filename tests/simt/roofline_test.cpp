// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline.h"

#include "cuda/kernels/timing.h"
#include "probes/gpu/numbers.h"
#include "tests/catch.h"
#include "tests/simt/guarded.h"
#include "tests/simt/schedule.h"
#include "tests/simt/shim.h"

#include <algorithm>
#include <array>
#include <random>

using namespace scaleworth;
using namespace scaleworth::gpu;
using simt::Buffer;
using simt::in_every_order;

namespace {
/// Integers, so that sums of them are exact in each order.
std::vector<float> integers(std::size_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 201) - 100);
  return values;
}

/// Nodes in one cycle, where they lie and whose address they get.
struct Nodes {
  Nodes(std::uint32_t count, std::uint64_t stride)
      : memory(count * stride), next(count), nodes{memory.data(), stride, next.data(), count} {
    std::vector<std::uint32_t> order(count);
    for (std::uint32_t i = 0; i < count; ++i) order[i] = i;
    std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
    for (std::uint32_t i = 0; i < count; ++i) next[order[i]] = order[(i + 1) % count];
  }
  char* place(std::uint32_t i) const { return memory.data() + nodes.stride * i; }
  char* content(std::uint32_t i) const {
    char* value = nullptr;
    std::memcpy(&value, place(i), sizeof(value));
    return value;
  }

  Buffer<char> memory;
  Buffer<std::uint32_t> next;
  ChaseNodes nodes;
};

struct Fp64 {
  using Value = double;
  static constexpr NumberFormat number = NumberFormat::fp64;
  static double real(double x) { return x; }
  static double from(double x) { return x; }
};
struct Fp32 {
  using Value = float;
  static constexpr NumberFormat number = NumberFormat::fp32;
  static double real(float x) { return x; }
  static float from(double x) { return static_cast<float>(x); }
};
struct Fp16 {
  using Value = __half;
  static constexpr NumberFormat number = NumberFormat::fp16;
  static double real(__half x) { return __half2float(x); }
  static __half from(double x) { return __double2half(x); }
};
struct Bf16 {
  using Value = __nv_bfloat16;
  static constexpr NumberFormat number = NumberFormat::bf16;
  static double real(__nv_bfloat16 x) { return __bfloat162float(x); }
  static __nv_bfloat16 from(double x) { return __double2bfloat16(x); }
};

/// Uniform in [-1, -1/8] and [1/8, 1]: chains of them stay normal numbers.
template <class Format>
std::vector<typename Format::Value> chain_starts(std::size_t count) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> sizes(0.125, 1.0);
  std::vector<typename Format::Value> values(count);
  for (auto& value : values)
    value = Format::from(random() % 2 == 0 ? sizes(random) : -sizes(random));
  return values;
}

/// Numbers that are not `steps` of the chain from those before.
template <class Format>
std::size_t wrong_chains(const std::vector<typename Format::Value>& before,
                         const std::vector<typename Format::Value>& after,
                         int steps) {
  const probes::ChainConstants constants = probes::chain_constants(Format::number);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double expected =
        probes::rounded_chain(Format::number, Format::real(before[i]), constants, steps);
    wrong += Format::real(after[i]) == expected ? 0 : 1;
  }
  return wrong;
}

template <class Format>
void check_fma(FmaFormat format, std::size_t at_once) {
  const auto constants = probes::chain_constants(Format::number);
  const auto starts = chain_starts<Format>(fma_block_threads * fma_chains * at_once);
  const Buffer<typename Format::Value> initial(starts);
  const auto run = [&](bool want_results) {
    const Buffer<typename Format::Value> results(starts.size());
    const FmaData data{initial.data(), results.data(), want_results};
    REQUIRE(launch_fma(format, 3, 2, {constants.a, constants.b}, data, nullptr) == cudaSuccess);
    return results.values();
  };
  const auto found = in_every_order([&] { return run(true); });
  CHECK(wrong_chains<Format>(starts, found, 2 * fma_steps) == 0);
  CHECK(std::isnan(Format::real(run(false).front())));
}

/// One kernel on arrays of `vectors`; blocks and passes of `launch_stream`.
struct StreamCase {
  StreamKernel kernel;
  std::uint64_t vectors = 0;
  int blocks = 0;
  int passes = 1;
};

void check_stream(const StreamCase& test) {
  INFO("operation " << static_cast<int>(test.kernel.operation) << ", " << test.kernel.block_threads
                    << " threads, unroll " << test.kernel.unroll << ", " << test.vectors
                    << " vectors, " << test.blocks << " blocks, " << test.passes << " passes");
  const std::size_t numbers = 4 * test.vectors;
  const bool reads = test.kernel.operation == StreamOperation::read;
  const bool copies = test.kernel.operation == StreamOperation::copy;
  const bool triad = test.kernel.operation == StreamOperation::triad;
  const auto source = integers(numbers, 1);
  const auto second = integers(triad ? numbers : 0, 2);
  const Buffer<float> a = reads ? Buffer<float>(source) : Buffer<float>(numbers);
  const Buffer<float> b(copies || triad ? source : std::vector<float>());
  const Buffer<float> c(second);
  const Buffer<double> sum(std::vector<double>{0.25});
  const StreamArrays arrays{
      a.data(), b.data(), c.data(), test.vectors, 0.5F, reads ? sum.data() : nullptr, reads};
  REQUIRE(launch_stream(test.kernel, arrays, test.blocks, test.passes, nullptr) == cudaSuccess);
  std::size_t wrong = 0;
  double expected_sum = 0.25;
  for (std::size_t i = 0; i < numbers; ++i) {
    const float expected = triad             ? source[i] + 0.5F * second[i]
                           : reads || copies ? source[i]
                                             : 0.5F;
    wrong += a[i] == expected ? 0 : 1;
    expected_sum += reads ? static_cast<double>(test.passes) * source[i] : 0.0;
  }
  CHECK(wrong == 0);
  CHECK(sum[0] == expected_sum);
}

}  // namespace

TEST_CASE("links of a pointer chase hold the address of the next node", "[simt]") {
  for (const std::uint32_t count : {1U, 255U, 1000U, 4096U * 256U + 5U}) {
    const bool large = count > 4096;
    const Nodes nodes(count, large ? 8 : 128);
    REQUIRE(launch_chase_link(nodes.nodes, nullptr) == cudaSuccess);
    std::size_t wrong = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      wrong += nodes.content(i) == nodes.place(nodes.next[i]) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
  CHECK(launch_chase_link(ChaseNodes{}, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("a pointer chase follows as many links as asked and times the last ones", "[simt]") {
  const Nodes nodes(77, 64);
  REQUIRE(launch_chase_link(nodes.nodes, nullptr) == cudaSuccess);
  const Buffer<ChaseState> state(1);
  state[0].position = nodes.memory.data();
  std::uint32_t place = 0;
  for (int launches = 0; launches < 2; ++launches) {
    REQUIRE(launch_chase(state.data(), 32, 33 * 32, nullptr) == cudaSuccess);
    for (int i = 0; i < 34 * 32; ++i) place = nodes.next[place];
    CHECK(state[0].position == nodes.place(place));
    // Four readings of a clock that counts readings, the cycles between the nanoseconds.
    CHECK(state[0].nanoseconds == 30);
    CHECK(state[0].cycles == 20);
  }
  CHECK(launch_chase(state.data(), 0, 33, nullptr) == cudaErrorInvalidValue);
  CHECK(launch_chase(state.data(), 1, 32, nullptr) == cudaErrorInvalidValue);
  CHECK(launch_chase(state.data(), 0, 0, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("chains of multiply-adds are the host's in every format", "[simt]") {
  check_fma<Fp64>(FmaFormat::fp64, 1);
  check_fma<Fp32>(FmaFormat::fp32, 1);
  check_fma<Fp16>(FmaFormat::fp16, 2);
  check_fma<Bf16>(FmaFormat::bf16, 2);
}

TEST_CASE("each stream kernel touches each element once, the tail included", "[simt]") {
  for (const StreamOperation operation : {StreamOperation::read,
                                          StreamOperation::write,
                                          StreamOperation::copy,
                                          StreamOperation::triad}) {
    for (const int threads : {256, 512, 1024}) {
      for (const int unroll : {1, 2, 4, 8}) {
        const StreamKernel kernel{operation, threads, unroll, unroll % 4 != 0};
        const auto turn = static_cast<std::uint64_t>(threads * unroll);
        check_stream({kernel, turn + 3, 0, 1});
        check_stream({kernel, 2 * turn - 1, 0, 1});
      }
    }
  }
}

TEST_CASE("turns of a stream are shared by few blocks and repeated by passes", "[simt]") {
  for (const StreamOperation operation : {StreamOperation::read, StreamOperation::triad}) {
    for (const std::uint64_t vectors : {1, 255, 512, 5 * 512 - 1}) {
      for (const int blocks : {1, 2, 3, 7, 100}) {
        check_stream({{operation, 256, 2, false}, vectors, blocks, 3});
      }
    }
  }
  const Buffer<float> a(4);
  const StreamArrays arrays{a.data(), nullptr, nullptr, 1};
  // A sum that is not wanted is not written.
  a[0] = a[1] = a[2] = a[3] = 1.0F;
  const Buffer<double> sum(std::vector<double>{0.25});
  const StreamArrays unwanted{a.data(), nullptr, nullptr, 1, 0.0F, sum.data(), false};
  CHECK(launch_stream({StreamOperation::read, 256, 1}, unwanted, 1, 1, nullptr) == cudaSuccess);
  CHECK(sum[0] == 0.25);
  CHECK(launch_stream({StreamOperation::write, 128, 1}, arrays, 1, 1, nullptr) ==
        cudaErrorInvalidValue);
  CHECK(launch_stream({StreamOperation::write, 256, 3}, arrays, 1, 1, nullptr) ==
        cudaErrorInvalidValue);
  CHECK(launch_stream({StreamOperation::write, 256, 1}, arrays, 1, 0, nullptr) ==
        cudaErrorInvalidValue);
}

TEST_CASE("each multiprocessor that has a slot leaves its clock's stamp", "[simt]") {
  constexpr int slots = 5;
  const Buffer<std::uint64_t> stamps(slots * clock_stamp_words);
  REQUIRE(launch_clock_stamp(stamps.data(), slots, 42, 2 * simt::multiprocessors, nullptr) ==
          cudaSuccess);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const std::uint64_t nanoseconds = stamps[slot * clock_stamp_words];
    CHECK(nanoseconds < simt::read_nanoseconds());
    CHECK(stamps[slot * clock_stamp_words + 1] == 2 * (nanoseconds + 10));
    CHECK(stamps[slot * clock_stamp_words + 2] == 42);
  }
  CHECK(launch_empty(nullptr) == cudaSuccess);
}

TEST_CASE("a stream waits until it is released or its time is over", "[simt]") {
  const Buffer<StreamBlockWords> words(std::vector<StreamBlockWords>{{7, 0}});
  REQUIRE(launch_stream_block(words.data(), 7, 1'000'000, nullptr) == cudaSuccess);
  CHECK(words[0].gave_up == 0);
  const std::uint64_t start = simt::read_nanoseconds();
  REQUIRE(launch_stream_block(words.data(), 8, 1'000'000, nullptr) == cudaSuccess);
  CHECK(words[0].gave_up == 8);
  const std::uint64_t waited = simt::read_nanoseconds() - start;
  CHECK(waited > 1'000'000);
  CHECK(waited < 1'001'000);
  // Released meanwhile.
  simt::at_nanoseconds(simt::read_nanoseconds() + 300'000, [&] { words[0].released = 9; });
  REQUIRE(launch_stream_block(words.data(), 9, 1'000'000, nullptr) == cudaSuccess);
  simt::at_nanoseconds(0, nullptr);
  CHECK(words[0].gave_up == 8);
}
