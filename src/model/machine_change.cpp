// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/collectives.h"
#include "src/model/comparison.h"
#include "src/model/gpu.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {
constexpr double normal_reach = 1.96;  // of 95 %
/// How far a kernel's time follows a ceiling from machine to machine: standard deviation of the
/// logarithm, presumed.
constexpr double presumed_kernel_error = 0.04;
constexpr double presumed_host_error = 0.08;
constexpr double presumed_sheet_error = 0.15;
constexpr double presumed_wide_error = 0.2;  // beyond the measured sizes, or for one side alone
constexpr double no_figure_error = 0.35;     // a factor of two either way
/// Of the step: below, work without a figure is presumed to take between half and twice its time.
constexpr double least_share = 0.01;

struct Pace {
  double log_ratio = 0.0;
  double error = 0.0;
};

template <class Quantity>
double error_of(const Estimate<Quantity>& estimate) {
  if (!estimate.interval) return presumed_run_noise;
  const auto& [low, high] = *estimate.interval;
  return low > Quantity(0.0) ? std::log(high / low) / (2.0 * normal_reach) : no_figure_error;
}

using Rates = std::map<Setting, Estimate<double>>;

/// The figures that `wanted` chooses, without the part of the machine that they are of: of several
/// GPUs the slowest; of processors what one of `ranks` that share them gets, a core at most.
template <class Wanted>
Rates rates_of(const std::vector<Figure>& figures, Metric metric, int ranks, Wanted wanted) {
  Rates rates;
  for (const Figure& figure : figures) {
    if (figure.metric != metric || !wanted(figure.setting)) continue;
    const bool all = figure.setting.flag(Parameter::all_workers);
    if (all && ranks == 0 && !figure.setting.contains(Parameter::gpu)) continue;
    const double share = all ? 1.0 / std::max(1, ranks) : 1.0;
    const auto rate = info(metric).better == Better::lower
                          ? transform_decreasing(figure.value, [](double one) { return 1.0 / one; })
                          : transform(figure.value, [&](double one) { return one * share; });
    const Setting key = figure.setting.without({Parameter::gpu,
                                                Parameter::all_workers,
                                                Parameter::library,
                                                Parameter::name,
                                                Parameter::nodes,
                                                Parameter::source_index,
                                                Parameter::target_index});
    const auto [known, fresh] = rates.try_emplace(key, rate);
    if (!fresh && rate.value < known->second.value) known->second = rate;
  }
  return rates;
}

/// Of work that takes the inverse of these rates: the median over those that both have, with their
/// own errors and how far they differ. Absent where they have none in common.
std::optional<Pace> pace_of(const Rates& from, const Rates& on, double presumed) {
  std::vector<double> logs;
  std::vector<double> errors;
  for (const auto& [setting, rate] : from) {
    const Estimate<double>* other = value_at(on, setting);
    if (other == nullptr || !(rate.value > 0.0) || !(other->value > 0.0)) continue;
    logs.push_back(std::log(rate.value / other->value));
    errors.push_back(std::hypot(error_of(rate), error_of(*other)));
  }
  if (logs.empty()) return std::nullopt;
  const double middle = *median(logs);
  double squares = 0.0;
  for (const double one : logs) squares += (one - middle) * (one - middle);
  const double spread = std::sqrt(squares / static_cast<double>(logs.size()));
  return Pace{middle, std::hypot(spread, *median(errors), presumed)};
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
  // Isolated calls are what a step makes.
  std::ranges::stable_sort(curves, {}, &Curve::mode);
  return curves;
}

/// What of `sheet` has a place among a run's figures, of GPU 0.
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
  if (sheet.memory_bandwidth)
    add(Metric::memory_bandwidth,
        {{Parameter::level, MemoryLevelName::memory}},
        sheet.memory_bandwidth->value());
  constexpr int lanes = 16;
  const auto link = sheet.pcie_generation ? pcie_rate(*sheet.pcie_generation, lanes) : std::nullopt;
  for (const bool to_gpu : {true, false}) {
    Setting copy{{Parameter::engine, TransferEngine::copy_engine}};
    copy.set_place(to_gpu ? Parameter::target : Parameter::source, {TransferEnd::gpu, 0});
    copy.set_place(to_gpu ? Parameter::source : Parameter::target, {TransferEnd::host_pinned, {}});
    if (link) add(Metric::transfer_bandwidth, copy, link->value());
  }
  return figures;
}

struct MachineSide {
  std::vector<Figure> figures;
  std::vector<Curve> curves;
};

class MachinePaces {
 public:
  MachinePaces(const MachineSource& from,
               const MachineSource& on,
               const std::vector<WorkPace>& work)
      : from_name_(from.name), on_name_(on.name), by_sheets_(from.sheet != nullptr) {
    on_.curves = curves_of(*on.run);
    if (!by_sheets_) {
      from_ = {model::figures_of(*from.run), curves_of(*from.run)};
      on_.figures = model::figures_of(*on.run);
    } else {
      from_.figures = figures_of(*from.sheet);
      for (const GpuResult& gpu : analyse_gpus(*on.run, {}))
        if (gpu.identity.datasheet && on_.figures.empty())
          on_.figures = figures_of(*gpu.identity.datasheet);
    }
    const WorkPace* most = nullptr;  // of the products
    for (const WorkPace& one : work)
      if (one.work.kind == WorkKind::product && (!most || one.recorded > most->recorded))
        most = &one;
    if (most != nullptr) usual_format_ = most->work.format;
  }

  /// Fills ratio, error and basis; false where there is no figure.
  bool fill(WorkPace& pace) const {
    const MachineWork& work = pace.work;
    if (work.kind == WorkKind::collective) return fill_collective(pace);
    if (work.kind == WorkKind::other) return fill_between(pace);
    std::optional<Pace> found;
    if (work.kind == WorkKind::product) found = product(work.format, work.ranks);
    if (work.kind == WorkKind::memory) found = memory(work.ranks);
    if (work.kind == WorkKind::copy) found = copy(work.direction);
    if (work.kind == WorkKind::host) found = host(work.ranks);
    return set(pace, found, by_sheets_ ? PaceBasis::datasheets : PaceBasis::measured);
  }

  [[noreturn]] void refuse(const WorkPace& pace, double share) const {
    const MachineWork& work = pace.work;
    std::string what = word_of(work.kind);
    std::string probe = "scaleworth roofline";
    if (work.kind == WorkKind::product && work.format)
      what = fmt::format("{} products{}", word_of(*work.format), work.ranks > 0 ? "" : " on a GPU");
    if (work.kind == WorkKind::memory) what = "memory bandwidth";
    if (work.kind == WorkKind::other) what = "products and memory bandwidth";
    if (work.kind == WorkKind::copy) what = work.direction + " copies";
    if (work.kind == WorkKind::collective) {
      const char* key = key_of(collective_of(work.collective));
      const std::string size =
          work.bytes ? fmt::format(" at {:.4g} MB", static_cast<double>(*work.bytes) / 1e6) : "";
      what = fmt::format("{} over {} ranks{}", key, work.ranks, size);
      probe = fmt::format("scaleworth comm --ranks {}", work.ranks);
    }
    const bool on_lacks = work.kind == WorkKind::collective || !has(on_, work);
    throw UserError(
        "{} has no figure of {}, {:.0f} % of the recorded step: run `{}` on that machine{}",
        on_lacks ? on_name_ : from_name_,
        what,
        100.0 * share,
        probe,
        on_lacks || by_sheets_ ? "" : ", which is that of the recording");
  }

 private:
  static Collective collective_of(CollectiveKind kind) {
    if (kind == CollectiveKind::send || kind == CollectiveKind::receive)
      return Collective::send_receive;
    return from_key<Collective>(key_of(kind)).value_or(Collective::all_reduce);
  }

  static bool set(WorkPace& pace, const std::optional<Pace>& found, PaceBasis basis) {
    if (!found) return false;
    pace.ratio = std::exp(found->log_ratio);
    pace.error = found->error;
    pace.basis = basis;
    return true;
  }

  template <class Wanted>
  std::optional<Pace> rates(Metric metric, int ranks, double presumed, Wanted wanted) const {
    return pace_of(rates_of(from_.figures, metric, ranks, wanted),
                   rates_of(on_.figures, metric, ranks, wanted),
                   std::max(presumed, by_sheets_ ? presumed_sheet_error : 0.0));
  }

  /// Products of a nominal shape, else each machine's best shape, else multiply-adds in registers.
  std::optional<Pace> product(std::optional<NumberFormat> format, int ranks) const {
    for (const int choice : {0, 1, 2}) {
      const auto wanted = [&](const Setting& at) {
        const auto family = at.symbol<ProductFamily>(Parameter::family);
        const int is = !family ? 2 : *family == ProductFamily::search ? 1 : 0;
        return is == choice && at.contains(Parameter::gpu) == (ranks == 0) &&
               (!format || at.symbol<NumberFormat>(Parameter::precision) == format);
      };
      if (auto found = rates(Metric::flop_rate, ranks, presumed_kernel_error, wanted)) return found;
    }
    return std::nullopt;
  }

  std::optional<Pace> memory(int ranks) const {
    return rates(Metric::memory_bandwidth, ranks, presumed_kernel_error, [&](const Setting& at) {
      return at.contains(Parameter::gpu) == (ranks == 0) &&
             at.symbol<MemoryLevelName>(Parameter::level) == MemoryLevelName::memory;
    });
  }

  std::optional<Pace> copy(const std::string& direction) const {
    return rates(Metric::transfer_bandwidth, 0, presumed_kernel_error, [&](const Setting& at) {
      const bool source = at.place(Parameter::source).kind == TransferEnd::gpu;
      const bool target = at.place(Parameter::target).kind == TransferEnd::gpu;
      return source == (direction != "HtoD") && target == (direction != "DtoH") &&
             !at.flag(Parameter::both_directions);
    });
  }

  /// Of a process beside a GPU one core: multiply-adds, loads from caches, launches. Of ranks on
  /// processors their share.
  std::optional<Pace> host(int ranks) const {
    const auto of_host = [](const Setting& at) { return !at.contains(Parameter::gpu); };
    const auto near = [&](const Setting& at) {
      const auto level = at.symbol<MemoryLevelName>(Parameter::level);
      return of_host(at) && (level == MemoryLevelName::l1 || level == MemoryLevelName::l2);
    };
    const auto compute = [&](const Setting& at) {
      return of_host(at) && !at.contains(Parameter::family);
    };
    const auto all = [](const Setting&) { return true; };
    if (ranks > 0) return rates(Metric::flop_rate, ranks, presumed_host_error, compute);
    double sum = 0.0;
    double squares = 0.0;
    double count = 0.0;
    for (const auto& one : {rates(Metric::flop_rate, 0, 0.0, compute),
                            rates(Metric::load_latency, 0, 0.0, near),
                            rates(Metric::launch_time, 0, 0.0, all)}) {
      if (!one) continue;
      sum += one->log_ratio;
      squares += one->log_ratio * one->log_ratio + one->error * one->error;
      ++count;
    }
    if (count == 0.0) return std::nullopt;
    const double mean = sum / count;
    const double spread = std::sqrt(std::max(0.0, squares / count - mean * mean));
    return Pace{mean, std::hypot(spread, presumed_host_error)};
  }

  bool fill_between(WorkPace& pace) const {
    const auto by_product = product(usual_format_, pace.work.ranks);
    const auto by_memory = memory(pace.work.ranks);
    if (!by_product || !by_memory) return false;
    // As likely anywhere between: a standard deviation of the width over sqrt(12).
    const double width = by_product->log_ratio - by_memory->log_ratio;
    return set(
        pace,
        Pace{(by_product->log_ratio + by_memory->log_ratio) / 2.0,
             std::hypot(width / std::sqrt(12.0), std::max(by_product->error, by_memory->error))},
        PaceBasis::between);
  }

  bool fill_collective(WorkPace& pace) const {
    const Collective wanted = collective_of(pace.work.collective);
    const auto is = [&](const Curve& one, int ranks) {
      return one.collective == wanted && one.ranks == ranks;
    };
    for (const Curve& on : on_.curves) {
      if (!is(on, pace.work.ranks)) continue;
      const auto from = std::ranges::find_if(
          from_.curves, [&](const Curve& one) { return is(one, on.ranks) && one.mode == on.mode; });
      const bool sized = pace.work.bytes && *pace.work.bytes > 0;
      const Bytes largest =
          from == from_.curves.end() ? on.largest : std::min(on.largest, from->largest);
      const Bytes size = sized ? Bytes(static_cast<double>(*pace.work.bytes)) : largest;
      const Estimate<Seconds> there = predict(on.fit, size);
      Pace found{0.0, std::hypot(error_of(there), presumed_kernel_error)};
      if (size > 2.0 * largest) found.error = std::hypot(found.error, presumed_wide_error);
      if (from == from_.curves.end()) {
        if (!sized || !(pace.recorded > 0.0)) return false;
        found.log_ratio = std::log(there.value.value() * pace.calls / pace.recorded);
        found.error = std::hypot(found.error, presumed_wide_error);
        return set(pace, found, PaceBasis::curve);
      }
      const Estimate<Seconds> here = predict(from->fit, size);
      found.log_ratio = std::log(there.value / here.value);
      found.error = std::hypot(found.error, error_of(here));
      if (sized) return set(pace, found, PaceBasis::measured);
      const Bytes smallest = std::max(on.smallest, from->smallest);
      const double small =
          std::log(evaluate(on.fit, smallest) / evaluate(from->fit, smallest)) - found.log_ratio;
      found.error = std::hypot(found.error, small / std::sqrt(12.0), presumed_wide_error);
      return set(pace, found, PaceBasis::largest);
    }
    return false;
  }

  /// Whether `side` alone has a figure of the work, as far as both sides' own figures tell.
  bool has(const MachineSide& side, const MachineWork& work) const {
    MachinePaces alone = *this;
    alone.from_ = side;
    alone.on_ = side;
    WorkPace pace{work};
    return alone.fill(pace);
  }

  std::string from_name_;
  std::string on_name_;
  bool by_sheets_;
  MachineSide from_;
  MachineSide on_;
  std::optional<NumberFormat> usual_format_;
};
}  // namespace

std::vector<WorkPace> machine_paces(std::vector<WorkPace> work,
                                    const MachineSource& from,
                                    const MachineSource& on,
                                    double step_s) {
  const MachinePaces paces(from, on, work);
  const WorkPace* missing = nullptr;  // that takes most
  for (WorkPace& one : work) {
    const bool host = one.work.kind == WorkKind::host;
    if ((!host && !(one.recorded > 0.0)) || paces.fill(one)) continue;
    one.error = host ? presumed_wide_error : no_figure_error;
    if (!host && (!missing || one.recorded > missing->recorded)) missing = &one;
  }
  if (missing && missing->recorded >= least_share * step_s)
    paces.refuse(*missing, missing->recorded / step_s);
  return work;
}
}  // namespace scaleworth::model
