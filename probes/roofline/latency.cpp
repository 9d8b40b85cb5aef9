// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline/costs.h"
#include "probes/roofline/plan.h"
#include "probes/roofline/point.h"
#include "probes/roofline/probes.h"
#include "src/core/run/fields.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {

void measure_latency(Machine& machine, const Setting& setting, Recorder& recorder) {
  if (const auto shortage = memory_shortage(setting, 1)) recorder.warn(*shortage);
  const std::vector<LatencyWork> works = latency_plan(setting);
  const Target target = target_of(latency_pace(setting.suite));
  double done = 0.0;
  for (const LatencyWork& work : works) {
    recorder.progress(done++ / static_cast<double>(works.size()),
                      fmt::format("loads within {:.0f} KiB", work.working_set.value() / 1024.0));
    Point point = point_of(
        {{fields::working_set_bytes, std::int64_t{std::llround(work.working_set.value())}}},
        machine.time_latency(work, target));
    point.amounts[fields::accesses] = 1.0;
    recorder.add(std::move(point));
  }
  machine.release_memory();
}

Seconds estimate_latency(const Setting& setting) {
  Seconds total = working_sets(setting, 1).back() / first_touch_rate(1);
  for (const LatencyWork& work : latency_plan(setting)) {
    total += time_per_setting(latency_pace(setting.suite)) + work.working_set / cycle_write_rate();
  }
  return total;
}

}  // namespace scaleworth::probes
