// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives/sweep.h"

#include "probes/collectives/sweep_plan.h"
#include "src/core/error.h"
#include "src/core/run/fields.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr const char* timings_file = "collectives.csv";

std::vector<std::string> timing_header() {
  return {"collective",
          "mode",
          "ranks",
          "message_bytes",
          "operations",
          "iteration",
          "rank",
          "start_ns",
          "end_ns"};
}

std::vector<std::vector<std::string>> timing_rows(const CollectiveWork& work,
                                                  const CollectiveMeasured& measured) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(measured.timings.size());
  for (const RankTiming& timing : measured.timings) {
    rows.push_back({collective_name(work.collective),
                    collective_mode_name(work.mode),
                    std::to_string(work.ranks),
                    fmt::format("{:.0f}", measured.message.value()),
                    std::to_string(measured.operations_per_timing),
                    std::to_string(timing.iteration),
                    std::to_string(timing.rank.index),
                    std::to_string(timing.start_ns),
                    std::to_string(timing.end_ns)});
  }
  return rows;
}

Point make_point(const CollectiveWork& work, CollectiveMeasured measured) {
  Point point;
  point.parameters = {{fields::collective, std::string(collective_name(work.collective))},
                      {fields::mode, std::string(collective_mode_name(work.mode))},
                      {fields::ranks, std::int64_t{work.ranks}},
                      {fields::message_bytes, static_cast<std::int64_t>(measured.message.value())}};
  point.samples = {{fields::time_s, std::move(measured.time_s)}};
  point.stop_reason = std::move(measured.stop_reason);
  point.warnings = std::move(measured.warnings);
  return point;
}

std::string title(const CollectiveWork& work) {
  return fmt::format("{} of {:.0f} B on {} ranks",
                     collective_name(work.collective),
                     work.message.value(),
                     work.ranks);
}

}  // namespace

Seconds estimate_collectives(const Setting& setting) {
  const Bytes memory = setting.available_memory / static_cast<double>(setting.max_ranks);
  Seconds sum{0.0};
  for (const auto& work : plan_sweep(setting.suite, setting.max_ranks, memory).settings) {
    sum += expected_time(work, setting.suite);
  }
  return sum;
}

void measure_collectives(RankGroup& group,
                         const Setting& setting,
                         const RankOptions& /*options*/,
                         Recorder& recorder) {
  if (group.size() < 2) throw NothingToMeasure("a collective needs at least 2 ranks");
  const SweepPlan plan = plan_sweep(setting.suite, group.size(), group.available_memory_per_rank());
  const auto on_rank_0 = [&](const std::function<void()>& action) {
    group.together([&] {
      if (group.rank() == Rank{0}) action();
    });
  };
  on_rank_0([&] {
    if (!plan.left_out.empty()) recorder.warn(plan.left_out);
  });
  Seconds total{0.0};
  for (const CollectiveWork& work : plan.settings) total += expected_time(work, setting.suite);
  Seconds done{0.0};
  for (const CollectiveWork& work : plan.settings) {
    on_rank_0([&] { recorder.progress(done / total, title(work)); });
    CollectiveMeasured measured = group.time_collective(work, sweep_target(work, setting.suite));
    on_rank_0([&] {
      recorder.add_rows(timings_file, timing_header(), timing_rows(work, measured));
      recorder.add(make_point(work, std::move(measured)));
    });
    done += expected_time(work, setting.suite);
  }
}

}  // namespace scaleworth::probes
