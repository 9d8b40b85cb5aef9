// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/batching.h"
#include "probes/gpu/gemm.h"
#include "src/core/error.h"
#include "src/core/files/run_names.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace scaleworth::probes {
namespace {
constexpr int broken_in_a_row = 3;

struct Timed {
  GemmCandidate candidate;
  DeviceMeasured measured;
  double median_s() const {
    return median(measured.time_s).value_or(std::numeric_limits<double>::infinity());
  }
};

/// Adds the samples of another turn.
void append(DeviceMeasured& all, DeviceMeasured turn) {
  const bool clocks = all.clock_hz.size() == all.time_s.size();
  all.time_s.insert(all.time_s.end(), turn.time_s.begin(), turn.time_s.end());
  if (clocks && turn.clock_hz.size() == turn.time_s.size()) {
    all.clock_hz.insert(all.clock_hz.end(), turn.clock_hz.begin(), turn.clock_hz.end());
  } else {
    all.clock_hz.clear();
  }
  for (std::string& warning : turn.warnings) {
    if (std::ranges::count(all.warnings, warning) == 0) all.warnings.push_back(std::move(warning));
  }
  all.flops = turn.flops;
  all.bytes = turn.bytes;
}

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
      for (GemmCandidate& more : session_.candidates(effort_.wanted, Bytes(256.0 * mebibyte))) {
        const auto same = std::ranges::find(all, more.description, &GemmCandidate::description);
        if (same != all.end()) continue;
        more.heuristic_rank += within_less;
        all.push_back(std::move(more));
      }
    }
    if (all.empty()) {
      throw NothingToMeasure("{} supports no such product on compute capability {}.{}",
                             subject_.library,
                             subject_.device.compute_capability / 10,
                             subject_.device.compute_capability % 10);
    }
    return all;
  }

  void drop(const GemmCandidate& candidate, const std::string& reason) {
    recorder_.warn(fmt::format("{}: heuristic {} dropped ({}): {}",
                               gemm_problem_name(subject_.problem),
                               candidate.heuristic_rank,
                               candidate.description,
                               reason));
  }

  void record(const std::string& pass, const Timed& entry) {
    if (!effort_.recorded) return;
    recorder_.add(
        gemm_point(subject_, pass, GemmRegime::gap_free, entry.candidate, entry.measured));
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
      drop(candidate, failure.what());
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
        recorder_.warn(fmt::format("{}: {} of {} algorithms left out: {:.1f} s spent on the others",
                                   gemm_problem_name(subject_.problem),
                                   candidates.size() - all.size(),
                                   candidates.size(),
                                   spent.value()));
        break;
      }
      auto measured = timed(candidate, pace);
      if (!measured) continue;
      pace.warm_up = 0.5 * effort_.coarse;
      Timed entry{candidate, std::move(*measured)};
      record("coarse", entry);
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
      drop(candidate, failure.what());
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
      entry.measured.stop_reason =
          fmt::format("{} rounds, {} candidates in turn", effort_.rounds, finalists.size());
      record("fine", entry);
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

constexpr int pieces_per_window = 8;

/// Mean of the readings that were not refused.
std::optional<double> mean_power(const Telemetry& telemetry) {
  std::vector<double> read = telemetry.power_w;
  std::erase_if(read, [](double power) { return !std::isfinite(power); });
  if (read.empty()) return std::nullopt;
  return std::accumulate(read.begin(), read.end(), 0.0) / static_cast<double>(read.size());
}

/// Event and clock readings together are better than this.
constexpr double tolerated_excess = 1.005;

struct ClockFlops {
  int compute_capability;
  std::array<double, all_number_formats.size()> by_format;  // 0 where unknown
};
// fp64, fp32, tf32, bf16, fp16, fp8_e4m3, fp8_e5m2, fp8_block, int8, mxfp8, nvfp4.
constexpr std::array clock_flops{
    ClockFlops{80, {128, 128, 1024, 2048, 2048, 0, 0, 0, 4096, 0, 0}},
    ClockFlops{89, {0, 256, 512, 1024, 1024, 2048, 2048, 2048, 2048, 2048, 0}},
    ClockFlops{90, {256, 256, 2048, 4096, 4096, 8192, 8192, 8192, 8192, 8192, 0}},
    ClockFlops{100, {0, 256, 4096, 8192, 8192, 16384, 16384, 16384, 0, 16384, 32768}}};
}  // namespace

GemmPace one_sample(Seconds sample, Seconds warm_up) {
  return {.warm_up = warm_up,
          .target = {.relative_half_width = 0.0,
                     .minimum_samples = 1,
                     .maximum_samples = 1,
                     .time_budget = sample}};
}

AlgorithmChoice search_algorithm(GemmSession& session,
                                 const GemmSubject& subject,
                                 const SearchEffort& effort,
                                 Recorder& recorder) {
  return AlgorithmSearch(session, subject, effort, recorder).run();
}

void SettleWatch::add(Seconds duration, const SettlePiece& piece) {
  elapsed_ += duration;
  pieces_.push_back({elapsed_.value(), piece});
}

std::optional<double> SettleWatch::value(Series series, const SettlePiece& piece) {
  if (series == Series::clock) return piece.clock_hz;
  if (series == Series::power) return piece.power_w;
  if (piece.product_s <= 0.0) return std::nullopt;
  return 1.0 / piece.product_s;
}

std::span<const SettleWatch::Ended> SettleWatch::window() const {
  const double begin_s = elapsed_.value() - rule_.window.value() - 1e-9;
  return {std::ranges::upper_bound(pieces_, begin_s, {}, &Ended::end_s), pieces_.end()};
}

SettleWatch::Series SettleWatch::speed() const {
  const bool counted = std::ranges::all_of(
      window(), [](const Ended& ended) { return ended.piece.clock_hz.has_value(); });
  return counted ? Series::clock : Series::rate;
}

std::optional<double> SettleWatch::change(Series series) const {
  double count = 0.0;
  double sum_t = 0.0;
  double sum_y = 0.0;
  double sum_tt = 0.0;
  double sum_ty = 0.0;
  for (const Ended& ended : window()) {
    const std::optional<double> y = value(series, ended.piece);
    if (!y) return std::nullopt;
    const double t = ended.end_s - elapsed_.value();
    count += 1.0;
    sum_t += t;
    sum_y += *y;
    sum_tt += t * t;
    sum_ty += t * *y;
  }
  const double determinant = count * sum_tt - sum_t * sum_t;
  if (elapsed_ < rule_.window || determinant <= 0.0 || sum_y == 0.0) return std::nullopt;
  const double slope = (count * sum_ty - sum_t * sum_y) / determinant;
  return std::abs(slope) * rule_.window.value() / (sum_y / count);
}

bool SettleWatch::settled() const {
  if (elapsed_ < rule_.minimum) return false;
  const std::optional<double> of_speed = change(speed());
  if (!of_speed || *of_speed >= rule_.change) return false;
  return change(Series::power).value_or(0.0) < rule_.change;
}

std::string SettleWatch::explanation() const {
  const auto percent = [](std::optional<double> value) {
    return value ? fmt::format("{:.2g} %", 100.0 * *value) : std::string("n/a");
  };
  const bool counted = speed() == Series::clock;
  return fmt::format("{} after {:.2g} s (over the last {:.2g} s: {} {}, power {}{})",
                     settled() ? "settled" : "not settled",
                     elapsed_.value(),
                     rule_.window.value(),
                     counted ? "clock" : "rate",
                     percent(change(speed())),
                     percent(change(Series::power)),
                     counted ? "" : "; the clock could not be counted");
}

SettleWatch settle(GemmSession& session, const GemmCandidate& candidate, const SettleRule& rule) {
  SettleWatch watch(rule);
  const Seconds piece = rule.window / static_cast<double>(pieces_per_window);
  const GemmPace pace{
      .target = {.relative_half_width = 0.0, .minimum_samples = 1, .time_budget = piece}};
  while (!watch.finished()) {
    check_interrupt();
    const DeviceMeasured measured = session.time(candidate, pace);
    watch.add(piece,
              {median(measured.clock_hz),
               median(measured.time_s).value_or(0.0),
               mean_power(measured.telemetry)});
  }
  return watch;
}

FlopPerSecond gemm_rate(const GemmProblem& problem, double time_s) {
  return gemm_flops(problem) / Seconds(time_s);
}

Point gemm_point(const GemmSubject& subject,
                 const std::string& pass,
                 GemmRegime regime,
                 const GemmCandidate& candidate,
                 const DeviceMeasured& measured) {
  const GemmProblem& problem = subject.problem;
  const int multiprocessors =
      problem.multiprocessors > 0 ? problem.multiprocessors : subject.device.multiprocessors;
  std::map<std::string, Value> parameters{
      {fields::precision, std::string(number_format_name(problem.input))},
      {fields::family, subject.family},
      {fields::m, problem.m},
      {fields::n, problem.n},
      {fields::k, problem.k},
      {fields::batch, problem.batch},
      {fields::library, subject.library},
      {fields::pass, pass},
      {fields::regime, std::string(gemm_regime_name(regime))},
      {fields::heuristic_rank, std::int64_t{candidate.heuristic_rank}},
      {fields::algorithm, candidate.description},
      {fields::workspace_bytes, static_cast<std::int64_t>(candidate.workspace.value())},
      {fields::fast_accumulation, problem.fast_accumulation},
      {fields::multiprocessors, std::int64_t{multiprocessors}}};
  if (!subject.name.empty()) parameters[fields::name] = subject.name;
  Point point = device_point(subject.device.ordinal, std::move(parameters), measured);
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
  const double flops = row->by_format.at(static_cast<std::size_t>(format));
  return flops > 0.0 ? std::optional(flops) : std::nullopt;
}

std::optional<FlopPerSecond> greatest_rate(const DeviceDescription& device, NumberFormat format) {
  const std::optional<double> flops = flops_per_clock(format, device.compute_capability);
  if (!flops || !device.maximum_clock_hz || device.multiprocessors <= 0) return std::nullopt;
  return FlopPerSecond(*flops * device.multiprocessors * *device.maximum_clock_hz);
}

std::optional<std::string> impossible_rate(const DeviceDescription& device,
                                           NumberFormat format,
                                           FlopPerSecond rate) {
  const std::optional<FlopPerSecond> greatest = greatest_rate(device, format);
  if (!greatest || rate <= *greatest * tolerated_excess) return std::nullopt;
  const double clock_mhz = *device.maximum_clock_hz * 1e-6;
  return fmt::format(
      "invalid: {:.4g} TFLOP/s exceed the {:.4g} that {} multiprocessors can reach at their "
      "maximum of {:.0f} MHz: a wrong event time, a wrong result or an emulated format",
      rate.value() * 1e-12,
      greatest->value() * 1e-12,
      device.multiprocessors,
      clock_mhz);
}
}  // namespace scaleworth::probes
