// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives/system_curve.h"

#include "src/model/collectives/communication_fit.h"
#include "src/model/collectives/prediction.h"

#include <algorithm>
#include <set>

namespace scaleworth::model {
namespace {

bool fitted(const AlgorithmLine& line) {
  return !line.fit.segments.empty() && !line.points.empty();
}

double largest(const AlgorithmLine& line) {
  return line.points.back().message.value();
}

/// Every size at which the fastest line can change, between the ends of what was measured.
std::set<double> candidates(std::span<const AlgorithmLine> lines) {
  double low = 1e300;
  double high = 0.0;
  std::set<double> sizes;
  for (const AlgorithmLine& line : lines) {
    if (!fitted(line)) continue;
    low = std::min(low, line.points.front().message.value());
    high = std::max(high, largest(line));
    sizes.insert(largest(line));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      if (!fitted(lines[i]) || !fitted(lines[j])) continue;
      const CommunicationSegment& a = lines[i].fit.segments.front();
      const CommunicationSegment& b = lines[j].fit.segments.front();
      const double slope = a.beta.value.value() - b.beta.value.value();
      const double size = (b.alpha.value - a.alpha.value).value() / slope;
      if (slope != 0.0 && size > low && size < high) sizes.insert(size);
    }
  }
  if (high > 0.0) sizes.insert(low);
  return sizes;
}

}  // namespace

CommunicationFit fit_way(const std::vector<CollectivePoint>& points) {
  std::vector<TimedSize> times;
  for (const CollectivePoint& point : points) times.push_back({point.message, point.time.value});
  for (CommunicationFit& fit : fit_communication(times)) {
    if (fit.form == form_alpha_beta) return std::move(fit);
  }
  CommunicationFit none;
  none.form = form_alpha_beta;
  return none;
}

std::optional<std::size_t> fastest_line(std::span<const AlgorithmLine> lines, Bytes message) {
  std::optional<std::size_t> best;
  Seconds least;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!fitted(lines[i]) || message.value() > largest(lines[i])) continue;
    const Seconds time = evaluate(lines[i].fit, message);
    if (best && time >= least) continue;
    best = i;
    least = time;
  }
  return best;
}

std::optional<Seconds> system_time(std::span<const AlgorithmLine> lines, Bytes message) {
  const auto best = fastest_line(lines, message);
  if (!best) return std::nullopt;
  return evaluate(lines[*best].fit, message);
}

std::vector<AlgorithmRegime> regimes(std::span<const AlgorithmLine> lines) {
  std::vector<AlgorithmRegime> result;
  const std::set<double> sizes = candidates(lines);
  std::optional<std::size_t> current;
  for (auto begin = sizes.begin(); begin != sizes.end(); ++begin) {
    const auto end = std::next(begin);
    if (end == sizes.end()) break;
    // Between two candidates the order of the lines does not change: the middle tells.
    const auto best = fastest_line(lines, Bytes(0.5 * (*begin + *end)));
    if (!best) continue;
    if (current == best) {
      result.back().largest = Bytes(*end);
      continue;
    }
    const AlgorithmLine& line = lines[*best];
    result.push_back({line.algorithm, line.protocol, Bytes(*begin), Bytes(*end)});
    current = best;
  }
  return result;
}

}  // namespace scaleworth::model
