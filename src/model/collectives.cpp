// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives.h"

#include "src/core/error.h"
#include "src/core/files/run_names.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {
/// factor = passes x (n - 1) / n, or 1 where the message crosses each link once.
struct Traffic {
  std::string_view collective;
  double passes;
  bool shared_among_ranks;
};
constexpr std::array traffic{Traffic{"all_reduce", 2.0, true},
                             Traffic{"all_gather", 1.0, true},
                             Traffic{"reduce_scatter", 1.0, true},
                             Traffic{"all_to_all", 1.0, true},
                             Traffic{"gather", 1.0, true},
                             Traffic{"scatter", 1.0, true},
                             Traffic{"broadcast", 1.0, false},
                             Traffic{"reduce", 1.0, false},
                             Traffic{"send_receive", 1.0, false}};
}  // namespace

double bus_factor(const std::string& collective, int ranks) {
  const auto found = std::find_if(traffic.begin(), traffic.end(), [&](const Traffic& entry) {
    return entry.collective == collective;
  });
  if (found == traffic.end()) {
    throw UserError(fmt::format(
        "unknown collective '{}': bus bandwidth is defined for all_reduce, all_gather, "
        "reduce_scatter, all_to_all, gather, scatter, broadcast, reduce and send_receive",
        collective));
  }
  if (ranks < 2) {
    throw UserError(fmt::format("bus bandwidth needs at least 2 ranks, not {}", ranks));
  }
  return found->shared_among_ranks ? found->passes * (ranks - 1) / ranks : found->passes;
}

BytesPerSecond bus_bandwidth(const std::string& collective,
                             Bytes message,
                             Seconds time,
                             int ranks) {
  if (!(time > Seconds(0.0))) {
    throw UserError("bus bandwidth needs a positive time: measure again");
  }
  return message / time * bus_factor(collective, ranks);
}

namespace {
using Key = std::tuple<std::string, std::string, int>;  // collective, mode, ranks
using Times = std::map<double, std::vector<double>>;    // by message bytes

std::map<Key, Times> times_by_setting(const ProbeRecord& probe) {
  std::map<Key, Times> settings;
  for (const Point& point : probe.points) {
    const auto ranks = static_cast<int>(integer_parameter(point, fields::ranks));
    const auto bytes = static_cast<double>(integer_parameter(point, fields::message_bytes));
    if (ranks < 2 || bytes <= 0.0) continue;
    std::vector<double>& times = settings[{
        text_parameter(point, fields::collective), text_parameter(point, fields::mode), ranks}]
                                         [bytes];
    for (const double time : series(point, fields::time_s)) {
      if (std::isfinite(time) && time > 0.0) times.push_back(time);
    }
  }
  return settings;
}

CollectiveResult analyse_setting(const Key& key, const Times& sizes) {
  CollectiveResult result;
  std::tie(result.collective, result.mode, result.ranks) = key;
  const double factor = bus_factor(result.collective, result.ranks);
  std::vector<TimedSize> points;
  for (const auto& [bytes, times] : sizes) {
    if (times.empty()) continue;
    CollectivePoint point;
    point.message = Bytes(bytes);
    point.time = transform(median_estimate(times), [](double time) { return Seconds(time); });
    point.algorithm_bandwidth = point.message / point.time.value;
    point.bus_bandwidth = point.algorithm_bandwidth * factor;
    points.push_back({point.message, point.time.value});
    result.points.push_back(point);
  }
  result.fits = fit_communication(points);
  result.chosen = choose_fit(result.fits);
  return result;
}
}  // namespace

std::vector<CollectiveResult> analyse_collectives(const Run& run) {
  std::vector<CollectiveResult> results;
  const ProbeRecord* probe = find_probe(run, fields::comm_collectives);
  if (probe == nullptr) return results;
  for (const auto& [key, sizes] : times_by_setting(*probe)) {
    CollectiveResult result = analyse_setting(key, sizes);
    if (!result.points.empty()) results.push_back(std::move(result));
  }
  return results;
}
}  // namespace scaleworth::model
