// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/collectives.h"
#include "tests/benchmarks/accuracy.h"
#include "tests/unit/model/public_tables.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::accuracy {
namespace {
using model::TimedSize;
using Times = std::vector<TimedSize>;
/// A way to know a time at a size, from some points of a curve.
using Curve = std::function<double(double)>;

Curve log_log(Times points) {
  return [points = std::move(points)](double bytes) {
    std::size_t i = 0;
    while (i + 2 < points.size() && bytes > points[i + 1].message.value()) ++i;
    const auto& [a, b] = std::pair(points[i], points[i + 1]);
    const double share = std::log(bytes / a.message.value()) / std::log(b.message / a.message);
    return a.time.value() * std::pow(b.time / a.time, share);
  };
}

struct Line {
  double alpha = 0.0;
  double beta = 0.0;
  double loss = std::numeric_limits<double>::max();
};

/// Least squares of the relative error over alpha, beta >= 0.
Line line_of(const long double* from, const long double* to) {
  long double s[6];
  for (int i = 0; i < 6; ++i) s[i] = to[i] - from[i];
  const auto& [n, u, v, uu, uv, vv] = s;
  Line best;
  const auto consider = [&, n = n, u = u, v = v, uu = uu, uv = uv, vv = vv](long double a,
                                                                            long double b) {
    if (!(a >= 0.0L && b >= 0.0L)) return;
    const long double loss = n + a * (a * uu + 2 * b * uv - 2 * u) + b * (b * vv - 2 * v);
    if (loss < best.loss) best = {double(a), double(b), double(std::max(loss, 0.0L))};
  };
  const long double d = uu * vv - uv * uv;
  if (d > 0) consider((u * vv - v * uv) / d, (v * uu - u * uv) / d);
  consider(u / uu, 0);
  consider(0, v / vv);
  return best;
}

/// The best three lines, each over at least three points; fewer where there are fewer points.
Curve three_segments(const Times& points) {
  const std::size_t n = points.size();
  std::vector<std::array<long double, 6>> sums(1);
  for (const TimedSize& point : points) {
    const long double u = 1.0L / point.time.value();
    const long double v = u * point.message.value();
    const long double add[] = {1, u, v, u * u, u * v, v * v};
    sums.push_back(sums.back());
    for (int i = 0; i < 6; ++i) sums.back()[i] += add[i];
  }
  const auto line = [&](std::size_t a, std::size_t b) {
    return line_of(sums[a].data(), sums[b].data());
  };
  std::vector<double> two(n + 1, std::numeric_limits<double>::max());
  std::vector<std::size_t> cut(n + 1, 0);
  for (std::size_t end = 3; end <= n; ++end) {
    two[end] = line(0, end).loss;
    for (std::size_t at = 3; at + 3 <= end; ++at) {
      const double loss = line(0, at).loss + line(at, end).loss;
      if (loss < two[end]) std::tie(two[end], cut[end]) = std::pair(loss, at);
    }
  }
  std::size_t last = 0;
  double least = two[n];
  for (std::size_t at = 6; at + 3 <= n; ++at) {
    const double loss = two[at] + line(at, n).loss;
    if (loss < least) std::tie(least, last) = std::pair(loss, at);
  }
  std::vector<std::size_t> starts{0, cut[last == 0 ? n : last], last};
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  if (starts.size() > 1 && starts.back() == 0) starts.pop_back();
  std::vector<std::pair<double, Line>> lines;  // the largest size of each
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : n;
    const double next = points[std::min(end, n - 1)].message.value();
    lines.push_back({std::sqrt(points[end - 1].message.value() * next), line(starts[i], end)});
  }
  return [lines](double bytes) {
    std::size_t i = 0;
    while (i + 1 < lines.size() && bytes > lines[i].first) ++i;
    return lines[i].second.alpha + lines[i].second.beta * bytes;
  };
}

Curve ours(const Times& points) {
  const auto fits = model::fit_communication(points);
  if (fits.empty()) return [](double) { return 0.0; };
  return [fit = fits[model::choose_fit(fits)]](double bytes) {
    return model::evaluate(fit, Bytes(bytes)).value();
  };
}

struct Score {
  std::vector<double> errors;
  double worst() const { return std::ranges::max(errors); }
  std::string text() const {
    double sum = 0.0;
    for (const double error : errors) sum += error;
    return fmt::format("{:.2f}/{:.1f}", 100.0 * sum / double(errors.size()), 100.0 * worst());
  }
};

/// Fitted to the sizes of one parity, scored on the others against `truth`, both ways round.
Score score(const Times& points,
            const std::vector<Bytes>& outliers,
            const std::function<double(const TimedSize&)>& truth,
            Curve (*fit)(const Times&)) {
  Score result;
  for (std::size_t parity = 0; parity < 2; ++parity) {
    Times fitted;
    Times rest;
    for (std::size_t i = 0; i < points.size(); ++i)
      (i % 2 == parity ? fitted : rest).push_back(points[i]);
    const Curve curve = fit(fitted);
    for (const TimedSize& point : rest) {
      if (std::ranges::find(outliers, point.message) != outliers.end()) continue;
      result.errors.push_back(std::abs(curve(point.message.value()) / truth(point) - 1.0));
    }
  }
  return result;
}

Row row_of(const std::string& data,
           const Times& points,
           const std::function<double(const TimedSize&)>& truth,
           double factor) {
  const auto begin = std::chrono::steady_clock::now();
  const auto fits = model::fit_communication(points);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const model::CommunicationFit& fit = fits.at(model::choose_fit(fits));
  std::vector<model::CollectivePoint> measured;
  std::vector<double> large;
  for (const TimedSize& point : points) {
    const BytesPerSecond rate = point.message / point.time;
    measured.push_back({point.message, {point.time, std::nullopt, 1}, rate, rate * factor});
    if (point.message * 16.0 >= points.back().message) large.push_back(factor * rate.value());
  }
  const double printed = model::large_bus_bandwidth(measured).value();
  const Score own = score(points, fit.outliers, truth, ours);
  const Score interpolated =
      score(points, fit.outliers, truth, [](const Times& p) { return log_log(p); });
  const bool limited = own.worst() > 0.1 && interpolated.worst() > own.worst() - 0.005;
  return {
      "Times of a collective at sizes left out, error in % (mean/worst)",
      "mean 4.5, worst 10, no worse than the others; bus bandwidth of large messages within 2 %; "
      "fitted within 1 s",
      data,
      {{"ours", own.text() + (limited ? " (*)" : "")},
       {"log-log", interpolated.text()},
       {"three lines", score(points, fit.outliers, truth, three_segments).text()},
       {"bus bandwidth, %", fmt::format("{:+.1f}", 100.0 * (printed / *median(large) - 1.0))},
       {"ranges with alpha-beta",
        fmt::format("{} of {}",
                    std::ranges::count(fit.segments, true, &model::CommunicationSegment::holds),
                    fit.segments.size())},
       {"stray points", fmt::format("{}", fit.outliers.size())},
       {"fit, s", fmt::format("{:.3f}", seconds.count())}}};
}

double protocols(double bytes) {
  if (bytes < 65536.0) return 10e-6 + bytes / 5e9;
  return bytes < 1048576.0 ? 14e-6 + bytes / 20e9 : 30e-6 + bytes / 200e9;
}
double ramp(double bytes) {
  return 8e-6 + bytes / 100e9 + 4e-8 * std::sqrt(bytes);
}
double plain(double bytes) {
  return 20e-6 + bytes / 50e9;
}
/// NCCL's three protocols of a ring, the fastest of which runs: LL and LL128 start sooner, and pass
/// 1/2 and 15/16 of the bytes.
double fastest_protocol(double bytes) {
  return std::min({9e-6 + bytes / 12e9, 16e-6 + bytes / 95e9, 34e-6 + bytes / 225e9});
}
/// As that, with switches that a table sets too late, as tuning tables do, so that the time drops.
double late_switches(double bytes) {
  if (bytes <= 131072.0) return 9e-6 + bytes / 12e9;
  return bytes <= 8388608.0 ? 16e-6 + bytes / 95e9 : 34e-6 + bytes / 225e9;
}

/// The time at the largest size, predicted from the sizes up to a quarter of it.
struct LargestScore {
  int all = 0;
  int near = 0;    // within 2 %
  int inside = 0;  // of these or of the interval
  double worst = 0.0;
  std::vector<double> widths{};

  void add(const Times& points, Seconds truth) {
    const Bytes largest = points.back().message;
    Times known = points;
    std::erase_if(known, [&](const TimedSize& one) { return one.message * 4.0 > largest; });
    const auto fits = model::fit_communication(known);
    const auto time = model::predict(fits.at(model::choose_fit(fits)), largest);
    const double error = std::abs(time.value / truth - 1.0);
    ++all;
    near += error <= 0.02;
    inside += error <= 0.02 || (time.low() <= truth && truth <= time.high());
    worst = std::max(worst, error);
    widths.push_back((time.high() - time.low()) / time.value / 2.0);
  }
  Row row(const std::string& data) const {
    return {"Time at the largest size, from sizes up to a quarter of it",
            "2 % in 90 %, or inside of the interval",
            data,
            {{"within 2 %", fmt::format("{} of {}", near, all)},
             {"or inside of the interval", fmt::format("{} of {}", inside, all)},
             {"worst, %", fmt::format("{:.1f}", 100.0 * worst)},
             {"median half-width, %", fmt::format("{:.1f}", 100.0 * *median(widths))}}};
  }
};

/// Seconds of an all-reduce of `bytes` on a layout.
using LayoutTruth = double (*)(const model::RankLayout&, double);

/// The fastest of a ring and a tree in two protocols, as NCCL's own model has them: launch, hops
/// inside and between nodes, and the bytes of the slowest link.
double fastest_way(const model::RankLayout& at, double bytes) {
  const double n = at.ranks;
  const double between = at.nodes - 1.0;
  const double rate = at.nodes == 1 ? 230e9 : 180e9;
  const double ring = 2.0 * (n - 1.0) / n * bytes / rate;
  const double tree = 2.0 * bytes / (0.8 * rate);
  const double steps = 2.0 * (at.per_node() - 1.0);
  const double up = 2.0 * std::log2(double(at.nodes));
  return std::min({7e-6 + 0.6e-6 * 2.0 * (n - 1.0 - between) + 5.4e-6 * between + 2.0 * ring,
                   8e-6 + 3.4e-6 * 2.0 * (n - 1.0 - between) + 28e-6 * between + ring,
                   7e-6 + 0.6e-6 * steps + 5e-6 * up + 2.0 * tree,
                   8e-6 + 4e-6 * steps + 14e-6 * up + tree});
}
/// A ring in the node, then one of each rank with its partners in the other nodes.
double two_levels(const model::RankLayout& at, double bytes) {
  const double q = at.per_node();
  const double nodes = at.nodes;
  return 5e-6 + 2.0 * (q - 1.0) * 1.2e-6 + 2.0 * (q - 1.0) / q * bytes / 200e9 +
         2.0 * (nodes - 1.0) * 6e-6 + 2.0 * (nodes - 1.0) / nodes * bytes / q / 24e9;
}
/// As `two_levels`, with half of the rate between nodes from 8 nodes on.
double tapered(const model::RankLayout& at, double bytes) {
  const double more = at.nodes < 8 ? 0.0 : 2.0 * (at.nodes - 1.0) / at.nodes * bytes / 8.0 / 24e9;
  return two_levels(at, bytes) + more;
}

/// Of each layout from curves of the others, with noise of 2 %.
void add_layouts(std::vector<Row>& rows) {
  const std::vector<model::RankLayout> layouts{
      {2, 1}, {4, 1}, {8, 1}, {16, 2}, {32, 4}, {64, 8}, {128, 16}};
  const std::tuple<const char*, LayoutTruth, int> truths[] = {
      {"fastest of ring and tree", fastest_way, 0},
      {"two levels", two_levels, 0},
      {"half of the rate from 8 nodes on", tapered, 1}};
  for (const auto& [name, truth, changes] : truths) {
    Score inside;
    Score ends;
    Score joined;
    int covered = 0;
    int all = 0;
    int reported = 0;
    constexpr int seeds = 10;
    for (int seed = 1; seed <= seeds; ++seed) {
      std::mt19937_64 generator(static_cast<std::uint64_t>(seed));
      std::normal_distribution<double> normal(0.0, 0.02);
      std::vector<model::LayoutCurve> curves;
      for (const model::RankLayout& at : layouts) {
        Times points;
        for (double bytes = 8.0; bytes <= 1e9; bytes *= 2.0)
          points.push_back({Bytes(bytes), Seconds(truth(at, bytes) * std::exp(normal(generator)))});
        const auto fits = model::fit_communication(points);
        curves.push_back(
            {.layout = at, .fit = fits[model::choose_fit(fits)], .largest = points.back().message});
      }
      reported += std::ssize(model::CommunicationModel(curves).changes()) == changes;
      for (std::size_t out = 0; out < curves.size(); ++out) {
        std::vector<model::LayoutCurve> others = curves;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
        const model::CommunicationModel model(others);
        const bool end = out == 0 || out == 2 || out == 3 || out == 6;
        for (double bytes = 8.0; bytes <= 1e9; bytes *= 2.0) {
          const model::RankLayout& at = layouts[out];
          const auto time = model.time(Collective::all_reduce, at, Bytes(bytes));
          const double right = truth(at, bytes);
          (end ? ends : inside).errors.push_back(std::abs(time->value.value() / right - 1.0));
          ++all;
          covered += time->low().value() <= right && right <= time->high().value();
          if (end) continue;
          const auto near = [&](std::size_t i) {
            return std::log(model::evaluate(curves[i].fit, Bytes(bytes)).value());
          };
          joined.errors.push_back(
              std::abs(std::exp(0.5 * (near(out - 1) + near(out + 1))) / right - 1.0));
        }
      }
    }
    rows.push_back({"Times of an all-reduce on a layout left out, error in % (mean/worst)",
                    "10 % between measured counts; 95 % inside of the interval",
                    name,
                    {{"between counts", inside.text()},
                     {"log-log over the count", joined.text()},
                     {"beyond the counts", ends.text()},
                     {"inside of the interval, %", fmt::format("{:.1f}", 100.0 * covered / all)},
                     {"regimes reported", fmt::format("{} of {}", reported, seeds)}}});
  }
}
}  // namespace

std::vector<Row> collective_rows() {
  std::vector<Row> rows;
  std::vector<std::filesystem::path> files;
  const auto tables = tests::public_data / "nccl-tests";
  if (std::filesystem::is_directory(tables)) {
    for (const auto& entry : std::filesystem::directory_iterator(tables)) {
      if (entry.path().extension() == ".txt") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  LargestScore same;   // in place and out of place, each against itself
  LargestScore cross;  // against the other
  for (const auto& file : files) {
    Times points;
    Times in_place;
    double factor = 0.0;
    for (const tests::NcclRow& row : tests::nccl_rows(file)) {
      points.push_back({Bytes(row.bytes), Seconds(1e-6 * row.time_us)});
      in_place.push_back({Bytes(row.bytes), Seconds(1e-6 * row.in_place_us)});
      factor = row.busbw / row.algbw;
    }
    // Two ranks that share a GPU are no interconnect.
    if (!file.filename().string().starts_with("onegpu")) {
      same.add(points, points.back().time);
      same.add(in_place, in_place.back().time);
      cross.add(points, in_place.back().time);
      cross.add(in_place, points.back().time);
    }
    rows.push_back(row_of(
        file.stem().string(),
        points,
        [](const TimedSize& point) { return point.time.value(); },
        factor));
  }
  const std::pair<const char*, double (*)(double)> truths[] = {
      {"switches at 64 KiB and 1 MiB", protocols},
      {"fastest of LL, LL128, Simple", fastest_protocol},
      {"late switches of these", late_switches},
      {"ramp with sqrt(n)", ramp},
      {"one line", plain}};
  for (const auto& [name, truth] : truths) {
    for (const std::size_t sizes : {6, 31, 2247}) {
      for (const double noise : {0.01, 0.05, 0.1}) {
        std::mt19937_64 generator(sizes);
        std::normal_distribution<double> normal(0.0, noise);
        Times points;
        for (std::size_t i = 0; i < sizes; ++i) {
          const double bytes = std::round(8.0 * std::exp2(30.0 * double(i) / double(sizes - 1)));
          if (!points.empty() && points.back().message == Bytes(bytes)) continue;
          const double stray = sizes > 6 && i % 23 == 9 ? (i % 2 == 0 ? 3.0 : 1.0 / 3.0) : 1.0;
          points.push_back(
              {Bytes(bytes), Seconds(truth(bytes) * stray * std::exp(normal(generator)))});
        }
        rows.push_back(row_of(
            fmt::format("{}, {} sizes, noise {:.0f} %", name, points.size(), 100.0 * noise),
            points,
            [truth = truth](const TimedSize& point) { return truth(point.message.value()); },
            1.0));
      }
    }
  }
  if (same.all > 0) {
    rows.push_back(same.row("13 published tables, each against itself"));
    rows.push_back(cross.row("in place against out of place"));
  }
  add_layouts(rows);
  return rows;
}
}  // namespace scaleworth::accuracy
