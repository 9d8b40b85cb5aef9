// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/collectives.h"
#include "src/model/laws/model_selection.h"

#include <cmath>
#include <numbers>
#include <random>

namespace scaleworth::model {
namespace {
constexpr int draw_count = 200;         // an end is then good to 5 % of the band's width
constexpr double least_exposed = 0.02;  // of the transfers; below it all of them were hidden

/// The gradient as it is all-reduced: `count` buckets of equal size.
struct Buckets {
  Bytes each;
  int count = 0;
};

/// Part times of the mean rank at one count.
struct CountParts {
  int ranks = 1;
  double tokens_per_rank = 0.0;
  PartTimes times{};
};

double at(const PartTimes& times, Part part) {
  return times[index_of(part)].value_or(0.0);
}

/// E[max of K] - mu in units of sigma, for normal ranks: .564, 1.029, 1.424, 2.344 at K = 2, 4, 8,
/// 64. The integral of x d(Phi(x)^K) by parts is that of 1 - Phi(x)^K - Phi(-x)^K over x > 0, an
/// even function, so that the trapezoidal rule is exact to 1e-6 with this step.
double straggler_growth(int ranks) {
  constexpr double step = 0.4;  // see above: exact to 1e-6
  const auto below = [&](double x) {
    return std::pow(0.5 * std::erfc(-x / std::numbers::sqrt2), ranks);
  };
  double sum = 0.5 - below(0.0);
  // Beyond 9 sigma nothing is left.
  for (double x = step; x < 9.0; x += step) sum += 1.0 - below(x) - below(-x);
  return step * sum;
}

Buckets buckets_of(const MeasuredCount& count) {
  if (!count.gradient) return {};
  const int number = std::max(1, count.buckets.value_or(1));
  return {*count.gradient / static_cast<double>(number), number};
}

/// Part times from steps drawn with replacement: one draw from the sampling distribution.
std::optional<PartTimes> resampled(const MeasuredCount& count, std::mt19937_64& generator) {
  std::vector<std::size_t> steps(common_steps(count));
  if (steps.empty()) return std::nullopt;
  std::uniform_int_distribution<std::size_t> pick(0, steps.size() - 1);
  std::vector<double> times;
  for (std::size_t& step : steps) {
    step = pick(generator);
    times.push_back(count.step_s[step]);
  }
  return mean_part_times(count, *median(times), steps);
}

/// Of all steps, or resampled. Counts without a ledger or without compute time are left out.
std::vector<CountParts> count_parts(const MeasuredMode& mode, std::mt19937_64* generator) {
  std::vector<CountParts> parts;
  for (const MeasuredCount& count : mode.counts) {
    const auto times =
        generator ? resampled(count, *generator) : mean_part_times(count, *median(count.step_s));
    if (!times || !(at(*times, Part::compute) > 0.0)) continue;
    parts.push_back({count.ranks, count.tokens / count.ranks, *times});
  }
  return parts;
}

/// The parts of a step as functions of the count, as the header says.
class PartsModel {
 public:
  /// `counts` ascending by ranks, at least one. With one rank only, nothing of the transfer is
  /// assumed hidden and no wait is known.
  /// `skew` moves the all-reduce times within their intervals, in standard deviations; `unseen` is
  /// the part of a window that was not used up, from what was seen of it (0) to all compute (1).
  PartsModel(const std::vector<CountParts>& counts,
             const AllReduceTime& all_reduce,
             const Buckets& buckets,
             double skew = 0.0,
             double unseen = 0.0)
      : all_reduce_(all_reduce),
        buckets_(buckets),
        skew_(skew),
        smallest_ranks_(counts.front().ranks) {
    for (const CountParts& count : counts) {
      constant_ += (at(count.times, Part::optimizer) + at(count.times, Part::host) +
                    at(count.times, Part::unattributed)) /
                   static_cast<double>(counts.size());
    }
    fit_compute(counts);
    if (counts.back().ranks > 1) fit_communication(counts, unseen);
  }

  /// Seconds of a step; absent where its all-reduce is not known. `ranks` >= 1, `tokens_per_rank`
  /// > 0.
  std::optional<double> step(int ranks, double tokens_per_rank) const {
    const double busy = compute(ranks, tokens_per_rank);
    const auto exposed = transfer(ranks, busy);
    if (!exposed) return std::nullopt;
    return busy + constant_ + progress_per_traffic_ * ring_traffic(ranks) + *exposed +
           spread_ * busy * straggler_growth(ranks);
  }

  double window() const { return window_; }
  bool used_up() const { return used_up_; }

 private:
  void fit_compute(const std::vector<CountParts>& counts) {
    const CountParts& first = counts.front();
    const CountParts& last = counts.back();
    const bool one_size = std::all_of(counts.begin(), counts.end(), [&](const CountParts& count) {
      return count.tokens_per_rank == first.tokens_per_rank;
    });
    if (one_size) {
      compute_per_token_ = at(first.times, Part::compute) / first.tokens_per_rank;
      slow_down_ = at(last.times, Part::compute) / at(first.times, Part::compute);
      return;
    }
    std::vector<TimePoint> points;
    for (const CountParts& count : counts) {
      // Tokens in units of the first count's, so that the two columns are of one size.
      points.push_back(
          {count.tokens_per_rank / first.tokens_per_rank, at(count.times, Part::compute), {}});
    }
    const LinearLaw law = fit_linear({terms::level, terms::proportional}, points);
    compute_constant_ = law.coefficients[0];
    compute_per_token_ = law.coefficients[1] / first.tokens_per_rank;
  }

  void fit_communication(const std::vector<CountParts>& counts, double unseen) {
    const CountParts& largest = counts.back();
    const double busy = compute(largest.ranks, largest.tokens_per_rank);
    const double exposed = at(largest.times, Part::exposed_transfer);
    progress_per_traffic_ = at(largest.times, Part::progress) / ring_traffic(largest.ranks);
    transfer_per_traffic_ = exposed / ring_traffic(largest.ranks);
    spread_ = at(largest.times, Part::exposed_wait) / (busy * straggler_growth(largest.ranks));
    const auto full = all_buckets(largest.ranks);
    if (!full) {
      all_reduce_ = nullptr;  // without what is hidden its times would be mere bounds
      return;
    }
    stretch_ = std::max(1.0, exposed / *full);
    window_ = (*full * stretch_ - exposed) / busy;
    // The last bucket finds no compute to hide behind: it alone does not show a window's end.
    used_up_ = exposed > *full * (buckets_.count > 1 ? 1.0 / buckets_.count : least_exposed);
    if (!used_up_) window_ += unseen * std::max(0.0, 1.0 - window_);
    floor_share_ = exposed / *full;
    for (const CountParts& count : counts) {
      const auto whole = count.ranks > 1 ? all_buckets(count.ranks) : std::nullopt;
      if (!whole) continue;
      floor_share_ = std::min(floor_share_, at(count.times, Part::exposed_transfer) / *whole);
    }
  }

  double compute(int ranks, double tokens_per_rank) const {
    const double alone = compute_constant_ + compute_per_token_ * tokens_per_rank;
    return ranks > smallest_ranks_ ? alone * slow_down_ : alone;
  }

  std::optional<double> all_buckets(int ranks) const {
    if (!all_reduce_ || buckets_.count == 0) return std::nullopt;
    const std::optional<Estimate<Seconds>> one = all_reduce_(buckets_.each, ranks);
    if (!one || !(one->value.value() > 0.0)) return std::nullopt;
    double factor = 1.0;
    if (one->interval) {
      // 3.92 standard deviations lie in a 95 % interval of a normal; the factor stays positive.
      const double relative_sd = (one->interval->high - one->interval->low) / one->value / 3.92;
      factor = std::exp(skew_ * std::min(relative_sd, 1.0));
    }
    return one->value.value() * buckets_.count * factor;
  }

  std::optional<double> transfer(int ranks, double busy) const {
    if (ranks == 1) return 0.0;
    if (!all_reduce_) return transfer_per_traffic_ * ring_traffic(ranks);
    const auto full = all_buckets(ranks);
    if (!full) return std::nullopt;
    return std::max(floor_share_ * *full, stretch_ * *full - window_ * busy);
  }

  AllReduceTime all_reduce_;
  Buckets buckets_;
  double skew_ = 0.0;
  int smallest_ranks_ = 1;
  double compute_constant_ = 0.0;
  double compute_per_token_ = 0.0;
  double slow_down_ = 1.0;
  double constant_ = 0.0;
  double progress_per_traffic_ = 0.0;
  double transfer_per_traffic_ = 0.0;
  double window_ = 0.0;       // time that transfers are hidden for, in units of compute
  bool used_up_ = true;       // some transfer did not fit it at the largest count
  double floor_share_ = 0.0;  // of the transfers, exposed however long the window is
  double stretch_ = 1.0;      // of an all-reduce in a step over an isolated one
  double spread_ = 0.0;       // sigma of a rank's compute, relative
};

/// Up to the first count whose all-reduce is not known.
std::vector<double> curve_of(const PartsModel& model, const CurveRequest& request) {
  std::vector<double> times;
  for (int ranks = 1; ranks <= request.max_count; ++ranks) {
    const auto step = model.step(ranks, request.work.tokens(ranks) / ranks);
    if (!step) break;
    times.push_back(*step / request.work.factor(ranks));
  }
  return times;
}

Finding transfer_basis(const PartsModel& model, int largest, const AllReduceTime& all_reduce) {
  if (!all_reduce) return FindingId::transfer_by_traffic;
  if (largest == 1) return FindingId::transfer_not_hidden;
  return {model.used_up() ? FindingId::transfer_partly_hidden : FindingId::transfer_all_hidden,
          model.window(),
          largest};
}

bool overlap(const Estimate<Seconds>& a, const Estimate<Seconds>& b) {
  return a.low() <= b.high() && b.low() <= a.high();
}

void check_against_measured(ScalingLaw& law, const MeasuredMode& mode) {
  double squares = 0.0;
  for (const MeasuredCount& count : mode.counts) {
    const Estimate<Seconds> measured = step_time(count);
    const auto index = static_cast<std::size_t>(count.ranks - 1);
    const bool on_curve = index < law.curve.size();
    if (on_curve) squares += std::pow(law.curve[index].step.value / measured.value - 1.0, 2);
    law.reproduces_measured =
        law.reproduces_measured && on_curve && overlap(law.curve[index].step, measured);
  }
  law.residual = std::sqrt(squares / static_cast<double>(mode.counts.size()));
}
}  // namespace

ScalingLaw measured_parts_law(const MeasuredMode& mode,
                              const AllReduceTime& all_reduce,
                              const CurveRequest& request) {
  ScalingLaw law;
  law.name = "measured parts";
  law.prediction = true;
  const std::vector<CountParts> parts = count_parts(mode, nullptr);
  if (parts.empty()) {
    law.not_identifiable = FindingId::no_training_ledger;
    return law;
  }
  const Buckets buckets = buckets_of(mode.counts.back());
  const bool has_model =
      all_reduce && buckets.count > 0 && all_reduce(buckets.each, std::max(2, parts.back().ranks));
  if (parts.back().ranks == 1 && !has_model) {
    law.not_identifiable = FindingId::communication_unknown;
    law.next_count = 2;
    return law;
  }
  const PartsModel best(parts, all_reduce, buckets);
  const int largest = parts.back().ranks;
  law.basis.emplace_back(
      FindingId::law_of_parts, largest, transfer_basis(best, largest, all_reduce));
  CurveDraws draws{curve_of(best, request), {}};
  if (const auto end = draws.best.size(); std::cmp_less(end, request.max_count))
    law.basis.emplace_back(FindingId::curve_ends_at_links, end);
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  for (int draw = 0; draw < draw_count; ++draw) {
    const auto drawn = count_parts(mode, &generator);
    if (drawn.empty()) continue;
    const double skew = normal(generator);
    const PartsModel model(drawn, all_reduce, buckets, skew, uniform(generator));
    draws.draws.push_back(curve_of(model, request));
  }
  fill_curve(law, draws, request);
  check_against_measured(law, mode);
  return law;
}
}  // namespace scaleworth::model
