// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives/collectives.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/interval.h"
#include "src/model/collectives/bus_bandwidth.h"
#include "src/model/collectives/communication_fit.h"

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace scaleworth::model {
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
