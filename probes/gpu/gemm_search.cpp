// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/batching.h"
#include "probes/gpu/gemm.h"
#include "src/core/error.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace scaleworth::probes {
namespace {
/// Adds the samples of another turn, without telemetry.
void append(DeviceMeasured& all, DeviceMeasured turn) {
  const bool clocks = all.clock_hz.size() == all.time_s.size();
  all.time_s.insert(all.time_s.end(), turn.time_s.begin(), turn.time_s.end());
  if (clocks && turn.clock_hz.size() == turn.time_s.size()) {
    all.clock_hz.insert(all.clock_hz.end(), turn.clock_hz.begin(), turn.clock_hz.end());
  } else {
    all.clock_hz.clear();
  }
  for (Finding& warning : turn.warnings) {
    if (std::ranges::count(all.warnings, warning) == 0) all.warnings.push_back(std::move(warning));
  }
  all.flops = turn.flops;
  all.bytes = turn.bytes;
}

constexpr int broken_in_a_row = 3;  // see the header: then it is not the candidates

struct Timed {
  GemmCandidate candidate;
  DeviceMeasured measured;
  double median_s() const {
    return median(measured.time_s).value_or(std::numeric_limits<double>::infinity());
  }
};

class AlgorithmSearch {
 public:
  AlgorithmSearch(GemmSession& session,
                  const GemmSubject& subject,
                  const SearchEffort& effort,
                  Recorder& recorder)
      : session_(session), subject_(subject), effort_(effort), recorder_(recorder) {}

  AlgorithmChoice run() {
    std::vector<Timed> finalists = verified(coarse_pass(proposals()));
    fine_pass(finalists);
    return choice(finalists);
  }

 private:
  std::vector<GemmCandidate> proposals() {
    std::vector<GemmCandidate> all = session_.candidates(effort_.wanted, Bytes(32.0 * mebibyte));
    if (effort_.large_workspace) {
      const auto within_less = static_cast<int>(all.size());
      // See gemm.h.
      for (GemmCandidate& more : session_.candidates(effort_.wanted, Bytes(256.0 * mebibyte))) {
        const auto same = std::ranges::find(all, more.description, &GemmCandidate::description);
        if (same != all.end()) continue;
        more.heuristic_rank += within_less;
        all.push_back(std::move(more));
      }
    }
    if (all.empty()) {
      throw NothingToMeasure(FindingId::no_such_product,
                             subject_.library,
                             subject_.device.compute_capability / 10,
                             subject_.device.compute_capability % 10);
    }
    return all;
  }

  void drop(const GemmCandidate& candidate, const Finding& reason) {
    recorder_.warn({FindingId::heuristic_dropped,
                    gemm_problem_name(subject_.problem),
                    candidate.heuristic_rank,
                    candidate.description,
                    reason});
  }

  void record(Pass pass, const Timed& entry) {
    if (!effort_.recorded) return;
    recorder_.add(gemm_point(subject_, pass, entry.candidate, entry.measured));
  }

  /// Absent, and dropped, when the candidate breaks.
  std::optional<DeviceMeasured> timed(const GemmCandidate& candidate, const GemmPace& pace) {
    check_interrupt();
    try {
      DeviceMeasured measured = session_.time(candidate, pace);
      broken_ = 0;
      return measured;
    } catch (const GpuLost&) {
      throw;
    } catch (const ProbeFailure& failure) {
      drop(candidate, {FindingId::stated, failure.what()});
      if (++broken_ == broken_in_a_row) throw;
      return std::nullopt;
    }
  }

  bool possible(const Timed& timed) {
    const FlopPerSecond rate = gemm_rate(subject_.problem, timed.median_s());
    const auto reason = impossible_rate(subject_.device, subject_.problem.input, rate);
    if (reason) drop(timed.candidate, *reason);
    return !reason;
  }

  /// Fastest first.
  std::vector<Timed> coarse_pass(const std::vector<GemmCandidate>& candidates) {
    GemmPace pace = one_sample(effort_.coarse, effort_.wake_up);
    std::vector<Timed> all;
    Seconds spent{};
    for (const GemmCandidate& candidate : candidates) {
      if (spent > effort_.coarse_limit) {
        recorder_.warn({FindingId::algorithms_left_out,
                        gemm_problem_name(subject_.problem),
                        candidates.size() - all.size(),
                        candidates.size(),
                        spent.value()});
        break;
      }
      auto measured = timed(candidate, pace);
      if (!measured) continue;
      pace.warm_up = 0.5 * effort_.coarse;
      Timed entry{candidate, std::move(*measured)};
      record(Pass::coarse, entry);
      // The warm-up is half a sample; a long product takes one of each at least.
      spent += std::max(1.5 * effort_.coarse, 3.0 * Seconds(entry.median_s()));
      if (possible(entry)) all.push_back(std::move(entry));
    }
    std::ranges::stable_sort(all, {}, &Timed::median_s);
    return all;
  }

  bool correct(const GemmCandidate& candidate) {
    check_interrupt();
    try {
      session_.verify(candidate);
      return true;
    } catch (const GpuLost&) {
      throw;
    } catch (const ProbeFailure& failure) {
      drop(candidate, {FindingId::stated, failure.what()});
      return false;
    }
  }

  /// The best few that compute the right thing, and the library's own choice.
  std::vector<Timed> verified(std::vector<Timed> sorted) {
    std::vector<Timed> kept;
    for (Timed& entry : sorted) {
      const bool good = kept.size() < effort_.kept &&
                        (kept.empty() ||
                         entry.median_s() <= (1.0 + effort_.kept_within) * kept.front().median_s());
      const bool own_choice = entry.candidate.heuristic_rank == 0;
      if ((good || own_choice) && correct(entry.candidate)) kept.push_back(std::move(entry));
    }
    if (kept.empty()) {
      throw ProbeFailure("{}: no algorithm of {} is left, see the warnings",
                         gemm_problem_name(subject_.problem),
                         subject_.library);
    }
    return kept;
  }

  void fine_pass(std::vector<Timed>& finalists) {
    for (Timed& entry : finalists) entry.measured = {};
    for (std::size_t round = 0; round < effort_.rounds; ++round) {
      std::erase_if(finalists, [&](Timed& entry) {
        auto turn = timed(entry.candidate, one_sample(effort_.fine_sample, effort_.coarse));
        if (turn) append(entry.measured, std::move(*turn));
        return !turn;
      });
    }
    for (Timed& entry : finalists) {
      entry.measured.stop_reason = {
          {FindingId::candidates_in_turn, effort_.rounds, finalists.size()}};
      record(Pass::fine, entry);
    }
    std::erase_if(finalists, [&](const Timed& entry) { return !possible(entry); });
  }

  AlgorithmChoice choice(const std::vector<Timed>& finalists) const {
    AlgorithmChoice chosen;
    chosen.best_s = std::numeric_limits<double>::infinity();
    for (const Timed& entry : finalists) {
      if (entry.median_s() >= chosen.best_s) continue;
      chosen.best = entry.candidate;
      chosen.best_s = entry.median_s();
    }
    if (finalists.empty()) {
      throw ProbeFailure("{}: every algorithm broke in the fine pass, see the warnings",
                         gemm_problem_name(subject_.problem));
    }
    return chosen;
  }

  GemmSession& session_;
  const GemmSubject& subject_;
  const SearchEffort& effort_;
  Recorder& recorder_;
  int broken_ = 0;
};

/// The clock of a sample that counts as burst, over the highest.
constexpr double near_highest = 0.99;

/// The least-squares slope over equally spaced values times their number, over their mean.
std::optional<double> relative_change(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() < 3 || !(mean > 0.0)) return std::nullopt;
  double moment = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    moment += (static_cast<double>(i) - 0.5 * (n - 1.0)) * values[i];
  }
  // Least squares over 0..n-1: sum of squares n (n^2 - 1) / 12.
  return 12.0 * moment / (n * n - 1.0) / mean;
}

/// Event and clock readings together are better than this.
constexpr double tolerated_excess = 1.005;

struct ClockFlops {
  int compute_capability;
  std::array<double, every<NumberFormat>.size()> by_format;  // 0 where unknown
};
// fp64, fp32, tf32, bf16, fp16, fp8_e4m3, fp8_e5m2, fp8_block, int8, mxfp8, nvfp4.
constexpr std::array clock_flops{
    ClockFlops{80, {128, 128, 1024, 2048, 2048, 0, 0, 0, 4096, 0, 0}},
    ClockFlops{89, {0, 256, 512, 1024, 1024, 2048, 2048, 2048, 2048, 2048, 0}},
    ClockFlops{90, {256, 256, 2048, 4096, 4096, 8192, 8192, 8192, 8192, 8192, 0}},
    ClockFlops{100, {0, 256, 4096, 8192, 8192, 16384, 16384, 16384, 0, 16384, 32768}}};
}  // namespace

GemmPace gap_free(Seconds time, std::size_t samples) {
  return {.target = {.relative_half_width = -1.0, .minimum_samples = samples, .time_budget = time}};
}

GemmPace one_sample(Seconds sample, Seconds warm_up) {
  GemmPace pace = gap_free(sample, 1);
  pace.warm_up = warm_up;
  pace.target.maximum_samples = 1;
  return pace;
}

AlgorithmChoice search_algorithm(GemmSession& session,
                                 const GemmSubject& subject,
                                 const SearchEffort& effort,
                                 Recorder& recorder) {
  return AlgorithmSearch(session, subject, effort, recorder).run();
}

Steadiness steadiness(const DeviceMeasured& window, const SustainedRule& rule) {
  Steadiness found;
  const auto judge = [&](FindingId what, std::optional<double> moved, double limit) {
    if (!moved || std::abs(*moved) >= limit) found.sustained = false;
    found.moved.emplace_back(
        what, moved ? Finding(FindingId::by_percent, *moved) : FindingId::by_unknown);
  };
  const auto rates = mapped(window.time_s, [](double time) { return 1.0 / time; });
  const bool counted = window.clock_hz.size() == rates.size();
  judge(counted ? FindingId::clock_moved : FindingId::rate_moved,
        relative_change(counted ? window.clock_hz : rates),
        rule.drop);
  std::vector<double> power = window.telemetry.power_w;
  std::erase_if(power, [](double watts) { return !std::isfinite(watts); });
  if (!power.empty()) judge(FindingId::power_moved, relative_change(power), rule.drop);
  const double middle = median(rates).value_or(1.0);
  const auto part = [&](double p) { return quantile(rates, p).value_or(0.0); };
  judge(FindingId::rate_spread, (part(0.9) - part(0.1)) / middle, rule.spread);
  return found;
}

void keep_highest_clock(DeviceMeasured& measured) {
  const std::size_t all = measured.time_s.size();
  if (all == 0 || measured.clock_hz.size() != all) {
    measured.warnings.emplace_back(FindingId::clock_not_counted);
    return;
  }
  const double highest = *std::ranges::max_element(measured.clock_hz);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all; ++i) {
    if (measured.clock_hz[i] < near_highest * highest) continue;
    measured.time_s[kept] = measured.time_s[i];
    measured.clock_hz[kept++] = measured.clock_hz[i];
  }
  measured.time_s.resize(kept);
  measured.clock_hz.resize(kept);
  measured.stop_reason.emplace_back(FindingId::kept_near_clock, kept, all, highest * 1e-6);
}

FlopPerSecond gemm_rate(const GemmProblem& problem, double time_s) {
  return gemm_flops(problem) / Seconds(time_s);
}

Point gemm_point(const GemmSubject& subject,
                 Pass pass,
                 const GemmCandidate& candidate,
                 const DeviceMeasured& measured) {
  const GemmProblem& problem = subject.problem;
  Setting setting{{Parameter::precision, problem.input},
                  {Parameter::family, subject.family},
                  {Parameter::m, problem.m},
                  {Parameter::n, problem.n},
                  {Parameter::k, problem.k},
                  {Parameter::batch, problem.batch},
                  {Parameter::library, subject.library},
                  {Parameter::pass, pass},
                  {Parameter::data, subject.data},
                  {Parameter::heuristic_rank, candidate.heuristic_rank},
                  {Parameter::recipe, candidate.description},
                  {Parameter::workspace_bytes, whole_bytes(candidate.workspace)},
                  {Parameter::fast_accumulation, problem.fast_accumulation},
                  {Parameter::multiprocessors, subject.device.multiprocessors}};
  if (candidate.tile) {
    setting.set(Parameter::tile_m, candidate.tile->m);
    setting.set(Parameter::tile_n, candidate.tile->n);
  }
  if (!subject.name.empty()) setting.set(Parameter::name, subject.name);
  Point point = device_point(subject.device.ordinal, std::move(setting), measured);
  if (const auto time = median(measured.time_s)) {
    const auto reason = impossible_rate(subject.device, problem.input, gemm_rate(problem, *time));
    if (reason) point.warnings.push_back(*reason);
  }
  return point;
}

std::optional<double> flops_per_clock(NumberFormat format, int compute_capability) {
  const auto* row =
      std::ranges::find(clock_flops, compute_capability, &ClockFlops::compute_capability);
  if (row == clock_flops.end()) return std::nullopt;
  const double flops = row->by_format.at(index_of(format));
  return flops > 0.0 ? std::optional(flops) : std::nullopt;
}

std::optional<FlopPerSecond> greatest_rate(const DeviceDescription& device, NumberFormat format) {
  const std::optional<double> flops = flops_per_clock(format, device.compute_capability);
  if (!flops || !device.maximum_clock_hz || device.multiprocessors <= 0) return std::nullopt;
  return FlopPerSecond(*flops * device.multiprocessors * *device.maximum_clock_hz);
}

std::optional<Finding> impossible_rate(const DeviceDescription& device,
                                       NumberFormat format,
                                       FlopPerSecond rate) {
  const std::optional<FlopPerSecond> greatest = greatest_rate(device, format);
  if (!greatest || rate <= *greatest * tolerated_excess) return std::nullopt;
  const double clock_mhz = *device.maximum_clock_hz * 1e-6;
  return Finding(FindingId::rate_impossible,
                 rate.value() * 1e-12,
                 greatest->value() * 1e-12,
                 device.multiprocessors,
                 clock_mhz);
}
}  // namespace scaleworth::probes
