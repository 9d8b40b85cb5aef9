// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/laws/classic_laws.h"
#include "tests/catch.h"

#include <cmath>
#include <random>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

/// Seconds of a step of a GPT by the formula that the published TF/s stand on, recompute included.
/// Source: Narayanan et al., SC 21: 96 B s L h^2 (1 + s/6h + V/16Lh).
double step_seconds(double batch, double layers, double hidden, double gpus, double tflops) {
  const double sequence = 2048.0;
  const double flops = 96.0 * batch * sequence * layers * hidden * hidden *
                       (1.0 + sequence / (6.0 * hidden) + 51200.0 / (16.0 * layers * hidden));
  return flops / (gpus * tflops * 1e12);
}

double gustafson_speedup(double serial, double count) {
  return count - serial * (count - 1.0);
}

double predicted(const MicroBatchFit& fit, double micro_batches) {
  return fit.per_micro_batch.value * micro_batches + fit.fixed.value;
}

}  // namespace

TEST_CASE("Gustafson's serial part is found in weak scaling and converted to Amdahl's",
          "[scaling]") {
  // s = .0376 of the parallel run: S(32) = 30.834, and the same work takes K / S of one rank's
  // time.
  std::vector<TimePoint> points;
  for (const double k : {1, 2, 4, 8, 16, 32}) {
    points.push_back({k, 100.0 / gustafson_speedup(0.0376, k), std::nullopt});
  }
  const auto fit = fit_gustafson(points);
  REQUIRE(fit);
  CHECK_THAT(fit->serial.value, WithinAbs(0.0376, 1e-6));
  CHECK_THAT(fit->single, WithinRel(100.0, 1e-6));
  // .0376 / (.0376 + 32 x .9624).
  CHECK_THAT(fit->amdahl_serial, WithinAbs(0.00121940, 1e-7));
}

TEST_CASE("Gustafson's serial part has an interval that holds the truth of 95 % of the curves",
          "[scaling]") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  int held = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<TimePoint> points;
    for (const double k : {1, 2, 4, 8, 16, 32}) {
      const double time = 100.0 / gustafson_speedup(0.2, k) * (1.0 + 0.01 * normal(random));
      points.push_back({k, time, std::nullopt});
    }
    const auto interval = *fit_gustafson(points)->serial.interval;
    held += interval.low <= 0.2 && 0.2 <= interval.high ? 1 : 0;
  }
  CHECK(held >= 450);
  CHECK(held <= 490);
}

TEST_CASE("two counts are too few for Gustafson's law", "[scaling]") {
  CHECK_FALSE(fit_gustafson({{1, 1.0, std::nullopt}, {2, 0.6, std::nullopt}}));
  CHECK_THROWS_AS(fit_gustafson({{1, 0.0, std::nullopt}}), UserError);
}

TEST_CASE("two runs of different micro-batches predict a third at twice the GPUs", "[scaling]") {
  struct Published {
    double batch, layers, hidden, model_parallel;
    std::vector<std::pair<double, double>> runs;  // GPUs, TF/s
    double a, b, ratio, off;                      // per cent
  };
  // Narayanan et al., SC 21, table 2, PTD-P, micro-batches of one sequence.
  const std::vector<Published> tables{
      {1536, 96, 12288, 96, {{384, 153}, {768, 149}, {1536, 141}}, 0.1946, 2.061, 10.6, -0.42},
      {2240, 105, 20480, 280, {{560, 171}, {1120, 167}, {2240, 159}}, 0.1797, 4.939, 27.5, -0.34}};
  for (const Published& table : tables) {
    std::vector<TimePoint> points;
    for (const auto& [gpus, tflops] : table.runs) {
      points.push_back({table.batch * table.model_parallel / gpus,
                        step_seconds(table.batch, table.layers, table.hidden, gpus, tflops)});
    }
    const TimePoint third = points.back();
    points.pop_back();
    const auto fit = fit_micro_batches(points);
    REQUIRE(fit);
    CHECK_THAT(fit->per_micro_batch.value, WithinAbs(table.a, 5e-5));
    CHECK_THAT(fit->fixed.value, WithinAbs(table.b, 5e-4));
    CHECK_THAT(*fit->lost_micro_batches, WithinAbs(table.ratio, 0.05));
    CHECK_FALSE(fit->per_micro_batch.interval);
    CHECK_THAT(100.0 * (predicted(*fit, third.count) / third.time - 1.0),
               WithinAbs(table.off, 5e-3));
  }
}

TEST_CASE("two runs of MT-NLG predict the third", "[scaling]") {
  // arXiv 2201.11990: batch 1920 on 2240, 2800 and 3360 GPUs, 280 to a replica.
  const auto fit = fit_micro_batches({{240, 60.1}, {192, 50.2}});
  REQUIRE(fit);
  CHECK_THAT(fit->per_micro_batch.value, WithinAbs(0.2062, 5e-5));
  CHECK_THAT(fit->fixed.value, WithinAbs(10.60, 5e-3));
  CHECK_THAT(100.0 * (predicted(*fit, 160) / 44.4 - 1.0), WithinAbs(-1.80, 5e-3));
}

TEST_CASE("a third run gives the law of micro-batches its intervals", "[scaling]") {
  const auto fit = fit_micro_batches({{240, 60.1}, {192, 50.2}, {160, 44.4}});
  REQUIRE(fit);
  CHECK(fit->per_micro_batch.interval);
  CHECK_FALSE(fit_micro_batches({{240, 60.1}, {240, 60.2}}));
  CHECK_THROWS_AS(fit_micro_batches({{240, 60.1}, {0, 1.0}}), UserError);
}

TEST_CASE("a ring's time is latency and bandwidth apart", "[scaling]") {
  // 10 us a hop, 100 GB/s, 1 GB among 8: 2 x 7 x 10 us and 2 x 7/8 x 10 ms.
  const RingCost cost{{Seconds(1e-5), BytesPerSecond(1e11), Bytes(1e9)}, 1.0};
  CHECK_THAT(ring_time(cost, 8).latency.value(), WithinRel(1.4e-4, 1e-12));
  CHECK_THAT(ring_time(cost, 8).bandwidth.value(), WithinRel(0.0175, 1e-12));
  CHECK(ring_time(cost, 1).total().value() == 0.0);
  CHECK_THROWS_AS(ring_time(cost, 0), UserError);
}

TEST_CASE("work and depth bound the time of any greedy schedule", "[scaling]") {
  const WorkDepth of{Seconds(100), Seconds(5)};
  CHECK(work_depth_bounds(of, 10).low.value() == 10.0);
  CHECK(work_depth_bounds(of, 10).high.value() == 15.0);
  CHECK(work_depth_bounds(of, 50).low.value() == 5.0);
  CHECK_THROWS_AS(work_depth_bounds({Seconds(1), Seconds(2)}, 2), UserError);
  CHECK_THROWS_AS(work_depth_bounds(of, 0), UserError);
}
