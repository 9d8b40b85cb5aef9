// SPDX-License-Identifier: Apache-2.0
/// Kernels of the training step against their formulas in fp64.
#include "cuda/kernels/training/elementwise.h"
#include "cuda/kernels/training/embedding.h"
#include "cuda/kernels/training/normalization.h"
#include "tests/catch.h"
#include "tests/simt/guarded.h"
#include "tests/simt/schedule.h"
#include "tests/simt/shim.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace scaleworth::gpu;
using scaleworth::simt::Buffer;
using scaleworth::simt::in_every_order;

namespace {
/// In bf16, between -2 and 2.
std::vector<Bfloat16> random_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> numbers(-2.0F, 2.0F);
  std::vector<Bfloat16> values(static_cast<std::size_t>(count));
  for (Bfloat16& value : values) value = to_bfloat16(numbers(random));
  return values;
}

double real(Bfloat16 value) {
  return to_float(value);
}
double real(float value) {
  return value;
}

/// Elements that are more than `relative` of the number and `absolute` away; bf16 rounds by up
/// to 2^-8 of a number.
template <class T>
std::size_t wrong_elements(const std::vector<T>& found,
                           const std::vector<double>& expected,
                           double absolute,
                           double relative = std::ldexp(1.01, -8)) {
  REQUIRE(found.size() == expected.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = std::fabs(real(found[i]) - expected[i]);
    wrong += error <= absolute + relative * std::fabs(expected[i]) ? 0 : 1;
  }
  return wrong;
}

// Widths of rows: fewer packs than threads; as many as threads; one more pack, and several turns.
constexpr std::int64_t widths[] = {8, 136, 1024, 1032, 2968};

double gelu_of(double x) {
  constexpr double pi = 3.14159265358979323846;
  return x / (1.0 + std::exp(-2.0 * std::sqrt(2.0 / pi) * (x + 0.044715 * x * x * x)));
}
}  // namespace

TEST_CASE("layer norm on threads is the formula", "[simt]") {
  constexpr std::int64_t tokens = 3;
  for (const std::int64_t width : widths) {
    const auto x = random_numbers(tokens * width, 1);
    const auto gain = random_numbers(width, 2);
    const auto bias = random_numbers(width, 3);
    const Buffer<Bfloat16> dx(x), dgain(gain), dbias(bias), y(x.size());
    const Buffer<float> mean(tokens), inverse(tokens);
    const LayerNorm layer{tokens,
                          width,
                          dgain.data(),
                          dbias.data(),
                          dx.data(),
                          y.data(),
                          mean.data(),
                          inverse.data()};
    const auto found = in_every_order([&] {
      REQUIRE(launch_layer_norm(layer, nullptr) == cudaSuccess);
      return y.values();
    });
    std::vector<double> expected, means, inverses;
    for (std::int64_t token = 0; token < tokens; ++token) {
      const Bfloat16* row = x.data() + token * width;
      double m = 0.0;
      double v = 0.0;
      for (std::int64_t i = 0; i < width; ++i) m += real(row[i]) / static_cast<double>(width);
      for (std::int64_t i = 0; i < width; ++i) {
        v += std::pow(real(row[i]) - m, 2) / static_cast<double>(width);
      }
      means.push_back(m);
      inverses.push_back(1.0 / std::sqrt(v + 1e-5));
      for (std::int64_t i = 0; i < width; ++i) {
        expected.push_back(real(gain[i]) * (real(row[i]) - m) * inverses.back() + real(bias[i]));
      }
    }
    CHECK(wrong_elements(found, expected, 1e-5) == 0);
    CHECK(wrong_elements(mean.values(), means, 1e-6, 1e-6) == 0);
    CHECK(wrong_elements(inverse.values(), inverses, 0.0, 1e-5) == 0);
  }
}

TEST_CASE("the gradient of layer norm on threads is the formula", "[simt]") {
  constexpr std::int64_t tokens = 2;
  for (const std::int64_t width : widths) {
    for (const bool add : {false, true}) {
      const auto x = random_numbers(tokens * width, 1);
      const auto gain = random_numbers(width, 2);
      const auto dy = random_numbers(tokens * width, 3);
      const auto before = random_numbers(tokens * width, 4);
      const std::vector<float> mean{0.25F, -0.5F};
      const std::vector<float> inverse{1.5F, 0.75F};
      const Buffer<Bfloat16> x_buffer(x), gain_buffer(gain), dy_buffer(dy);
      const Buffer<float> mean_buffer(mean), inverse_buffer(inverse);
      const auto found = in_every_order([&] {
        const Buffer<Bfloat16> dx(add ? before : std::vector<Bfloat16>(before.size()));
        const LayerNormGradient layer{tokens,
                                      width,
                                      gain_buffer.data(),
                                      x_buffer.data(),
                                      dy_buffer.data(),
                                      mean_buffer.data(),
                                      inverse_buffer.data(),
                                      dx.data(),
                                      add};
        REQUIRE(launch_layer_norm_gradient(layer, nullptr) == cudaSuccess);
        return dx.values();
      });
      std::vector<double> expected(found.size());
      for (std::int64_t token = 0; token < tokens; ++token) {
        const auto normal = [&](std::int64_t i) {
          return (real(x[token * width + i]) - mean[token]) * inverse[token];
        };
        const auto scaled = [&](std::int64_t i) {
          return real(gain[i]) * real(dy[token * width + i]);
        };
        double average = 0.0;
        double projection = 0.0;
        for (std::int64_t i = 0; i < width; ++i) {
          average += scaled(i) / static_cast<double>(width);
          projection += scaled(i) * normal(i) / static_cast<double>(width);
        }
        for (std::int64_t i = 0; i < width; ++i) {
          expected[token * width + i] =
              (scaled(i) - average - normal(i) * projection) * inverse[token] +
              (add ? real(before[token * width + i]) : 0.0);
        }
      }
      CHECK(wrong_elements(found, expected, 1e-5) == 0);
    }
  }
}

TEST_CASE("softmax and its gradient on threads are the formula", "[simt]") {
  constexpr std::int64_t rows = 3;
  for (const std::int64_t width : widths) {
    const auto scores = random_numbers(rows * width, 1);
    const auto gradient = random_numbers(rows * width, 2);
    const auto found = in_every_order([&] {
      const Buffer<Bfloat16> values(scores);
      REQUIRE(launch_softmax({rows, width, values.data()}, nullptr) == cudaSuccess);
      return values.values();
    });
    const Buffer<Bfloat16> probabilities(found);
    const auto changes = in_every_order([&] {
      const Buffer<Bfloat16> values(gradient);
      const SoftmaxGradient layer{rows, width, probabilities.data(), values.data(), 0.125F};
      REQUIRE(launch_softmax_gradient(layer, nullptr) == cudaSuccess);
      return values.values();
    });
    std::vector<double> expected, expected_changes;
    for (std::int64_t row = 0; row < rows; ++row) {
      double sum = 0.0;
      double dot = 0.0;
      for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
        sum += std::exp(real(scores[i]));
        dot += real(found[i]) * real(gradient[i]);
      }
      for (std::int64_t i = row * width; i < (row + 1) * width; ++i) {
        expected.push_back(std::exp(real(scores[i])) / sum);
        expected_changes.push_back(real(found[i]) * (real(gradient[i]) - dot) * 0.125);
      }
    }
    CHECK(wrong_elements(found, expected, 0.0) == 0);
    CHECK(wrong_elements(changes, expected_changes, 1e-7) == 0);
  }
}

TEST_CASE("GELU and its gradient on threads are the formula", "[simt]") {
  for (const std::int64_t count : {8, 2040, 2056, 5000}) {
    const auto x = random_numbers(count, 1);
    const auto dy = random_numbers(count, 2);
    const Buffer<Bfloat16> x_buffer(x);
    const auto found = in_every_order([&] {
      const Buffer<Bfloat16> y(x.size());
      REQUIRE(launch_gelu({count, x_buffer.data(), y.data()}, nullptr) == cudaSuccess);
      return y.values();
    });
    const auto changes = in_every_order([&] {
      const Buffer<Bfloat16> gradient(dy);
      REQUIRE(launch_gelu_gradient({count, x_buffer.data(), gradient.data()}, nullptr) ==
              cudaSuccess);
      return gradient.values();
    });
    std::vector<double> expected, expected_changes;
    for (std::size_t i = 0; i < x.size(); ++i) {
      constexpr double step = 1e-5;
      const double slope = (gelu_of(real(x[i]) + step) - gelu_of(real(x[i]) - step)) / (2.0 * step);
      expected.push_back(gelu_of(real(x[i])));
      expected_changes.push_back(real(dy[i]) * slope);
    }
    CHECK(wrong_elements(found, expected, 1e-6) == 0);
    CHECK(wrong_elements(changes, expected_changes, 1e-6) == 0);
  }
}

TEST_CASE("Adam on threads is the formula", "[simt]") {
  for (const std::int64_t count : {1, 255, 257, 1000}) {
    const auto gradients = random_numbers(count, 1);
    const auto numbers = [&](unsigned seed, double scale) {
      std::vector<float> values;
      for (const Bfloat16 x : random_numbers(count, seed)) {
        values.push_back(static_cast<float>(scale * (seed == 3 ? std::fabs(real(x)) : real(x))));
      }
      return values;
    };
    const auto master = numbers(4, 1.0);
    const auto first = numbers(2, 0.1);
    const auto second = numbers(3, 0.01);
    const Buffer<Bfloat16> gradient_buffer(gradients);
    const Buffer<AdamFactors> factors(std::vector<AdamFactors>{{0.01F, 2.0F}});
    const Buffer<float> m(first), v(second), w(master);
    const Buffer<Bfloat16> weights(gradients.size());
    const Adam adam{count,
                    gradient_buffer.data(),
                    w.data(),
                    m.data(),
                    v.data(),
                    weights.data(),
                    factors.data()};
    REQUIRE(launch_adam(adam, nullptr) == cudaSuccess);
    std::vector<double> expected_m, expected_v, expected_w;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const double g = real(gradients[i]);
      expected_m.push_back(0.9 * first[i] + 0.1 * g);
      expected_v.push_back(0.999 * second[i] + 0.001 * g * g);
      expected_w.push_back(master[i] -
                           0.01 * expected_m[i] / (std::sqrt(2.0 * expected_v[i]) + 1e-8));
    }
    CHECK(wrong_elements(m.values(), expected_m, 1e-7, 1e-6) == 0);
    CHECK(wrong_elements(v.values(), expected_v, 1e-7, 1e-5) == 0);
    CHECK(wrong_elements(w.values(), expected_w, 1e-6, 1e-6) == 0);
    CHECK(wrong_elements(weights.values(), expected_w, 1e-6) == 0);
  }
}

TEST_CASE("starting weights on threads depend on their position alone", "[simt]") {
  for (const std::int64_t count : {1, 257, 1000}) {
    const Buffer<float> master(static_cast<std::size_t>(count));
    const Buffer<Bfloat16> weights(static_cast<std::size_t>(count));
    const std::uint64_t first = 1ULL << 40U;
    const InitialWeights initial{count, 11, first, 0.5F, 0.02F, master.data(), weights.data()};
    REQUIRE(launch_initial_weights(initial, nullptr) == cudaSuccess);
    std::vector<double> expected;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
      expected.push_back(0.5 + 0.02 * random_normal(11, first + i));
    }
    CHECK(wrong_elements(master.values(), expected, 1e-7) == 0);
    CHECK(wrong_elements(weights.values(), expected, 1e-7) == 0);
  }
}

namespace {
/// Two texts of seven words each and the word behind them, of a vocabulary of 16.
struct Texts {
  static constexpr std::int64_t sequence = 7;
  static constexpr std::int64_t tokens = 2 * sequence;
  static constexpr std::int64_t vocabulary = 16;
  std::vector<std::int32_t> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 15};

  /// The word at a token, or `further` behind it.
  std::int32_t word(std::int64_t token, std::int64_t further = 0) const {
    return text[static_cast<std::size_t>(token / sequence * 8 + token % sequence + further)];
  }
};
}  // namespace

TEST_CASE("embedding and its gradient on threads are the sums of rows", "[simt]") {
  const Texts texts;
  const Buffer<std::int32_t> text(texts.text);
  std::vector<std::int32_t> starts{0};
  std::vector<std::int32_t> order;
  for (std::int32_t word = 0; word < Texts::vocabulary; ++word) {
    for (std::int32_t token = 0; token < Texts::tokens; ++token) {
      if (texts.word(token) == word) order.push_back(token);
    }
    starts.push_back(static_cast<std::int32_t>(order.size()));
  }
  const Buffer<std::int32_t> starts_buffer(starts), order_buffer(order);
  for (const std::int64_t width : widths) {
    const auto table = random_numbers(Texts::vocabulary * width, 1);
    const auto places = random_numbers(Texts::sequence * width, 2);
    const auto gradient = random_numbers(Texts::tokens * width, 3);
    const Buffer<Bfloat16> table_buffer(table), places_buffer(places), gradient_buffer(gradient);
    const Buffer<Bfloat16> out(gradient.size()), words(table.size()), positions(places.size());
    REQUIRE(launch_embedding({Texts::tokens,
                              Texts::sequence,
                              width,
                              text.data(),
                              table_buffer.data(),
                              places_buffer.data(),
                              out.data()},
                             nullptr) == cudaSuccess);
    REQUIRE(launch_embedding_gradient({Texts::tokens,
                                       Texts::sequence,
                                       width,
                                       Texts::vocabulary,
                                       starts_buffer.data(),
                                       order_buffer.data(),
                                       gradient_buffer.data(),
                                       words.data(),
                                       positions.data()},
                                      nullptr) == cudaSuccess);
    std::vector<double> expected(gradient.size()), of_words(table.size()), of_places(places.size());
    for (std::int64_t token = 0; token < Texts::tokens; ++token) {
      for (std::int64_t i = 0; i < width; ++i) {
        const std::int64_t in_table = texts.word(token) * width + i;
        const std::int64_t in_places = token % Texts::sequence * width + i;
        expected[token * width + i] = real(table[in_table]) + real(places[in_places]);
        of_words[in_table] += real(gradient[token * width + i]);
        of_places[in_places] += real(gradient[token * width + i]);
      }
    }
    CHECK(wrong_elements(out.values(), expected, 0.0) == 0);
    CHECK(wrong_elements(words.values(), of_words, 1e-6) == 0);
    CHECK(wrong_elements(positions.values(), of_places, 1e-6) == 0);
  }
}

TEST_CASE("heads on threads go to their matrices and back", "[simt]") {
  constexpr std::int64_t sequences = 2;
  constexpr std::int64_t sequence = 5;
  constexpr std::int64_t heads = 3;
  for (const std::int64_t parts : {1, 3}) {
    for (const std::int64_t width : {8, 40}) {
      const auto rows = random_numbers(parts * sequences * sequence * heads * width, 1);
      const Buffer<Bfloat16> from(rows), matrices(rows.size()), back(rows.size());
      REQUIRE(launch_split_heads(
                  {parts, sequences, sequence, heads, width, from.data(), matrices.data()},
                  nullptr) == cudaSuccess);
      REQUIRE(launch_merge_heads(
                  {parts, sequences, sequence, heads, width, back.data(), matrices.data()},
                  nullptr) == cudaSuccess);
      std::vector<double> expected;
      for (std::int64_t part = 0; part < parts; ++part) {
        for (std::int64_t sample = 0; sample < sequences; ++sample) {
          for (std::int64_t head = 0; head < heads; ++head) {
            for (std::int64_t place = 0; place < sequence; ++place) {
              const std::int64_t row =
                  (((sample * sequence + place) * parts + part) * heads + head) * width;
              for (std::int64_t i = 0; i < width; ++i) expected.push_back(real(rows[row + i]));
            }
          }
        }
      }
      CHECK(wrong_elements(matrices.values(), expected, 0.0, 0.0) == 0);
      const auto returned = back.values();
      CHECK(std::equal(rows.begin(), rows.end(), returned.begin(), [](Bfloat16 a, Bfloat16 b) {
        return a.bits == b.bits;
      }));
    }
  }
}

TEST_CASE("cross-entropy and its gradient on threads are the formula", "[simt]") {
  const Texts texts;
  const Buffer<std::int32_t> text(texts.text);
  constexpr std::int64_t tokens = Texts::sequence + 1;
  for (const std::int64_t vocabulary : {16, 4104}) {
    const auto logits = random_numbers(tokens * vocabulary, 1);
    const Buffer<float> losses(tokens);
    const auto found = in_every_order([&] {
      const Buffer<Bfloat16> row(logits);
      const CrossEntropy layer{
          tokens, vocabulary, Texts::sequence, text.data(), row.data(), losses.data(), 0.5F};
      REQUIRE(launch_cross_entropy(layer, nullptr) == cudaSuccess);
      return row.values();
    });
    std::vector<double> expected, expected_losses;
    for (std::int64_t token = 0; token < tokens; ++token) {
      const Bfloat16* row = logits.data() + token * vocabulary;
      const std::int64_t target = texts.word(token, 1);
      double sum = 0.0;
      for (std::int64_t i = 0; i < vocabulary; ++i) sum += std::exp(real(row[i]));
      for (std::int64_t i = 0; i < vocabulary; ++i) {
        expected.push_back(0.5 * (std::exp(real(row[i])) / sum - (i == target ? 1.0 : 0.0)));
      }
      expected_losses.push_back(std::log(sum) - real(row[target]));
    }
    CHECK(wrong_elements(found, expected, 1e-7) == 0);
    CHECK(wrong_elements(losses.values(), expected_losses, 1e-5, 1e-6) == 0);
  }
}

TEST_CASE("losses on threads sum to one number", "[simt]") {
  for (const std::int64_t tokens : {1, 511, 513, 2000}) {
    std::vector<float> losses(static_cast<std::size_t>(tokens));
    std::iota(losses.begin(), losses.end(), 1.0F);
    const Buffer<float> values(losses), stop(std::vector<float>{1.0F}), result(2);
    const auto found = in_every_order([&] {
      REQUIRE(launch_loss_sum({tokens, values.data(), 0.5F, stop.data(), result.data()}, nullptr) ==
              cudaSuccess);
      return result.values();
    });
    CHECK(found[0] == static_cast<float>(tokens * (tokens + 1) / 2) * 0.5F);
    CHECK(found[1] == 1.0F);
  }
}

TEST_CASE("gradients of biases and gains on threads are the sums of columns", "[simt]") {
  for (const std::int64_t rows : {1, 63, 65, 130}) {
    for (const std::int64_t width : {8, 512, 520}) {
      const auto x = random_numbers(rows * width, 1);
      const auto dy = random_numbers(rows * width, 2);
      std::vector<float> mean, inverse;
      for (std::int64_t row = 0; row < rows; ++row) {
        mean.push_back(0.01F * static_cast<float>(row));
        inverse.push_back(1.0F + 0.01F * static_cast<float>(row));
      }
      const Buffer<Bfloat16> x_buffer(x), dy_buffer(dy);
      const Buffer<float> mean_buffer(mean), inverse_buffer(inverse);
      const auto size = static_cast<std::size_t>(width);
      const Buffer<float> partial(column_chunks * size), partials(column_chunks * 2 * size);
      const Buffer<Bfloat16> bias(size), gain_and_bias(2 * size);
      REQUIRE(launch_bias_gradient({rows, width, dy_buffer.data(), partial.data(), bias.data()},
                                   nullptr) == cudaSuccess);
      REQUIRE(launch_gain_gradient({rows,
                                    width,
                                    x_buffer.data(),
                                    dy_buffer.data(),
                                    mean_buffer.data(),
                                    inverse_buffer.data(),
                                    partials.data(),
                                    gain_and_bias.data()},
                                   nullptr) == cudaSuccess);
      std::vector<double> expected(2 * size);
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t i = 0; i < width; ++i) {
          const double change = real(dy[row * width + i]);
          expected[i] += change * (real(x[row * width + i]) - mean[row]) * inverse[row];
          expected[width + i] += change;
        }
      }
      CHECK(wrong_elements(gain_and_bias.values(), expected, 1e-4) == 0);
      expected.erase(expected.begin(), expected.begin() + width);
      CHECK(wrong_elements(bias.values(), expected, 1e-4) == 0);
    }
  }
}

TEST_CASE("what ran since a mark is drawn out to a multiple of its time", "[simt]") {
  const Buffer<std::uint64_t> mark(1);
  REQUIRE(launch_mark(mark.data(), nullptr) == cudaSuccess);
  scaleworth::simt::sleep_nanoseconds(100'000);
  REQUIRE(launch_draw_out(mark.data(), 3.0, nullptr) == cudaSuccess);
  const double passed = static_cast<double>(scaleworth::simt::read_nanoseconds() - mark[0]);
  CHECK(passed >= 300'000.0);
  CHECK(passed < 301'000.0);
  // At most to 10 s after the mark, which are over.
  for (int i = 0; i < 3; ++i) scaleworth::simt::sleep_nanoseconds(4'000'000'000U);
  const std::uint64_t start = scaleworth::simt::read_nanoseconds();
  REQUIRE(launch_draw_out(mark.data(), 3.0, nullptr) == cudaSuccess);
  CHECK(scaleworth::simt::read_nanoseconds() - start < 1000);
}
