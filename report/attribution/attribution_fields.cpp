// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/render.h"
#include "src/core/files/fields.h"

#include <nlohmann/json.hpp>

namespace scaleworth::report {
namespace {

constexpr JsonHead attribution_head{
    "attribution.schema.json",
    "scaleworth attribute --format json",
    "Where the time of a job's recordings went, because of whom, and how sure that is. Times are "
    "nanoseconds (_ns) on the common clock; ratios are fractions of 1. What does not exist or "
    "could not be had is null.",
    attribution_schema_version,
    "scaleworth attribution"};

constexpr VerdictWords verdict_words{.yes = "no straggler",
                                     .no = "straggler",
                                     .unknown = "not known",
                                     .answers = "straggler|no straggler|not known",
                                     .headline = "",
                                     .sentence = ""};

void steps(Fields& json, const AttributionView& view) {
  const auto& choice = view.attribution.step_choice;
  FIELDS(json, or_null(choice.source), or_null(choice.sentence));
  json("found", choice.steps);
  json("excluded", choice.excluded, "Boundary and warm-up steps: kept, not averaged.");
  json.sentence("true: no step counts as steady state, the averages are of what there is.");
  json("averages_are_of_excluded_steps", view.averages && view.averages->only_excluded);
}

double nanoseconds(double seconds) {
  return seconds * 1e9;
}

void spread(Fields& json, const Spread& value) {
  json.named("spread",
             "Mean with its extremes: over steps, and in the mean over ranks: over ranks.");
  json("mean_ns", nanoseconds(value.mean), or_null);
  json("least_ns", nanoseconds(value.least), or_null);
  json("most_ns", nanoseconds(value.most), or_null);
}

/// Means in seconds by name: "data loading" becomes "data_loading_ns".
template <class Kind, std::size_t N>
auto shares(const std::array<double, N>& seconds, const char* (*name)(Kind)) {
  return [&seconds, name](Fields& json) {
    for (std::size_t i = 0; i < N; ++i) {
      std::string key = name(static_cast<Kind>(i));
      std::replace_if(
          key.begin(), key.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
      json(key + "_ns", nanoseconds(seconds[i]), or_null);
    }
  };
}

void averaged(Fields& json, const MeanLedger& ledger) {
  json.named("averaged");
  json("rank", ledger.rank, "null: the mean over ranks.");
  json("steps", ledger.steps);
  json.object("step", ledger.step, spread);
  json.object("parts", [&](Fields& parts) {
    for (const Part part : recording_parts)
      parts.object(part_key(part), ledger.known(part), spread);
  });
  json.sentence("Adds up to compute.");
  json.object("compute_by_class", shares(ledger.compute_by_class, work_class_name));
  json.object("host_late_by_cause",
              shares(ledger.host_late_by_cause, host_cause_name),
              "Adds up to host_late.");
  json.sentence("Ran under compute and cost nothing.");
  const auto overlap = [&](Part part) {
    const auto time = ledger.known_overlap(part);
    return time ? std::optional(nanoseconds(*time)) : std::nullopt;
  };
  json("overlapped_transfer_ns", overlap(Part::exposed_transfer));
  json("overlapped_wait_ns", overlap(Part::exposed_wait));
  json.sentence("Wait or transfer: below the clock error, or partners without a recording.");
  json("overlapped_undivided_ns", nanoseconds(ledger.overlapped_undivided), or_null);
  json("overlapped_copy_ns", nanoseconds(ledger.overlapped_copy), or_null);
  json("communication_ns", nanoseconds(ledger.communication), "Exposed and hidden.", or_null);
}

void step_ledger(Fields& json, const Attribution& job, const StepLedger& ledger) {
  json.named("ledger");
  FIELDS(json, ledger.step, ledger.rank, ledger.start, ledger.end);
  json("excluded", ledger.excluded, "Why it is not averaged.", or_null);
  for (const Part part : recording_parts)
    json(part_key(part), known_time(part, ledger.part(part), ledger.part(Part::exposed_undivided)));
  json.sentence("Divides exposed_wait_ns, together with uncharged_wait_ns.");
  json.array("waited_for", ledger.waited_for, [&](Fields& entry, const auto& one) {
    // The schema is derived from one element of each list, without recordings.
    entry("rank", job.recordings.empty() ? Rank{} : rank_at(job, one.place));
    entry("time_ns", one.time);
  });
  json("uncharged_wait_ns", ledger.uncharged_wait, "For no known rank.");
}

void straggler(Fields& json, const AttributionView& view, const Straggler& one) {
  json.named("straggler");
  json("rank", one.rank, "Of several the first.");
  json("level", late_unit_name(one.level), "rank, pipeline stage, host, replica or rotating load.");
  json("unit", one.unit, or_null);
  json("members", mapped(one.members, &Rank::index), "Ranks of a level above rank.");
  json("saved_ns", one.saved, "Of the mean step, by a replay in which it alone is not late.");
  json("waited_ns", one.waited, "By all ranks, exposed or not.");
  json("exposed_ns", one.exposed);
  json("exposed_per_step_ms", one.exposed_per_step_ms, "Of the average waiting rank.", or_null);
  json("gpu_seconds",
       one.gpu_seconds,
       "Its part of the stragglers' saved_ns, over GPUs and steps; without replay exposed_ns.",
       or_null);
  json("share_of_gpu_time", share_of_gpu_time(view, one));
  json("lost_usd_per_hour", lost_per_hour(view, one), "Per hour of the whole job.");
  json("collectives", one.collectives, "At which it came last.");
  json("steps", one.steps, "In which it is the largest cause of waiting.");
  json("significant", one.significant, "Beyond the clock error.");
  json.sentence("Explains at least 80 % of the lateness, else undecided.");
  json("cause", late_cause_name(one.cause));
  json.array("shares", one.shares, [](Fields& entry, const auto& share) {
    entry("cause", late_cause_name(share.cause));
    FIELDS(entry, share.time, or_null(share.detail));
  });
  json("sentence", one.sentence, or_null);
}

/// By Recurrence.
constexpr std::array recurrences{"one rank", "rotating", "too few steps"};

void stragglers(Fields& json, const AttributionView& view) {
  const auto& report = view.attribution.stragglers;
  json("abstention", report.abstention, "Why no rank is named.", or_null);
  json("recurrence",
       recurrences[static_cast<std::size_t>(report.recurrence)],
       one_of("one rank|rotating|too few steps"));
  json("saved_ns", report.saved, "Of the mean step, by a replay in which none of them is late.");
  const auto priced = [&](Fields& one, const auto& named) { straggler(one, view, named); };
  json.array("stragglers", report.stragglers, priced, "The most expensive first.");
  std::vector<PairWait> matrix = report.pairs;
  std::erase_if(matrix, [](const PairWait& one) { return one.total.count() == 0; });
  json.sentence("Entries that are not zero, over the steps that count.");
  json.array("matrix", matrix, [](Fields& entry, const PairWait& one) {
    FIELDS(entry, one.rank, one.waited_for, one.exposed, one.total);
  });
}

void nccl_use(Fields& json, const NcclUse& use) {
  json.named("nccl_use",
             "What NCCL reported of this rank's part; null where it reported nothing. Times are "
             "means over its network operations (one channel's sends or receives to one peer "
             "each), which run side by side.");
  json("network_operations", use.operations);
  json("sent_bytes", use.sent_bytes);
  json("operation_ns", use.mean(use.duration));
  json.sentence("For data of the own GPU, or for it to take what came.");
  json("gpu_wait_ns", use.mean(use.gpu_wait));
  json("peer_wait_ns", use.mean(use.peer_wait), "For the receiver's credit.");
  json.sentence("For the network, or for what the peer had not sent yet.");
  json("network_wait_ns", use.mean(use.network_wait));
  json.sentence("Between the ends of the first and of the last channel of the kernel.");
  json("channels_apart_ns", use.channels_apart);
}

void collective(Fields& json, const CollectiveWait& one) {
  json.named("collective");
  json("kind", collective_kind_name(one.kind));
  json("group", one.group, or_null);
  json("step", one.step < 0 ? std::nullopt : std::optional(one.step));
  json("index", one.index);
  json("size_bytes", one.bytes);
  json.sentence("As NCCL said that it chose; null where it did not say.");
  FIELDS(json, or_null(one.algorithm), or_null(one.protocol), one.channels);
  json("last_arriver", one.last_arriver, "null: a tie within the clock error, or one-sided.");
  FIELDS(json, one.spread_of_starts, one.spread_of_ends);
  json.sentence("The last arriver's duration: an estimate of the pure transfer.");
  json("shortest_ns", one.shortest);
  json.array("participants", one.participants, [](Fields& entry, const auto& part) {
    FIELDS(entry, part.rank, part.start, part.end);
    entry("wait_ns", part.wait, "At least, where transfer_ns is null.");
    entry.sentence("null: not all partners left recordings, what follows the wait may be waiting.");
    entry("transfer_ns", part.known ? std::optional(part.transfer) : std::nullopt);
    entry.object("nccl", part.nccl, nccl_use);
  });
}

void efficiency(Fields& json, const Efficiency& one) {
  json.named("efficiency",
             "parallel = load_balance * serialization * transfer; serialization = host * "
             "dependency.");
  FIELDS(json, or_null(one.window), one.runtime, or_null(one.parallel), or_null(one.load_balance));
  FIELDS(json, or_null(one.serialization), or_null(one.host), or_null(one.dependency));
  FIELDS(json, or_null(one.transfer));
  json("useful_ns",
       one.useful,
       "By recording, in the order of `recordings`: union of kernels that are not communication.");
  json("step_time_ns", one.step_time);
  json.sentence("The replay without a change against the measurement.");
  json("replay_error", one.replay_error, or_null);
  json.sentence("Each change alone; savings do not add up.");
  json.array("what_if", one.what_if, [](Fields& entry, const auto& what_if) {
    FIELDS(entry, what_if.change, what_if.step_time, what_if.saved);
  });
  json.sentence("Adds up to runtime_ns.");
  json.array("critical_path", one.critical_path, [](Fields& entry, const auto& share) {
    FIELDS(entry, share.rank, share.what, share.time);
  });
}

void clocks(Fields& json, const ClockReport& report) {
  json("comparable", report.comparable, "false: no verdict across ranks, for the reason given.");
  FIELDS(json, or_null(report.reason), or_null(report.method));
  json("error_ns", report.error, "Error bar of every wait.");
  json.sentence("Ends that lie before the last begin by more than the error.");
  json("causality_violations", report.causality_violations);
  json.array("ranks", report.ranks, [](Fields& entry, const auto& clock) {
    entry("rank", clock.rank);
    entry("offset_ns", clock.offset, "Added to the rank's times.");
    FIELDS(entry, or_null(clock.drift_ppm), clock.residual_p50, clock.residual_p95, clock.matches);
  });
}

void class_time(Fields& json, const ClassifiedTime& one) {
  json("class", work_class_name(one.work_class));
  json("kernels", one.kernels);
  json("time_ns", one.time, "Summed over kernels, not a union.");
  json.array("largest", one.largest, [](Fields& entry, const auto& kernel) {
    entry("name", kernel.first);
    entry("time_ns", kernel.second);
  });
}

void recording(Fields& json, const RankRecording& one) {
  FIELDS(json, one.rank, one.file, or_null(one.where), or_null(one.rank_from), one.device_events);
  FIELDS(json, one.host_events);
  json("losses", one.losses, "Dropped or malformed; the unit is in the name.");
}

void document(Fields& json, const AttributionView& view) {
  const Attribution& job = view.attribution;
  const auto ledger = [&](Fields& one, const auto& step) { step_ledger(one, job, step); };
  put_versions(json, view.options);
  json("input", view.options.input, "What was attributed, as on the command line.", or_null);
  json("price_usd_per_gpu_hour", per_hour(view.price_per_gpu));
  put_verdict(json, judge_attribution(view), verdict_words);
  json.array("advice", advice_for(view), [](Fields& entry, const Advice& one) {
    entry("cause", one.cause);
    entry("text", one.text, "What to try.");
    entry("url", one.url);
    entry("gain", one.gain, "Of the step, at most, by the replay.");
  });
  json("contradictions",
       job.contradictions,
       "Of what the recordings hold and cannot all be true: every figure may be wrong.");
  json("remarks", job.remarks, "Missing ranks, mixed runs, truncated files and the like.");
  json.object("steps", view, steps, "How the steps were found.");
  json.sentence("Means over the steps that count; null without steps.");
  json.object("averages", view.averages, [](Fields& means, const JobMeans& all) {
    means.object("mean", all.mean, averaged);
    means.array("ranks", all.ranks, averaged);
  });
  json.sentence(
      "Every step of every rank; the parts add up to end_ns - start_ns exactly, with null for 0: "
      "how exposed_undivided_ns divides into wait and transfer is not known.");
  json.array("ledger", job.ledger, ledger);
  json.object("stragglers", view, stragglers);
  json.sentence("Transfers slower than the fastest of that kind, size and number of ranks.");
  json.array("slow_fabric", job.slow_fabric, [](Fields& entry, const auto& one) {
    entry("ranks", one.ranks);
    entry("varies", one.varies, "Slow in some steps only: congestion.");
    entry("per_step_ns", one.per_step, "GPU time lost, summed over ranks.");
    entry("sentence", one.sentence);
  });
  json.object("collectives", [&](Fields& collectives) {
    collectives("matched", job.collectives.size());
    collectives("unmatched_kernels", job.unmatched_collectives);
    collectives.sentence("At most a thousand, those with the most waiting.");
    collectives.array("listed", listed_collectives(job), collective);
  });
  json.object("efficiency", job.efficiency, efficiency);
  json("efficiency_reason", job.efficiency_reason, "Why efficiency is null.", or_null);
  json.object("clocks", job.clocks, clocks);
  json.array("classes", job.classes, class_time);
  json.array("recordings", job.recordings, recording);
  json.sentence("How many ranks the job has.");
  json.object("job_ranks", [&](Fields& ranks) {
    ranks("at_least", job.job_size.at_least, "That the recordings show or state.");
    ranks("stated",
          job.job_size.stated,
          "at_least is the number, by what a recording says of its job.");
  });
}
}  // namespace

std::string attribution_json(const AttributionView& view) {
  return json_of(attribution_head, [&](Fields& json) { document(json, view); });
}

std::string attribution_schema() {
  return schema_of(attribution_head, [](Fields& json) { document(json, {{}, {}, {}}); });
}
}  // namespace scaleworth::report
