// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/run_names.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/collectives.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace scaleworth::model {
namespace {
using Way = std::pair<std::string, std::string>;
/// Topology, collective, mode, ranks, in place, registered.
using Key = std::tuple<std::string, std::string, std::string, int, bool, bool>;

/// All that was measured at one size in one way, or by the library's choice.
struct Cell {
  std::vector<double> times;
  const Point* first = nullptr;  // what ran and was predicted there
};
using Sizes = std::map<double, Cell>;

struct Group {
  std::map<Way, Sizes> ways;  // the empty way: the library's choice
  bool shared_gpu = false;
};

void add_point(std::map<Key, Group>& groups, const Point& point) {
  const auto ranks = static_cast<int>(integer_parameter(point, fields::ranks));
  const auto bytes = static_cast<double>(integer_parameter(point, fields::message_bytes));
  if (ranks < 2 || bytes <= 0.0) return;
  Group& group = groups[{text_parameter(point, fields::topology),
                         text_parameter(point, fields::collective),
                         text_parameter(point, fields::mode),
                         ranks,
                         flag_parameter(point, fields::in_place),
                         flag_parameter(point, fields::registered)}];
  group.shared_gpu = group.shared_gpu || flag_parameter(point, fields::shared_gpu);
  Cell& cell = group.ways[{text_parameter(point, fields::algorithm),
                           text_parameter(point, fields::protocol)}][bytes];
  for (const double time : series(point, fields::time_s)) {
    if (std::isfinite(time) && time > 0.0) cell.times.push_back(time);
  }
  if (cell.first == nullptr) cell.first = &point;
}

CollectivePoint point_of(double bytes, const std::vector<double>& times, double factor) {
  CollectivePoint point;
  point.message = Bytes(bytes);
  point.time = transform(median_estimate(times), [](double time) { return Seconds(time); });
  point.algorithm_bandwidth = point.message / point.time.value;
  point.bus_bandwidth = point.algorithm_bandwidth * factor;
  return point;
}

std::optional<double> amount_if_any(const Point& point, const std::string& name) {
  const auto found = point.amounts.find(name);
  if (found == point.amounts.end()) return std::nullopt;
  return found->second;
}

std::string text_if_any(const Point& point, const std::string& name) {
  const auto found = point.parameters.find(name);
  if (found == point.parameters.end()) return {};
  const auto* text = std::get_if<std::string>(&found->second);
  return text != nullptr ? *text : std::string();
}

/// The library takes the way that it expects to be the fastest.
std::optional<Seconds> least_prediction(const Point& point) {
  const std::string_view prefix = fields::predicted_s_prefix;
  std::optional<Seconds> least;
  for (const auto& [name, seconds] : point.amounts) {
    if (!std::string_view(name).starts_with(prefix) || !(seconds > 0.0)) continue;
    least = least ? std::min(*least, Seconds(seconds)) : Seconds(seconds);
  }
  return least;
}

double relative_error(Seconds predicted, const CollectivePoint& point) {
  return std::abs(predicted / point.time.value - 1.0);
}

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

AlgorithmLine line_of(const Way& way, const Sizes& sizes, double factor) {
  AlgorithmLine line;
  std::tie(line.algorithm, line.protocol) = way;
  const std::string predicted =
      std::string(fields::predicted_s_prefix) + line.algorithm + "/" + line.protocol;
  std::vector<double> errors;
  for (const auto& [bytes, cell] : sizes) {
    if (cell.times.empty()) continue;
    line.points.push_back(point_of(bytes, cell.times, factor));
    const auto seconds = amount_if_any(*cell.first, predicted);
    if (seconds && *seconds > 0.0) {
      errors.push_back(relative_error(Seconds(*seconds), line.points.back()));
    }
  }
  line.fit = fit_way(line.points);
  line.library_error = mean(errors);
  return line;
}

ChosenPoint chosen_point(double bytes, const Cell& cell, double factor) {
  ChosenPoint chosen;
  chosen.point = point_of(bytes, cell.times, factor);
  chosen.algorithm = text_if_any(*cell.first, fields::ran_algorithm);
  chosen.protocol = text_if_any(*cell.first, fields::ran_protocol);
  if (const auto wire = amount_if_any(*cell.first, fields::wire_bytes)) {
    chosen.wire_bandwidth = Bytes(*wire) / chosen.point.time.value;
  }
  chosen.library_prediction = least_prediction(*cell.first);
  return chosen;
}

bool was_forced_at(const std::vector<AlgorithmLine>& lines, Bytes message) {
  return std::any_of(lines.begin(), lines.end(), [message](const AlgorithmLine& line) {
    return std::any_of(line.points.begin(), line.points.end(), [message](const auto& point) {
      return point.message == message;
    });
  });
}

void add_errors(AlgorithmResult& result) {
  std::vector<double> ours;
  std::vector<double> theirs;
  for (ChosenPoint& chosen : result.chosen) {
    chosen.fastest_line = system_time(result.lines, chosen.point.message);
    if (!chosen.fastest_line || was_forced_at(result.lines, chosen.point.message)) continue;
    ours.push_back(relative_error(*chosen.fastest_line, chosen.point));
    if (chosen.library_prediction) {
      theirs.push_back(relative_error(*chosen.library_prediction, chosen.point));
    }
  }
  result.held_out_error = mean(ours);
  // Errors of different sizes are not compared.
  if (theirs.size() == ours.size()) result.library_error = mean(theirs);
}

AlgorithmResult analyse_group(const Key& key, const Group& group) {
  AlgorithmResult result;
  std::tie(result.topology,
           result.collective,
           result.mode,
           result.ranks,
           result.in_place,
           result.registered) = key;
  result.shared_gpu = group.shared_gpu;
  const double factor = bus_factor(result.collective, result.ranks);
  for (const auto& [way, sizes] : group.ways) {
    if (!way.first.empty()) {
      result.lines.push_back(line_of(way, sizes, factor));
      continue;
    }
    for (const auto& [bytes, cell] : sizes) {
      if (!cell.times.empty()) result.chosen.push_back(chosen_point(bytes, cell, factor));
    }
  }
  result.regimes = regimes(result.lines);
  add_errors(result);
  return result;
}
}  // namespace

std::vector<AlgorithmResult> analyse_algorithms(const Run& run) {
  std::vector<AlgorithmResult> results;
  const ProbeRecord* probe = find_probe(run, fields::comm_nccl);
  if (probe == nullptr) return results;
  std::map<Key, Group> groups;
  for (const Point& point : probe->points) add_point(groups, point);
  for (const auto& [key, group] : groups) results.push_back(analyse_group(key, group));
  return results;
}

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
