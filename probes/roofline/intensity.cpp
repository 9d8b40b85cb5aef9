// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline/costs.h"
#include "probes/roofline/plan.h"
#include "probes/roofline/point.h"
#include "probes/roofline/probes.h"
#include "src/core/run/fields.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {

void measure_intensity(Machine& machine, const Setting& setting, Recorder& recorder) {
  for (const int workers : worker_counts(setting)) {
    if (const auto shortage = memory_shortage(setting, workers)) recorder.warn(*shortage);
  }
  const std::vector<IntensityWork> works = intensity_plan(setting);
  const Target target = target_of(intensity_pace(setting.suite));
  double done = 0.0;
  for (const IntensityWork& work : works) {
    recorder.progress(done++ / static_cast<double>(works.size()),
                      fmt::format("{} FMAs per {} element, {} workers",
                                  work.fma_per_element,
                                  precision_name(work.precision),
                                  work.workers));
    const Measured measured = machine.time_intensity(work, target);
    recorder.add(
        point_of({{fields::precision, std::string(precision_name(work.precision))},
                  {fields::workers, std::int64_t{work.workers}},
                  {fields::working_set_bytes, std::int64_t{std::llround(work.working_set.value())}},
                  {fields::fma_per_element, std::int64_t{work.fma_per_element}}},
                 measured));
  }
  machine.release_memory();
}

Seconds estimate_intensity(const Setting& setting) {
  Seconds total{};
  for (const IntensityWork& work : intensity_plan(setting)) {
    total += time_per_setting(intensity_pace(setting.suite));
    // The first rung of each ladder fills the set, the first ladder of each count its pages too.
    if (work.fma_per_element == 1) {
      total += work.workers * work.working_set / first_touch_rate(work.workers);
    }
  }
  return total;
}

}  // namespace scaleworth::probes
