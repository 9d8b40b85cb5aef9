// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"

#include "src/core/whole_number.h"

#include <array>

namespace scaleworth {
namespace {
template <class Map>
const auto& entry(const Map& map, Metric metric, const char* kind) {
  if (const auto* found = value_at(map, metric)) return *found;
  throw UserError("run.json: a point lacks the {} '{}'; measure again", kind, info(metric).key);
}

// In the order of the enumeration.
constexpr std::array status_names{"pending", "measured", "skipped", "failed"};
}  // namespace

const Fact* find_fact(const Run& run, const std::string& section, const std::string& name) {
  const FactSection* found = find_in(run.environment, section, &FactSection::name);
  return found == nullptr ? nullptr : find_in(found->facts, name, &Fact::name);
}

const ProbeRecord* find_probe(const Run& run, const std::string& name) {
  return find_in(run.probes, name, &ProbeRecord::name);
}

bool adds_to_another(const Point& point) {
  return point.setting.contains(Parameter::waited_for) ||
         point.setting.contains(Parameter::predicted_algorithm);
}

void lacks(Parameter parameter) {
  throw UserError("run.json: a point lacks the parameter '{}'; measure again", info(parameter).key);
}

std::int64_t integer_parameter(const Point& point, Parameter parameter) {
  if (const auto value = point.setting.count(parameter)) return *value;
  lacks(parameter);
}

int count_parameter(const Point& point, Parameter parameter) {
  constexpr int most = 1'000'000;
  const std::int64_t value = integer_parameter(point, parameter);
  if (const auto count = whole_number<int>(value, 0, most)) return *count;
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
    std::map<Setting, std::size_t> known;
    std::vector<Point> joined;
    for (Point& point : probe.points) {
      if (!point.setting.contains(Parameter::run)) {
        joined.push_back(std::move(point));
        continue;
      }
      const int number = count_parameter(point, Parameter::run);
      point.setting.erase(Parameter::run);
      for (auto& [name, samples] : point.samples) samples.runs.assign(samples.size(), number);
      // A failure of the machine is no repeat of what was right.
      const double* wrong = value_at(point.amounts, Metric::wrong_elements);
      if (wrong != nullptr && *wrong > 0.0) {
        joined.push_back(std::move(point));
        continue;
      }
      const auto [place, first] = known.try_emplace(point.setting, joined.size());
      if (first) {
        joined.push_back(std::move(point));
        continue;
      }
      Point& whole = joined[place->second];
      for (const auto& [name, samples] : point.samples) whole.samples[name].append(samples);
      whole.warnings.insert(whole.warnings.end(), point.warnings.begin(), point.warnings.end());
    }
    probe.points = std::move(joined);
  }
  return run;
}

Run pool_runs(std::vector<Run> runs) {
  int last = 0;
  for (Run& run : runs) {
    int most = 0;
    for (ProbeRecord& probe : run.probes) {
      for (Point& point : probe.points) {
        for (auto& [metric, series] : point.samples) {
          if (series.runs.empty()) series.runs.assign(series.size(), 1);
          for (int& number : series.runs) most = std::max(most, number += last);
        }
      }
    }
    last = std::max(last, most);
  }
  Run pooled = std::move(runs.front());
  for (auto run = runs.begin() + 1; run != runs.end(); ++run) {
    for (ProbeRecord& probe : run->probes) {
      ProbeRecord* own = find_in(pooled.probes, probe.name, &ProbeRecord::name);
      if (own == nullptr) {
        pooled.probes.push_back(std::move(probe));
        continue;
      }
      for (Point& point : probe.points) {
        Point* same = find_in(own->points, point.setting, &Point::setting);
        if (same == nullptr) {
          own->points.push_back(std::move(point));
          continue;
        }
        for (const auto& [metric, samples] : point.samples) same->samples[metric].append(samples);
        for (const auto& [metric, amount] : point.amounts) {
          // Of wrong results the worst counts; other amounts are the same in every run.
          double& known = same->amounts[metric];
          known = std::max(known, amount);
        }
      }
    }
  }
  return pooled;
}

const char* probe_status_name(ProbeStatus status) {
  return status_names.at(static_cast<std::size_t>(status));
}

std::optional<ProbeStatus> probe_status(std::string_view name) {
  const auto* found = std::ranges::find(status_names, name);
  if (found == status_names.end()) return std::nullopt;
  return static_cast<ProbeStatus>(found - status_names.begin());
}

std::vector<std::string> missing(const Run& run) {
  std::vector<std::string> sentences;
  if (!run.interruption.empty()) {
    sentences.push_back("the run ended early: " + run.interruption);
  } else if (!run.complete) {
    sentences.push_back("the run did not finish: it was killed, or it is still going on");
  }
  for (const ProbeRecord& probe : run.probes) {
    const std::size_t count = probe.points.size();
    const std::string kept = counted(count, "point") + " kept";
    if (probe.status == ProbeStatus::failed) {
      sentences.push_back(fmt::format("{} failed, {}: {}", probe.name, kept, probe.reason));
    } else if (probe.status == ProbeStatus::pending) {
      sentences.push_back(
          probe.name + (count == 0 ? " was asked for and not reached" : " was cut short, " + kept));
    }
  }
  return sentences;
}
}  // namespace scaleworth
