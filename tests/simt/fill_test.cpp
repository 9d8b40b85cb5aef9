// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/fill.h"

#include "probes/collectives.h"
#include "tests/catch.h"
#include "tests/simt/guarded.h"
#include "tests/simt/schedule.h"
#include "tests/simt/shim.h"

#include <algorithm>
#include <bit>
#include <limits>

using namespace scaleworth;
using namespace scaleworth::gpu;
using simt::Buffer;
using simt::in_every_order;

namespace {
/// More than a grid of 4096 blocks of 256 threads has, and no multiple of anything.
constexpr std::size_t beyond_grid = 4096 * 256 + 77;

template <class T>
std::vector<T> filled_uniform(FmaFormat format, std::size_t count, std::uint32_t seed) {
  const Buffer<T> data(count);
  REQUIRE(launch_fill_uniform(format, data.data(), count, seed, nullptr) == cudaSuccess);
  return data.values();
}

template <class T, class Round>
void check_uniform(FmaFormat format, Round round) {
  for (const std::size_t count : {1, 31, 255, 257, 1003}) {
    const auto found = in_every_order([&] { return filled_uniform<T>(format, count, 5); });
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const T expected = round(uniform_value(i, 5));
      wrong += std::memcmp(&found[i], &expected, sizeof(T)) != 0 ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

/// SplitMix64 of a counter that starts at seed 2^44 (Steele, Lea and Flood, 2014).
std::uint64_t random_word(std::uint64_t counter) {
  std::uint64_t z = counter * 0x9E3779B97F4A7C15U + 0x9E3779B97F4A7C15U;
  z = (z ^ z >> 30U) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27U) * 0x94D049BB133111EBU;
  return z ^ z >> 31U;
}

/// In [-1, 1), with 24 bits: exact in fp32.
double uniform_of(std::uint64_t word) {
  return std::ldexp(static_cast<double>(word >> 40U), -23) - 1.0;
}

/// Box and Muller's, of the upper and the lower 24 bits.
double normal_of(std::uint64_t word) {
  const double first = std::ldexp(static_cast<double>((word >> 40U) + 1), -24);
  const double second = std::ldexp(static_cast<double>(word & 0xFFFFFFU), -24);
  return std::sqrt(-2.0 * std::log(first)) * std::cos(2.0 * std::acos(-1.0) * second);
}

double fp8_value(unsigned code, __nv_fp8_interpretation_t kind) {
  return __half2float(__nv_cvt_fp8_to_halfraw(static_cast<std::uint8_t>(code), kind));
}

/// The code among `codes` whose value is nearest; the even one of two.
template <class Value>
unsigned nearest(unsigned codes, double wanted, Value value) {
  unsigned best = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (unsigned code = 0; code < codes; ++code) {
    const double d = std::fabs(value(code) - std::fabs(wanted));
    if (d < distance || (d == distance && code % 2 == 0)) best = code;
    distance = std::min(d, distance);
  }
  return best;
}

unsigned fp8_code(double wanted, __nv_fp8_interpretation_t kind) {
  const unsigned code = nearest(0x78, wanted, [&](unsigned c) { return fp8_value(c, kind); });
  return std::signbit(wanted) ? code | 0x80U : code;
}

unsigned fp4_code(double wanted) {
  constexpr double values[] = {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
  const unsigned code = nearest(8, wanted, [&](unsigned c) { return values[c]; });
  return std::signbit(wanted) ? code | 8U : code;
}

template <class T, class Expected>
void check_operands(OperandEncoding encoding,
                    std::size_t words,
                    Expected expected,
                    bool normal = false) {
  INFO("encoding " << static_cast<int>(encoding));
  constexpr std::uint64_t seed = 3;
  const Buffer<T> memory(words);
  const std::uint64_t numbers = encoding == OperandEncoding::e2m1 ? 2 * words : words;
  REQUIRE(launch_fill_operands(memory.data(), encoding, numbers, seed, normal, nullptr) ==
          cudaSuccess);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < words; ++i) {
    const T value = static_cast<T>(expected(random_word((seed << 44U) + i)));
    wrong += std::memcmp(&memory[i], &value, sizeof(T)) != 0 ? 1 : 0;
  }
  CHECK(wrong == 0);
}

template <class T>
void check_normal(OperandEncoding encoding) {
  constexpr std::uint64_t seed = 11;
  const Buffer<T> memory(beyond_grid);
  REQUIRE(launch_fill_operands(memory.data(), encoding, beyond_grid, seed, true, nullptr) ==
          cudaSuccess);
  double sum = 0.0;
  double squares = 0.0;
  double neighbours = 0.0;
  double within_one = 0.0;
  double furthest = 0.0;
  double error = 0.0;
  for (std::size_t i = 0; i < beyond_grid; ++i) {
    const double value = memory[i];
    sum += value;
    squares += value * value;
    neighbours += value * (i > 0 ? double{memory[i - 1]} : 0.0);
    within_one += std::fabs(value) <= 1.0 ? 1.0 : 0.0;
    furthest = std::max(furthest, std::fabs(value));
    error = std::max(error, std::fabs(value - normal_of(random_word((seed << 44U) + i))));
  }
  CHECK(error < 2e-6);  // fp32 has 2.4e-7 at most there
  // Four standard errors of a million numbers.
  const double of_one = 1.0 / beyond_grid;
  CHECK_THAT(sum * of_one, Catch::Matchers::WithinAbs(0.0, 0.004));
  CHECK_THAT(squares * of_one, Catch::Matchers::WithinAbs(1.0, 0.0056));
  CHECK_THAT(neighbours * of_one, Catch::Matchers::WithinAbs(0.0, 0.004));
  CHECK_THAT(within_one * of_one, Catch::Matchers::WithinAbs(std::erf(std::sqrt(0.5)), 0.0019));
  CHECK(furthest > 4.0);
  CHECK(furthest <= 5.8);
}

template <class Word>
void check_count(std::size_t words) {
  std::vector<Word> values(words, Word{0x12});
  const auto pattern = static_cast<Word>(Word{0x7C} << (8 * (sizeof(Word) - 1)));
  const auto mask = static_cast<Word>(Word{0x7F} << (8 * (sizeof(Word) - 1)));
  values.front() = values.back() = static_cast<Word>(pattern | Word{5});
  const Buffer<Word> memory(values);
  const Buffer<unsigned long long> count(std::vector<unsigned long long>{40});
  REQUIRE(launch_count_words(
              memory.data(), sizeof(Word), words, mask, pattern, count.data(), nullptr) ==
          cudaSuccess);
  CHECK(count[0] == 40 + (words == 1 ? 1 : 2));
}
}  // namespace

TEST_CASE("the fill kernel writes each element once in every format", "[simt]") {
  check_uniform<double>(FmaFormat::fp64, [](float x) { return double{x}; });
  check_uniform<float>(FmaFormat::fp32, [](float x) { return x; });
  check_uniform<__half>(FmaFormat::fp16, [](float x) { return __float2half_rn(x); });
  check_uniform<__nv_bfloat16>(FmaFormat::bf16, [](float x) { return __float2bfloat16_rn(x); });
  CHECK(launch_fill_uniform(FmaFormat::fp32, nullptr, 0, 1, nullptr) == cudaSuccess);
}

TEST_CASE("an array larger than the grid is filled to its end", "[simt]") {
  const auto found = filled_uniform<float>(FmaFormat::fp32, beyond_grid, 9);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < beyond_grid; ++i) wrong += found[i] != uniform_value(i, 9) ? 1 : 0;
  CHECK(wrong == 0);
}

TEST_CASE("the sum kernel adds each element once to what is there", "[simt]") {
  for (const std::size_t count : {1, 31, 33, 255, 257, 10007}) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    const Buffer<float> data(values);
    const auto sum = in_every_order([&] {
      const Buffer<double> result(std::vector<double>{0.5});
      REQUIRE(launch_sum(data.data(), count, result.data(), nullptr) == cudaSuccess);
      return result.values();
    });
    CHECK(sum[0] == 0.5 + static_cast<double>(count * (count - 1) / 2));
  }
}

TEST_CASE("the pattern of collectives is the host's, and each wrong element of it is counted",
          "[simt]") {
  constexpr int rank = 3;
  for (const std::size_t count : {std::size_t{1}, std::size_t{1003}, beyond_grid}) {
    const Buffer<float> data(count);
    REQUIRE(launch_fill_pattern(data.data(), count, probes::rank_term(rank), nullptr) ==
            cudaSuccess);
    std::vector<float> host(count);
    probes::fill_pattern(host, rank);
    CHECK(data.values() == host);
  }
  // The stretch from element 100 on, twice the pattern plus 5.
  constexpr std::size_t first = 100;
  std::vector<float> values(first + 1003);
  probes::fill_pattern(values, 0);
  values.erase(values.begin(), values.begin() + first);
  for (float& value : values) value = 2.0F * (value - probes::rank_term(0)) + 5.0F;
  const Buffer<float> data(values);
  const auto errors = [&] {
    const auto found = in_every_order([&] {
      const Buffer<unsigned long long> count(std::vector<unsigned long long>{7});
      const PatternStretch stretch{data.data(), data.size(), first, 2.0F, 5.0F};
      REQUIRE(launch_count_errors(stretch, count.data(), nullptr) == cudaSuccess);
      return count.values();
    });
    return found[0] - 7;
  };
  CHECK(errors() == 0);
  data[0] += 1.0F;
  data[255] = std::numeric_limits<float>::quiet_NaN();
  data[1002] += 1.0F;
  CHECK(errors() == 3);
}

TEST_CASE("operands of wide formats are the numbers of their counter", "[simt]") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{777}, beyond_grid}) {
    check_operands<float>(OperandEncoding::f32, n, uniform_of);
  }
  constexpr std::size_t n = 777;
  check_operands<double>(OperandEncoding::f64, n, [](std::uint64_t word) {
    return std::ldexp(static_cast<double>(word >> 11U), -52) - 1.0;
  });
  check_operands<__nv_bfloat16>(OperandEncoding::bf16, n, [](std::uint64_t word) {
    return __double2bfloat16(uniform_of(word));
  });
  check_operands<__half>(
      OperandEncoding::f16, n, [](std::uint64_t word) { return __double2half(uniform_of(word)); });
  check_operands<std::int8_t>(OperandEncoding::int8, n, [](std::uint64_t word) {
    return std::nearbyint(127.0F * static_cast<float>(uniform_of(word)));
  });
}

TEST_CASE("operands of 8 and 4 bits are the nearest codes, two of 4 bits to a byte", "[simt]") {
  constexpr std::size_t n = 777;
  check_operands<std::uint8_t>(OperandEncoding::e4m3, n, [](std::uint64_t word) {
    return fp8_code(uniform_of(word), __NV_E4M3);
  });
  check_operands<std::uint8_t>(OperandEncoding::e5m2, n, [](std::uint64_t word) {
    return fp8_code(uniform_of(word), __NV_E5M2);
  });
  check_operands<std::uint8_t>(OperandEncoding::e2m1, n, [](std::uint64_t word) {
    const double high = uniform_of(random_word(word));
    return fp4_code(6.0 * uniform_of(word)) | fp4_code(6.0 * high) << 4U;
  });
}

TEST_CASE("normal operands have mean 0 and variance 1", "[simt]") {
  check_normal<float>(OperandEncoding::f32);
  check_normal<double>(OperandEncoding::f64);
  // The smallest number that the logarithm gets.
  CHECK(normal_of(0) <= 5.8);
}

TEST_CASE("normal operands of 16 bits and less are rounded, and cut where the format ends",
          "[simt]") {
  constexpr std::size_t n = 777;
  const auto check = [](OperandEncoding encoding, auto expected) {
    using T = decltype(expected(std::uint64_t{0}));
    check_operands<T>(encoding, n, expected, true);
  };
  check(OperandEncoding::bf16,
        [](std::uint64_t word) { return __double2bfloat16(normal_of(word)); });
  check(OperandEncoding::f16, [](std::uint64_t word) { return __double2half(normal_of(word)); });
  std::size_t cut = 0;
  check(OperandEncoding::int8, [&](std::uint64_t word) {
    cut += std::fabs(normal_of(word)) > 1.0 ? 1 : 0;
    return static_cast<std::int8_t>(std::nearbyint(127.0 * std::clamp(normal_of(word), -1.0, 1.0)));
  });
  CHECK(cut > n / 4);  // of 0.317 n
  check(OperandEncoding::e4m3, [](std::uint64_t word) {
    return static_cast<std::uint8_t>(fp8_code(normal_of(word), __NV_E4M3));
  });
  check(OperandEncoding::e5m2, [](std::uint64_t word) {
    return static_cast<std::uint8_t>(fp8_code(normal_of(word), __NV_E5M2));
  });
  check(OperandEncoding::e2m1, [](std::uint64_t word) {
    const double high = normal_of(random_word(word));
    return static_cast<std::uint8_t>(fp4_code(6.0 * normal_of(word)) | fp4_code(6.0 * high) << 4U);
  });
}

TEST_CASE("scales of operands lie in their ranges", "[simt]") {
  constexpr std::size_t n = 777;
  check_operands<float>(OperandEncoding::scale_f32, n, [](std::uint64_t word) {
    return std::ldexp(static_cast<double>((word >> 40U) + 1), -24);
  });
  check_operands<std::uint8_t>(
      OperandEncoding::scale_ue8m0, n, [](std::uint64_t word) { return 127 - (word >> 62U); });
  check_operands<std::uint8_t>(OperandEncoding::scale_ue4m3, n, [](std::uint64_t word) {
    const auto number = static_cast<float>(uniform_of(word));
    return fp8_code(0.0625F + 0.46875F * (number + 1.0F), __NV_E4M3);
  });
  // Of normal operands too.
  check_operands<std::uint8_t>(
      OperandEncoding::scale_ue8m0,
      n,
      [](std::uint64_t word) { return 127 - (word >> 62U); },
      true);
}

TEST_CASE("words that match a pattern are counted in each size", "[simt]") {
  for (const std::size_t words : {1, 1003}) {
    check_count<std::uint16_t>(words);
    check_count<std::uint32_t>(words);
    check_count<std::uint64_t>(words);
  }
  CHECK(launch_count_words(nullptr, 3, 1, 0, 0, nullptr, nullptr) == cudaErrorInvalidValue);
}
