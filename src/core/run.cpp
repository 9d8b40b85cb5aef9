// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"

#include "src/core/statistics/sample_statistics.h"
#include "src/core/whole_number.h"

#include <array>
#include <iterator>
#include <set>

namespace scaleworth {
namespace {
template <class Map>
const auto& entry(const Map& map, Metric metric, const char* kind) {
  if (const auto* found = value_at(map, metric)) return *found;
  throw UserError("run.json: a point lacks the {} '{}'; measure again", kind, info(metric).key);
}

/// Points of one setting as one, those for which `may_join` holds; others stay as they are. A
/// failure of the machine is no repeat of what was right.
template <class MayJoin>
std::vector<Point> joined_points(std::vector<Point> points, const MayJoin& may_join) {
  std::map<Setting, std::size_t> known;
  std::vector<Point> joined;
  for (Point& point : points) {
    const bool joins = !has_wrong_results(point) && may_join(point);
    const auto place = joins ? known.try_emplace(point.setting, joined.size()).first : known.end();
    if (!joins || place->second == joined.size()) {
      joined.push_back(std::move(point));
      continue;
    }
    Point& whole = joined[place->second];
    for (const auto& [metric, samples] : point.samples) whole.samples[metric].append(samples);
    whole.warnings.insert(whole.warnings.end(), point.warnings.begin(), point.warnings.end());
  }
  return joined;
}
}  // namespace

const Fact* find_fact(const Run& run, const std::string& section, const std::string& name) {
  const FactSection* found = find_in(run.environment, section, &FactSection::name);
  return found == nullptr ? nullptr : find_in(found->facts, name, &Fact::name);
}

const ProbeRecord* find_probe(const Run& run, std::string_view name) {
  return find_in(run.probes, name, &ProbeRecord::name);
}

std::span<const Point> points_of(const Run& run, std::string_view name) {
  const ProbeRecord* probe = find_probe(run, name);
  return probe ? std::span<const Point>(probe->points) : std::span<const Point>();
}

bool adds_to_another(const Point& point) {
  return point.setting.contains(Parameter::waited_for) ||
         point.setting.contains(Parameter::predicted_algorithm);
}

bool has_wrong_results(const Point& point) {
  const double* wrong = value_at(point.amounts, Metric::wrong_elements);
  return wrong != nullptr && *wrong > 0.0;
}

void lacks(Parameter parameter) {
  throw UserError("run.json: a point lacks the parameter '{}'; measure again", info(parameter).key);
}

std::int64_t integer_parameter(const Point& point, Parameter parameter) {
  if (const auto value = point.setting.count(parameter)) return *value;
  lacks(parameter);
}

int count_parameter(const Point& point, Parameter parameter) {
  const std::int64_t value = integer_parameter(point, parameter);
  if (const auto count = whole_number<int>(value, 0, most_ranks)) return *count;
  throw UserError("run.json: '{}' is {}; measure again", info(parameter).key, value);
}

std::string text_parameter(const Point& point, Parameter parameter) {
  if (!point.setting.contains(parameter)) lacks(parameter);
  return point.setting.text(parameter);
}

bool flag_parameter(const Point& point, Parameter parameter) {
  if (!point.setting.contains(parameter)) lacks(parameter);
  return point.setting.flag(parameter);
}

double amount(const Point& point, Metric metric) {
  return entry(point.amounts, metric, "amount");
}

const Series& series(const Point& point, Metric metric) {
  return entry(point.samples, metric, "series");
}

Run join_runs(Run run) {
  for (ProbeRecord& probe : run.probes) {
    std::set<Setting> of_runs;
    std::set<Setting> seen_twice;  // in one run
    for (Point& point : probe.points) {
      if (!point.setting.contains(Parameter::run)) continue;
      const int number = count_parameter(point, Parameter::run);
      point.setting.erase(Parameter::run);
      for (auto& [metric, samples] : point.samples)
        samples.runs.assign(samples.size(), number == 0 ? second_look : number);
      of_runs.insert(point.setting);
      if (number == 0) seen_twice.insert(point.setting);
    }
    for (Point& point : probe.points)
      for (auto& [metric, samples] : point.samples)
        if (samples.runs.empty() && seen_twice.contains(point.setting))
          samples.runs.assign(samples.size(), 0);
    probe.points = joined_points(std::move(probe.points), [&](const Point& point) {
      const bool known = std::ranges::all_of(
          point.samples, [](const auto& entry) { return !entry.second.runs.empty(); });
      return known && of_runs.contains(point.setting);
    });
  }
  return run;
}

Run pool_runs(std::vector<Run> runs) {
  int last = 0;
  for (Run& run : runs) {
    int most = last;
    for (ProbeRecord& probe : run.probes) {
      for (Point& point : probe.points) {
        for (auto& [metric, samples] : point.samples) {
          if (samples.runs.empty()) samples.runs.assign(samples.size(), 1);
          for (int& number : samples.runs)
            most = std::max(most, number = std::max(number, 1) + last);
        }
      }
    }
    last = most;
  }
  Run pooled = std::move(runs.front());
  for (auto run = runs.begin() + 1; run != runs.end(); ++run) {
    std::ranges::move(run->warnings, std::back_inserter(pooled.warnings));
    for (ProbeRecord& probe : run->probes) {
      ProbeRecord* own = find_in(pooled.probes, probe.name, &ProbeRecord::name);
      if (own == nullptr) {
        pooled.probes.push_back(std::move(probe));
        continue;
      }
      std::ranges::move(probe.points, std::back_inserter(own->points));
      std::ranges::move(probe.warnings, std::back_inserter(own->warnings));
      for (const auto& [what, amount] : probe.losses) own->losses[what] += amount;
    }
  }
  for (ProbeRecord& probe : pooled.probes) {
    probe.points = joined_points(std::move(probe.points), [](const Point&) { return true; });
  }
  return pooled;
}
}  // namespace scaleworth
