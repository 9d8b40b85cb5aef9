// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/search/algorithm_search.h"

#include "probes/gpu/gemm/search/peak_rate.h"
#include "probes/gpu/gemm/shape_rules.h"
#include "src/core/error.h"
#include "src/core/interrupt.h"
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;
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
    const auto known = std::find(all.warnings.begin(), all.warnings.end(), warning);
    if (known == all.warnings.end()) all.warnings.push_back(std::move(warning));
  }
  all.flops = turn.flops;
  all.bytes = turn.bytes;
}

GemmPace one_sample(Seconds sample, Seconds warm_up) {
  GemmPace pace;
  pace.warm_up = warm_up;
  pace.target = {.relative_half_width = 0.0,
                 .minimum_samples = 1,
                 .maximum_samples = 1,
                 .time_budget = sample};
  return pace;
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
        const bool known = std::any_of(all.begin(), all.end(), [&](const GemmCandidate& other) {
          return other.description == more.description;
        });
        if (known) continue;
        more.heuristic_rank += within_less;
        all.push_back(std::move(more));
      }
    }
    if (all.empty()) {
      throw NothingToMeasure(fmt::format("{} supports no such product on compute capability {}.{}",
                                         subject_.library,
                                         subject_.device.compute_capability / 10,
                                         subject_.device.compute_capability % 10));
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
    std::stable_sort(all.begin(), all.end(), [](const Timed& a, const Timed& b) {
      return a.median_s() < b.median_s();
    });
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
      throw ProbeFailure(fmt::format("{}: no algorithm of {} is left, see the warnings",
                                     gemm_problem_name(subject_.problem),
                                     subject_.library));
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
      if (entry.candidate.heuristic_rank == 0) chosen.default_s = entry.median_s();
      if (entry.median_s() >= chosen.best_s) continue;
      chosen.best = entry.candidate;
      chosen.best_s = entry.median_s();
    }
    if (finalists.empty()) {
      throw ProbeFailure(fmt::format("{}: every algorithm broke in the fine pass, see the warnings",
                                     gemm_problem_name(subject_.problem)));
    }
    return chosen;
  }

  GemmSession& session_;
  const GemmSubject& subject_;
  const SearchEffort& effort_;
  Recorder& recorder_;
  int broken_ = 0;
};

}  // namespace

std::optional<double> AlgorithmChoice::tuning_headroom() const {
  if (!default_s || best_s <= 0.0) return std::nullopt;
  return *default_s / best_s - 1.0;
}

AlgorithmChoice search_algorithm(GemmSession& session,
                                 const GemmSubject& subject,
                                 const SearchEffort& effort,
                                 Recorder& recorder) {
  return AlgorithmSearch(session, subject, effort, recorder).run();
}

}  // namespace scaleworth::probes
