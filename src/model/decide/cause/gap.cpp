// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/cause/gap.h"

#include "src/core/error.h"
#include "src/model/scaling/cause.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::decide {
namespace {

constexpr double owner = model::owner_threshold;

std::size_t index_of(TimePart part) {
  return static_cast<std::size_t>(part);
}

/// Shares of the losses above zero, the largest first.
void complete(Gap& gap) {
  std::erase_if(gap.losses, [](const CauseLoss& loss) { return !(loss.lost_s > 0.0); });
  double all = 0.0;
  for (const CauseLoss& loss : gap.losses) all += loss.lost_s;
  for (CauseLoss& loss : gap.losses) loss.share = loss.lost_s / all;
  std::stable_sort(gap.losses.begin(), gap.losses.end(), [](const auto& a, const auto& b) {
    return a.lost_s > b.lost_s;
  });
}

/// The spread of the two causes that a fit tells apart, as shares of the whole gap.
void add_spread(Gap& gap, double ratio, const ComputeSplit& split) {
  double compute = 0.0;
  for (const CauseLoss& loss : gap.losses) {
    if (loss.cause == Cause::serial || loss.cause == Cause::slowdown) compute += loss.share;
  }
  const auto range = compute > 0.0 ? split.range(ratio) : std::nullopt;
  if (!range) return;
  for (CauseLoss& loss : gap.losses) {
    if (loss.cause == Cause::serial) {
      loss.spread = Interval<double>{compute * range->low, compute * range->high};
    } else if (loss.cause == Cause::slowdown) {
      loss.spread = Interval<double>{compute * (1.0 - range->high), compute * (1.0 - range->low)};
    }
  }
}

double logarithm(double factor) {
  if (!(factor > 0.0) || !std::isfinite(factor)) {
    throw UserError("an efficiency factor is not positive; attribute the recording again");
  }
  return std::log(factor);
}

double useful_time(const attribution::Efficiency& efficiency) {
  double sum = 0.0;
  for (const auto& time : efficiency.useful) sum += static_cast<double>(time.count());
  return sum;
}

}  // namespace

const char* cause_name(Cause cause) {
  switch (cause) {
    case Cause::serial:
      return "serial work";
    case Cause::communication:
      return "communication";
    case Cause::overhead:
      return "growing overhead";
    case Cause::idle:
      return "idle";
    case Cause::host:
      return "host";
    case Cause::io:
      return "I/O";
    case Cause::slowdown:
      break;
  }
  return "compute slow-down";
}

std::vector<Gap> part_gaps(const std::vector<DecisionRow>& rows,
                           const std::vector<RowLoss>& losses,
                           const std::optional<ComputeSplit>& split,
                           const std::optional<MessageTerms>& message) {
  std::vector<Gap> gaps;
  auto row = rows.begin();
  for (const RowLoss& loss : losses) {
    while (row->count != loss.count) ++row;
    Gap gap;
    gap.count = loss.count;
    for (const auto& lost : loss.lost_s) gap.lost_s += lost.value_or(0.0);
    const auto lost = [&](TimePart part) { return loss.lost_s[index_of(part)].value_or(0.0); };
    gap.losses = {{Cause::communication, lost(TimePart::communication), 0.0, {}},
                  {Cause::idle, lost(TimePart::idle), 0.0, {}},
                  {Cause::host, lost(TimePart::host), 0.0, {}},
                  {Cause::io, lost(TimePart::io), 0.0, {}},
                  {Cause::slowdown, lost(TimePart::compute), 0.0, {}}};
    complete(gap);
    // Draws at every count of a long table would cost more than they tell.
    divide_slowdown(gap, row->count_ratio, split, &loss == &losses.back());
    if (message) gap.latency_share = latency_share(*message, loss.count);
    gaps.push_back(std::move(gap));
  }
  return gaps;
}

void divide_slowdown(Gap& gap,
                     double ratio,
                     const std::optional<ComputeSplit>& split,
                     bool spread) {
  const auto slow = std::find_if(gap.losses.begin(), gap.losses.end(), [](const auto& loss) {
    return loss.cause == Cause::slowdown;
  });
  if (!split || slow == gap.losses.end()) return;
  const double lost = slow->lost_s;
  const double serial = split->share(ratio);
  slow->lost_s = (1.0 - serial) * lost;
  gap.losses.push_back({Cause::serial, serial * lost, 0.0, {}});
  complete(gap);
  if (spread) add_spread(gap, ratio, *split);
}

Gap coefficient_gap(const Coefficients& law,
                    int count,
                    const std::optional<MessageTerms>& message) {
  Gap gap;
  gap.count = count;
  const double single = law.single.value();
  gap.losses = {{Cause::serial, single * law.serial * (1.0 - 1.0 / count), 0.0, {}},
                {Cause::communication, single * law.communication * (count - 1.0), 0.0, {}}};
  for (const CauseLoss& loss : gap.losses) gap.lost_s += loss.lost_s;
  complete(gap);
  if (message && count > 1) gap.latency_share = latency_share(*message, count);
  return gap;
}

Gap pop_gap(const attribution::Efficiency& at,
            int count,
            const attribution::Efficiency* baseline,
            double work_growth) {
  const auto relative = [&](double attribution::Efficiency::*factor) {
    return logarithm(at.*factor) - (baseline ? logarithm(baseline->*factor) : 0.0);
  };
  using attribution::Efficiency;
  Gap gap;
  gap.count = count;
  gap.losses = {{Cause::idle,
                 -relative(&Efficiency::load_balance) - relative(&Efficiency::dependency),
                 0,
                 {}},
                {Cause::host, -relative(&Efficiency::host), 0.0, {}},
                {Cause::communication, -relative(&Efficiency::transfer), 0.0, {}}};
  if (baseline) {
    const double growth = useful_time(at) / (useful_time(*baseline) * work_growth);
    gap.losses.push_back({Cause::slowdown, logarithm(growth), 0.0, {}});
  }
  double product = 0.0;
  for (const CauseLoss& loss : gap.losses) product += loss.lost_s;
  complete(gap);
  const double runtime = std::chrono::duration<double>(at.runtime).count();
  gap.lost_s = runtime * (1.0 - std::exp(-product));
  if (!(gap.lost_s > 0.0)) gap.losses.clear();
  for (CauseLoss& loss : gap.losses) loss.lost_s = loss.share * gap.lost_s;
  return gap;
}

std::optional<model::ScalingCause> gap_cause(const Gap& gap) {
  if (gap.losses.empty()) return std::nullopt;
  model::ScalingCause cause;
  for (const CauseLoss& loss : gap.losses) {
    cause.mixture.emplace_back(cause_name(loss.cause), loss.share);
  }
  const CauseLoss& first = gap.losses.front();
  cause.explained = first.share;
  const double least = first.spread ? std::min(first.share, first.spread->low) : first.share;
  if (least >= owner) cause.owner = cause_name(first.cause);
  return cause;
}

}  // namespace scaleworth::decide
