// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline/costs.h"
#include "probes/roofline/plan.h"
#include "probes/roofline/point.h"
#include "probes/roofline/probes.h"
#include "src/core/run/fields.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {

void measure_memory(Machine& machine, const Setting& setting, Recorder& recorder) {
  for (const int workers : worker_counts(setting)) {
    if (const auto shortage = memory_shortage(setting, workers)) recorder.warn(*shortage);
  }
  const std::vector<MemoryWork> works = memory_plan(setting);
  const Target target = target_of(memory_pace(setting.suite));
  double done = 0.0;
  for (const MemoryWork& work : works) {
    recorder.progress(done++ / static_cast<double>(works.size()),
                      fmt::format("{}{} of {:.0f} KiB, {} workers",
                                  memory_kernel_name(work.kernel),
                                  work.nontemporal ? " (non-temporal)" : "",
                                  work.working_set.value() / 1024.0,
                                  work.workers));
    const Measured measured = machine.time_memory(work, target);
    recorder.add(point_of(
        {{fields::kernel, std::string(memory_kernel_name(work.kernel))},
         {fields::nontemporal, work.nontemporal},
         {fields::workers, std::int64_t{work.workers}},
         {fields::working_set_bytes, std::int64_t{std::llround(work.working_set.value())}}},
        measured));
  }
  machine.release_memory();
}

Seconds estimate_memory(const Setting& setting) {
  Seconds total{};
  for (const int workers : worker_counts(setting)) {
    // Sources and targets, once per worker count.
    total += 2.0 * working_sets(setting, workers).back() * workers / first_touch_rate(workers);
  }
  for (const MemoryWork& work : memory_plan(setting)) {
    // Before sampling, the cacheable part of the set is swept once.
    const Bytes set = work.workers * work.working_set;
    total += time_per_setting(memory_pace(setting.suite)) +
             std::min(set, setting.last_cache) / sweep_rate(work.workers);
  }
  return total;
}

}  // namespace scaleworth::probes
