// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/names.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
using attribution::Attribution;
using attribution::Straggler;

/// Of a double, in seconds, or of nanoseconds.
template <class Time>
std::string seconds(Time time) {
  return format_quantity(number(time), Unit::seconds);
}

std::string percent(double share) {
  return format_quantity(number(share), Unit::percent);
}

std::string sentence(std::string text) {
  text = capitalised(std::move(text));
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

/// Text of the cause with its largest detail: "late host (data loading)".
std::string cause_text(const Straggler& straggler) {
  if (straggler.cause == attribution::LateCause::undecided) {
    return "no single cause explains 80 % of its lateness";
  }
  std::string text = std::string("cause: ") + attribution::late_cause_name(straggler.cause);
  const auto share = std::ranges::find_if(straggler.shares, [&](const auto& one) {
    return one.cause == straggler.cause && !one.detail.empty();
  });
  return share == straggler.shares.end() ? text : text + " (" + share->detail + ")";
}

/// By the replay, as the cost and the what-if are; without one, what the others wait.
std::string straggler_headline(const AttributionView& view, const Straggler& straggler) {
  const Attribution& job = view.attribution;
  const auto& all = job.stragglers.stragglers;
  if (straggler.saved && job.stragglers.saved && job.efficiency) {
    const double whole = in_seconds(job.efficiency->step_time);
    const double saved = in_seconds(*job.stragglers.saved);
    const bool rotating = straggler.level == attribution::LateUnit::rotating;
    return fmt::format("Without {}{}{} a step takes {} instead of {} ({} less); {}.",
                       rotating ? "changes in " : "the lateness of ",
                       straggler.unit,
                       all.size() > 1 ? fmt::format(" and {} more", all.size() - 1) : "",
                       seconds(whole - saved),
                       seconds(whole),
                       percent(saved / whole),
                       cause_text(straggler));
  }
  const double lost = straggler.exposed_per_step_ms * 1e-3;
  const double step = view.averages ? view.averages->mean.step.mean : 0.0;
  return fmt::format("The others wait {} per step for {}{}; {}.",
                     seconds(lost),
                     straggler.unit,
                     step > 0.0 ? fmt::format(" ({} of the step)", percent(lost / step)) : "",
                     cause_text(straggler));
}

Part largest_loss(const AveragedJob& job) {
  return *std::ranges::max_element(
      recording_parts.begin() + 1, recording_parts.end(), {}, [&](Part part) {
        return job.mean.part(part).mean;
      });
}

std::string loss_name(Part part) {
  return part == Part::exposed_undivided ? "exposed communication" : part_name(part);
}

std::string step_line(const AveragedJob& job) {
  const Part part = largest_loss(job);
  return fmt::format("Of the average step of {}, {} is compute; the largest loss is {}, {} ({}).",
                     seconds(job.mean.step.mean),
                     percent(job.mean.share(Part::compute)),
                     loss_name(part),
                     seconds(job.mean.part(part).mean),
                     percent(job.mean.share(part)));
}

/// "Host late costs most: ..." where something else costs more than waiting for the straggler.
std::string loss_headline(const AveragedJob& job, Part part) {
  std::string most;
  const auto& causes = job.mean.host_late_by_cause;
  const auto largest = std::ranges::max_element(causes);
  if (part == Part::host_late && *largest >= 0.5 * job.mean.part(part).mean) {
    const auto cause = static_cast<attribution::HostCause>(largest - causes.begin());
    most = fmt::format(", most of it {}", attribution::host_cause_name(cause));
  }
  return fmt::format("{} costs most: {} of each step of {} ({}){}.",
                     capitalised(loss_name(part)),
                     seconds(job.mean.part(part).mean),
                     seconds(job.mean.step.mean),
                     percent(job.mean.share(part)),
                     most);
}

/// Why no rank is named; what a rank that is alone loses, only it can have caused.
std::string no_straggler_named(const AttributionView& view) {
  const std::string& reason = view.attribution.stragglers.abstention;
  std::string loss;
  if (view.attribution.recordings.size() == 1 && view.averages)
    loss = loss_headline(*view.averages, largest_loss(*view.averages)) + " ";
  return loss + "No straggler is named: " +
         (reason.empty() ? "no waiting is beyond the clock error." : sentence(reason));
}

std::string waiting_share(const Attribution& attribution) {
  CollectiveTime whole;
  for (const auto& collective : attribution.collectives) whole.add(collective);
  const auto share = [&](double CollectiveTime::*time) {
    return whole.share(time) ? percent(*whole.share(time)) : "n/a";
  };
  if (!(whole.whole() > 0.0)) return "";
  return fmt::format(
      "{} of the time in matched collectives is waiting for a late rank, {} is transfer{}; the "
      "clocks are known to {}.",
      share(&CollectiveTime::wait),
      share(&CollectiveTime::transfer),
      whole.either > 0.0 ? fmt::format(", {} is either", percent(whole.either / whole.whole()))
                         : "",
      seconds(attribution.clocks.error));
}

std::string efficiency_line(const attribution::Efficiency& efficiency) {
  return fmt::format("Parallel efficiency {} = load balance {} x serialization {} x transfer {}.",
                     percent(efficiency.parallel),
                     percent(efficiency.load_balance),
                     percent(efficiency.serialization),
                     percent(efficiency.transfer));
}

std::string best_what_if(const attribution::Efficiency& efficiency) {
  const auto best =
      std::ranges::max_element(efficiency.what_if, {}, &attribution::Efficiency::WhatIf::saved);
  if (best == efficiency.what_if.end() || best->saved.count() <= 0) return "";
  return fmt::format("Predicted, {}: the slowest rank's step takes {} instead of {}.",
                     best->change,
                     seconds(best->step_time),
                     seconds(efficiency.step_time));
}

std::string cost_line(const AttributionView& view, const Straggler& straggler) {
  const auto lost = lost_per_hour(view, straggler);
  if (!lost) return "";
  return fmt::format(
      "{} {} costs {} of the {} that an hour of the job's {} ranks costs.",
      straggler.saved ? "The lateness of" : "Waiting for",
      straggler.unit,
      format_money(number(*lost), view.options.currency),
      format_money(number(*lost / *share_of_gpu_time(view, straggler)), view.options.currency),
      job_ranks(view.attribution));
}

bool lost_something(const attribution::RankRecording& recording) {
  return std::ranges::any_of(recording.losses, [](const auto& loss) { return loss.second > 0; });
}
}  // namespace

Verdict judge_attribution(const AttributionView& view) {
  const Attribution& attribution = view.attribution;
  const auto& stragglers = attribution.stragglers.stragglers;
  const auto worst = std::ranges::find_if(stragglers, &Straggler::significant);
  Verdict verdict;
  std::vector<std::string>& lines = verdict.lines;
  if (worst != stragglers.end()) {
    verdict.answer = Answer::no;
    verdict.headline = straggler_headline(view, *worst);
    // A host that is late everywhere may cost more than any one rank.
    const Part part = view.averages ? largest_loss(*view.averages) : Part::exposed_wait;
    const double lost =
        worst->saved ? in_seconds(*worst->saved) : worst->exposed_per_step_ms * 1e-3;
    if (part != Part::exposed_wait && view.averages->mean.part(part).mean > lost) {
      verdict.headline = loss_headline(*view.averages, part) + " " + verdict.headline;
    }
    lines = {worst->sentence, cost_line(view, *worst)};
  } else if (attribution.stragglers.finding == attribution::StragglerFinding::no_straggler) {
    verdict.answer = Answer::yes;
    verdict.headline = sentence(attribution.stragglers.abstention);
  } else {
    verdict.headline = no_straggler_named(view);
  }
  if (!attribution.slow_fabric.empty()) lines.push_back(attribution.slow_fabric.front().sentence);
  if (view.averages) lines.push_back(step_line(*view.averages));
  lines.push_back(waiting_share(attribution));
  if (attribution.efficiency) {
    lines.push_back(efficiency_line(*attribution.efficiency));
    lines.push_back(best_what_if(*attribution.efficiency));
  }
  if (std::ranges::any_of(attribution.recordings, lost_something)) {
    lines.push_back("The recordings are not whole: what was lost stands at the end.");
  }
  std::erase(lines, "");
  verdict.headline = recording_limits(view) + verdict.headline;
  return verdict;
}
}  // namespace scaleworth::report
