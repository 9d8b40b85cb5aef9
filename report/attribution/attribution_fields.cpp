// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/render.h"
#include "src/core/files/json_reader.h"

#include <cmath>

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

// One list of members per struct, written by Fields and read by JsonReader, which leaves out what
// follows from the rest.
template <class Json>
constexpr bool reads = std::is_same_v<std::remove_const_t<Json>, JsonReader>;

Place place_of(const Attribution& job, Rank rank) {
  return place_at(std::ranges::lower_bound(job.recordings, rank, {}, &RankRecording::rank) -
                  job.recordings.begin());
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

/// Means in seconds by key: "data_loading_ns".
template <Vocabulary Kind, std::size_t N>
auto shares(const std::array<double, N>& seconds) {
  return [&seconds](Fields& json) {
    for (const Kind kind : every<Kind>)
      json(std::string(key_of(kind)) + "_ns",
           nanoseconds(seconds.at(static_cast<std::size_t>(kind))),
           or_null);
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
  json.object("compute_by_class", shares<WorkClass>(ledger.compute_by_class));
  json.object(
      "host_late_by_cause", shares<HostCause>(ledger.host_late_by_cause), "Adds up to host_late.");
  json.object("unknown_work",
              shares<UnknownWork>(ledger.unknown_work),
              "Of unattributed: that something ran is known, and not what.");
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

constexpr auto exclusion = [](auto& json, auto& one) {
  json("cause", one.cause);
  json("recorded", one.recorded, "Of missing_ranks: ranks that have the step, of `ranks`.");
  json("ranks", one.ranks);
  json.sentence("Where profiling starts in its midst: within what time ranks begin and end it.");
  FIELDS(json, one.begins, one.ends);
  json("excess", one.excess, "Of warm_up: over the later steps, as a fraction of them.");
};

/// Of files that state the sentence alone, the cause without its numbers.
std::optional<StepExclusion> older_exclusion(const std::string& sentence) {
  if (sentence.empty()) return std::nullopt;
  if (sentence.starts_with("warm-up")) return StepExclusion{ExclusionCause::warm_up};
  for (const ExclusionCause cause : every<ExclusionCause>)
    if (sentence.starts_with(word_of(cause))) return StepExclusion{cause};
  return StepExclusion{ExclusionCause::missing_ranks};
}

template <class Json>
void step_ledger(Json& json, const Attribution& job, auto& ledger) {
  json.named("ledger");
  FIELDS(json, ledger.step, ledger.rank, ledger.start, ledger.end);
  std::string excluded = ledger.excluded ? exclusion_text(*ledger.excluded) : "";
  json("excluded", excluded, "Why it is not averaged.", or_null);
  if constexpr (reads<Json>) ledger.excluded = older_exclusion(excluded);
  json.object("exclusion", ledger.excluded, exclusion, "The same in values.");
  for (const Part part : recording_parts) {
    if constexpr (reads<Json>)
      json(part_key(part), ledger.part(part), or_null);
    else
      json(part_key(part),
           known_time(part, ledger.part(part), ledger.part(Part::exposed_undivided)));
  }
  std::vector<std::pair<Rank, Nanoseconds>> waits;
  for (const auto& [place, time] : ledger.waited_for) waits.emplace_back(rank_at(job, place), time);
  json.sentence("Divides exposed_wait_ns, together with uncharged_wait_ns.");
  json.array("waited_for", waits, [&](auto& entry, auto& one) {
    entry("rank", one.first);
    entry("time_ns", one.second);
  });
  json("uncharged_wait_ns", ledger.uncharged_wait, "For no known rank.");
  if constexpr (reads<Json>) {
    ledger.place = place_of(job, ledger.rank);
    for (const auto& [rank, time] : waits) ledger.waited_for[place_of(job, rank)] = time;
  }
}

/// Files of every version have the word "late host" where reports say "the CPU launched too late".
template <class Json>
void late_cause(Json& json, auto& cause) {
  constexpr const char* of_host = "late host";
  std::string word = cause == LateCause::host ? of_host : word_of(cause);
  json("cause", word);
  if constexpr (reads<Json>) {
    const auto* known =
        std::ranges::find(word_list<LateCause>, std::string_view(word), &Word::word);
    cause = known != word_list<LateCause>.end()
                ? static_cast<LateCause>(known - word_list<LateCause>.begin())
            : word == of_host ? LateCause::host
                              : LateCause::undecided;
  }
}

constexpr auto cause_share = []<class Json>(Json& json, auto& share) {
  late_cause(json, share.cause);
  std::string detail = share.detail_text();
  json("time_ns", share.time);
  json("detail", detail, or_null);
  if constexpr (reads<Json>) {
    share.detail = detail;
    if (share.cause != LateCause::host || detail.empty()) return;
    share.host = HostCause::other;
    for (const HostCause one : every<HostCause>) {
      const std::string word = word_of(one);
      if (detail != word && !detail.starts_with(word + ": ")) continue;
      share.host = one;
      share.detail = detail.substr(std::min(word.size() + 2, detail.size()));
    }
  }
};

template <class Json>
void straggler(Json& json, auto& one, const AttributionView* view) {
  json.named("straggler");
  json("rank", one.rank, "Of several the first.");
  json.sentence("rank, pipeline stage, host, replica or rotating load.");
  json("level", one.level, by_word);
  json("unit", one.unit, or_null);
  json("members", one.members, "Ranks of a level above rank.");
  json("saved_ns", one.saved, "Of the mean step, by a replay in which it alone is not late.");
  json("waited_ns", one.waited, "By all ranks, exposed or not.");
  json("exposed_ns", one.exposed);
  json("exposed_per_step_ms", one.exposed_per_step_ms, "Of the average waiting rank.", or_null);
  json("gpu_seconds",
       one.gpu_seconds,
       "Its part of the stragglers' saved_ns, over GPUs and steps; without replay exposed_ns.",
       or_null);
  if constexpr (!reads<Json>) {
    json("share_of_gpu_time", share_of_gpu_time(*view, one));
    json("lost_usd_per_hour", lost_per_hour(*view, one), "Per hour of the whole job.");
  }
  json("collectives", one.collectives, "At which it came last.");
  json("steps", one.steps, "In which it is the largest cause of waiting.");
  json("significant", one.significant, "Beyond the clock error.");
  json.sentence("Explains at least 80 % of the lateness, else undecided.");
  late_cause(json, one.cause);
  json.array("shares", one.shares, cause_share);
  json("sentence", one.sentence, or_null);
}

template <class Json>
void stragglers(Json& json, auto& report, const AttributionView* view) {
  json("abstention", report.abstention, "Why no rank is named.", or_null);
  json("taking_turns",
       report.taking_turns,
       "Of the GPUs' time: where ranks of a pipeline wait for their turns, charged to none.");
  json("recurrence",
       report.recurrence,
       FieldOptions{.one_of = "one rank|rotating|too few steps", .by_word = true});
  json("saved_ns", report.saved, "Of the mean step, by a replay in which none of them is late.");
  const auto priced = [&](auto& one, auto& named) { straggler(one, named, view); };
  json.array("stragglers", report.stragglers, priced, "The most expensive first.");
  std::vector<PairWait> matrix = report.pairs;
  std::erase_if(matrix, [](const PairWait& one) { return one.total.count() == 0; });
  json.sentence("Entries that are not zero, over the steps that count.");
  json.array("matrix", matrix, [](auto& entry, auto& one) {
    FIELDS(entry, one.rank, one.waited_for, one.exposed, one.total);
  });
  if constexpr (reads<Json>) report.pairs = std::move(matrix);
}

constexpr auto nccl_use = []<class Json>(Json& json, auto& use) {
  json.named("nccl_use",
             "What NCCL reported of this rank's part; null where it reported nothing. Times are "
             "means over its network operations (one channel's sends or receives to one peer "
             "each), which run side by side.");
  json("network_operations", use.operations);
  json("sent_bytes", use.sent_bytes);
  const auto mean = [&](const char* key, auto& sum, const char* sentence = "") {
    Nanoseconds each = use.mean(sum);
    json(key, each, sentence);
    if constexpr (reads<Json>)
      sum = Nanoseconds(saturated<std::int64_t>(static_cast<double>(each.count()) *
                                                static_cast<double>(use.operations)));
  };
  mean("operation_ns", use.duration);
  mean("gpu_wait_ns", use.gpu_wait, "For data of the own GPU, or for it to take what came.");
  mean("peer_wait_ns", use.peer_wait, "For the receiver's credit.");
  mean("network_wait_ns",
       use.network_wait,
       "For the network, or for what the peer had not sent yet.");
};

constexpr auto participant = []<class Json>(Json& json, auto& part) {
  FIELDS(json, part.rank, part.start, part.end);
  json("wait_ns", part.wait, "At least, where transfer_ns is null.");
  json.sentence("null: not all partners left recordings, what follows the wait may be waiting.");
  if constexpr (reads<Json>) {
    json("transfer_ns", part.transfer, or_null);
    part.known = !json.member("transfer_ns").is_null();
  } else {
    json("transfer_ns", part.known ? std::optional(part.transfer) : std::nullopt);
  }
  json.object("nccl", part.nccl, nccl_use);
};

constexpr auto collective = []<class Json>(Json& json, auto& one) {
  json.named("collective");
  json("kind", one.kind);
  json("group", one.group, or_null);
  if constexpr (reads<Json>)
    json("step", one.step, or_null);
  else
    json("step", one.step < 0 ? std::nullopt : std::optional(one.step));
  json("index", one.index);
  json("size_bytes", one.bytes);
  json.sentence("As NCCL said that it chose; null where it did not say.");
  FIELDS(json, or_null(one.algorithm), or_null(one.protocol), one.channels);
  json("last_arriver", one.last_arriver, "null: a tie within the clock error, or one-sided.");
  FIELDS(json, one.spread_of_starts, one.spread_of_ends);
  json.sentence("The last arriver's duration: an estimate of the pure transfer.");
  json("shortest_ns", one.shortest);
  json.array("participants", one.participants, participant);
};

constexpr auto collective_sum = [](auto& json, auto& one) {
  FIELDS(json, one.kind, one.count, one.wait, one.transfer);
  json("either_ns", one.either, "Wait or transfer: below the clock error, or partners missing.");
};

constexpr auto what_if = []<class Json>(Json& json, auto& one) {
  std::string change = change_text(one);
  json("change", change);
  FIELDS(json, one.step_time, one.saved);
  json("units", one.units, "Of a change that makes stragglers be on time: which; else empty.");
  if constexpr (reads<Json>) {
    for (const ReplayChange known : every<ReplayChange>)
      if (change == word_of(known)) one.change = known;
  }
};

constexpr auto efficiency = [](auto& json, auto& one) {
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
  json.array("what_if", one.what_if, what_if);
};

constexpr auto clocks = [](auto& json, auto& report) {
  json("comparable", report.comparable, "false: no verdict across ranks, for the reason given.");
  FIELDS(json, or_null(report.reason), or_null(report.method));
  json("error_ns", report.error, "Error bar of every wait.");
  json.sentence("Ends that lie before the last begin by more than the error.");
  json("causality_violations", report.causality_violations);
  json.array("ranks", report.ranks, [](auto& entry, auto& clock) {
    entry("rank", clock.rank);
    entry("offset_ns", clock.offset, "Added to the rank's times.");
    FIELDS(entry, or_null(clock.drift_ppm), clock.residual_p50, clock.residual_p95, clock.matches);
  });
};

constexpr auto class_time = [](auto& json, auto& one) {
  json("class", one.work_class, by_word);
  json("kernels", one.kernels);
  json("time_ns", one.time, "Summed over kernels, not a union.");
  json.array("largest", one.largest, [](auto& entry, auto& kernel) {
    entry("name", kernel.first);
    entry("time_ns", kernel.second);
  });
};

constexpr auto recording = []<class Json>(Json& json, auto& one) {
  FIELDS(json, one.rank, one.file, or_null(one.where), or_null(one.rank_from), one.device_events);
  FIELDS(json, one.host_events);
  json("losses", one.losses, "Dropped or malformed; the unit is in the name.");
  if constexpr (!reads<Json>)
    json("on_processor", one.on_processor, "No GPU: operators on threads are the work.");
};

/// What only a report states.
void report_fields(Fields& json, const AttributionView& view) {
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
}

/// `job` in the document; `view`, null for a reader, is of it.
template <class Json>
void document(Json& json, auto& job, const AttributionView* view) {
  if constexpr (!reads<Json>) report_fields(json, *view);
  json("contradictions",
       job.contradictions,
       "Of what the recordings hold and cannot all be true: every figure may be wrong.");
  json("remarks", job.remarks, "Missing ranks, mixed runs, truncated files and the like.");
  const auto steps = [&](auto& of, auto& choice) {
    FIELDS(of, or_null(choice.source), or_null(choice.sentence));
    of("found", choice.steps);
    of("excluded", choice.excluded, "Boundary and warm-up steps: kept, not averaged.");
    if constexpr (!reads<Json>) {
      of("limit", choice.limit, "What keeps them from being steps of a job in its steady state.");
      of("pauses",
         choice.pauses,
         "Of all ranks between marked steps, far longer than the usual one.");
      of("between", choice.between, "What they take of the time from the first step to the last.");
    }
    of.sentence("true: no step counts as steady state, the averages are of what there is.");
    of("averages_are_of_excluded_steps", view && view->averages && view->averages->only_excluded);
  };
  json.object("steps", job.step_choice, steps, "How the steps were found.");
  if constexpr (!reads<Json>) {
    json.sentence("Means over the steps that count; null without steps.");
    json.object("averages", view->averages, [](Fields& means, const JobMeans& all) {
      means.object("mean", all.mean, averaged);
      means.array("ranks", all.ranks, averaged);
    });
    json.sentence("What scaleworth compare joins: times per step, of stragglers what they cost.");
    json.array("figures", model::attribution_figures(job), [](Fields& of, const Figure& one) {
      of("metric", info(one.metric).key, "As in run.schema.json.");
      put_setting(of, "setting", one.setting);
      of("basis", one.basis, "measured, or predicted by a replay.");
      of("value", one.value);
    });
  }
  json.sentence(
      "Every step of every rank; the parts add up to end_ns - start_ns exactly, with null for 0: "
      "how exposed_undivided_ns divides into wait and transfer is not known.");
  json.array("ledger", job.ledger, [&](auto& one, auto& step) { step_ledger(one, job, step); });
  if constexpr (!reads<Json>) {
    json.sentence("Under what the GPUs had no work, host late of the mean step; at most five.");
    json.array("host_ranges", job.host_ranges, [](Fields& of, const HostRange& one) {
      FIELDS(of, one.name, one.cause, one.time);
    });
  }
  json.object(
      "stragglers", job.stragglers, [&](auto& of, auto& all) { stragglers(of, all, view); });
  json.sentence("Transfers slower than the fastest of that kind, size and number of ranks.");
  json.array("slow_fabric", job.slow_fabric, [](auto& entry, auto& one) {
    entry("ranks", one.ranks);
    entry("varies", one.varies, "Slow in some steps only: congestion.");
    entry("per_step_ns", one.per_step, "GPU time lost, summed over ranks.");
    entry("sentence", one.sentence);
  });
  json.object("collectives", [&](auto& collectives) {
    collectives("matched", job.collectives.size());
    collectives("unmatched_kernels", job.unmatched_collectives);
    collectives.sentence("Of steps that count, summed over ranks.");
    collectives.array("by_kind", job.collective_sums, collective_sum);
    std::vector<CollectiveWait> listed = listed_collectives(job);
    collectives.sentence("At most a thousand, those with the most waiting.");
    collectives.array("listed", listed, collective);
    if constexpr (reads<Json>) job.collectives = std::move(listed);
  });
  json.object("efficiency", job.efficiency, efficiency);
  json("graph_share", job.graph_share, "Of the GPU's work in steps, by number: in CUDA graphs.");
  json("efficiency_reason", job.efficiency_reason, "Why efficiency is null.", or_null);
  json.object("clocks", job.clocks, clocks);
  json.array("classes", job.classes, class_time);
  json.array("recordings", job.recordings, recording);
  json.sentence("How many ranks the job has.");
  json.object("job_ranks", [&](auto& ranks) {
    ranks("at_least", job.job_size.at_least, "That the recordings show or state.");
    ranks("stated",
          job.job_size.stated,
          "at_least is the number, by what a recording says of its job.");
  });
}

/// Version 1 has other words for some keys.
void rename_keys(nlohmann::json& document) {
  const auto rename = [](nlohmann::json& object, const char* from, const char* to) {
    if (!object.is_object() || !object.contains(from)) return;
    nlohmann::json value = std::move(object[from]);
    object.erase(from);
    object[to] = std::move(value);
  };
  rename(document, "culprits", "stragglers");
  for (const auto& [within, from, to] : {std::tuple("stragglers", "culprits", "stragglers"),
                                         std::tuple("job_ranks", "told", "stated")})
    if (document.contains(within)) rename(document[within], from, to);
}

/// Refuses what no attribution of recordings can hold.
void check_read(const Attribution& job, const JsonReader& json) {
  constexpr Nanoseconds longest(100'000'000'000'000'000);  // three years; sums of some fit 64 bits
  for (const StepLedger& ledger : job.ledger) {
    const auto fail = [&](const std::string& problem) {
      json.fail(
          fmt::format("ledger of step {} of rank {} {}", ledger.step, ledger.rank.index, problem));
    };
    Nanoseconds sum{};
    for (const Part part : recording_parts) {
      const Nanoseconds time = ledger.part(part);
      if (time < Nanoseconds{} || time > longest)
        fail(fmt::format("has a {} that is no length of time", part_key(part)));
      sum += time;
    }
    if (sum != ledger.end - ledger.start) fail("has parts that do not add up to its step");
  }
  if (!job.efficiency) return;
  const Efficiency& one = *job.efficiency;
  // Rounded when they were written.
  for (const double factor :
       {one.parallel, one.load_balance, one.serialization, one.host, one.dependency, one.transfer})
    if (!(factor > 0.0 && factor <= 1.0 + 1e-9))
      json.fail(fmt::format("efficiency has a factor of {}, which lies not within 0 to 1", factor));
  std::vector<Nanoseconds> times = one.useful;
  times.insert(times.end(), {one.runtime, one.step_time});
  for (const Nanoseconds time : times)
    if (time < Nanoseconds{} || time > longest)
      json.fail(fmt::format("efficiency has a time of {} ns", time.count()));
}
}  // namespace

namespace {
void put_fabric(Fields& json, const FabricRow& row) {
  json.named("fabric_row");
  FIELDS(json, row.work.collective, row.work.bytes, row.work.ranks, row.calls);
  json("wait_s", row.wait, "Mean of a call and rank.");
  json("transfer_s", row.transfer, "From when the last rank came; mean of the calls.");
  json("expected_s", row.expected, "By the fitted curve.");
  FIELDS(json, row.verdict);
}

void whole_document(Fields& json, const AttributionView& view) {
  document(json, view.attribution, &view);
  const std::vector<FabricRow> rows = view.fabric ? view.fabric->rows : std::vector<FabricRow>{};
  json.array("fabric", rows, put_fabric, "Collectives against the curves of --fabric.");
}
}  // namespace

std::string attribution_json(const AttributionView& view) {
  return json_of(attribution_head, [&](Fields& json) { whole_document(json, view); });
}

std::string attribution_schema() {
  return schema_of(attribution_head, [](Fields& json) {
    const AttributionView none{{}, {}, {}};
    whole_document(json, none);
  });
}

Attribution read_attribution(std::string_view text, const std::string& file) {
  nlohmann::json parsed = parse_bounded_json(text, file);
  const JsonReader json(
      parsed, file, "write it again with scaleworth attribute --format json", true);
  std::string kind;
  json("kind", kind);
  if (kind != attribution_head.kind) json.fail("is no attribution");
  json.member("schema_version").version(attribution_schema_version);
  rename_keys(parsed);
  for (const char* needed : {"recordings", "ledger", "stragglers"}) json.member(needed);
  Attribution job;
  json.array("recordings", job.recordings, recording);  // the others are of these
  document(json, job, nullptr);
  check_read(job, json);
  return job;
}
}  // namespace scaleworth::report
