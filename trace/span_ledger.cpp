// SPDX-License-Identifier: Apache-2.0
#include "trace/span_ledger.h"

#include "src/core/files/run_names.h"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleworth::trace {
namespace {
using std::chrono::nanoseconds;

// When each rank arrived at each collective, and who came last.

/// The arrivals at one collective of one step.
struct Arrivals {
  std::vector<std::optional<std::size_t>> posts;  // by rank: index of its post span
  bool complete = false;                          // every rank arrived
  std::chrono::nanoseconds last{};                // L_q, meaningful when complete
  /// Absent when the two last arrivals lie within the clock error of each other.
  std::optional<Rank> last_rank;
};

using CollectiveKey = std::pair<std::int32_t, std::int32_t>;  // step, sequence

struct ArrivalTable {
  std::map<CollectiveKey, Arrivals> collectives;
  std::int64_t duplicate_posts = 0;
};

constexpr nanoseconds time_limit{std::int64_t{1} << 61};

/// A span of one of `ranks` ranks that does not end before it starts; times so that no difference
/// overflows.
bool is_valid(const Span& span, int ranks) {
  return span.rank.index >= 0 && span.rank.index < ranks && span.start >= -time_limit &&
         span.end <= time_limit && span.start <= span.end;
}

bool earlier(const Span& a, const Span& b) {
  return std::pair(a.end, a.start) < std::pair(b.end, b.start);
}

void find_last(Arrivals& arrivals, const Timeline& timeline) {
  arrivals.complete =
      std::ranges::all_of(arrivals.posts, [](auto post) { return post.has_value(); });
  if (!arrivals.complete) return;
  std::vector<std::pair<std::chrono::nanoseconds, int>> order;
  for (std::size_t rank = 0; rank < arrivals.posts.size(); ++rank) {
    order.emplace_back(timeline.spans[*arrivals.posts[rank]].end, static_cast<int>(rank));
  }
  std::ranges::sort(order);
  arrivals.last = order.back().first;
  const bool alone = order.size() == 1;
  if (alone || arrivals.last - order[order.size() - 2].first > timeline.clock_error) {
    arrivals.last_rank = Rank{order.back().second};
  }
}

/// Reads the post spans of `timeline`; a rank has arrived when its post span ends. Of several posts
/// of a rank at one collective the earliest counts. With a single rank there is no rank to wait for
/// and `last_rank` is that rank.
ArrivalTable collect_arrivals(const Timeline& timeline) {
  ArrivalTable table;
  for (std::size_t index = 0; index < timeline.spans.size(); ++index) {
    const Span& span = timeline.spans[index];
    if (span.activity != Activity::post || span.sequence < 0) continue;
    if (!is_valid(span, timeline.ranks)) continue;
    Arrivals& arrivals = table.collectives[{span.step, span.sequence}];
    arrivals.posts.resize(static_cast<std::size_t>(timeline.ranks));
    auto& post = arrivals.posts[static_cast<std::size_t>(span.rank.index)];
    if (post) ++table.duplicate_posts;
    if (!post || earlier(span, timeline.spans[*post])) post = index;
  }
  for (auto& [key, arrivals] : table.collectives) find_last(arrivals, timeline);
  return table;
}

std::vector<std::size_t> canonical_order(const std::vector<Span>& spans) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t index) {
    const Span& s = spans[index];
    return std::tie(s.step, s.rank, s.start, s.end, s.activity, s.sequence, s.name);
  };
  std::ranges::stable_sort(order, {}, [&](auto a) { return key(a); });
  return order;
}

void append(StepSegments& step, const Span& span, std::size_t index, TimelineLosses& losses) {
  const nanoseconds start = std::clamp(span.start, step.start, step.end);
  const nanoseconds end = std::clamp(span.end, step.start, step.end);
  const bool apart = span.end < step.start || span.start > step.end;
  const nanoseconds outside = (span.end - span.start) - (end - start);
  if (apart || outside > nanoseconds::zero()) {
    ++losses.outside_spans;
    losses.outside_time += outside;
  }
  if (apart) return;
  const nanoseconds free = step.segments.empty() ? step.start : step.segments.back().end;
  const nanoseconds cut = std::min(std::max(start, free), end);
  if (start < free) {
    ++losses.overlapping_spans;
    losses.overlapping_time += cut - start;
    if (end <= free) return;
  }
  step.segments.push_back({index, cut, end});
}

using StepKey = std::pair<std::int32_t, int>;

std::map<StepKey, std::size_t> index_steps(const std::vector<Span>& spans,
                                           const std::vector<std::size_t>& order,
                                           SegmentedTimeline& result) {
  std::map<StepKey, std::size_t> position;
  for (const std::size_t index : order) {
    const Span& span = spans[index];
    if (span.activity != Activity::step) continue;
    if (!position.emplace(StepKey{span.step, span.rank.index}, result.steps.size()).second) {
      ++result.losses.duplicate_steps;
      continue;
    }
    result.steps.push_back({span.step, span.rank, index, span.start, span.end, {}});
  }
  return position;
}

std::int64_t count_missing(const std::vector<StepSegments>& steps, int ranks) {
  std::set<std::int32_t> numbers;
  for (const StepSegments& step : steps) numbers.insert(step.step);
  return static_cast<std::int64_t>(numbers.size()) * ranks -
         static_cast<std::int64_t>(steps.size());
}
}  // namespace

SegmentedTimeline segment(const Timeline& timeline) {
  SegmentedTimeline result;
  std::vector<std::size_t> order = canonical_order(timeline.spans);
  result.losses.invalid_spans = static_cast<std::int64_t>(std::erase_if(
      order, [&](auto index) { return !is_valid(timeline.spans[index], timeline.ranks); }));
  const auto position = index_steps(timeline.spans, order, result);
  for (const std::size_t index : order) {
    const Span& span = timeline.spans[index];
    if (span.activity == Activity::step) continue;
    const auto found = position.find({span.step, span.rank.index});
    if (found == position.end()) {
      ++result.losses.orphan_spans;
    } else {
      append(result.steps[found->second], span, index, result.losses);
    }
  }
  result.losses.missing_steps = count_missing(result.steps, timeline.ranks);
  return result;
}

std::map<std::string, double> loss_counters(const TimelineLosses& losses) {
  std::map<std::string, double> counters{
      {"invalid_spans", static_cast<double>(losses.invalid_spans)},
      {"duplicate_steps", static_cast<double>(losses.duplicate_steps)},
      {"missing_steps", static_cast<double>(losses.missing_steps)},
      {"orphan_spans", static_cast<double>(losses.orphan_spans)},
      {"overlapping_spans", static_cast<double>(losses.overlapping_spans)},
      {"overlapping_time_ns", static_cast<double>(losses.overlapping_time.count())},
      {"outside_spans", static_cast<double>(losses.outside_spans)},
      {"outside_time_ns", static_cast<double>(losses.outside_time.count())}};
  std::erase_if(counters, [](const auto& counter) { return counter.second == 0.0; });
  return counters;
}

namespace {
using attribution::StepLedger;

/// Somebody was away during `time`. `rank` is absent when several were and the two that come back
/// last do so within the clock error of each other.
struct Stall {
  TimeRange time;
  std::optional<Rank> rank;
};

bool is_call(Activity activity) {
  return activity == Activity::post || activity == Activity::progress ||
         activity == Activity::collective_wait;
}

using AwayRanks = std::set<std::pair<nanoseconds, int>>;  // when each comes back, and who

struct Edge {
  nanoseconds time{};
  bool leaves = false;
  AwayRanks::value_type rank;
};

std::optional<Rank> last_back(const AwayRanks& away, nanoseconds clock_error) {
  const auto last = std::prev(away.end());
  if (away.size() > 1 && last->first - std::prev(last)->first <= clock_error) return std::nullopt;
  return Rank{last->second};
}

void append(std::vector<Stall>& stalls, const Stall& next) {
  if (next.time.start == next.time.end) return;
  if (!stalls.empty() && stalls.back().time.end == next.time.start &&
      stalls.back().rank == next.rank) {
    stalls.back().time.end = next.time.end;
  } else {
    stalls.push_back(next);
  }
}

std::vector<Stall> sweep(std::vector<Edge> edges, nanoseconds clock_error) {
  std::ranges::sort(edges, {}, [](const Edge& a) { return std::tie(a.time, a.leaves, a.rank); });
  std::vector<Stall> stalls;
  AwayRanks away;
  nanoseconds since{};
  for (const Edge& edge : edges) {
    if (!away.empty()) append(stalls, {{since, edge.time}, last_back(away, clock_error)});
    if (edge.leaves) {
      away.insert(edge.rank);
    } else {
      away.erase(edge.rank);
    }
    since = edge.time;
  }
  return stalls;
}

/// When each rank of a timeline was away from the library, and when it had completed what.
///   away: in a compute, optimizer or host segment of the collective's step; time that no span
///     covers is not known to be away.
///   completion of a collective on a rank: the earliest end of its collective_wait spans of it. A
///     rank without one completed it in some call that ended after the last arrival: it counts as
///     not complete until the first such call begins, and is never blamed from there on.
class StallTable {
 public:
  StallTable(const Timeline& timeline, const SegmentedTimeline& segmented)
      : clock_error_(timeline.clock_error) {
    for (const StepSegments& step : segmented.steps) add(step, timeline.spans);
    for (const Span& span : timeline.spans) {
      if (span.activity != Activity::collective_wait || !is_valid(span, timeline.ranks)) continue;
      const auto ranks = steps_.find(span.step);
      if (ranks == steps_.end()) continue;
      for (RankStep& step : ranks->second) {
        if (step.rank != span.rank.index) continue;
        const auto completion = step.completions.emplace(span.sequence, span.end).first;
        completion->second = std::min(completion->second, span.end);
      }
    }
  }

  /// The parts of `time` in which a rank other than `waiter` was away that had not completed
  /// `collective`; in order, disjoint, neighbours of the same rank joined. Of several the one that
  /// comes back last (whose next call begins last) is named: until then nothing moves, whatever
  /// the others do. `arrived` is when the last rank arrived at the collective.
  std::vector<Stall> stalls(CollectiveKey collective,
                            nanoseconds arrived,
                            Rank waiter,
                            TimeRange time) const {
    const auto ranks = steps_.find(collective.first);
    if (ranks == steps_.end()) return {};
    std::vector<Edge> edges;
    for (const RankStep& step : ranks->second) {
      if (step.rank == waiter.index) continue;
      const nanoseconds end =
          std::min(time.end, incomplete_until(step, collective.second, arrived));
      if (end <= time.start) continue;
      auto absence = std::ranges::upper_bound(
          step.absences, time.start, {}, [](const Absence& one) { return one.time.end; });
      for (; absence != step.absences.end() && absence->time.start < end; ++absence) {
        const AwayRanks::value_type rank{absence->back, step.rank};
        edges.push_back({std::max(absence->time.start, time.start), true, rank});
        edges.push_back({std::min(absence->time.end, end), false, rank});
      }
    }
    return sweep(std::move(edges), clock_error_);
  }

 private:
  struct Absence {
    TimeRange time;
    std::chrono::nanoseconds back{};  // the next call begins; the step ends where there is none
  };
  struct RankStep {
    int rank = 0;
    std::vector<Absence> absences;                                 // in order, disjoint
    std::vector<TimeRange> calls;                                  // in order, disjoint
    std::map<std::int32_t, std::chrono::nanoseconds> completions;  // by sequence
  };

  void add(const StepSegments& step, const std::vector<Span>& spans) {
    RankStep& added = steps_[step.step].emplace_back();
    added.rank = step.rank.index;
    nanoseconds back = step.end;
    for (auto segment = step.segments.rbegin(); segment != step.segments.rend(); ++segment) {
      const TimeRange time{segment->start, segment->end};
      if (is_call(spans[segment->span].activity)) {
        added.calls.push_back(time);
        back = segment->start;
      } else if (time.start < time.end) {
        added.absences.push_back({time, back});
      }
    }
    std::ranges::reverse(added.calls);
    std::ranges::reverse(added.absences);
  }

  static std::chrono::nanoseconds incomplete_until(const RankStep& step,
                                                   std::int32_t sequence,
                                                   nanoseconds arrived) {
    const auto known = step.completions.find(sequence);
    if (known != step.completions.end()) return known->second;
    const auto call = std::ranges::upper_bound(step.calls, arrived, {}, &TimeRange::end);
    return call == step.calls.end() ? arrived : call->start;
  }

  std::chrono::nanoseconds clock_error_;
  std::map<std::int32_t, std::vector<RankStep>> steps_;  // by step number
};

/// The part that a span's time is; of waits for a collective, that of one without arrivals.
Part part_of(Activity activity) {
  switch (activity) {
    case Activity::compute:
      return Part::compute;
    case Activity::optimizer:
      return Part::optimizer;
    case Activity::host:
      return Part::host;
    case Activity::post:
    case Activity::progress:
      return Part::progress;
    case Activity::collective_wait:
    case Activity::step:
      break;
  }
  return Part::unattributed;
}

class LedgerBuilder {
 public:
  explicit LedgerBuilder(const Timeline& timeline)
      : timeline_(timeline), arrivals_(collect_arrivals(timeline)) {}

  Ledger build() {
    const SegmentedTimeline segmented = segment(timeline_);
    if (timeline_.progress_inside_calls_only) stalls_.emplace(timeline_, segmented);
    ledger_.ranks = timeline_.ranks;
    ledger_.losses = segmented.losses;
    ledger_.duplicate_posts = arrivals_.duplicate_posts;
    for (const StepSegments& step : segmented.steps) add_step(step);
    return std::move(ledger_);
  }

 private:
  void add_step(const StepSegments& step) {
    StepLedger entry;
    entry.step = step.step;
    entry.rank = step.rank;
    entry.start = step.start;
    entry.end = step.end;
    entry.waited_for.resize(static_cast<std::size_t>(timeline_.ranks));
    nanoseconds covered = step.start;
    for (const Segment& segment : step.segments) {
      entry.part(Part::unattributed) += segment.start - covered;
      add_segment(entry, segment);
      covered = segment.end;
    }
    entry.part(Part::unattributed) += step.end - covered;
    entry.compute_by_class[static_cast<std::size_t>(attribution::WorkClass::unclassified)] =
        entry.part(Part::compute);
    check_sums(entry);
    ledger_.entries.push_back(std::move(entry));
  }

  void add_segment(StepLedger& entry, const Segment& segment) {
    const Activity activity = timeline_.spans[segment.span].activity;
    if (activity == Activity::collective_wait) return add_wait(entry, segment);
    entry.part(part_of(activity)) += segment.end - segment.start;
  }

  void add_wait(StepLedger& entry, const Segment& segment) {
    const Span& span = timeline_.spans[segment.span];
    const auto found = arrivals_.collectives.find({span.step, span.sequence});
    if (found == arrivals_.collectives.end() || !found->second.complete) {
      ++ledger_.unsplit_waits;
      entry.part(Part::unattributed) += segment.end - segment.start;
      return;
    }
    const Arrivals& arrivals = found->second;
    const nanoseconds arrived = std::clamp(arrivals.last, segment.start, segment.end);
    WaitSplit wait{segment.span, {}, std::nullopt};
    add_arrival(entry, wait, arrivals, {segment.start, arrived});
    add_rest(entry, wait, arrivals, {arrived, segment.end});
    ledger_.waits.push_back(std::move(wait));
  }

  void add_arrival(StepLedger& entry,
                   WaitSplit& wait,
                   const Arrivals& arrivals,
                   const TimeRange& time) {
    const auto charged = charge(entry, wait, {time, WaitCause::arrival, arrivals.last_rank});
    if (charged) wait.post = arrivals.posts[static_cast<std::size_t>(charged->index)];
  }

  void add_rest(StepLedger& entry,
                WaitSplit& wait,
                const Arrivals& arrivals,
                const TimeRange& time) {
    nanoseconds covered = time.start;
    if (stalls_) {
      const Span& span = timeline_.spans[wait.span];
      for (const Stall& stall :
           stalls_->stalls({span.step, span.sequence}, arrivals.last, entry.rank, time)) {
        add_transfer(entry, wait, {covered, stall.time.start});
        charge(entry, wait, {stall.time, WaitCause::stall, stall.rank});
        covered = stall.time.end;
      }
    }
    add_transfer(entry, wait, {covered, time.end});
  }

  static void add_transfer(StepLedger& entry, WaitSplit& wait, const TimeRange& time) {
    if (time.start == time.end) return;
    entry.part(Part::exposed_transfer) += time.end - time.start;
    wait.parts.push_back({time, WaitCause::transfer, std::nullopt});
  }

  // Returns who is charged in the end.
  std::optional<Rank> charge(StepLedger& entry, WaitSplit& wait, WaitPart part) {
    const nanoseconds time = part.time.end - part.time.start;
    if (time == nanoseconds::zero()) return std::nullopt;
    entry.part(Part::exposed_wait) += time;
    // A rank that blocks before its own arrival is a malformed recording: it waits for no rank.
    if (time < timeline_.clock_error || part.waited_for == entry.rank) part.waited_for.reset();
    if (part.waited_for) {
      entry.waited_for[static_cast<std::size_t>(part.waited_for->index)] += time;
    } else {
      ++ledger_.uncharged_waits;
      entry.uncharged_wait += time;
    }
    wait.parts.push_back(part);
    return part.waited_for;
  }

  const Timeline& timeline_;
  ArrivalTable arrivals_;
  std::optional<StallTable> stalls_;  // where ranks that compute hold up collectives
  Ledger ledger_;
};
}  // namespace

Ledger build_ledger(const Timeline& timeline) {
  return LedgerBuilder(timeline).build();
}

std::map<std::string, double> loss_counters(const Ledger& ledger) {
  std::map<std::string, double> counters = loss_counters(ledger.losses);
  const auto count = [&](const char* name, std::int64_t value) {
    if (value != 0) counters[name] = static_cast<double>(value);
  };
  count("uncharged_waits", ledger.uncharged_waits);
  count("unsplit_waits", ledger.unsplit_waits);
  count("duplicate_posts", ledger.duplicate_posts);
  return counters;
}

namespace {
void append(Point& point, const StepLedger& entry) {
  const auto add = [&](const std::string& series, nanoseconds time) {
    point.samples[series].push_back(static_cast<double>(time.count()));
  };
  add(fields::step_ns, entry.end - entry.start);
  for (const Part part : probe_parts) add(part_key(part), entry.part(part));
  for (std::size_t rank = 0; rank < entry.waited_for.size(); ++rank) {
    add(fields::waited_for_ns_prefix + std::to_string(rank), entry.waited_for[rank]);
  }
}
}  // namespace

std::vector<Point> ledger_points(const Point& setting, const Ledger& ledger) {
  std::vector<Point> points(static_cast<std::size_t>(std::max(0, ledger.ranks)));
  const auto counters = loss_counters(ledger);
  for (int rank = 0; rank < ledger.ranks; ++rank) {
    Point& point = points[static_cast<std::size_t>(rank)];
    point.parameters = setting.parameters;
    point.parameters[fields::rank] = std::int64_t{rank};
    point.stop_reason = setting.stop_reason;
    for (const auto& [name, value] : counters) {
      point.warnings.push_back(fmt::format("ledger: {} = {:.0f}", name, value));
    }
  }
  for (const StepLedger& entry : ledger.entries) {
    append(points[static_cast<std::size_t>(entry.rank.index)], entry);
  }
  return points;
}

namespace {
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Whole nanoseconds, never negative, as microseconds: no rounding through a double.
std::string microseconds(nanoseconds time) {
  return fmt::format("{}.{:03d}", time.count() / 1000, time.count() % 1000);
}

// Viewers treat process 0 as the idle task.
int process_id(Rank rank) {
  return rank.index + 1;
}

std::string wait_name(const WaitPart& part) {
  if (part.cause == WaitCause::transfer) return "transfer";
  if (!part.waited_for) return "wait, charged to no rank";
  const char* why = part.cause == WaitCause::stall ? " to make progress" : "";
  return fmt::format("wait for rank {}{}", part.waited_for->index, why);
}

class ChromeWriter {
 public:
  ChromeWriter(std::ostream& out, const Timeline& timeline)
      : out_(out),
        timeline_(timeline),
        segmented_(segment(timeline)),
        ledger_(build_ledger(timeline)) {
    for (const WaitSplit& wait : ledger_.waits) splits_.emplace(wait.span, &wait);
    if (segmented_.steps.empty()) return;
    const auto first =
        std::ranges::min_element(segmented_.steps, {}, [](const auto& a) { return a.start; });
    base_ = first->start;
  }

  ChromeTraceCounts write(const TraceMetadata& metadata) {
    write_header(metadata);
    for (int rank = 0; rank < timeline_.ranks; ++rank) write_names(Rank{rank});
    for (const StepSegments& step : segmented_.steps) write_step(step);
    for (const WaitSplit& wait : ledger_.waits) write_arrow(wait);
    out_ << "\n]}\n";
    return counts_;
  }

 private:
  void write_header(const TraceMetadata& metadata) {
    TraceMetadata all = metadata;
    all["clock_method"] = timeline_.clock_method;
    all["clock_error_ns"] = std::to_string(timeline_.clock_error.count());
    for (const auto& [name, value] : loss_counters(ledger_))
      all[name] = fmt::format("{:.0f}", value);
    out_ << "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":" << base_.count()
         << ",\"otherData\":{";
    const char* separator = "";
    for (const auto& [name, value] : all) {
      out_ << separator << quoted(name) << ':' << quoted(value);
      separator = ",";
    }
    out_ << "},\"traceEvents\":[";
  }

  void write_names(Rank rank) {
    const int pid = process_id(rank);
    event(fmt::format(
        R"("ph":"M","pid":{0},"tid":{0},"name":"process_name","args":{{"name":"rank {1}"}})",
        pid,
        rank.index));
    event(fmt::format(
        R"("ph":"M","pid":{0},"tid":{0},"name":"process_sort_index","args":{{"sort_index":{1}}})",
        pid,
        rank.index));
    event(fmt::format(
        R"("ph":"M","pid":{0},"tid":{0},"name":"thread_name","args":{{"name":"training"}})", pid));
  }

  void write_step(const StepSegments& step) {
    write_slice(timeline_.spans[step.span], step.start, step.end);
    for (const Segment& segment : step.segments) {
      write_slice(timeline_.spans[segment.span], segment.start, segment.end);
      const auto split = splits_.find(segment.span);
      if (split != splits_.end()) write_split(*split->second);
    }
  }

  void write_slice(const Span& span, nanoseconds start, nanoseconds end) {
    const std::string sequence =
        span.sequence < 0 ? "" : fmt::format(",\"sequence\":{}", span.sequence);
    slice(span.rank,
          quoted(span.name.empty() ? activity_name(span.activity) : span.name),
          activity_name(span.activity),
          {start, end},
          fmt::format("\"step\":{}{}", span.step, sequence));
    ++counts_.slices;
  }

  void write_split(const WaitSplit& wait) {
    for (const WaitPart& part : wait.parts) {
      slice(timeline_.spans[wait.span].rank,
            quoted(wait_name(part)),
            "ledger",
            {part.time.start, part.time.end},
            "");
      ++counts_.sub_slices;
    }
  }

  void slice(Rank rank,
             const std::string& name,
             const char* category,
             std::pair<nanoseconds, nanoseconds> time,
             const std::string& arguments) {
    event(fmt::format(
        R"("ph":"X","pid":{0},"tid":{0},"name":{1},"cat":"{2}","ts":{3},"dur":{4},"args":{{{5}}})",
        process_id(rank),
        name,
        category,
        microseconds(time.first - base_),
        microseconds(time.second - time.first),
        arguments));
  }

  // An arrow ends at the last nanosecond of the wait, so that it never points back in time.
  void write_arrow(const WaitSplit& wait) {
    if (!wait.post) return;
    const Span& post = timeline_.spans[*wait.post];
    const nanoseconds arrival = wait.parts.front().time.end - nanoseconds(1);
    if (post.start > arrival || post.start < base_) return;
    ++counts_.arrows;
    arrow("\"ph\":\"s\"", post.rank, post.start);
    arrow("\"ph\":\"f\",\"bp\":\"e\"", timeline_.spans[wait.span].rank, arrival);
  }

  void arrow(const char* phase, Rank rank, nanoseconds time) {
    event(fmt::format(
        R"({0},"pid":{1},"tid":{1},"name":"last arrival","cat":"flow","id":{2},"ts":{3})",
        phase,
        process_id(rank),
        counts_.arrows,
        microseconds(time - base_)));
  }

  void event(const std::string& fields) {
    out_ << separator_ << '{' << fields << '}';
    separator_ = ",\n";
  }

  std::ostream& out_;
  const Timeline& timeline_;
  SegmentedTimeline segmented_;
  Ledger ledger_;
  std::map<std::size_t, const WaitSplit*> splits_;
  nanoseconds base_{};
  ChromeTraceCounts counts_;
  const char* separator_ = "\n";
};
}  // namespace

ChromeTraceCounts write_chrome_trace(std::ostream& out,
                                     const Timeline& timeline,
                                     const TraceMetadata& metadata) {
  return ChromeWriter(out, timeline).write(metadata);
}
}  // namespace scaleworth::trace
