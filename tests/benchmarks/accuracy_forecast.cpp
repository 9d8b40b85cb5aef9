// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/causes.h"
#include "src/model/laws/model_selection.h"
#include "tests/benchmarks/accuracy.h"
#include "tests/unit/model/public_tables.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::accuracy {
namespace {
using model::TimePoint;
using Points = std::vector<TimePoint>;
using Truth = std::function<double(double)>;

struct Shape {
  std::string name;
  std::function<Truth(std::mt19937_64&)> draw;
};

double between(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// Six shapes that are among the laws that are combined, and four that are not.
std::vector<Shape> shapes() {
  const auto shape = [](std::string name, auto time) {
    return Shape{std::move(name), [time](std::mt19937_64& random) { return Truth(time(random)); }};
  };
  using Random = std::mt19937_64;
  return {
      shape("contention-coherency",
            [](Random& r) {
              return [s = between(r, .01, .06), c = between(r, 1e-4, 2e-3)](double k) {
                return (1 - s) / k + s + c * (k - 1);
              };
            }),
      shape("power loss",
            [](Random& r) {
              return [b = between(r, .03, .25)](double k) { return std::pow(k, b - 1); };
            }),
      shape("Amdahl and logarithm",
            [](Random& r) {
              return [s = between(r, .01, .06), l = between(r, .003, .02)](double k) {
                return (1 - s) / k + s + l * std::log2(k);
              };
            }),
      shape("square-root loss",
            [](Random& r) {
              return [q = between(r, .02, .1)](double k) { return (1 - q + q * std::sqrt(k)) / k; };
            }),
      shape("Amdahl",
            [](Random& r) {
              return [s = between(r, .01, .06)](double k) { return (1 - s) / k + s; };
            }),
      shape("logarithmic loss",
            [](Random& r) {
              return [q = between(r, .02, .1)](double k) { return (1 + q * std::log2(k)) / k; };
            }),
      shape("constant efficiency", [](Random&) { return [](double k) { return 1 / k; }; }),
      shape("(1 + q log2(K)^2)/K, in no law",
            [](Random& r) {
              return [q = between(r, .005, .03)](double k) {
                return (1 + q * std::pow(std::log2(k), 2)) / k;
              };
            }),
      shape("(1 + q K^(4/3))/K, in no law",
            [](Random& r) {
              return [q = between(r, .001, .01)](double k) {
                return (1 + q * std::pow(k, 4. / 3)) / k;
              };
            }),
      shape("stragglers, 1/K + s sqrt(2 ln K), in no law",
            [](Random& r) {
              return [s = between(r, .003, .02)](double k) {
                return 1 / k + s * std::sqrt(2 * std::log(k));
              };
            }),
      shape("saturating efficiency, in no law", [](Random& r) {
        return
            [e = between(r, .6, .9)](double k) { return 1 / (k * (e + (1 - e) / std::sqrt(k))); };
      })};
}

constexpr std::size_t known_shapes = 6;  // the first ones

struct Grid {
  std::string name;
  std::vector<double> counts;
};

std::string percent(double part) {
  return fmt::format("{:.0f} %", 100.0 * part);
}

std::vector<Grid> grids() {
  return {{"1 to 8", {1, 2, 4, 8}},
          {"1 to 16", {1, 2, 4, 8, 16}},
          {"1 to 32", {1, 2, 4, 8, 16, 32}},
          {"8 to 128", {8, 16, 32, 64, 128}},
          {"eight to 16", {1, 2, 3, 4, 6, 8, 12, 16}}};
}

Points measured(const Truth& truth, const Grid& grid, double noise, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Points points;
  for (const double count : grid.counts)
    points.push_back({count, truth(count / grid.counts.front()) * (1 + noise * normal(random))});
  return points;
}

/// Of the knee E = 1/2, where the true one and the interval's end lie within 4 times the largest
/// count; an interval without end covers a knee beyond that.
void add_knee_coverage(std::vector<Row>& rows, const Shape& shape, double noise) {
  constexpr int tables = 100;
  std::mt19937_64 random(3);
  Row row{fmt::format("Coverage of 95 % intervals of the knee at efficiency 0.5, noise {:g} % "
                      "(half-width, median error, true knees beyond 4 times the largest count, "
                      "intervals without upper end)",
                      100 * noise),
          "85 to 98 %",
          shape.name,
          {}};
  for (const Grid& grid : grids()) {
    double covered = 0.0;
    double beyond = 0.0;
    double open = 0.0;
    std::vector<double> widths;
    std::vector<double> errors;
    for (int i = 0; i < tables; ++i) {
      const Truth truth = shape.draw(random);
      const double first = grid.counts.front();
      const auto law = *model::combine_laws(measured(truth, grid, noise, random));
      model::KneeRequest request;
      request.baseline = static_cast<int>(first);
      request.reach = model::farthest_extrapolation * grid.counts.back();
      double low = first;
      double high = 1e9;
      for (int j = 0; j < 60; ++j) {
        const double at = std::sqrt(low * high) / first;
        (truth(1) / (at * truth(at)) >= request.threshold ? low : high) = at * first;
      }
      const auto knees =
          model::law_knees([&](double k) { return law.time(k); }, law.draws, request);
      const model::Knee& knee = *model::find_knee(knees, model::KneeKind::efficiency);
      const bool far = low >= request.reach;
      if (far ? !knee.high : knee.low <= low && (!knee.high || low <= *knee.high)) covered += 1.0;
      beyond += far;
      open += !knee.high;
      if (!far && knee.high) widths.push_back((*knee.high - knee.low) / 2 / low);
      if (!far && knee.position) errors.push_back(std::abs(*knee.position / low - 1));
    }
    row.figures.emplace_back(grid.name,
                             fmt::format("{} ({}, {}, {}, {})",
                                         percent(covered / tables),
                                         widths.empty() ? "none" : "± " + percent(*median(widths)),
                                         errors.empty() ? "none" : percent(*median(errors)),
                                         percent(beyond / tables),
                                         percent(open / tables)));
  }
  rows.push_back(std::move(row));
}

void add_coverage(std::vector<Row>& rows, const Shape& shape, double noise) {
  constexpr int tables = 100;
  std::mt19937_64 random(2);
  Row row{fmt::format("Coverage of 95 % bands at 2 and 4 times the largest count, noise {:g} % "
                      "(half-width and median error at 4 times)",
                      100 * noise),
          "85 to 98 %",
          shape.name,
          {}};
  for (const Grid& grid : grids()) {
    double covered2 = 0.0;
    double covered4 = 0.0;
    std::vector<double> widths;
    std::vector<double> errors;
    for (int i = 0; i < tables; ++i) {
      const Truth truth = shape.draw(random);
      const double first = grid.counts.front();
      const auto law = model::combine_laws(measured(truth, grid, noise, random));
      const auto held = [&](double multiple) {
        const double count = multiple * grid.counts.back();
        const auto band = law->interval(count);
        const double time = truth(count / first);
        if (multiple == 4) {
          widths.push_back((band.high - band.low) / 2 / time);
          errors.push_back(std::abs(law->time(count) / time - 1));
        }
        return band.low <= time && time <= band.high ? 1.0 / tables : 0.0;
      };
      covered2 += held(2);
      covered4 += held(4);
    }
    row.figures.emplace_back(grid.name,
                             fmt::format("{}, {} (± {}, {})",
                                         percent(covered2),
                                         percent(covered4),
                                         percent(*median(widths)),
                                         percent(*median(errors))));
  }
  rows.push_back(std::move(row));
}

/// Time of one unit of work against the count, by series.
std::map<std::string, Points> public_series() {
  std::map<std::string, Points> series;
  const auto read = [&](const std::string& file,
                        const std::string& count,
                        const std::string& rate,
                        const std::vector<std::string>& names) {
    for (const auto& row : tests::public_rows(file)) {
      std::string name = file.substr(0, file.find('_', file.find('_') + 1));
      for (const std::string& column : names) name += " " + row.at(column);
      const double k = std::stod(row.at(count));
      series[name].push_back({k, 1.0 / (k * std::stod(row.at(rate)))});
    }
  };
  read("maxtext_v4_multislice_weak.csv", "slices", "tflops_per_chip", {"params"});
  read("maxtext_v5e_multislice_weak.csv", "slices", "tflops_per_chip", {"params"});
  read("megatron_sc21_table2_zero3.csv", "gpus", "tflops_per_gpu", {"scheme", "params_B"});
  read("nanotron_best_configs_h100.csv", "nodes", "mfu_pct", {"params_B"});
  for (const auto& row : tests::public_rows("mtnlg_530b_strong.csv"))
    series["mtnlg_530b"].push_back({std::stod(row.at("gpus")), std::stod(row.at("iter_s"))});
  for (auto& [name, points] : series) std::ranges::sort(points, {}, &TimePoint::count);
  std::erase_if(series, [](const auto& one) { return one.second.size() < 3; });
  return series;
}

double mean_error(const Points& points, std::size_t known, const Truth& forecast) {
  double sum = 0.0;
  double n = 0.0;
  for (std::size_t i = known; i < points.size(); ++i) {
    if (points[i].count > 4.0 * points[known - 1].count) break;
    sum += std::abs(forecast(points[i].count) / points[i].time - 1.0);
    ++n;
  }
  return sum / n;
}

void add_public(std::vector<Row>& rows) {
  std::map<std::size_t, std::vector<std::array<double, 2>>> errors;
  std::map<std::size_t, std::array<int, 2>> covered;
  for (const auto& [name, points] : public_series()) {
    Row row{
        "Mean error of forecasts up to 4 times the largest known count, published series "
        "(constant throughput per device instead of ours)",
        "in the mean no worse than constant throughput",
        name,
        {}};
    for (std::size_t known = 2; known < points.size(); ++known) {
      const Points first(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(known));
      const auto law = model::combine_laws(first, name.find("maxtext") == 0);
      const TimePoint last = first.back();
      const std::array<double, 2> all{
          mean_error(points, known, [&](double k) { return law->time(k); }),
          mean_error(points, known, [&](double k) { return last.time * last.count / k; })};
      for (std::size_t i = known; i < points.size(); ++i) {
        if (points[i].count > 4.0 * last.count) break;
        const auto band = law->interval(points[i].count);
        covered[known][0] += band.low <= points[i].time && points[i].time <= band.high ? 1 : 0;
        covered[known][1] += 1;
      }
      errors[known].push_back(all);
      row.figures.emplace_back(fmt::format("from {} counts", known),
                               fmt::format("{:.1f} % ({:.1f} %)", 100 * all[0], 100 * all[1]));
    }
    rows.push_back(std::move(row));
  }
  Row means{rows.back().what, rows.back().goal, "mean", {}};
  Row medians{rows.back().what, rows.back().goal, "median", {}};
  Row bands{rows.back().what, rows.back().goal, "inside of the 95 % band", {}};
  for (const auto& [known, all] : errors) {
    std::array<double, 2> mean{};
    std::array<double, 2> middle{};
    for (std::size_t method = 0; method < 2; ++method) {
      std::vector<double> one;
      for (const auto& each : all) {
        one.push_back(each[method]);
        mean[method] += each[method] / static_cast<double>(all.size());
      }
      middle[method] = *median(one);
    }
    const std::string column = fmt::format("from {} counts", known);
    means.figures.emplace_back(column,
                               fmt::format("{:.1f} % ({:.1f} %)", 100 * mean[0], 100 * mean[1]));
    medians.figures.emplace_back(
        column, fmt::format("{:.1f} % ({:.1f} %)", 100 * middle[0], 100 * middle[1]));
    bands.figures.emplace_back(column,
                               fmt::format("{} of {}", covered[known][0], covered[known][1]));
  }
  rows.insert(rows.end(), {means, medians, bands});
}
}  // namespace

std::vector<Row> forecast_rows() {
  std::vector<Row> rows;
  for (const double noise : {0.005, 0.02})
    for (const Shape& shape : shapes()) add_coverage(rows, shape, noise);
  const std::vector<Shape> all = shapes();
  for (const double noise : {0.005, 0.02})
    for (std::size_t i = 0; i < known_shapes; ++i) add_knee_coverage(rows, all[i], noise);
  add_public(rows);
  return rows;
}
}  // namespace scaleworth::accuracy
