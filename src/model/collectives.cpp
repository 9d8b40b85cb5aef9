// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives.h"

#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/roofline.h"

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace scaleworth::model {
namespace {
/// factor = passes x (n - 1) / n, or 1 where the message crosses each link once.
struct Traffic {
  Collective collective;
  double passes;
  bool shared_among_ranks;
};
constexpr std::array traffic{Traffic{Collective::all_reduce, 2.0, true},
                             Traffic{Collective::all_gather, 1.0, true},
                             Traffic{Collective::reduce_scatter, 1.0, true},
                             Traffic{Collective::all_to_all, 1.0, true},
                             Traffic{Collective::gather, 1.0, true},
                             Traffic{Collective::scatter, 1.0, true},
                             Traffic{Collective::broadcast, 1.0, false},
                             Traffic{Collective::reduce, 1.0, false},
                             Traffic{Collective::send_receive, 1.0, false}};

/// Ranks and message bytes of a point; absent for one without communication, and for one whose
/// results a check found wrong: a wrong sum says nothing of the time of a right one.
std::optional<std::pair<int, double>> size_of(const Point& point) {
  if (has_wrong_results(point)) return std::nullopt;
  const auto ranks = count_parameter(point, Parameter::ranks);
  const auto bytes = static_cast<double>(integer_parameter(point, Parameter::message_bytes));
  return ranks < 2 || bytes <= 0.0 ? std::nullopt : std::optional(std::pair(ranks, bytes));
}

CollectivePoint point_of(double bytes, const Series& times, double factor) {
  const auto time = as<Seconds>(series_estimate(times));
  const BytesPerSecond bandwidth = Bytes(bytes) / time.value;
  return {Bytes(bytes), time, bandwidth, bandwidth * factor};
}

std::vector<TimedSize> times_of(const std::vector<CollectivePoint>& points) {
  std::vector<TimedSize> times;
  for (const CollectivePoint& point : points) times.push_back({point.message, point.time.value});
  return times;
}

/// Of a group of points: what they share beside size and way. What ran differs from size to size.
Setting group_of(const Point& point) {
  return point.setting.without({Parameter::message_bytes,
                                Parameter::algorithm,
                                Parameter::protocol,
                                Parameter::shared_gpu,
                                Parameter::ran_algorithm,
                                Parameter::ran_protocol,
                                Parameter::ran_channels,
                                Parameter::predicted_algorithm,
                                Parameter::predicted_protocol});
}

/// All that was measured at one size in one way, or by the library's choice.
struct Cell {
  Series times;
  const Point* first = nullptr;  // what ran there
  std::map<Way, Seconds> predictions{};
};
using Sizes = std::map<double, Cell>;

struct Group {
  std::map<Way, Sizes> ways;  // the empty way: the library's choice
  bool shared_gpu = false;
};

/// The library takes the way that it expects to be the fastest.
std::optional<Seconds> least_prediction(const Cell& cell) {
  std::optional<Seconds> least;
  for (const auto& [way, time] : cell.predictions) least = least ? std::min(*least, time) : time;
  return least;
}

double relative_error(Seconds predicted, const CollectivePoint& point) {
  return std::abs(predicted / point.time.value - 1.0);
}

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return sum / static_cast<double>(values.size());
}

AlgorithmLine line_of(const Way& way, const Sizes& sizes, double factor) {
  AlgorithmLine line{way, {}, {}, {}};
  std::vector<double> errors;
  for (const auto& [bytes, cell] : sizes) {
    if (cell.times.empty()) continue;
    line.points.push_back(point_of(bytes, cell.times, factor));
    if (const Seconds* predicted = value_at(cell.predictions, way)) {
      errors.push_back(relative_error(*predicted, line.points.back()));
    }
  }
  line.fit = fit_way(line.points);
  line.library_error = mean(errors);
  return line;
}

ChosenPoint chosen_point(double bytes, const Cell& cell, double factor) {
  ChosenPoint chosen;
  chosen.point = point_of(bytes, cell.times, factor);
  chosen.algorithm = cell.first->setting.text(Parameter::ran_algorithm);
  chosen.protocol = cell.first->setting.text(Parameter::ran_protocol);
  if (const auto wire = amount_of(*cell.first, Metric::wire_bytes)) {
    chosen.wire_bandwidth = Bytes(*wire) / chosen.point.time.value;
  }
  chosen.library_prediction = least_prediction(cell);
  return chosen;
}

void add_errors(AlgorithmResult& result) {
  std::vector<double> by_lines;
  std::vector<double> by_library;
  for (ChosenPoint& chosen : result.chosen) {
    chosen.fastest_line = system_time(result.lines, chosen.point.message);
    const bool forced = std::ranges::any_of(result.lines, [&](const AlgorithmLine& line) {
      return std::ranges::count(line.points, chosen.point.message, &CollectivePoint::message) > 0;
    });
    if (!chosen.fastest_line || forced) continue;
    by_lines.push_back(relative_error(*chosen.fastest_line, chosen.point));
    if (chosen.library_prediction) {
      by_library.push_back(relative_error(*chosen.library_prediction, chosen.point));
    }
  }
  result.held_out_error = mean(by_lines);
  // Errors of different sizes are not compared.
  if (by_library.size() == by_lines.size()) result.library_error = mean(by_library);
}

AlgorithmResult analyse_group(const Setting& key, const Group& group) {
  AlgorithmResult result;
  result.selection = key;
  result.collective = *key.symbol<Collective>(Parameter::collective);
  result.mode = *key.symbol<CollectiveMode>(Parameter::mode);
  result.ranks = static_cast<int>(*key.count(Parameter::ranks));
  result.in_place = key.flag(Parameter::in_place);
  result.registered = key.flag(Parameter::registered);
  result.shared_gpu = group.shared_gpu;
  const double factor = bus_factor(result.collective, result.ranks);
  for (const auto& [way, sizes] : group.ways) {
    if (!way.algorithm.empty()) {
      result.lines.push_back(line_of(way, sizes, factor));
      continue;
    }
    for (const auto& [bytes, cell] : sizes) {
      if (!cell.times.empty()) result.chosen.push_back(chosen_point(bytes, cell, factor));
    }
  }
  const auto fits = fit_communication(times_of(mapped(result.chosen, &ChosenPoint::point)));
  if (!fits.empty()) result.fit = fits[choose_fit(fits)];
  result.regimes = regimes(result.lines);
  add_errors(result);
  return result;
}

bool fitted(const AlgorithmLine& line) {
  return !line.fit.segments.empty();
}

double largest(const AlgorithmLine& line) {
  return line.points.back().message.value();
}

/// Every size at which the fastest line can change, between the ends of what was measured.
std::set<double> candidates(std::span<const AlgorithmLine> lines) {
  std::set<double> sizes;
  for (const AlgorithmLine& line : lines) {
    if (fitted(line)) sizes.insert({line.points.front().message.value(), largest(line)});
  }
  if (sizes.empty()) return sizes;
  const double low = *sizes.begin();
  const double high = *sizes.rbegin();
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
  return sizes;
}
}  // namespace

double bus_factor(Collective collective, int ranks) {
  const Traffic* found = find_in(traffic, collective, &Traffic::collective);
  if (ranks < 2) {
    throw UserError("bus bandwidth needs at least 2 ranks, not {}", ranks);
  }
  return found->shared_among_ranks ? found->passes * (ranks - 1) / ranks : found->passes;
}

bool is_large(Bytes message, Bytes largest) {
  return message * 8.0 >= largest;
}

BytesPerSecond large_bus_bandwidth(const std::vector<CollectivePoint>& points) {
  std::vector<double> rates;
  for (const CollectivePoint& point : points) {
    if (!is_large(point.message, points.back().message)) continue;
    rates.push_back(point.bus_bandwidth.value());
  }
  return BytesPerSecond(median(rates).value_or(0.0));
}

std::vector<SlowLink> find_slow_links(std::span<const PairTime> pairs) {
  constexpr double least_excess = 1.1;
  constexpr double deviations = 5.0;          // of one pair
  constexpr double deviations_of_node = 2.0;  // whose median has less noise
  std::map<int, Series> by_node;
  for (const PairTime& pair : pairs) {
    by_node[pair.a].push_back(pair.time.value());
    by_node[pair.b].push_back(pair.time.value());
  }
  if (by_node.size() < 3) return {};
  std::map<int, double> own;
  Series typical;
  for (auto& [node, times] : by_node) {
    std::ranges::sort(times);
    const std::size_t spared = std::min<std::size_t>(2, times.size() - 1);
    times.resize(times.size() - spared);
    own[node] = *median(times);
    typical.push_back(own[node]);
  }
  const double usual = *quantile(typical, 0.25);
  const auto expected = [&](const PairTime& pair) { return std::max(own[pair.a], own[pair.b]); };
  Series residuals;
  for (const PairTime& pair : pairs)
    residuals.push_back(std::abs(std::log(pair.time.value() / expected(pair))));
  const double noise = 1.4826 * *median(residuals);
  const double limit = std::max(least_excess, std::exp(deviations * noise));
  std::vector<SlowLink> slow;
  for (const auto& [node, time] : own)
    if (time > usual * std::max(least_excess, std::exp(deviations_of_node * noise)))
      slow.push_back({node, std::nullopt, time / usual, Seconds(usual)});
  for (const PairTime& pair : pairs)
    if (pair.time.value() > limit * expected(pair))
      slow.push_back({pair.a, pair.b, pair.time.value() / expected(pair), Seconds(usual)});
  return slow;
}

std::vector<SlowLink> slow_links(const Run& run) {
  const ProbeRecord* probe = find_probe(run, probe_name::comm_collectives);
  if (probe == nullptr) return {};
  std::map<std::pair<int, int>, Series> times_of_pair;
  for (const Point& point : probe->points) {
    const auto size = size_of(point);
    const auto times = usable_times(point, Metric::time_s);
    if (!point.setting.contains(Parameter::source_index) || !size || times.empty()) continue;
    if (size->second < mebibyte) continue;  // by its rate, not its latency
    times_of_pair[{static_cast<int>(integer_parameter(point, Parameter::source_index)),
                   static_cast<int>(integer_parameter(point, Parameter::target_index))}]
        .append(times);
  }
  std::vector<PairTime> pairs;
  for (const auto& [nodes, times] : times_of_pair)
    if (nodes.first != nodes.second)  // not two ranks of one node
      pairs.push_back({nodes.first, nodes.second, Seconds(*quantile(times, 0.25))});
  return find_slow_links(pairs);
}

std::vector<CollectiveResult> analyse_collectives(const Run& run) {
  std::vector<CollectiveResult> results;
  const ProbeRecord* probe = find_probe(run, probe_name::comm_collectives);
  if (probe == nullptr) return results;
  // By collective, mode and ranks: times by message bytes.
  std::map<std::tuple<Collective, CollectiveMode, int>, std::map<double, Series>> groups;
  for (const Point& point : probe->points) {
    const auto size = size_of(point);
    if (!size || point.setting.contains(Parameter::source_index)) continue;  // a pair of nodes
    auto& sizes = groups[{symbol_parameter<Collective>(point, Parameter::collective),
                          symbol_parameter<CollectiveMode>(point, Parameter::mode),
                          size->first}];
    sizes[size->second].append(usable_times(point, Metric::time_s));
  }
  for (const auto& [key, sizes] : groups) {
    CollectiveResult result;
    std::tie(result.collective, result.mode, result.ranks) = key;
    const double factor = bus_factor(result.collective, result.ranks);
    for (const auto& [bytes, times] : sizes) {
      if (!times.empty()) result.points.push_back(point_of(bytes, times, factor));
    }
    if (result.points.empty()) continue;
    result.fits = fit_communication(times_of(result.points));
    result.chosen = choose_fit(result.fits);
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<AlgorithmResult> analyse_algorithms(const Run& run) {
  std::vector<AlgorithmResult> results;
  const ProbeRecord* probe = find_probe(run, probe_name::comm_nccl);
  if (probe == nullptr) return results;
  std::map<Setting, Group> groups;
  for (const Point& point : probe->points) {
    const auto size = size_of(point);
    if (!size) continue;
    symbol_parameter<Collective>(point, Parameter::collective);
    symbol_parameter<CollectiveMode>(point, Parameter::mode);
    Group& group = groups[group_of(point)];
    group.shared_gpu = group.shared_gpu || flag_parameter(point, Parameter::shared_gpu);
    Cell& cell = group.ways[{text_parameter(point, Parameter::algorithm),
                             text_parameter(point, Parameter::protocol)}][size->second];
    if (const auto predicted = amount_of(point, Metric::predicted_s)) {
      if (!(*predicted > 0.0)) continue;
      cell.predictions[{point.setting.text(Parameter::predicted_algorithm),
                        point.setting.text(Parameter::predicted_protocol)}] = Seconds(*predicted);
      continue;
    }
    cell.times.append(usable_times(point, Metric::time_s));
    if (cell.first == nullptr) cell.first = &point;
  }
  for (const auto& [key, group] : groups) results.push_back(analyse_group(key, group));
  return results;
}

CommunicationFit fit_way(const std::vector<CollectivePoint>& points) {
  return fit_communication(times_of(points), form_alpha_beta)
      .value_or(CommunicationFit{form_alpha_beta, {}, std::nullopt, 0.0});
}

std::optional<std::size_t> fastest_line(std::span<const AlgorithmLine> lines, Bytes message) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!fitted(lines[i]) || message.value() > largest(lines[i])) continue;
    if (best && evaluate(lines[i].fit, message) >= evaluate(lines[*best].fit, message)) continue;
    best = i;
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
    // Between two candidates the order of the lines does not change: the middle shows it.
    const auto best = fastest_line(lines, Bytes(0.5 * (*begin + *end)));
    if (!best) continue;
    if (current == best) {
      result.back().largest = Bytes(*end);
      continue;
    }
    const AlgorithmLine& line = lines[*best];
    result.push_back({line, Bytes(*begin), Bytes(*end)});
    current = best;
  }
  return result;
}
}  // namespace scaleworth::model
