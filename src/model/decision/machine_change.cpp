// SPDX-License-Identifier: Apache-2.0
#include "src/core/attribution.h"
#include "src/core/mean_ledger.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/analysis.h"
#include "src/model/comparison.h"

#include <cmath>
#include <map>

namespace scaleworth::model {
namespace {
constexpr double reach_of_95 = 1.96;  // of 95 %
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
  return low > Quantity(0.0) ? std::log(high / low) / (2.0 * reach_of_95) : wide_error;
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

/// Time of a collective over its size, as measured.
struct Curve {
  Collective collective = Collective::all_reduce;
  CollectiveMode mode = CollectiveMode::isolated;
  int ranks = 2;
  CommunicationFit fit;
  Bytes smallest;
  Bytes largest;
};

/// Those of isolated calls, which a step makes, first.
std::vector<Curve> curves_of(const Run& run) {
  std::vector<Curve> curves;
  const auto add = [&](const auto& result, const CommunicationFit& fit, Bytes first, Bytes last) {
    curves.push_back({result.collective, result.mode, result.ranks, fit, first, last});
  };
  for (const AlgorithmResult& one : analyse_algorithms(run))
    if (one.fit && !one.shared_gpu)
      add(one, *one.fit, one.chosen.front().point.message, one.chosen.back().point.message);
  for (const CollectiveResult& one : analyse_collectives(run))
    if (one.chosen < one.fits.size())
      add(one, one.fits[one.chosen], one.points.front().message, one.points.back().message);
  std::ranges::stable_sort(curves, {}, &Curve::mode);
  return curves;
}

/// Of what is known to be communication and not which, an all-reduce.
Collective collective_of(CollectiveKind kind) {
  if (kind == CollectiveKind::send || kind == CollectiveKind::receive)
    return Collective::send_receive;
  return from_key<Collective>(key_of(kind)).value_or(Collective::all_reduce);
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
  std::vector<Curve> curves;
};

class MachinePaces {
 public:
  MachinePaces(const MachineSource& from, const MachineSource& on) : by_sheets_(from.sheet) {
    on_ = {by_sheets_ ? std::vector<Figure>{} : model::figures_of(*on.run), curves_of(*on.run)};
    if (!by_sheets_) {
      from_ = {model::figures_of(*from.run), curves_of(*from.run)};
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

  Pace copy(const std::string& direction) const {
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
    const auto is = [&](const Curve& one) {
      return one.collective == collective_of(work.collective) && one.ranks == work.ranks;
    };
    const auto on = std::ranges::find_if(on_.curves, is);
    if (on == on_.curves.end()) return {};
    const auto from = std::ranges::find_if(
        from_.curves, [&](const Curve& one) { return is(one) && one.mode == on->mode; });
    const bool alone = from == from_.curves.end();
    const bool sized = work.bytes.value_or(0) > 0;
    if (alone && !(sized && pace.recorded > 0.0)) return {.basis = PaceBasis::not_from};
    const Bytes largest = alone ? on->largest : std::min(on->largest, from->largest);
    const Bytes size = sized ? Bytes(static_cast<double>(*work.bytes)) : largest;
    const auto there = predict(on->fit, size);
    const bool wide = alone || !sized || size > 2.0 * largest;
    Pace found{0.0, std::hypot(error_of(there), kernel_error, wide ? wide_error : 0.0)};
    if (alone) {
      found.log_ratio = std::log(there.value.value() * pace.calls / pace.recorded);
      found.basis = PaceBasis::curve;
      return found;
    }
    const auto here = predict(from->fit, size);
    // Of a call that took longer than its curve says the rest is something else, and may stay.
    const double curves = here.value.value() * pace.calls;
    const double share = curves < pace.recorded ? curves / pace.recorded : 1.0;
    const double ratio = there.value / here.value;
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

/// Of the calls of one kind, size and number of ranks.
FabricRow measured_row(const MachineWork& work, const std::vector<const CollectiveWait*>& calls) {
  FabricRow row{work, std::ssize(calls)};
  std::vector<double> transfers;
  double parts = 0.0;
  for (const CollectiveWait* call : calls) {
    const auto& ranks = call->participants;
    for (const auto& part : ranks) row.wait += part.below_error ? 0.0 : in_seconds(part.wait);
    parts += static_cast<double>(ranks.size());
    if (!std::ranges::all_of(ranks, &CollectiveWait::Participant::known)) continue;
    const auto last = std::ranges::max(ranks, {}, &CollectiveWait::Participant::start);
    const auto end = std::ranges::max(ranks, {}, &CollectiveWait::Participant::end);
    transfers.push_back(in_seconds(end.end - last.start));
  }
  row.wait /= std::max(1.0, parts);
  row.transfer = median(transfers);
  return row;
}

void judge(FabricRow& row, const std::vector<Curve>& curves) {
  constexpr std::int64_t least_bytes = 8192;
  constexpr double tolerated = 0.1;
  constexpr double explains = 0.8;
  const auto curve = std::ranges::find_if(curves, [&](const Curve& one) {
    return one.collective == collective_of(row.work.collective) && one.ranks == row.work.ranks;
  });
  if (curve == curves.end() || row.work.bytes.value_or(0) < least_bytes || !row.transfer) return;
  const auto time = predict(curve->fit, Bytes(static_cast<double>(*row.work.bytes)));
  row.expected = time.value.value();
  const bool slow =
      *row.transfer > std::max((1.0 + tolerated) * *row.expected, time.high().value());
  const double excess = slow ? row.excess() : 0.0;
  const double lost = row.wait + excess;
  row.verdict = lost < tolerated * (row.wait + *row.transfer) ? FabricVerdict::as_measured
                : excess >= explains * lost                   ? FabricVerdict::transfer_bound
                : row.wait >= explains * lost                 ? FabricVerdict::skew_bound
                                                              : FabricVerdict::mixed;
}
}  // namespace

std::vector<FabricRow> against_fabric(const Attribution& job, const Run& fabric) {
  std::map<std::int32_t, bool> counts;
  if (const auto means = job_means(job.ledger))
    for (const StepLedger& one : job.ledger) counts[one.step] = means->counts(one);
  std::map<MachineWork, std::vector<const CollectiveWait*>> kinds;
  for (const CollectiveWait& one : job.collectives) {
    MachineWork work{.kind = WorkKind::collective, .collective = one.kind, .bytes = one.bytes};
    work.ranks = static_cast<int>(one.participants.size());
    const bool* counted = value_at(counts, one.step);
    if (counted != nullptr && *counted) kinds[work].push_back(&one);
  }
  const std::vector<Curve> curves = curves_of(fabric);
  std::vector<FabricRow> rows;
  for (const auto& [work, calls] : kinds)
    judge(rows.emplace_back(measured_row(work, calls)), curves);
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const FabricRow& one) {
    return static_cast<double>(one.calls) * (one.wait + one.excess());
  });
  return rows;
}

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
