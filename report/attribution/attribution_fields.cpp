// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/render.h"
#include "report/words.h"
#include "src/core/files/json_reader.h"

#include <cmath>

namespace scaleworth::report {
namespace {

constexpr JsonHead attribution_head{attribution_schema_version, "scaleworth attribution"};

constexpr VerdictWords verdict_words{.yes = "no straggler",
                                     .no = "straggler",
                                     .unknown = "not known",
                                     .answers = "straggler|no straggler|not known"};

// One list of members per struct, written by Fields and read by JsonReader, which leaves out what
// follows from the rest.
template <class Json>
constexpr bool reads = std::is_same_v<std::remove_const_t<Json>, JsonReader>;

/// In words; read back it is what the file states.
std::optional<Finding> stated(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(Finding(FindingId::stated, text));
}
template <class Json>
void put_finding(Json& json, const char* key, auto& finding) {
  std::string text = said(finding);
  json(key, text, or_null);
  if constexpr (reads<Json>) finding = stated(text);
}
template <class Json>
void put_sentence(Json& json, const char* key, auto& finding, const FieldOptions& options) {
  std::string text = sentence(finding);
  json(key, text, options);
  if constexpr (reads<Json>) finding = stated(text.substr(0, text.find_last_not_of('.') + 1));
}
template <class Json>
void put_findings(Json& json, const char* key, auto& findings) {
  std::vector<std::string> texts = said(findings);
  json(key, texts);
  if constexpr (reads<Json>)
    findings = mapped(texts, [](const auto& text) { return Finding(FindingId::stated, text); });
}

Place place_of(const Attribution& job, Rank rank) {
  return place_at(std::ranges::lower_bound(job.recordings, rank, {}, &RankRecording::rank) -
                  job.recordings.begin());
}

double nanoseconds(double seconds) {
  return seconds * 1e9;
}

void spread(Fields& json, const Spread& value) {
  json.named("spread");
  json("mean_ns", nanoseconds(value.mean), or_null);
  json("least_ns", nanoseconds(value.least), or_null);
  json("most_ns", nanoseconds(value.most), or_null);
}

/// Means in seconds by key: "data_loading_ns".
template <Vocabulary Kind, std::size_t N>
auto shares(const std::array<double, N>& seconds) {
  return [&seconds](Fields& json) {
    for (const Kind kind : every<Kind>)
      json(std::string(key_of(kind)) + "_ns", nanoseconds(seconds.at(index_of(kind))), or_null);
  };
}

void averaged(Fields& json, const MeanLedger& ledger) {
  json.named("averaged");
  json("rank", ledger.rank);
  json("steps", ledger.steps);
  json.object("step", ledger.step, spread);
  json.object("parts", [&](Fields& parts) {
    for (const Part part : recording_parts)
      parts.object(part_key(part), ledger.known(part), spread);
  });
  json.object("compute_by_class", shares<WorkClass>(ledger.compute_by_class));
  json.object("host_late_by_cause", shares<HostCause>(ledger.host_late_by_cause));
  json.object("unknown_work", shares<UnknownWork>(ledger.unknown_work));
  const auto overlap = [&](Part part) {
    const auto time = ledger.known_overlap(part);
    return time ? std::optional(nanoseconds(*time)) : std::nullopt;
  };
  json("overlapped_transfer_ns", overlap(Part::exposed_transfer));
  json("overlapped_wait_ns", overlap(Part::exposed_wait));
  json("overlapped_undivided_ns", nanoseconds(ledger.overlapped_undivided), or_null);
  json("overlapped_copy_ns", nanoseconds(ledger.overlapped_copy), or_null);
  json("communication_ns", nanoseconds(ledger.communication), or_null);
}

constexpr auto exclusion = [](auto& json, auto& one) {
  json("cause", one.cause);
  json("recorded", one.recorded);
  json("ranks", one.ranks);
  json.members("begins_ns", one.begins, "ends_ns", one.ends);
  json("excess", one.excess);
};

template <class Json>
void step_ledger(Json& json, const Attribution& job, auto& ledger) {
  json.named("ledger");
  json.members("step", ledger.step, "rank", ledger.rank, "start_ns", ledger.start);
  json.members("end_ns", ledger.end);
  std::string excluded = ledger.excluded ? exclusion_text(*ledger.excluded) : "";
  json("excluded", excluded, or_null);
  json.object("exclusion", ledger.excluded, exclusion);
  if constexpr (reads<Json>)
    if (!excluded.empty()) json.member("exclusion");
  for (const Part part : recording_parts) {
    if constexpr (reads<Json>)
      json(part_key(part), ledger.part(part), or_null);
    else
      json(part_key(part),
           known_time(part, ledger.part(part), ledger.part(Part::exposed_undivided)));
  }
  std::vector<std::pair<Rank, Nanoseconds>> waits;
  for (const auto& [place, time] : ledger.waited_for) waits.emplace_back(rank_at(job, place), time);
  json.array("waited_for", waits, [&](auto& entry, auto& one) {
    entry("rank", one.first);
    entry("time_ns", one.second);
  });
  json("uncharged_wait_ns", ledger.uncharged_wait);
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
  json("time_ns", share.time);
  std::optional<Finding> detail = share.in_detail();
  put_finding(json, "detail", detail);
  if constexpr (reads<Json>) share.detail = detail;
};

template <class Json>
void straggler(Json& json, auto& one, const AttributionView* view) {
  json.named("straggler");
  json("rank", one.rank);
  json("level", one.level, by_word);
  json("unit", one.unit, or_null);
  json("members", one.members);
  json("saved_ns", one.saved);
  json("waited_ns", one.waited);
  json("exposed_ns", one.exposed);
  json("exposed_per_step_ms", one.exposed_per_step_ms, or_null);
  json("gpu_seconds", one.gpu_seconds, or_null);
  if constexpr (!reads<Json>) {
    json("share_of_gpu_time", share_of_gpu_time(*view, one));
    json("lost_usd_per_hour", lost_per_hour(*view, one));
  }
  json("collectives", one.collectives);
  json("steps", one.steps);
  json("significant", one.significant);
  late_cause(json, one.cause);
  json.array("shares", one.shares, cause_share);
  if constexpr (!reads<Json>) json("times_as_long", one.times_as_long);
}

template <class Json>
void stragglers(Json& json, auto& report, const AttributionView* view) {
  put_finding(json, "abstention", report.abstention);
  json("taking_turns", report.taking_turns);
  json("recurrence",
       report.recurrence,
       FieldOptions{.one_of = "one rank|rotating|too few steps", .by_word = true});
  json("saved_ns", report.saved);
  const auto priced = [&](auto& one, auto& named) { straggler(one, named, view); };
  json.array("stragglers", report.stragglers, priced);
  std::vector<PairWait> matrix = report.pairs;
  std::erase_if(matrix, [](const PairWait& one) { return one.total.count() == 0; });
  json.array("matrix", matrix, [](auto& entry, auto& one) {
    entry.members("rank", one.rank, "waited_for", one.waited_for, "exposed_ns", one.exposed);
    entry.members("total_ns", one.total);
  });
  if constexpr (reads<Json>) report.pairs = std::move(matrix);
}

constexpr auto participant = []<class Json>(Json& json, auto& part) {
  json.members("rank", part.rank, "start_ns", part.start, "end_ns", part.end);
  json("wait_ns", part.wait);
  if constexpr (reads<Json>) {
    json("transfer_ns", part.transfer, or_null);
    part.known = !json.member("transfer_ns").is_null();
  } else {
    json("transfer_ns", part.known ? std::optional(part.transfer) : std::nullopt);
  }
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
  json.members("algorithm", or_null(one.algorithm), "protocol", or_null(one.protocol));
  json.members("channels", one.channels);
  json("last_arriver", one.last_arriver);
  json.members("spread_of_starts_ns", one.spread_of_starts);
  json.members("spread_of_ends_ns", one.spread_of_ends);
  json("shortest_ns", one.shortest);
  json.array("participants", one.participants, participant);
};

constexpr auto collective_sum = [](auto& json, auto& one) {
  json.members("kind", one.kind, "count", one.count, "wait_ns", one.wait);
  json.members("transfer_ns", one.transfer);
  json("either_ns", one.either);
};

constexpr auto what_if = []<class Json>(Json& json, auto& one) {
  std::string change = change_text(one);
  json("change", change);
  json("kind", one.change);
  json.members("step_time_ns", one.step_time, "saved_ns", one.saved);
  json("units", one.units);
  if constexpr (reads<Json>) {  // files of older versions have the words alone
    for (const ReplayChange known : every<ReplayChange>)
      if (!json.contains("kind") && change == word_of(known)) one.change = known;
  }
};

constexpr auto efficiency = [](auto& json, auto& one) {
  json.named("efficiency");
  put_finding(json, "window", one.window);
  json("runtime_ns", one.runtime);
  json.members("parallel", or_null(one.parallel), "load_balance", or_null(one.load_balance));
  json.members("serialization", or_null(one.serialization), "host", or_null(one.host));
  json.members("dependency", or_null(one.dependency));
  json.members("transfer", or_null(one.transfer));
  json("useful_ns", one.useful);
  json("step_time_ns", one.step_time);
  json("replay_error", one.replay_error, or_null);
  json.array("what_if", one.what_if, what_if);
};

constexpr auto clocks = [](auto& json, auto& report) {
  json("comparable", report.comparable);
  put_finding(json, "reason", report.reason);
  put_finding(json, "method", report.method);
  json("error_ns", report.error);
  json("causality_violations", report.causality_violations);
  json.array("ranks", report.ranks, [](auto& entry, auto& clock) {
    entry("rank", clock.rank);
    entry("offset_ns", clock.offset);
    entry.members("drift_ppm", or_null(clock.drift_ppm), "residual_p50_ns", clock.residual_p50);
    entry.members("residual_p95_ns", clock.residual_p95, "matches", clock.matches);
  });
};

constexpr auto class_time = [](auto& json, auto& one) {
  json("class", one.work_class, by_word);
  json("kernels", one.kernels);
  json("time_ns", one.time);
  json.array("largest", one.largest, [](auto& entry, auto& kernel) {
    entry("name", kernel.first);
    entry("time_ns", kernel.second);
  });
};

constexpr auto recording = []<class Json>(Json& json, auto& one) {
  json.members("rank", one.rank, "file", one.file, "where", or_null(one.where));
  json.members("rank_from", or_null(one.rank_from), "device_events", one.device_events);
  json.members("host_events", one.host_events);
  json("losses", one.losses);
  if constexpr (!reads<Json>) json("on_processor", one.on_processor);
};

/// What only a report states.
void report_fields(Fields& json, const AttributionView& view) {
  put_versions(json, view.options);
  json("input", view.options.input, or_null);
  json("price_usd_per_gpu_hour", per_hour(view.price_per_gpu));
  put_verdict(json, judge_attribution(view), verdict_words);
  json.array("advice", advice_for(view), [](Fields& entry, const Advice& one) {
    entry("cause", one.cause);
    entry("text", one.text);
    entry("url", one.url);
    entry("gain", one.gain);
  });
}

template <class Json>
void step_choice(Json& json, auto& choice, const AttributionView* view) {
  json("source", choice.source, or_null);
  put_sentence(json, "sentence", choice.found, or_null);
  json("found", choice.steps);
  json("excluded", choice.excluded);
  json("limit", choice.limit);
  json("outside", choice.outside);
  json("pauses", choice.pauses);
  json("between", choice.between);
  json("averages_are_of_excluded_steps", view && view->averages && view->averages->only_excluded);
}

/// `job` in the document; `view`, null for a reader, is of it.
template <class Json>
void document(Json& json, auto& job, const AttributionView* view) {
  if constexpr (!reads<Json>) report_fields(json, *view);
  put_findings(json, "contradictions", job.contradictions);
  put_findings(json, "remarks", job.remarks);
  json("programs", job.programs);
  json.object(
      "steps", job.step_choice, [&](auto& of, auto& choice) { step_choice(of, choice, view); });
  if constexpr (!reads<Json>) {
    json.object("averages", view->averages, [](Fields& means, const JobMeans& all) {
      means.object("mean", all.mean, averaged);
      means.array("ranks", all.ranks, averaged);
    });
    json.array("figures", model::attribution_figures(job), [](Fields& of, const Figure& one) {
      of("metric", info(one.metric).key);
      put_setting(of, "setting", one.setting);
      of("basis", one.basis);
      of("value", one.value);
    });
  }
  json.array("ledger", job.ledger, [&](auto& one, auto& step) { step_ledger(one, job, step); });
  if constexpr (!reads<Json>) {
    json.array("host_ranges", job.host_ranges, [](Fields& of, const HostRange& one) {
      of.members("name", one.name, "cause", one.cause, "time_ns", one.time);
    });
  }
  json.object(
      "stragglers", job.stragglers, [&](auto& of, auto& all) { stragglers(of, all, view); });
  json.array("slow_fabric", job.slow_fabric, [](auto& entry, auto& one) {
    entry("ranks", one.ranks);
    entry("varies", one.varies);
    entry("per_step_ns", one.per_step);
    put_sentence(entry, "sentence", one.found, {});
  });
  json.object("collectives", [&](auto& collectives) {
    collectives("matched", job.collectives.size());
    collectives("unmatched_kernels", job.unmatched_collectives);
    collectives.array("by_kind", job.collective_sums, collective_sum);
    std::vector<CollectiveWait> listed = listed_collectives(job);
    collectives.array("listed", listed, collective);
    if constexpr (reads<Json>) job.collectives = std::move(listed);
  });
  json.object("efficiency", job.efficiency, efficiency);
  json("graph_share", job.graph_share);
  put_finding(json, "efficiency_reason", job.efficiency_reason);
  json.object("clocks", job.clocks, clocks);
  json.array("classes", job.classes, class_time);
  json.array("recordings", job.recordings, recording);
  json.object("job_ranks", [&](auto& ranks) {
    ranks("at_least", job.job_size.at_least);
    ranks("stated", job.job_size.stated);
  });
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

void put_fabric(Fields& json, const FabricRow& row) {
  json.named("fabric_row");
  json.members("collective", row.work.collective, "bytes", row.work.bytes, "ranks", row.work.ranks);
  json.members("calls", row.calls);
  json("wait_s", row.wait);
  json("transfer_s", row.transfer);
  json("expected_s", row.expected);
  json.members("verdict", row.verdict);
}

void whole_document(Fields& json, const AttributionView& view) {
  document(json, view.attribution, &view);
  const std::vector<FabricRow> rows = view.fabric ? view.fabric->rows : std::vector<FabricRow>{};
  json.array("fabric", rows, put_fabric);
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
  const nlohmann::json parsed = parse_bounded_json(text, file);
  const JsonReader json(
      parsed, file, "write it again with scaleworth attribute --format json", true);
  std::string kind;
  json("kind", kind);
  if (kind != attribution_head.kind) json.fail("is no attribution");
  json.member("schema_version").version(attribution_schema_version);
  for (const char* needed : {"recordings", "ledger", "stragglers"}) json.member(needed);
  Attribution job;
  json.array("recordings", job.recordings, recording);  // the others are of these
  document(json, job, nullptr);
  check_read(job, json);
  return job;
}
}  // namespace scaleworth::report
