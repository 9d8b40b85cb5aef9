// SPDX-License-Identifier: Apache-2.0
#include "trace/spans/chrome_json.h"

#include "trace/spans/ledger.h"
#include "trace/spans/segments.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleworth::trace {
namespace {

using std::chrono::nanoseconds;

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

std::string part_name(const WaitPart& part) {
  if (part.cause == WaitCause::transfer) return "transfer";
  if (!part.waited_for) return "wait, charged to nobody";
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
    const auto first = std::min_element(
        segmented_.steps.begin(), segmented_.steps.end(), [](const auto& a, const auto& b) {
          return a.start < b.start;
        });
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
            quoted(part_name(part)),
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
