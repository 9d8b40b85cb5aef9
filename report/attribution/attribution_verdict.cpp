// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/names.h"

namespace scaleworth::report {
namespace {

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

/// Data loading that takes so much of a step comes first, whoever is late.
constexpr double much_of_a_step = 0.3;

constexpr const char* undecided = "no single cause explains 80 % of its lateness";

/// By the replay, as the cost and the what-if are; without one, what the others wait.
std::string straggler_headline(const AttributionView& view, const Straggler& straggler) {
  const Attribution& job = view.attribution;
  const auto& all = job.stragglers.stragglers;
  if (straggler.saved && job.stragglers.saved && (job.efficiency || view.averages)) {
    const double whole =
        job.efficiency ? in_seconds(job.efficiency->step_time) : view.averages->mean.step.mean;
    const double saved = in_seconds(*job.stragglers.saved);
    const bool rotating = straggler.level == LateUnit::rotating;
    return fmt::format("Without {}{}{} a step takes {} instead of {} ({} less); {}.",
                       rotating ? "changes in " : "the lateness of ",
                       straggler.unit,
                       all.size() > 1 ? fmt::format(" and {} more", all.size() - 1) : "",
                       seconds(whole - saved),
                       seconds(whole),
                       percent(saved / whole),
                       straggler.cause_text(undecided));
  }
  const double lost = straggler.exposed_per_step_ms * 1e-3;
  if (!(lost > 0.0)) {  // known by its own work alone
    const std::string& found = straggler.sentence;
    return found.substr(0, std::min(found.find(", in "), found.size())) + "; " +
           straggler.cause_text(undecided) + ".";
  }
  const double step = view.averages ? view.averages->mean.step.mean : 0.0;
  return fmt::format("The others wait {} per step for {}{}; {}.",
                     seconds(lost),
                     straggler.unit,
                     step > 0.0 ? fmt::format(" ({} of the step)", percent(lost / step)) : "",
                     straggler.cause_text(undecided));
}

/// Without work of which the recordings do not show what it is.
double loss_of(const JobMeans& job, Part part) {
  return job.mean.part(part).mean -
         (part == Part::unattributed ? job.mean.all_unknown_work() : 0.0);
}

Part largest_loss(const JobMeans& job) {
  return *std::ranges::max_element(
      recording_parts.begin() + 1, recording_parts.end(), {}, [&](Part part) {
        return loss_of(job, part);
      });
}

std::string loss_name(Part part) {
  return part == Part::exposed_undivided ? "exposed communication" : word_of(part);
}

std::string step_line(const JobMeans& job) {
  const Part part = largest_loss(job);
  return fmt::format(
      "Of the average step of {}, {} is compute; the largest loss is {}, {} ({}).",
      seconds(job.mean.step.mean),
      job.mean.known(Part::compute) ? percent(job.mean.share(Part::compute)) : "an unknown part",
      loss_name(part),
      seconds(loss_of(job, part)),
      percent(share_of(loss_of(job, part), job.mean.step.mean).value_or(0.0)));
}

/// "Host late costs most: ..." where something else costs more than waiting for the straggler.
std::string loss_headline(const AttributionView& view, Part part) {
  const JobMeans& job = *view.averages;
  std::string most;
  const auto& causes = job.mean.host_late_by_cause;
  const auto largest = std::ranges::max_element(causes);
  if (part == Part::host_late && *largest >= 0.5 * job.mean.part(part).mean) {
    const auto cause = static_cast<HostCause>(largest - causes.begin());
    const HostRange* range = named_range(view, cause);
    if (cause != HostCause::other || range == nullptr)
      most = fmt::format(", most of it {}", word_of(cause));
    if (range != nullptr)
      most += fmt::format(", {} of it in {}", seconds(range->time), range->name);
  }
  return fmt::format("{} costs most: {} of each step of {} ({}){}.",
                     capitalised(loss_name(part)),
                     seconds(job.mean.part(part).mean),
                     seconds(job.mean.step.mean),
                     percent(job.mean.share(part)),
                     most);
}

/// Nothing is worth an action.
bool healthy(const AttributionView& view) {
  return view.averages && view.attribution.slow_fabric.empty() &&
         view.attribution.step_choice.limit != StepLimit::maybe_layers &&
         view.averages->mean.all_unknown_work() <
             least_loss_to_act_on * view.averages->mean.step.mean &&
         loss_of(*view.averages, largest_loss(*view.averages)) <
             least_loss_to_act_on * view.averages->mean.step.mean;
}

/// Without the type of its result and namespaces, 48 characters at most.
std::string short_kernel_name(std::string name) {
  const std::size_t end = std::min(name.find_first_of("<("), name.size());
  const std::size_t space = name.find_last_of(" :", end);
  if (space != std::string::npos && end < name.size()) name.erase(0, space + 1);
  return name.size() <= 48 ? name : name.substr(0, 45) + "...";
}

std::string healthy_headline(const JobMeans& job) {
  return fmt::format("Healthy: {} of each step of {} is compute, and no loss reaches {}. ",
                     percent(job.mean.share(Part::compute)),
                     seconds(job.mean.step.mean),
                     percent(least_loss_to_act_on));
}

/// Where the compute goes. Kernels of the classes named below do about one operation per byte that
/// they move, whatever their shapes; a GPU's roofline bends at its peak over its bandwidth, for
/// vector fp32 9.6 FLOP/B on an A100 80 GB (19.5 TFLOP/s, 2.04 TB/s: NVIDIA's datasheet).
std::string compute_line(const Attribution& job) {
  std::vector<std::pair<std::string, Nanoseconds>> kernels;
  double whole = 0.0;
  double memory_bound = 0.0;
  for (const ClassifiedTime& one : job.classes) {
    if (one.work_class == WorkClass::communication || one.work_class == WorkClass::copy) continue;
    kernels.insert(kernels.end(), one.largest.begin(), one.largest.end());
    whole += in_seconds(one.time);
    for (const WorkClass simple : {WorkClass::normalization,
                                   WorkClass::elementwise,
                                   WorkClass::reduction,
                                   WorkClass::embedding,
                                   WorkClass::optimizer})
      if (one.work_class == simple) memory_bound += in_seconds(one.time);
  }
  if (kernels.empty()) return "";
  std::ranges::sort(kernels, std::greater<>(), &decltype(kernels)::value_type::second);
  kernels.resize(std::min<std::size_t>(kernels.size(), 3));
  std::string largest;
  for (const auto& [name, time] : kernels)
    largest += fmt::format("{}{} {}",
                           largest.empty() ? "" : ", ",
                           short_kernel_name(name),
                           percent(in_seconds(time) / whole));
  return fmt::format(
      "Of the compute, {} is in kernels that are memory-bound by kind (element-wise, "
      "normalization, reduction, optimizer). Largest: {}.",
      percent(memory_bound / whole),
      largest);
}

/// Kernels that no rule knows, where they are much of the compute.
std::string unmatched_line(const Attribution& job) {
  constexpr double much = 0.2;
  double whole = 0.0;
  const ClassifiedTime* unknown = nullptr;
  for (const ClassifiedTime& one : job.classes) {
    if (one.work_class == WorkClass::communication || one.work_class == WorkClass::copy) continue;
    whole += in_seconds(one.time);
    if (one.work_class == WorkClass::unclassified) unknown = &one;
  }
  if (unknown == nullptr || unknown->largest.empty() || in_seconds(unknown->time) < much * whole)
    return "";
  return fmt::format(
      "{} of the compute is in kernels that match no rule, the largest of them {}: if they do "
      "something else, say what with --rules FILE.",
      percent(in_seconds(unknown->time) / whole),
      unknown->largest.front().first);
}

/// Why no rank is named; what a rank that is alone loses, only it can have caused. Of one that does
/// not communicate nobody asks.
std::string no_straggler_named(const AttributionView& view) {
  const std::string& reason = view.attribution.stragglers.abstention;
  const bool alone = view.attribution.recordings.size() == 1 && view.averages;
  std::string loss;
  if (alone && !healthy(view)) loss = loss_headline(view, largest_loss(*view.averages));
  if (alone && loss_of(*view.averages, Part::exposed_undivided) == 0.0 &&
      view.attribution.collectives.empty())
    return loss;
  if (!loss.empty()) loss += ' ';
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

std::string efficiency_line(const Efficiency& efficiency) {
  return fmt::format("Parallel efficiency {} = load balance {} x serialization {} x transfer {}.",
                     percent(efficiency.parallel),
                     percent(efficiency.load_balance),
                     percent(efficiency.serialization),
                     percent(efficiency.transfer));
}

std::string best_what_if(const Efficiency& efficiency) {
  const auto best = std::ranges::max_element(efficiency.what_if, {}, &Efficiency::WhatIf::saved);
  if (best == efficiency.what_if.end() || best->saved.count() <= 0) return "";
  return fmt::format("Predicted, {}: a step takes {} instead of {}.",
                     change_text(*best),
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

bool lost_something(const RankRecording& recording) {
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
    const bool loader =
        view.averages &&
        view.averages->mean.host_late_by_cause[static_cast<std::size_t>(HostCause::data_loading)] >=
            much_of_a_step * view.averages->mean.step.mean;
    if (loader)
      verdict.headline = loss_headline(view, Part::host_late) + " " + verdict.headline;
    else if (part != Part::exposed_wait && loss_of(*view.averages, part) > lost)
      verdict.headline = loss_headline(view, part) + " " + verdict.headline;
    lines = {worst->sentence, cost_line(view, *worst)};
  } else if (attribution.stragglers.finding == StragglerFinding::no_straggler) {
    verdict.answer = Answer::yes;
    verdict.headline = sentence(attribution.stragglers.abstention);
    if (view.averages && largest_loss(*view.averages) == Part::host_late && !healthy(view))
      verdict.headline = loss_headline(view, Part::host_late) + " " + verdict.headline;
  } else {
    verdict.headline = no_straggler_named(view);
  }
  if (worst == stragglers.end() && healthy(view))
    verdict.headline = healthy_headline(*view.averages) + verdict.headline;
  while (verdict.headline.ends_with(' ')) verdict.headline.pop_back();
  if (!attribution.slow_fabric.empty()) lines.push_back(attribution.slow_fabric.front().sentence);
  if (const std::vector<Advice> advice = advice_for(view); !advice.empty())
    verdict.action = advice_text(advice.front());
  if (view.averages) lines.push_back(step_line(*view.averages));
  if (view.averages && healthy(view)) lines.push_back(compute_line(attribution));
  lines.push_back(unmatched_line(attribution));
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
