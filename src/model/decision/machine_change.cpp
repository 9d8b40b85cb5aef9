// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/analysis.h"
#include "src/model/collectives.h"
#include "src/model/comparison.h"

#include <cmath>
#include <map>

namespace scaleworth::model {
namespace {
// Standard deviations of the logarithm of a pace that are presumed: how far kernels and hosts
// follow figures from machine to machine, what a data sheet leaves out, what lies beyond the
// measured sizes or rests on one side alone, and what has no figure.
constexpr double kernel_error = 0.04;
constexpr double host_error = 0.08;
constexpr double sheet_error = 0.15;
constexpr double wide_error = 0.2;

struct Pace {
  double log_ratio = 0.0;
  double error = wide_error;
  PaceBasis basis = PaceBasis::not_on;
};

template <class Quantity>
double error_of(const Estimate<Quantity>& estimate) {
  if (!estimate.interval) return presumed_run_noise;
  const auto& [low, high] = *estimate.interval;
  return low > Quantity(0.0) ? std::log(high / low) / (2.0 * normal_reach) : wide_error;
}

using Rates = std::map<Setting, Estimate<double>>;

/// Adds the figures that `wanted` chooses, without the part of the machine that they are of: of
/// several GPUs the slowest; of processors what one of `ranks` that share them gets, a core at
/// most.
template <class Wanted>
void add_rates(
    const std::vector<Figure>& figures, Metric metric, int ranks, Wanted wanted, Rates& rates) {
  for (const Figure& figure : figures) {
    if (figure.metric != metric || !wanted(figure.setting)) continue;
    const bool all = figure.setting.flag(Parameter::all_workers);
    if (all && ranks == 0) continue;
    const double share = all ? 1.0 / ranks : 1.0;
    const auto rate = info(metric).better == Better::lower
                          ? transform_decreasing(figure.value, [](double one) { return 1.0 / one; })
                          : transform(figure.value, [&](double one) { return one * share; });
    const Setting key = figure.setting.without({Parameter::gpu,
                                                Parameter::all_workers,
                                                Parameter::library,
                                                Parameter::name,
                                                Parameter::source_index,
                                                Parameter::target_index});
    const auto [known, fresh] = rates.try_emplace(key, rate);
    if (!fresh && rate.value < known->second.value) known->second = rate;
  }
}

/// Of work that takes the inverse of these rates: the median over those that both have, with their
/// own errors and how far they differ.
Pace common_pace(const Rates& from, const Rates& on, double presumed) {
  std::vector<double> logs;
  std::vector<double> errors;
  for (const auto& [setting, rate] : from) {
    const Estimate<double>* other = value_at(on, setting);
    if (other == nullptr || !(rate.value > 0.0) || !(other->value > 0.0)) continue;
    logs.push_back(std::log(rate.value / other->value));
    errors.push_back(std::hypot(error_of(rate), error_of(*other)));
  }
  if (logs.empty()) return {.basis = on.empty() ? PaceBasis::not_on : PaceBasis::not_from};
  const double middle = *median(logs);
  double squares = 0.0;
  for (const double one : logs) squares += (one - middle) * (one - middle);
  const double spread = std::sqrt(squares / static_cast<double>(logs.size()));
  return {middle, std::hypot(spread, *median(errors), presumed), PaceBasis::measured};
}

/// What of `sheet` has a place among a run's figures.
std::vector<Figure> figures_of(const GpuDatasheet& sheet) {
  std::vector<Figure> figures;
  const auto add = [&](Metric metric, Setting setting, double value) {
    setting.set(Parameter::gpu, std::int64_t{0});
    figures.push_back({metric, std::move(setting), Basis::measured, {value, std::nullopt, 1}});
  };
  std::map<std::string, DatasheetPeak> peaks = sheet.tensor;
  peaks.insert(sheet.cuda_cores.begin(), sheet.cuda_cores.end());
  for (const auto& [name, peak] : peaks)
    if (const auto format = from_key<NumberFormat>(name))
      add(Metric::flop_rate, {{Parameter::precision, *format}}, peak.rate.value());
  const Setting memory{{Parameter::level, MemoryLevelName::memory}};
  if (sheet.memory_bandwidth)
    add(Metric::memory_bandwidth, memory, sheet.memory_bandwidth->value());
  return figures;
}

struct MachineSide {
  std::vector<Figure> figures;
  CommunicationModel communication;
};

class MachinePaces {
 public:
  MachinePaces(const MachineSource& from, const MachineSource& on) : by_sheets_(from.sheet) {
    on_ = {by_sheets_ ? std::vector<Figure>{} : model::figures_of(*on.run),
           communication_model(*on.run)};
    if (!by_sheets_) {
      from_ = {model::figures_of(*from.run), communication_model(*from.run)};
      return;
    }
    from_.figures = figures_of(*from.sheet);
    for (const GpuResult& gpu : analyse_gpus(*on.run, {}))
      if (gpu.identity.datasheet && on_.figures.empty())
        on_.figures = figures_of(*gpu.identity.datasheet);
  }

  Pace of(const WorkPace& pace, std::optional<NumberFormat> usual_format) const {
    const MachineWork& work = pace.work;
    switch (work.kind) {
      case WorkKind::product:
        return product(work.format, work.ranks);
      case WorkKind::memory:
        return streams(work.ranks);
      case WorkKind::other:
        return between(product(usual_format, work.ranks), streams(work.ranks));
      case WorkKind::copy:
        return copy(work.direction);
      case WorkKind::collective:
        return collective(pace);
      case WorkKind::host:
        return host(work.ranks);
    }
    return {};
  }

 private:
  template <class Wanted>
  Pace paced(Metric metric, int ranks, Wanted wanted) const {
    Rates from;
    Rates on;
    add_rates(from_.figures, metric, ranks, wanted, from);
    add_rates(on_.figures, metric, ranks, wanted, on);
    Pace pace = common_pace(from, on, by_sheets_ ? sheet_error : kernel_error);
    if (by_sheets_ && pace.basis == PaceBasis::measured) pace.basis = PaceBasis::datasheets;
    return pace;
  }

  /// Products of a nominal shape, else each machine's best shape, else multiply-adds in registers.
  Pace product(std::optional<NumberFormat> format, int ranks) const {
    Pace pace;
    for (const int choice : {0, 1, 2}) {
      pace = paced(Metric::flop_rate, ranks, [&](const Setting& at) {
        const auto family = at.symbol<ProductFamily>(Parameter::family);
        const int is = !family ? 2 : *family == ProductFamily::search ? 1 : 0;
        return is == choice && at.contains(Parameter::gpu) == (ranks == 0) &&
               (!format || at.symbol<NumberFormat>(Parameter::precision) == format);
      });
      if (has_figures(pace.basis)) break;
    }
    return pace;
  }

  Pace memory(int ranks, MemoryLevelName level) const {
    return paced(Metric::memory_bandwidth, ranks, [&](const Setting& at) {
      return at.contains(Parameter::gpu) == (ranks == 0) &&
             at.symbol<MemoryLevelName>(Parameter::level) == level;
    });
  }

  /// Of kernels that stream, anywhere between the memory and the last cache of a GPU, which holds
  /// what the kernel before has left: a PyTorch step gained from an H100 to an H200 two thirds of
  /// what the memory alone gives.
  Pace streams(int ranks) const {
    const Pace far = memory(ranks, MemoryLevelName::memory);
    const Pace near = ranks == 0 ? memory(ranks, MemoryLevelName::l2) : far;
    return has_figures(far.basis) && has_figures(near.basis) ? between(far, near) : far;
  }

  /// As likely anywhere between: a standard deviation of the width over sqrt(12).
  static Pace between(const Pace& a, const Pace& b) {
    if (!has_figures(a.basis)) return a;
    if (!has_figures(b.basis)) return b;
    const double width = a.log_ratio - b.log_ratio;
    return {(a.log_ratio + b.log_ratio) / 2.0,
            std::hypot(width / std::sqrt(12.0), std::max(a.error, b.error)),
            PaceBasis::between};
  }

  /// Data sheets have no figure of it.
  Pace copy(const std::string& direction) const {
    if (by_sheets_) return {.basis = PaceBasis::not_from};
    return paced(Metric::transfer_bandwidth, 0, [&](const Setting& at) {
      const bool source = at.place(Parameter::source).kind == TransferEnd::gpu;
      const bool target = at.place(Parameter::target).kind == TransferEnd::gpu;
      return source == (direction != "HtoD") && target == (direction != "DtoH") &&
             !at.flag(Parameter::both_directions);
    });
  }

  /// Of ranks on processors their share of multiply-adds; of a process beside a GPU one core's, its
  /// loads from caches, and launches.
  Pace host(int ranks) const {
    const auto own = [](const Setting& at) {
      const auto level = at.symbol<MemoryLevelName>(Parameter::level);
      const bool near = !level || *level == MemoryLevelName::l1 || *level == MemoryLevelName::l2;
      return near && !at.contains(Parameter::family) &&
             (at.contains(Parameter::launch) || !at.contains(Parameter::gpu));
    };
    Rates from;
    Rates on;
    for (const Metric metric : {Metric::flop_rate, Metric::load_latency, Metric::launch_time}) {
      if (ranks > 0 && metric != Metric::flop_rate) continue;
      add_rates(from_.figures, metric, ranks, own, from);
      add_rates(on_.figures, metric, ranks, own, on);
    }
    return common_pace(from, on, host_error);
  }

  Pace collective(const WorkPace& pace) const {
    const MachineWork& work = pace.work;
    const Collective kind = collective_of(work.collective);
    const LayoutCurve* on = on_.communication.measured(kind, work.ranks);
    const auto mode = on ? std::optional(on->mode) : std::nullopt;
    const LayoutCurve* from = from_.communication.measured(kind, work.ranks, mode);
    const bool alone = from == nullptr;
    const bool sized = work.bytes.value_or(0) > 0;
    if (!on && !sized) return {};
    Bytes largest = on ? on->largest : Bytes(0.0);
    if (from) largest = std::min(largest, from->largest);
    const Bytes size = sized ? Bytes(static_cast<double>(*work.bytes)) : largest;
    const auto there =
        on_.communication.time(kind, on_.communication.layout(kind, work.ranks), size);
    if (!there) return {};
    if (alone && !(sized && pace.recorded > 0.0)) return {.basis = PaceBasis::not_from};
    const bool wide = alone || !sized || size > 2.0 * largest;
    Pace found{0.0, std::hypot(error_of(*there), kernel_error, wide ? wide_error : 0.0)};
    if (alone) {
      found.log_ratio = std::log(there->value.value() * pace.calls / pace.recorded);
      found.basis = PaceBasis::curve;
      return found;
    }
    const auto here = predict(from->fit, size);
    // Of a call that took longer than its curve says the rest is something else, and may stay.
    const double curves = here.value.value() * pace.calls;
    const double share = curves < pace.recorded ? curves / pace.recorded : 1.0;
    const double ratio = there->value / here.value;
    found.log_ratio = std::log(share * ratio + 1.0 - share);
    found.error = std::hypot(share * std::hypot(found.error, error_of(here)),
                             (1.0 - share) * kernel_error,
                             (std::log(ratio) - found.log_ratio) / std::sqrt(12.0));
    found.basis = sized ? PaceBasis::measured : PaceBasis::largest;
    return found;
  }

  bool by_sheets_;
  MachineSide from_;
  MachineSide on_;
};
}  // namespace

std::vector<WorkPace> machine_paces(std::vector<WorkPace> work,
                                    const MachineSource& from,
                                    const MachineSource& on) {
  const MachinePaces paces(from, on);
  const WorkPace* most = nullptr;  // of the products
  for (const WorkPace& one : work)
    if (one.work.kind == WorkKind::product && (!most || one.recorded > most->recorded)) most = &one;
  const auto usual_format = most ? most->work.format : std::nullopt;
  for (WorkPace& one : work) {
    const Pace pace = paces.of(one, usual_format);
    one.ratio = std::exp(pace.log_ratio);
    one.error = pace.error;
    one.basis = pace.basis;
  }
  return work;
}
}  // namespace scaleworth::model
