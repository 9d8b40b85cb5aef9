// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/culprits/verdict.h"

#include "trace/analysis/bounded_sum.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using attribution::CauseShare;
using attribution::Culprit;
using attribution::LateCause;
using attribution::Nanoseconds;

std::string three_digits(double value) {
  const int decimals = std::abs(value) >= 99.95 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string share_in_words(const CauseShare& share, Nanoseconds sum) {
  // Above 100 % other parts were shorter than the median rank's: nothing else is to explain.
  const double percent = std::min(
      100.0, 100.0 * static_cast<double>(share.time.count()) / static_cast<double>(sum.count()));
  std::string text = fmt::format("{:.0f} % {}", percent, attribution::late_cause_name(share.cause));
  if (!share.detail.empty()) text += fmt::format(" ({})", share.detail);
  return text;
}

std::string cause_in_words(const Culprit& culprit) {
  Nanoseconds sum{};
  for (const CauseShare& share : culprit.shares) add_bounded(sum, share.time);
  if (sum <= Nanoseconds::zero())
    return "Why is not recorded: it has no earlier collective to compare from.";
  if (culprit.cause != LateCause::undecided)
    return fmt::format("Cause: {}.", share_in_words(culprit.shares.front(), sum));
  std::string text = "No single cause explains 80 %:";
  constexpr std::size_t shown = 3;
  // Smaller than that is noise of the comparison.
  const Nanoseconds least = sum / 50;
  for (std::size_t i = 0; i < culprit.shares.size() && i < shown; ++i)
    if (culprit.shares[i].time >= least)
      text += (i == 0 ? " " : ", ") + share_in_words(culprit.shares[i], sum);
  return text + ".";
}

}  // namespace

std::string time_in_words(Nanoseconds time) {
  const auto value = static_cast<double>(time.count());
  if (std::abs(value) >= 1e9) return three_digits(value / 1e9) + " s";
  if (std::abs(value) >= 1e6) return three_digits(value / 1e6) + " ms";
  if (std::abs(value) >= 1e3) return three_digits(value / 1e3) + " us";
  return fmt::format("{} ns", time.count());
}

std::string culprit_sentence(const Culprit& culprit, const VerdictContext& context) {
  const double step_seconds = static_cast<double>(context.step.count()) / 1e9;
  const double run_seconds = step_seconds * context.steps * context.ranks;
  const double lost = run_seconds > 0.0 ? culprit.gpu_seconds / run_seconds : 0.0;
  std::string text = fmt::format(
      "Rank {}{} keeps the other GPUs waiting {} per step on average, {:.1f} % of all GPU time: "
      "{} GPU-hours in every hour of the job. It is the largest cause in {} of {} step{}.",
      context.rank.index,
      context.place,
      time_in_words(Nanoseconds(std::llround(culprit.exposed_per_step_ms * 1e6))),
      100.0 * lost,
      three_digits(lost * context.ranks),
      culprit.steps,
      context.steps,
      context.steps == 1 ? "" : "s");
  return text + " " + cause_in_words(culprit) + context.caveat;
}

}  // namespace scaleworth::trace
