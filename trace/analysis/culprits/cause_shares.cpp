// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/culprits/cause_shares.h"

#include "trace/analysis/bounded_sum.h"
#include "trace/analysis/rank_numbers.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using attribution::CauseShare;
using attribution::LateCause;

double nanoseconds_of(nanoseconds time) {
  return static_cast<double>(time.count());
}

double mean_of(nanoseconds time, std::int64_t count) {
  return count == 0 ? 0.0 : nanoseconds_of(time) / static_cast<double>(count);
}

/// Kernels' differences by their two reasons, in ns, with what contributes most to each.
struct KernelDifference {
  double slower = 0.0;
  double more = 0.0;
  std::string slower_detail;
  std::string more_detail;
};

std::string shortened(std::string_view name) {
  constexpr std::size_t longest = 60;
  if (name.size() <= longest) return std::string(name);
  return std::string(name.substr(0, longest - 3)) + "...";
}

KernelDifference compare_kernels(const std::map<std::string_view, KernelPair>& kernels) {
  KernelDifference difference;
  double largest_slower = 0.0;
  double largest_more = 0.0;
  double equal_late = 0.0;
  double equal_compared = 0.0;
  std::string slowest;
  for (const auto& [name, pair] : kernels) {
    const double late_mean = mean_of(pair.late_time, pair.late_count);
    const double compared_mean = mean_of(pair.compared_time, pair.compared_count);
    const auto both = static_cast<double>(std::min(pair.late_count, pair.compared_count));
    const double slower = both * (late_mean - compared_mean);
    const double more =
        (nanoseconds_of(pair.late_time) - nanoseconds_of(pair.compared_time)) - slower;
    difference.slower += slower;
    difference.more += more;
    equal_late += both * late_mean;
    equal_compared += both * compared_mean;
    if (slower > largest_slower) {
      largest_slower = slower;
      slowest = fmt::format(", most of it {} ({:+.0f} %)",
                            shortened(name),
                            100.0 * (late_mean / compared_mean - 1.0));
    }
    if (more > largest_more) {
      largest_more = more;
      difference.more_detail = fmt::format(
          "{} instead of {} times {}", pair.late_count, pair.compared_count, shortened(name));
    }
  }
  if (equal_compared > 0.0)
    difference.slower_detail = fmt::format(
        "equal kernels take {:+.1f} %{}", 100.0 * (equal_late / equal_compared - 1.0), slowest);
  return difference;
}

void add_compute(const Excess& excess, std::vector<CauseShare>& shares) {
  const KernelDifference kernels = compare_kernels(excess.kernels);
  // The sum over kernels counts what runs side by side twice: only its proportions are used.
  const double sum = kernels.slower + kernels.more;
  const double slower = sum == 0.0 ? 1.0 : std::clamp(kernels.slower / sum, 0.0, 1.0);
  const nanoseconds part(std::llround(nanoseconds_of(excess.compute) * slower));
  shares.push_back({LateCause::slower_kernels, part, kernels.slower_detail});
  shares.push_back({LateCause::more_work, excess.compute - part, kernels.more_detail});
}

std::string waited_for(const Excess& excess, const RankNumbers& numbers) {
  std::vector<std::pair<nanoseconds, std::uint32_t>> ranks;
  for (const auto& [rank, time] : excess.waited_for)
    if (time > nanoseconds::zero()) ranks.emplace_back(-time, rank);
  std::sort(ranks.begin(), ranks.end());
  if (ranks.empty()) return "";
  return "for " + numbers.names({ranks.front().second}) + (ranks.size() > 1 ? " most" : "");
}

void add_host(const Excess& excess, std::vector<CauseShare>& shares) {
  const auto largest = std::max_element(excess.host.begin(), excess.host.end());
  std::string detail;
  if (*largest > nanoseconds::zero())
    detail = attribution::host_cause_name(
        static_cast<attribution::HostCause>(largest - excess.host.begin()));
  shares.push_back({LateCause::host, excess.host_total(), detail});
}

}  // namespace

void add_excess(Excess& sum, const Excess& one) {
  add_bounded(sum.compute, one.compute);
  add_bounded(sum.copies, one.copies);
  add_bounded(sum.transfer, one.transfer);
  add_bounded(sum.waited, one.waited);
  add_bounded(sum.profiler, one.profiler);
  add_bounded(sum.other, one.other);
  add_bounded(sum.unrecorded, one.unrecorded);
  for (std::size_t cause = 0; cause < sum.host.size(); ++cause)
    add_bounded(sum.host[cause], one.host[cause]);
  for (const auto& [rank, time] : one.waited_for) add_bounded(sum.waited_for[rank], time);
  for (const auto& [name, pair] : one.kernels) {
    KernelPair& total = sum.kernels[name];
    total.late_count += pair.late_count;
    total.compared_count += pair.compared_count;
    add_bounded(total.late_time, pair.late_time);
    add_bounded(total.compared_time, pair.compared_time);
  }
}

std::vector<CauseShare> cause_shares(const Excess& excess,
                                     const std::optional<std::string>& stage,
                                     const RankNumbers& numbers) {
  std::vector<CauseShare> shares;
  if (stage) {
    shares.push_back({LateCause::pipeline_stage, excess.compute, *stage});
  } else {
    add_compute(excess, shares);
  }
  add_host(excess, shares);
  shares.push_back({LateCause::copies, excess.copies, "copies that nothing hides"});
  shares.push_back({LateCause::communication, excess.transfer, "transfers that nothing hides"});
  shares.push_back({LateCause::indirect, excess.waited, waited_for(excess, numbers)});
  shares.push_back({LateCause::profiler, excess.profiler, ""});
  shares.push_back({LateCause::undecided, excess.other, "gaps and dependencies on the GPU"});
  shares.push_back({LateCause::undecided,
                    excess.unrecorded,
                    "late at its first collective in the recording: what was before is not in it"});
  std::erase_if(shares, [](const CauseShare& share) { return share.time == nanoseconds::zero(); });
  std::stable_sort(shares.begin(), shares.end(), [](const CauseShare& a, const CauseShare& b) {
    return a.time > b.time;
  });
  return shares;
}

LateCause named_cause(const std::vector<CauseShare>& shares) {
  constexpr double enough = 0.8;
  nanoseconds sum{};
  for (const CauseShare& share : shares) add_bounded(sum, share.time);
  if (shares.empty() || sum <= nanoseconds::zero()) return LateCause::undecided;
  const CauseShare& largest = shares.front();
  return nanoseconds_of(largest.time) >= enough * nanoseconds_of(sum) ? largest.cause
                                                                      : LateCause::undecided;
}

}  // namespace scaleworth::trace
