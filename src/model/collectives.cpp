// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives.h"

#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/roofline.h"

#include <algorithm>
#include <array>
#include <bit>
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
  return mapped(points, [](const CollectivePoint& point) {
    return TimedSize{point.message, point.time.value};
  });
}

/// Of a group of points: what they share beside size and way. What ran differs from size to size,
/// and no library is asked to know buffers beforehand any more.
Setting group_of(const Point& point) {
  return point.setting.without({Parameter::message_bytes,
                                Parameter::algorithm,
                                Parameter::protocol,
                                Parameter::registered,
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
};
using Sizes = std::map<double, Cell>;

struct Group {
  std::map<Way, Sizes> ways;  // the empty way: the library's choice
  bool shared_gpu = false;
};

AlgorithmLine line_of(const Way& way, const Sizes& sizes, double factor) {
  AlgorithmLine line{way, {}, {}};
  for (const auto& [bytes, cell] : sizes) {
    if (cell.times.empty()) continue;
    line.points.push_back(point_of(bytes, cell.times, factor));
  }
  line.fit = fit_way(line.points);
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
  return chosen;
}

AlgorithmResult analyse_group(const Setting& key, const Group& group) {
  AlgorithmResult result;
  result.selection = key;
  result.collective = *key.symbol<Collective>(Parameter::collective);
  result.mode = *key.symbol<CollectiveMode>(Parameter::mode);
  result.ranks = static_cast<int>(*key.count(Parameter::ranks));
  result.in_place = key.flag(Parameter::in_place);
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
  for (ChosenPoint& chosen : result.chosen)
    chosen.fastest_line = system_time(result.lines, chosen.point.message);
  return result;
}

/// What nodes exchanged in pairs, by bytes. A node with itself: two ranks of it.
std::map<std::pair<int, int>, std::map<double, Series>> times_of_pairs(const Run& run) {
  std::map<std::pair<int, int>, std::map<double, Series>> pairs;
  for (const char* name : {probe_name::comm_collectives, probe_name::comm_nccl}) {
    for (const Point& point : points_of(run, name)) {
      const auto size = size_of(point);
      if (!point.setting.contains(Parameter::source_index) || !size) continue;
      const auto times = usable_times(point, Metric::time_s);
      if (times.empty()) continue;
      pairs[{static_cast<int>(integer_parameter(point, Parameter::source_index)),
             static_cast<int>(integer_parameter(point, Parameter::target_index))}][size->second]
          .append(times);
    }
  }
  return pairs;
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

std::optional<RingTime> schedule_time(Schedule schedule,
                                      const StatedFabric& fabric,
                                      Bytes message,
                                      int ranks) {
  const auto& [hop, group, inside] = fabric;
  if (ranks < 2 || group < 1) throw UserError("an all-reduce needs 2 ranks at least");
  const auto& [latency, bandwidth] = ranks <= group && inside ? *inside : hop;
  const Seconds whole = message / bandwidth;
  if (!(latency.value() > 0.0) || !(whole.value() > 0.0))
    throw UserError(
        "a collective is priced by a latency, a bandwidth and a message above 0, as --alpha-us 10 "
        "--beta-gbs 25 --message-mb 100");
  const double shared = ring_traffic(ranks);
  const int fewer = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  const double levels = std::log2(fewer);
  const double fold = fewer == ranks ? 0.0 : 2.0;
  switch (schedule) {
    case Schedule::ring:
      return RingTime{latency * (2.0 * (ranks - 1.0)), whole * shared};
    case Schedule::recursive_doubling:
      return RingTime{latency * (levels + fold), whole * (levels + fold)};
    case Schedule::halving_doubling:
      return RingTime{latency * (2.0 * levels + fold), whole * (ring_traffic(fewer) + fold)};
    case Schedule::double_tree: {
      const double depth = fold > 0.0 ? levels + 1.0 : levels;
      const double blocks = std::max(1.0, std::sqrt(depth * (whole / latency) / 2.0));
      return RingTime{latency * (4.0 * (depth + blocks)), whole * (2.0 * (depth / blocks + 1.0))};
    }
    case Schedule::hierarchical:
      break;
  }
  if (group < 2 || ranks <= group || ranks % group != 0) return std::nullopt;
  const HopCost& near = inside ? *inside : hop;
  const auto across = price_all_reduce({hop}, message / static_cast<double>(group), ranks / group);
  const RingTime& far = across.front().time;
  const double hops = 2.0 * (group - 1.0);
  return RingTime{near.latency * hops + far.latency,
                  message / near.bandwidth * (hops / group) + far.bandwidth};
}

std::vector<PricedWay> price_all_reduce(const StatedFabric& fabric, Bytes message, int ranks) {
  std::vector<PricedWay> ways;
  for (const Schedule schedule : {Schedule::ring,
                                  Schedule::double_tree,
                                  Schedule::recursive_doubling,
                                  Schedule::halving_doubling,
                                  Schedule::hierarchical})
    if (const auto time = schedule_time(schedule, fabric, message, ranks))
      ways.push_back({schedule, *time});
  std::ranges::stable_sort(ways, {}, [](const PricedWay& way) { return way.time.total(); });
  return ways;
}

AllReduceAnswer answer_all_reduce(const AllReduceQuestion& question) {
  constexpr int most_ranks = 1 << 16;  // beyond any fabric in use; only the table's length
  constexpr double finest = 1.002;     // the step from size to size
  const auto& [fabric, message, ranks, compute] = question;
  AllReduceAnswer answer{price_all_reduce(fabric, message, ranks), {}, {}, {}, {}, {}};
  const auto add = [](auto& regimes, auto from, Schedule fastest) {
    if (regimes.empty() || regimes.back().second != fastest) regimes.push_back({from, fastest});
  };
  const auto tree_first = [](const std::vector<PricedWay>& ways) {
    const auto is_either = [](Schedule way) {
      return way == Schedule::ring || way == Schedule::double_tree;
    };
    return std::ranges::find_if(ways, is_either, &PricedWay::schedule)->schedule != Schedule::ring;
  };
  double size = 1.0;
  for (; size <= 1e12; size *= finest) {
    const auto ways = price_all_reduce(fabric, Bytes(size), ranks);
    add(answer.by_size, size, ways.front().schedule);
    if (tree_first(ways)) answer.tree_below = size;
  }
  // Beyond any message the ring wins at last: it moves less.
  while (answer.tree_below && *answer.tree_below * finest >= size && size < 1e30) {
    if (tree_first(price_all_reduce(fabric, Bytes(size), ranks))) answer.tree_below = size;
    size *= 1.0002;  // finer than the steps: here one number is wanted, not a table
  }
  for (int count = 2; count <= most_ranks; count *= 2) {
    const auto ways = price_all_reduce(fabric, message, count);
    add(answer.by_count, count, ways.front().schedule);
    if (!tree_first(ways))
      answer.tree_from.reset();
    else if (!answer.tree_from)
      answer.tree_from = count;
  }
  for (int count = most_ranks; compute && count >= 2; --count) {
    const Seconds least = price_all_reduce(fabric, message, count).front().time.total();
    if (least <= *compute / count) break;
    answer.exceeds_compute = count;
  }
  return answer;
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
  // Sound pairs come within 6 % of the rate of their link (docs/accuracy.md). Lower names sound
  // ones; higher misses a link at nine tenths of its rate.
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
  const double usual = *quantile(typical, 0.25);  // sound even if half are slow
  const auto expected = [&](const PairTime& pair) { return std::max(own[pair.a], own[pair.b]); };
  Series residuals;
  for (const PairTime& pair : pairs)
    residuals.push_back(std::abs(std::log(pair.time.value() / expected(pair))));
  const double noise = sigma_per_mad * *median(residuals);
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
  std::vector<PairTime> pairs;
  for (const auto& [nodes, sizes] : times_of_pairs(run)) {
    const auto& [bytes, times] = *sizes.rbegin();
    const bool by_rate = bytes >= mebibyte;  // not its latency
    if (by_rate && nodes.first != nodes.second)
      pairs.push_back({nodes.first, nodes.second, Seconds(*quantile(times, 0.25))});
  }
  return find_slow_links(pairs);
}

std::vector<LinkLevel> link_levels(const Run& run) {
  std::map<LinkLevel::Reach, std::pair<Series, Series>> levels;  // alpha and seconds per byte
  for (const auto& [nodes, sizes] : times_of_pairs(run)) {
    if (sizes.size() < 3) continue;
    const auto large = std::prev(sizes.end());
    const auto middle = std::prev(large);
    auto& [alpha, beta] = levels[nodes.first == nodes.second ? LinkLevel::Reach::within_node
                                                             : LinkLevel::Reach::between_nodes];
    alpha.push_back(*median(sizes.begin()->second));
    beta.push_back((*median(large->second) - *median(middle->second)) /
                   (large->first - middle->first));
  }
  std::vector<LinkLevel> result;
  LinkLevel whole{LinkLevel::Reach::all_reduce, {}, {}};
  SecondsPerByte whole_beta;
  for (const auto& [reach, lines] : levels) {
    const auto beta = as<SecondsPerByte>(median_estimate(lines.second));
    if (beta.low().value() <= 0.0 || !run.placement) return {};
    const auto [ranks, nodes, on_gpus] = *run.placement;
    result.push_back({reach,
                      as<Seconds>(median_estimate(lines.first)),
                      transform_decreasing(beta, [](SecondsPerByte of) { return 1.0 / of; })});
    const int n = reach == LinkLevel::Reach::within_node ? ranks / nodes : nodes;
    whole.alpha.value += 2.0 * (n - 1.0) * result.back().alpha.value;
    whole_beta += ring_traffic(n) * beta.value;
  }
  if (result.empty()) return {};
  whole.rate.value = 1.0 / whole_beta;
  result.push_back(whole);
  return result;
}

std::vector<CollectiveResult> analyse_collectives(const Run& run) {
  std::vector<CollectiveResult> results;
  // By collective, mode, ranks and nodes: times by message bytes.
  using Key = std::tuple<Collective, CollectiveMode, int, std::optional<std::int64_t>>;
  std::map<Key, std::map<double, Series>> groups;
  for (const Point& point : points_of(run, probe_name::comm_collectives)) {
    const auto size = size_of(point);
    if (!size || point.setting.contains(Parameter::source_index)) continue;  // a pair of nodes
    auto& sizes = groups[{symbol_parameter<Collective>(point, Parameter::collective),
                          symbol_parameter<CollectiveMode>(point, Parameter::mode),
                          size->first,
                          point.setting.count(Parameter::nodes)}];
    sizes[size->second].append(usable_times(point, Metric::time_s));
  }
  for (const auto& [key, sizes] : groups) {
    CollectiveResult result;
    std::tie(result.collective, result.mode, result.ranks, result.nodes) = key;
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
  std::map<Setting, Group> groups;
  for (const Point& point : points_of(run, probe_name::comm_nccl)) {
    const auto size = size_of(point);
    // What the library expected of a way is no measurement.
    if (!size || amount_of(point, Metric::predicted_s) ||
        point.setting.contains(Parameter::source_index))  // a pair of nodes
      continue;
    symbol_parameter<Collective>(point, Parameter::collective);
    symbol_parameter<CollectiveMode>(point, Parameter::mode);
    Group& group = groups[group_of(point)];
    group.shared_gpu = group.shared_gpu || flag_parameter(point, Parameter::shared_gpu);
    Cell& cell = group.ways[{text_parameter(point, Parameter::algorithm),
                             text_parameter(point, Parameter::protocol)}][size->second];
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
