// SPDX-License-Identifier: Apache-2.0
#include "src/core/probe_names.h"
#include "src/model/collectives.h"
#include "src/model/comparison.h"

#include <map>
#include <set>

namespace scaleworth::model {
namespace {
/// What one size or one sweep gives, at its setting.
class Figures {
 public:
  void add_points(const Setting& sweep, const std::vector<CollectivePoint>& points) {
    for (const CollectivePoint& point : points) {
      Setting at = sweep;
      at.set(Parameter::message_bytes, static_cast<std::int64_t>(point.message.value()));
      const auto time = transform(point.time, [](Seconds one) { return one.value(); });
      const double bytes = point.bus_bandwidth.value() * point.time.value.value();
      const auto rate = transform_decreasing(time, [&](double seconds) { return bytes / seconds; });
      add({Metric::bus_bandwidth, at, Basis::measured, rate});
    }
  }

  /// Of the line that holds from the smallest size on.
  void add_start(const Setting& sweep, const CommunicationFit& fit) {
    if (fit.segments.empty() || !fit.segments.front().holds) return;
    const auto alpha =
        transform(fit.segments.front().alpha, [](Seconds one) { return one.value(); });
    if (alpha.value > 0.0) add({Metric::alpha, sweep, Basis::fitted, alpha});
  }

  std::vector<Figure> take() { return std::move(figures_); }

 private:
  void add(Figure figure) { figures_.push_back(std::move(figure)); }

  std::vector<Figure> figures_;
};

/// Of a sweep over all ranks of the run: the nodes that they stood on.
void add_nodes(const Run& run, int ranks, Setting& sweep) {
  const bool known = sweep.contains(Parameter::nodes);
  if (!known && run.placement && run.placement->ranks == ranks)
    sweep.set(Parameter::nodes, run.placement->nodes);
}

std::vector<Figure> figures_of(const Run& run) {
  Figures figures;
  for (const CollectiveResult& result : analyse_collectives(run)) {
    Setting sweep{{Parameter::collective, result.collective},
                  {Parameter::mode, result.mode},
                  {Parameter::ranks, result.ranks}};
    add_nodes(run, result.ranks, sweep);
    figures.add_points(sweep, result.points);
    if (result.chosen < result.fits.size()) figures.add_start(sweep, result.fits[result.chosen]);
  }
  for (const AlgorithmResult& result : analyse_algorithms(run)) {
    if (result.shared_gpu) continue;
    Setting sweep = result.selection;
    add_nodes(run, result.ranks, sweep);
    const auto add = [&](const std::vector<CollectivePoint>& points) {
      figures.add_points(sweep, points);
      figures.add_start(sweep, fit_way(points));
    };
    add(mapped(result.chosen, &ChosenPoint::point));
    for (const AlgorithmLine& line : result.lines) {
      sweep.set(Parameter::algorithm, line.algorithm);
      sweep.set(Parameter::protocol, line.protocol);
      add(line.points);
    }
  }
  return figures.take();
}

/// Points with the samples of one run only. Samples of which no run is known belong to none: each
/// run alone would have the same ones, and they would seem to repeat without any spread.
Run only_run(Run run, int number) {
  for (ProbeRecord& probe : run.probes) {
    for (Point& point : probe.points) {
      for (auto& [metric, series] : point.samples) {
        Series own;
        own.sampling = series.sampling;
        for (std::size_t i = 0; i < series.runs.size(); ++i)
          if (series.run(i) == number) own.push_back(series[i]);
        series = std::move(own);
      }
    }
  }
  return run;
}

std::set<int> runs_in(const Run& run) {
  std::set<int> numbers;
  for (const ProbeRecord& probe : run.probes) {
    for (const Point& point : probe.points)
      for (const auto& [metric, series] : point.samples)
        numbers.insert(series.runs.begin(), series.runs.end());
  }
  return numbers;
}
}  // namespace

WrongResults wrong_results(const Run& run) {
  WrongResults wrong;
  for (const ProbeRecord& probe : run.probes) {
    for (const Point& point : probe.points) {
      if (!point.setting.contains(Parameter::message_bytes) || adds_to_another(point)) continue;
      wrong.settings += has_wrong_results(point) ? 1 : 0;
      ++wrong.of;
    }
  }
  return wrong;
}

std::vector<Figure> collective_figures(const Run& run) {
  Run collectives = run;
  std::erase_if(collectives.probes, [](const ProbeRecord& probe) {
    return probe.name != probe_name::comm_collectives && probe.name != probe_name::comm_nccl;
  });
  std::vector<Figure> figures = figures_of(collectives);
  const std::set<int> numbers = runs_in(collectives);
  if (numbers.size() < 2) return figures;
  std::map<std::pair<Metric, Setting>, Figure*> places;
  for (Figure& figure : figures) places.try_emplace({figure.metric, figure.setting}, &figure);
  for (const int number : numbers) {
    for (const Figure& one : figures_of(only_run(collectives, number))) {
      const auto place = places.find({one.metric, one.setting});
      if (place != places.end()) place->second->repeats.push_back(one.value.value);
    }
  }
  return figures;
}
}  // namespace scaleworth::model
