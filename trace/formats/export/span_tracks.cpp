// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleworth::trace {
namespace {
std::string wait_name(const WaitPart& part) {
  if (part.cause == WaitCause::transfer) return "transfer";
  if (!part.waited_for) return "wait, charged to no rank";
  return fmt::format("wait for rank {}{}",
                     part.waited_for->index,
                     part.cause == WaitCause::stall ? " to make progress" : "");
}

/// Whether the wait is charged to the last arriver and ends in something else.
bool has_arrow(const WaitSplit& wait) {
  return wait.parts.size() > 1 && wait.parts[0].cause == WaitCause::arrival &&
         wait.parts[0].waited_for;
}

/// The spans of a ledger as slices, a track for each rank.
class SpanTracks {
 public:
  SpanTracks(const Ledger& ledger, ExportWriter& writer) : ledger_(ledger), writer_(writer) {
    for (std::size_t i = 0; i < ledger.spans.size(); ++i)
      by_rank_[ledger.spans[i].rank].push_back(i);
    for (std::size_t number = 0; number < ledger.waits.size(); ++number) {
      const WaitSplit& wait = ledger.waits[number];
      waits_.emplace(wait.span, number);
      if (has_arrow(wait))
        arrows_[{collective_of(ledger.spans[wait.span]), *wait.parts[0].waited_for}].push_back(
            number);
    }
  }

  void write() {
    for (Rank rank; rank.index < ledger_.ranks; ++rank.index) {
      // Viewers treat process 0 as the idle task.
      const std::int32_t process = rank.index + 1;
      writer_.add_process(process, fmt::format("rank {}", rank.index));
      const TrackId track = writer_.add_track(process, "training");
      for (const std::size_t index : by_rank_[rank]) add_span(index, track);
    }
  }

 private:
  using Collective = std::pair<std::int32_t, std::int32_t>;  // step, sequence
  static Collective collective_of(const Span& span) { return {span.step, span.sequence}; }

  void add_span(std::size_t index, TrackId track) {
    const Span& span = ledger_.spans[index];
    const std::string activity = activity_name(span.activity);
    std::vector<Argument> arguments{{"step", std::int64_t{span.step}}};
    if (span.sequence >= 0) arguments.push_back({"sequence", std::int64_t{span.sequence}});
    std::vector<std::uint64_t> out;  // of several posts of one collective the first has them
    if (span.activity == Activity::post) out.swap(arrows_[{collective_of(span), span.rank}]);
    writer_.add(track,
                {{span.start, span.end},
                 span.name.empty() ? activity : span.name,
                 activity,
                 arguments,
                 out,
                 std::nullopt});
    if (const std::uint64_t* number = value_at(waits_, index)) add_wait(*number, track);
  }

  /// An arrow has the number of its wait.
  void add_wait(std::uint64_t number, TrackId track) const {
    const WaitSplit& wait = ledger_.waits[number];
    for (const WaitPart& part : wait.parts) {
      std::optional<std::uint64_t> arrow;
      if (has_arrow(wait) && &part == &wait.parts[1]) arrow = number;
      writer_.add(track, {part.time, wait_name(part), "ledger", {}, {}, arrow});
    }
  }

  const Ledger& ledger_;
  ExportWriter& writer_;
  std::map<Rank, std::vector<std::size_t>> by_rank_;  // indices of spans
  std::map<std::size_t, std::uint64_t> waits_;        // numbers by the index of their span
  /// Numbers of the arrows that leave a rank's post.
  std::map<std::pair<Collective, Rank>, std::vector<std::uint64_t>> arrows_;
};

/// Up to the traceEvents, which the exporter adds: a viewer shows it as facts of the file.
std::string trace_head(const Timeline& timeline,
                       const Ledger& ledger,
                       std::map<std::string, std::string> metadata) {
  metadata["clock_method"] = timeline.clock_method;
  metadata["clock_error_ns"] = std::to_string(timeline.clock_error.count());
  for (const auto& [name, amount] : ledger.losses) metadata[name] = std::to_string(amount);
  return fmt::format(
      R"({{"otherData":{},)",
      nlohmann::json(metadata).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}
}  // namespace

std::string chrome_trace(const Timeline& timeline,
                         const Ledger& ledger,
                         const std::map<std::string, std::string>& metadata) {
  const auto first = std::ranges::min_element(ledger.entries, {}, &StepLedger::start);
  std::string text;
  ExportWriter writer([&](std::string_view bytes) { text += bytes; },
                      first == ledger.entries.end() ? nanoseconds{} : first->start,
                      trace_head(timeline, ledger, metadata));
  SpanTracks(ledger, writer).write();
  writer.finish();
  return text;
}
}  // namespace scaleworth::trace
