// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/words.h"

namespace scaleworth::report {
namespace {
/// Without work of which the recordings do not show what it is.
double loss_of(const JobMeans& job, Part part) {
  return job.mean.part(part).mean -
         (part == Part::unattributed ? job.mean.all_unknown_work() : 0.0);
}

/// Without the type of its result and namespaces, 48 characters at most.
std::string short_kernel_name(std::string name) {
  const std::size_t end = std::min(name.find_first_of("<("), name.size());
  const std::size_t space = name.find_last_of(" :", end);
  if (space != std::string::npos && end < name.size()) name.erase(0, space + 1);
  return name.size() <= 48 ? name : name.substr(0, 45) + "...";
}

/// Where the compute goes. Kernels of the classes named below do about one operation per byte that
/// they move, whatever their shapes; a GPU's roofline bends at its peak over its bandwidth, for
/// vector fp32 9.6 FLOP/B on an A100 80 GB (19.5 TFLOP/s, 2.04 TB/s: NVIDIA's datasheet).
std::string compute_line(const Attribution& job) {
  using enum WorkClass;
  std::vector<std::pair<std::string, Nanoseconds>> kernels;
  double whole = 0.0;
  double memory_bound = 0.0;
  for (const ClassifiedTime& one : job.classes) {
    if (one.work_class == communication || one.work_class == copy) continue;
    kernels.insert(kernels.end(), one.largest.begin(), one.largest.end());
    whole += in_seconds(one.time);
    for (const WorkClass simple : {normalization, elementwise, reduction, embedding, optimizer})
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
                           share_text(in_seconds(time) / whole));
  return fmt::format(
      "Of the compute, {} is in kernels that are memory-bound by kind (element-wise, "
      "normalization, reduction, optimizer). Largest: {}.",
      share_text(memory_bound / whole),
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
      share_text(in_seconds(unknown->time) / whole),
      unknown->largest.front().first);
}

std::string waiting_share(const Attribution& attribution) {
  CollectiveTime whole;
  for (const CollectiveSum& sum : attribution.collective_sums) {
    const CollectiveTime one = collective_time(sum);
    whole = {whole.wait + one.wait, whole.transfer + one.transfer, whole.either + one.either};
  }
  const auto share = [&](double CollectiveTime::*time) {
    return whole.share(time) ? share_text(*whole.share(time)) : "n/a";
  };
  if (!(whole.whole() > 0.0)) return "";
  return fmt::format(
      "{} of the time in matched collectives is waiting for a late rank, {} is transfer{}; the "
      "clocks are known to {}.",
      share(&CollectiveTime::wait),
      share(&CollectiveTime::transfer),
      whole.either > 0.0 ? fmt::format(", {} is either", share_text(whole.either / whole.whole()))
                         : "",
      duration_text(attribution.clocks.error));
}

std::string efficiency_line(const Efficiency& efficiency) {
  return fmt::format("Parallel efficiency {} = load balance {} x serialization {} x transfer {}.",
                     share_text(efficiency.parallel),
                     share_text(efficiency.load_balance),
                     share_text(efficiency.serialization),
                     share_text(efficiency.transfer));
}

std::string best_what_if(const Efficiency& efficiency) {
  const auto best = std::ranges::max_element(efficiency.what_if, {}, &Efficiency::WhatIf::saved);
  if (best == efficiency.what_if.end() || best->saved.count() <= 0) return "";
  return fmt::format("Predicted, {}: a step takes {} instead of {}.",
                     change_text(*best),
                     duration_text(best->step_time),
                     duration_text(efficiency.step_time));
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

/// "pipeline stage 3 computes 1.60 times as long as the other stages"; empty for other causes.
std::string computes_text(const Straggler& straggler) {
  if (!straggler.times_as_long) return "";
  return fmt::format("{} computes {:.2f} times as long as {}",
                     capitalised(straggler.unit),
                     *straggler.times_as_long,
                     straggler.level == LateUnit::stage ? "the other stages" : "its peers");
}

/// How often it is late, why, and what a step takes when it is not.
std::string lateness_line(const AttributionView& view, const Straggler& straggler) {
  const StepChoice& choice = view.attribution.step_choice;
  const std::string computes = computes_text(straggler);
  const std::string ranks =
      listed(straggler.members, [](Rank rank) { return fmt::format("{}", rank.index); });
  std::string line = fmt::format(
      "{}, in {} of {} steps{}.",
      computes.empty() ? capitalised(straggler.unit) + ": the largest cause of waiting" : computes,
      straggler.steps,
      choice.steps > choice.excluded ? choice.steps - choice.excluded : choice.steps,
      straggler.level == LateUnit::rank || ranks.empty() ? "" : fmt::format(" (ranks {})", ranks));
  const auto& replay = view.attribution.efficiency;
  if (straggler.saved && replay)
    line += fmt::format(" Without that{} a step takes {} instead of {}.",
                        view.attribution.stragglers.stragglers.size() > 1 ? " alone" : "",
                        duration_text(in_seconds(replay->step_time - *straggler.saved)),
                        duration_text(in_seconds(replay->step_time)));
  // The unit says why.
  if (straggler.level == LateUnit::stage || straggler.level == LateUnit::rotating) return line;
  return line + " " + sentence(straggler.known_cause(FindingId::no_single_cause));
}

bool lost_something(const RankRecording& recording) {
  return std::ranges::any_of(recording.losses, [](const auto& loss) { return loss.second > 0; });
}

const Straggler* worst_straggler(const Attribution& job) {
  return find_in(job.stragglers.stragglers, true, &Straggler::significant);
}

/// What may stand first, with what is lost by it and what to try.
struct Found {
  double lost = 0.0;     // s of the mean step
  std::string sentence;  // finding, amount and action, without a full stop
  std::optional<Advice> advice{};
  bool straggler = false;
  std::optional<Part> part{};
  std::optional<Finding> unknown{};  // work that is not known
};

/// "Copies that nothing hides take 8.54 ms of each step of 25.2 ms (33.9 %): copy from page-locked
/// memory, beside the kernels".
std::string loss_sentence(const AttributionView& view,
                          const std::string& found,
                          double lost,
                          double step,
                          const std::string& action) {
  return fmt::format("{} {} of {} ({}): {}",
                     found,
                     duration_text(lost),
                     step_text(view, step),
                     share_text(lost / step),
                     action);
}

/// The first words of a name from outside.
std::string first_words(const std::string& name) {
  constexpr int most_words = 4;
  std::size_t end = 0;
  for (int words = 0; words < most_words && end != std::string::npos; ++words)
    end = name.find(' ', end + 1);
  return end == std::string::npos ? name : name.substr(0, end) + " ...";
}

/// Against a CPU that is late for `cause`; of nothing known by the range that covers it.
Advice host_advice(const AttributionView& view, HostCause cause) {
  Advice advice = *advice_on(host_subject(view, cause));
  const HostRange* range = cause == HostCause::other ? named_range(view, cause) : nullptr;
  if (range == nullptr) return advice;
  advice.found = fmt::format("The CPU is in {}, which costs", first_words(range->name));
  advice.action = "take that out of the step";
  advice.text = fmt::format(
      "While the GPU has nothing to do, the host is in {}: take that out of the step, or do it on "
      "another thread while the GPU works.",
      range->name);
  return advice;
}

/// Of a step, at most, by the replay.
std::optional<double> gain_if(const AttributionView& view, ReplayChange change) {
  if (!view.attribution.efficiency) return std::nullopt;
  const Efficiency& efficiency = *view.attribution.efficiency;
  const auto* found = find_in(efficiency.what_if, change, &Efficiency::WhatIf::change);
  return found ? share_of(in_seconds(found->saved), in_seconds(efficiency.step_time))
               : std::nullopt;
}

/// "rank 1", "3 more".
std::string others_text(const std::vector<Straggler>& all, const Straggler& straggler) {
  if (all.size() > 2) return fmt::format("{} more", all.size() - 1);
  return &straggler == &all.front() ? all.back().unit : all.front().unit;
}

/// By the replay, as the cost and the what-if are; without one, what the others wait.
Found straggler_found(const AttributionView& view, const Straggler& straggler) {
  const Attribution& job = view.attribution;
  const auto& all = job.stragglers.stragglers;
  const bool idle =
      straggler.cause == LateCause::host &&
      host_subject(view, HostCause::other) == AdviceSubject(OtherFinding::idle_processor);
  auto advice = advice_on(idle ? OtherFinding::idle_rank : late_subject(view, straggler.cause));
  std::string who = straggler.unit + " change";
  if (straggler.level != LateUnit::rotating)
    who = fmt::format(fmt::runtime(advice->found), straggler.unit);
  std::string detail;  // " (data loading)"
  const HostCause* host = nullptr;
  if (straggler.cause == LateCause::host && !straggler.shares.empty() &&
      straggler.shares.front().host)
    host = &*straggler.shares.front().host;
  if (host) advice = host_advice(view, *host);
  // A caveat needs the room.
  if (host && *host != HostCause::other && recording_limits(view).empty())
    detail = fmt::format(" ({})", word_of(*host));
  if (const HostRange* range =
          host && *host == HostCause::other ? named_range(view, *host) : nullptr)
    who = fmt::format("{}'s CPU is in {}", straggler.unit, first_words(range->name));
  if (straggler.saved && job.efficiency)
    advice->gain = share_of(in_seconds(*straggler.saved), in_seconds(job.efficiency->step_time));
  who = capitalised(std::move(who));
  const double step = view.averages ? view.averages->mean.step.mean : 0.0;
  const bool replayed =
      straggler.saved && job.stragglers.saved && (job.efficiency || view.averages);
  const double lost =
      replayed ? in_seconds(*job.stragglers.saved) : straggler.exposed_per_step_ms * 1e-3;
  if (!(lost > 0.0) || !(step > 0.0)) {  // known by its own work alone
    const std::string computes = computes_text(straggler);
    return {0.0, (computes.empty() ? who : computes) + ": " + advice->action, advice, true};
  }
  const std::string costs = replayed && all.size() > 1
                                ? "; it and " + others_text(all, straggler) + " cost"
                                : ", which costs";
  const double whole = replayed && job.efficiency ? in_seconds(job.efficiency->step_time) : step;
  const std::string with_detail =
      loss_sentence(view, who + detail + costs, lost, whole, advice->action);
  return {lost,
          word_count(with_detail) <= most_first_words
              ? with_detail
              : loss_sentence(view, who + costs, lost, whole, advice->action),
          advice,
          true};
}

/// Of a CPU that launches too late by what it did most, where that is half of it.
Found host_found(const AttributionView& view) {
  const MeanLedger& mean = view.averages->mean;
  const double late = loss_of(*view.averages, Part::host_late);
  const auto largest = std::ranges::max_element(mean.host_late_by_cause);
  auto cause = static_cast<HostCause>(largest - mean.host_late_by_cause.begin());
  if (*largest < 0.5 * late) cause = HostCause::other;
  Advice advice = host_advice(view, cause);
  advice.gain = gain_if(view, ReplayChange::hosts_on_time);
  // What the CPU did besides keeps the GPU waiting as well.
  const bool alone = cause != HostCause::other && cause != HostCause::launch_bound;
  double lost = alone ? *largest : late;
  if (const HostRange* range = cause == HostCause::other ? named_range(view, cause) : nullptr)
    lost = std::min(lost, in_seconds(range->time));
  return {late, loss_sentence(view, advice.found, lost, mean.step.mean, advice.action), advice};
}

Found part_found(const AttributionView& view, Part part) {
  if (part == Part::host_late) return host_found(view);
  const bool turns = part == Part::exposed_wait && turns_cost_most(view);
  Advice advice = *advice_on(turns ? AdviceSubject(OtherFinding::pipeline_turns)
                             : part == Part::exposed_transfer ? transfer_subject(view)
                             : part == Part::exposed_copy     ? copy_subject(view)
                                                              : AdviceSubject(part));
  const std::size_t ranks = view.attribution.recordings.size();
  if (part == Part::exposed_undivided && ranks > 1 &&
      !std::cmp_less(ranks, job_ranks(view.attribution)))
    advice.action = "record with torch.profiler, which names partners";
  if (part == Part::exposed_transfer)
    advice.gain = gain_if(view, ReplayChange::hidden_communication);
  const double lost = loss_of(*view.averages, part);
  return {lost,
          loss_sentence(view, advice.found, lost, view.averages->mean.step.mean, advice.action),
          advice};
}

/// What --fabric was asked for, where collectives are slower than it; of their time what nothing
/// hides is lost, in the proportion of what they take longer.
std::optional<Found> slower_than_fabric(const AttributionView& view) {
  if (view.fabric == nullptr || !view.averages) return std::nullopt;
  const auto row = std::ranges::find_if(view.fabric->rows, [](const FabricRow& one) {
    return one.verdict == FabricVerdict::transfer_bound || one.verdict == FabricVerdict::mixed;
  });
  if (row == view.fabric->rows.end()) return std::nullopt;
  const MeanLedger& mean = view.averages->mean;
  const double calls = static_cast<double>(row->calls * row->work.ranks) /
                       static_cast<double>(view.attribution.recordings.size() * mean.steps);
  double exposed = mean.part(Part::exposed_transfer).mean;
  // On ranks that came early transfers end while the last one computes: only what a step is shorter
  // by without transfers stands against the curve.
  if (const auto gain = gain_if(view, ReplayChange::no_transfer))
    exposed = std::min(exposed, *gain * mean.step.mean);
  const double lost = row->excess() * std::min(calls, exposed / *row->transfer);
  if (!(lost > 0.0)) return std::nullopt;
  const Advice advice = *advice_on(OtherFinding::slow_fabric);
  const std::string who =
      fmt::format("The fabric takes {:.2f} times as long as {} measured, which costs",
                  *row->transfer / *row->expected,
                  view.fabric->name);
  return Found{lost, loss_sentence(view, who, lost, mean.step.mean, advice.action), advice};
}

/// All that costs something, the largest first. Waiting is the straggler's where one is named.
std::vector<Found> all_found(const AttributionView& view, const Straggler* straggler) {
  /// Data loading that takes so much of a step comes first, whoever is late.
  constexpr double much_of_a_step = 0.3;
  std::vector<Found> found;
  if (straggler) found.push_back(straggler_found(view, *straggler));
  if (!view.averages) return found;
  const MeanLedger& mean = view.averages->mean;
  for (const Part part : recording_parts) {
    if (part == Part::compute || (straggler && part == Part::exposed_wait)) continue;
    // What may be waiting, and has no action of its own, comes behind a straggler that explains a
    // third of it: the rest of a pipeline's is its bubble.
    if (part == Part::exposed_undivided && straggler &&
        3.0 * found.front().lost >= loss_of(*view.averages, part))
      continue;
    if (loss_of(*view.averages, part) < least_loss_to_act_on * mean.step.mean) continue;
    found.push_back(part_found(view, part));
    found.back().part = part;
  }
  for (std::size_t i = 1; i < unknown_works; ++i)
    if (mean.unknown_work[i] >= least_loss_to_act_on * mean.step.mean) {
      const Finding work = unknown_work(view, static_cast<UnknownWork>(i));
      found.push_back({mean.unknown_work[i], said(work)});
      found.back().unknown = work;
    }
  if (!view.attribution.slow_fabric.empty()) {
    Advice advice = *advice_on(OtherFinding::slow_fabric);
    const SlowFabric& fabric = view.attribution.slow_fabric.front();
    if (fabric.varies) advice.found = "Transfers that take longer in some steps cost";
    // A step is longer by what its slow ranks lose; in the means over all ranks the transfer, and
    // the waiting of the others for them, have that once more.
    const double lost = in_seconds(fabric.per_step) / static_cast<double>(fabric.ranks.size());
    std::erase_if(found, [&](const Found& one) {
      return one.part == Part::exposed_transfer && one.lost < 2.0 * lost;
    });
    found.push_back(
        {lost, loss_sentence(view, advice.found, lost, mean.step.mean, advice.action), advice});
  }
  std::ranges::stable_sort(found, std::greater<>(), &Found::lost);
  const double loading = mean.host_late_by_cause[index_of(HostCause::data_loading)];
  if (loading >= much_of_a_step * mean.step.mean)
    std::stable_partition(
        found.begin(), found.end(), [](const Found& one) { return one.part == Part::host_late; });
  // What was asked for, behind what costs more than its own transfers.
  if (const auto slow = slower_than_fabric(view)) {
    const auto before = [&](const Found& one) {
      return one.lost > slow->lost && one.part != Part::exposed_transfer;
    };
    found.insert(std::ranges::find_if_not(found, before), *slow);
  }
  return found;
}

/// How to do what the first sentence says, and what that saves where it does not say so itself.
std::string action_of(const AttributionView& view, const std::vector<Found>& found) {
  const std::vector<Advice> advice = advice_for(view);
  if (advice.empty() ||
      (!found.empty() && (!found.front().advice || found.front().advice->url.empty())))
    return "";
  return found.empty() || found.front().straggler ? advice.front().text
                                                  : advice_text(advice.front());
}

/// Where nothing is lost and not all of the job is seen, what to record; else empty.
std::string half_seen(const AttributionView& view, const std::vector<Found>& found) {
  const Attribution& job = view.attribution;
  const StepChoice& steps = job.step_choice;
  if (!found.empty()) return "";
  const std::string none = "No loss reaches " + share_text(least_loss_to_act_on);
  if (steps.limit == StepLimit::marked_part)
    return fmt::format(
        "{} in the steps, which hold {} of the GPU time: mark the rest of the work, too.",
        none,
        share_text(1.0 - steps.outside));
  if (const std::size_t ranks = job.recordings.size(); std::cmp_less(ranks, job_ranks(job)))
    return fmt::format(
        "{} on {} of {} ranks; a late rank, which waits for nobody, looks just so: "
        "record all ranks.",
        none,
        ranks,
        job_ranks(job));
  if (steps.limit == StepLimit::few_steps || steps.limit == StepLimit::whole_span)
    return none +
           ", and no whole step is recorded: mark each step (profiler.step() or an NVTX "
           "range) and record three or more.";
  if (steps.pauses > 0)
    return fmt::format("{} in the steps; {} of the time lies between them{}: see what needs it.",
                       none,
                       share_text(steps.between),
                       steps.pause_name.empty() ? "" : fmt::format(" ({})", steps.pause_name));
  return "";
}

std::string first_sentence(const AttributionView& view, const std::vector<Found>& found) {
  const Attribution& job = view.attribution;
  const std::vector<Finding> limits = recording_limits(view);
  if (!job.contradictions.empty())
    return not_reliable(said(job.contradictions.front()),
                        job.contradictions.size(),
                        "check the files, or record again");
  if (job.step_choice.limit == StepLimit::graph_capture)
    return "The capture of a graph is recorded, not its runs: record steps that replay it.";
  if (!view.averages)
    return "No step was found: record three or more, each marked by profiler.step() or an NVTX "
           "range.";
  if (job.step_choice.limit == StepLimit::maybe_layers)
    return "What repeats may be layers and not steps: mark each step (profiler.step() or an NVTX "
           "range) and record three or more.";
  if (job.step_choice.limit == StepLimit::mostly_outside)
    return sentence(limits_of_steps(view).front());
  if (const std::string half = half_seen(view, found); !half.empty()) return half;
  const MeanLedger& mean = view.averages->mean;
  const std::string first =
      !found.empty()
          ? found.front().sentence
          : fmt::format("Healthy: {} of each step of {} is compute, and no loss reaches {}: {}",
                        share_text(mean.share(Part::compute)),
                        duration_text(mean.step.mean),
                        share_text(least_loss_to_act_on),
                        advice_on(Part::compute)->action);
  const std::string limit = limits.empty() ? "" : words_of(limits.front()).brief;
  return if_it_fits(first, limit.empty() ? "" : fmt::format(" ({})", limit)) + ".";
}
}  // namespace

std::vector<Advice> advice_for(const AttributionView& view) {
  constexpr std::size_t most = 3;
  std::vector<Advice> advice;
  for (const Found& one : all_found(view, worst_straggler(view.attribution))) {
    if (!one.advice || one.advice->url.empty()) continue;
    // What frees the late rank and what frees all of them may be one advice: all gain most.
    if (Advice* same = find_in(advice, one.advice->entry, &Advice::entry))
      same->gain = std::max(same->gain, one.advice->gain);
    else if (advice.size() < most)
      advice.push_back(*one.advice);
  }
  if (view.averages && advice.empty() && view.averages->mean.known(Part::compute))
    advice.push_back(*advice_on(Part::compute));
  return advice;
}

Verdict judge_attribution(const AttributionView& view) {
  const Attribution& attribution = view.attribution;
  const Straggler* worst = worst_straggler(attribution);
  const std::vector<Found> found = all_found(view, worst);
  Verdict verdict;
  verdict.headline = first_sentence(view, found);
  verdict.answer = worst != nullptr ? Answer::no
                   : attribution.stragglers.finding == StragglerFinding::no_straggler
                       ? Answer::yes
                       : Answer::unknown;
  std::vector<std::string>& lines = verdict.lines;
  const StepLimit limit = attribution.step_choice.limit;
  const bool by_figures = attribution.contradictions.empty() && limit != StepLimit::maybe_layers &&
                          limit != StepLimit::mostly_outside;
  std::optional<Finding> headline;  // where that is what is found of the recordings
  if (by_figures && !found.empty()) headline = found.front().unknown;
  if (limit == StepLimit::mostly_outside && attribution.contradictions.empty() && view.averages)
    headline = limits_of_steps(view).front();
  for (const Finding& one : recording_limits(view)) {
    if (one == headline) continue;
    const bool goes_on = headline && one.id == FindingId::work_of_unknown_division &&
                         one.arguments.front() == *headline;
    lines.push_back(sentence(goes_on ? FindingId::division_unknown : one));
  }
  const bool straggler_first = !found.empty() && found.front().straggler;
  if (worst != nullptr) {
    lines.push_back(lateness_line(view, *worst));
    lines.push_back(cost_line(view, *worst));
    if (const auto& reason = attribution.clocks.reason; reason && !attribution.collectives.empty())
      lines.push_back(sentence(Finding(FindingId::clocks_not_comparable, *reason)));
  } else if (attribution.recordings.size() > 1) {
    lines.push_back(sentence(attribution.stragglers.abstention));
  }
  if (!attribution.slow_fabric.empty())
    lines.push_back(sentence(attribution.slow_fabric.front().found));
  if (limit == StepLimit::mostly_outside && !found.empty() && !straggler_first)
    lines.push_back("Within the steps: " + found.front().sentence + ".");
  // One that is half seen asks for another recording.
  if (by_figures && half_seen(view, found).empty()) verdict.action = action_of(view, found);
  if (view.averages && found.empty()) lines.push_back(compute_line(attribution));
  lines.push_back(unmatched_line(attribution));
  lines.push_back(waiting_share(attribution));
  if (attribution.efficiency) {
    lines.push_back(efficiency_line(*attribution.efficiency));
    if (!straggler_first || !worst->saved) lines.push_back(best_what_if(*attribution.efficiency));
  }
  if (std::ranges::any_of(attribution.recordings, lost_something)) {
    lines.push_back("The recordings are not whole: what was lost stands at the end.");
  }
  std::erase(lines, "");
  return verdict;
}
}  // namespace scaleworth::report
