// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/analysis.h"
#include "src/model/collectives.h"
#include "src/model/comparison.h"
#include "src/model/decision/decision.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"

#include <map>
#include <set>

namespace scaleworth::model {
namespace {
/// What one size, one sweep or one ceiling gives, at its setting.
class Figures {
 public:
  template <class Quantity>
  void add(Metric metric, Setting setting, const Estimate<Quantity>& value) {
    const auto plain = transform(value, [](Quantity one) { return one.value(); });
    add({metric, std::move(setting), Basis::measured, plain});
  }

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

  /// Of the line that holds from the smallest size on, where start-up is at least half of that
  /// size's time: of larger sizes alone it is extrapolated, and their noise decides it.
  void add_start(const Setting& sweep, const CommunicationFit& fit) {
    if (!fit.start) return;
    const auto alpha = transform(fit.start->alpha, [](Seconds one) { return one.value(); });
    const Seconds of_bytes = fit.start->beta.value * fit.start->smallest;
    if (alpha.value > 0.0 && alpha.value >= of_bytes.value())
      add({Metric::alpha, sweep, Basis::fitted, alpha});
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

void add_collectives(const Run& run, Figures& figures) {
  for (const CollectiveResult& result : analyse_collectives(run)) {
    Setting sweep{{Parameter::collective, result.collective},
                  {Parameter::mode, result.mode},
                  {Parameter::ranks, result.ranks}};
    if (result.nodes) sweep.set(Parameter::nodes, *result.nodes);
    add_nodes(run, result.ranks, sweep);
    figures.add_points(sweep, result.points);
    if (result.chosen < result.fits.size()) figures.add_start(sweep, result.fits[result.chosen]);
  }
  for (const AlgorithmResult& result : analyse_algorithms(run)) {
    if (result.shared_gpu) continue;
    Setting sweep = result.selection;
    add_nodes(run, result.ranks, sweep);
    figures.add_points(sweep, mapped(result.chosen, &ChosenPoint::point));
    if (result.fit) figures.add_start(sweep, *result.fit);
    for (const AlgorithmLine& line : result.lines) {
      sweep.set(Parameter::algorithm, line.algorithm);
      sweep.set(Parameter::protocol, line.protocol);
      figures.add_points(sweep, line.points);
      figures.add_start(sweep, line.fit);
    }
  }
}

/// Workers of the host as what they are on any: one of its cores, or all. A machine of one core has
/// both. A GPU has no such shares.
class WorkerShares {
 public:
  template <class Result>
  WorkerShares(const std::vector<Result>& results, const Setting& of)
      : host_(!of.contains(Parameter::gpu)) {
    for (const Result& one : results) all_ = std::max(all_, one.workers);
  }
  /// `add` with the setting of each share that so many workers are.
  template <class Add>
  void each(int workers, Setting setting, const Add& add) const {
    if (!host_) return add(setting);
    for (const bool all : {false, true}) {
      if (workers != (all ? all_ : 1)) continue;
      setting.set(Parameter::all_workers, all);
      add(setting);
    }
  }

 private:
  bool host_;
  int all_ = 1;
};

/// The fastest instruction set for each format.
void add_ceilings(const std::vector<ComputeCeiling>& ceilings,
                  const Setting& of,
                  Figures& figures) {
  const WorkerShares shares(ceilings, of);
  for (const ComputeCeiling& ceiling : ceilings) {
    if (fastest_ceiling(ceilings, ceiling.precision, ceiling.workers) != &ceiling) continue;
    Setting setting = of;
    setting.set(Parameter::precision, ceiling.precision);
    shares.each(ceiling.workers, setting, [&](const Setting& at) {
      figures.add(Metric::flop_rate, at, ceiling.ceiling());
    });
  }
}

/// Plateaus without a name of their own belong to no level that another machine has too.
void add_levels(const RooflineResult& result, const Setting& of, Figures& figures) {
  const WorkerShares shares(result.memory_levels, of);
  for (const MemoryLevel& level : result.memory_levels) {
    if (!level.name.known) continue;
    Setting setting = of;
    setting.set({{Parameter::level, *level.name.known},
                 {Parameter::kernel, level.stream.kernel},
                 {Parameter::nontemporal, level.stream.nontemporal}});
    if (of.contains(Parameter::gpu)) setting.set(Parameter::scope, StreamScope::device);
    shares.each(level.workers, setting, [&](const Setting& at) {
      figures.add(Metric::memory_bandwidth, at, level.value);
    });
  }
  for (const LatencyLevel& level : result.latency_levels) {
    if (!level.name.known) continue;
    Setting setting = of;
    setting.set(Parameter::level, *level.name.known);
    figures.add(Metric::load_latency, setting, level.value);
  }
}

void add_products(const std::vector<PlacedGemm>& products, Figures& figures) {
  const WorkerShares shares(products, {});
  for (const PlacedGemm& product : products) {
    Setting setting{{Parameter::precision, product.format.precision},
                    {Parameter::m, product.shape.m},
                    {Parameter::n, product.shape.n},
                    {Parameter::k, product.shape.k},
                    {Parameter::batch, product.shape.batch},
                    {Parameter::library, product.library}};
    if (product.family) setting.set(Parameter::family, *product.family);
    if (!product.name.empty()) setting.set(Parameter::name, product.name);
    shares.each(product.workers, setting, [&](const Setting& at) {
      figures.add(Metric::flop_rate, at, product.rate);
    });
  }
}

/// The sustained rate of the reference shape, and of the best shape, which each machine finds for
/// itself.
void add_formats(const std::vector<GpuFormat>& formats, const Setting& of, Figures& figures) {
  for (const GpuFormat& format : formats) {
    Setting setting = of;
    setting.set({{Parameter::precision, format.format.precision},
                 {Parameter::fast_accumulation, format.format.fast_accumulation}});
    if (format.steady) {
      const GemmShape& shape = format.steady->shape;
      Setting cube = setting;
      cube.set({{Parameter::family, ProductFamily::cube},
                {Parameter::m, shape.m},
                {Parameter::n, shape.n},
                {Parameter::k, shape.k}});
      figures.add(Metric::flop_rate, cube, format.steady->rate);
    }
    if (!format.best_shape) continue;
    setting.set(Parameter::family, ProductFamily::search);
    figures.add(Metric::flop_rate, setting, format.best_shape->rate);
  }
}

void add_transfers(const GpuResult& gpu, const Setting& of, Figures& figures) {
  for (const GpuTransfer& transfer : gpu.transfers) {
    Setting setting = of;
    setting.set_place(Parameter::source, transfer.source);
    setting.set_place(Parameter::target, transfer.target);
    setting.set({{Parameter::engine, transfer.engine},
                 {Parameter::both_directions, transfer.both_directions},
                 {Parameter::pass, transfer.together ? Pass::together : Pass::alone}});
    figures.add(Metric::transfer_bandwidth, setting, transfer.plateau);
    if (transfer.alpha) figures.add(Metric::transfer_latency, setting, *transfer.alpha);
  }
  for (const auto& launch : gpu.launches) {
    Setting setting = of;
    setting.set(Parameter::launch, launch.at);
    figures.add(Metric::launch_time, setting, launch.value);
  }
}

void add_training_steps(const Run& run, Figures& figures) {
  for (const Point& point : points_of(run, probe_name::step_training)) {
    const Series& steps = series(point, Metric::step_s);
    if (steps.empty()) continue;
    const auto time = transform(series_estimate(steps), [](double s) { return Seconds(s); });
    figures.add(Metric::step_s, point.setting.without({Parameter::run}), time);
  }
}

std::vector<Figure> figures_once(const Run& run) {
  Figures figures;
  add_training_steps(run, figures);
  if (const auto host = analyse_roofline(run, cache_capacities(run))) {
    add_ceilings(host->ceilings, {}, figures);
    add_levels(*host, {}, figures);
    add_products(host->gemms, figures);
  }
  for (const GpuResult& gpu : analyse_gpus(run, {})) {
    const Setting of{{Parameter::gpu, std::int64_t{gpu.identity.ordinal}}};
    add_ceilings(gpu.roofline.ceilings, of, figures);
    add_levels(gpu.roofline, of, figures);
    add_formats(gpu.formats, of, figures);
    add_transfers(gpu, of, figures);
  }
  add_collectives(run, figures);
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
        for (const int number : series.runs) numbers.insert(std::max(number, 0));
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

std::vector<Figure> figures_of(const Run& run) {
  std::vector<Figure> figures = figures_once(run);
  const std::set<int> numbers = runs_in(run);
  if (numbers.size() < 2) return figures;
  std::map<std::pair<Metric, Setting>, Figure*> places;
  for (Figure& figure : figures) places.try_emplace({figure.metric, figure.setting}, &figure);
  for (const int number : numbers) {
    for (const Figure& one : figures_once(only_run(run, number))) {
      const auto place = places.find({one.metric, one.setting});
      if (place != places.end()) place->second->repeats.push_back(one.value.value);
    }
  }
  return figures;
}
}  // namespace scaleworth::model
