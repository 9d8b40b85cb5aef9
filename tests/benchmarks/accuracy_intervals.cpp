// SPDX-License-Identifier: Apache-2.0
/// Coverage of the interval of a median, the stopping rule included: samples of a known median are
/// fed to the rule until it ends, and the interval of what it took is compared with the truth.
#include "src/core/statistics/sample_statistics.h"
#include "src/core/statistics/sampling.h"
#include "tests/benchmarks/accuracy.h"

#include <cmath>
#include <functional>
#include <random>

#include <fmt/format.h>

namespace scaleworth::accuracy {
namespace {
using Random = std::mt19937_64;

/// Times are 1 + spread * (draw - median), the draw of scale 1.
struct Source {
  const char* name;
  double median;
  std::function<double(Random&, double& state)> draw;  // state: the sample before, from N(0, 1)
};

Source autoregressive(const char* name, double rho) {
  return {name, 0.0, [rho](Random& random, double& state) {
            state = rho * state + std::sqrt(1.0 - rho * rho) * std::normal_distribution()(random);
            return state;
          }};
}

/// 0.1 N(0, 1), and 1 more for a share of the draws; `median` is that of the mixture.
Source two_modes(const char* name, double upper, double median) {
  return {name, median, [upper](Random& random, double&) {
            return 0.1 * std::normal_distribution()(random) +
                   (std::bernoulli_distribution(upper)(random) ? 1.0 : 0.0);
          }};
}

// The medians of the mixtures: 0.1 z with P(Z < z) = 0.5 / 0.7 and 0.5 / 0.55.
const Source sources[] = {
    autoregressive("independent normal", 0.0),
    autoregressive("AR(1), rho 0.5", 0.5),
    autoregressive("AR(1), rho 0.9", 0.9),
    {"independent exponential",
     std::log(2.0),
     [](Random& random, double&) { return std::exponential_distribution()(random); }},
    two_modes("two modes, 70 % and 30 %", 0.30, 0.05659),
    two_modes("two modes, 55 % and 45 %", 0.45, 0.13352),
};

struct Limits {
  const char* name;
  StoppingTarget target;
};

// As of the probes; a sample lasts about 1 s here.
const Limits limits[] = {
    {"host probe, quick", {.minimum_samples = 20, .time_budget = Seconds(20 / 0.7)}},
    {"host probe, standard", {.minimum_samples = 40, .time_budget = Seconds(40 / 0.7)}},
    {"collective in blocks", {.maximum_samples = 50, .time_budget = Seconds(1e9)}},
    {"collective, isolated", {.maximum_samples = 200, .time_budget = Seconds(1e9)}},
    {"long samples", {.time_budget = Seconds(9.5)}},
    {"no limit but 1000 samples", {.maximum_samples = 1000, .time_budget = Seconds(1e9)}},
};

Row row_of(const Source& source, const Limits& at, double spread) {
  constexpr int repeats = 2000;
  Random random(1);
  int covered = 0;
  int absent = 0;
  double taken = 0.0;
  std::vector<double> half_widths;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    StoppingRule rule(at.target);
    double state = std::normal_distribution()(random);
    while (!rule.finished()) {
      rule.add(Seconds(1.0 + spread * (source.draw(random, state) - source.median)));
    }
    taken += static_cast<double>(rule.samples().size()) / repeats;
    const auto interval = series_estimate(rule.samples()).interval;
    if (!interval) {
      ++absent;
      continue;
    }
    covered += interval->low <= 1.0 && 1.0 <= interval->high ? 1 : 0;
    half_widths.push_back((interval->high - interval->low) / 2.0);
  }
  return {
      fmt::format("Intervals of medians, {}", at.name),
      "92 to 98 % hold the true median",
      fmt::format("{}, spread {:.0f} %", source.name, 100.0 * spread),
      {{"hold the median, %",
        fmt::format("{:.1f}", 100.0 * covered / static_cast<double>(half_widths.size()))},
       {"median half-width, %", fmt::format("{:.2f}", 100.0 * median(half_widths).value_or(0.0))},
       {"samples", fmt::format("{:.0f}", taken)},
       {"without interval, %", fmt::format("{:.1f}", 100.0 * absent / repeats)}}};
}
}  // namespace

std::vector<Row> interval_rows() {
  std::vector<Row> rows;
  for (const Limits& at : limits) {
    for (const Source& source : sources) {
      for (const double spread : {0.01, 0.04}) rows.push_back(row_of(source, at, spread));
    }
  }
  return rows;
}
}  // namespace scaleworth::accuracy
