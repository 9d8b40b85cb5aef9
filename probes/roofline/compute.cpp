// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline/plan.h"
#include "probes/roofline/point.h"
#include "probes/roofline/probes.h"
#include "src/core/run/fields.h"

#include <fmt/format.h>

namespace scaleworth::probes {

void measure_compute(Machine& machine, const Setting& setting, Recorder& recorder) {
  const std::vector<FmaWork> works = compute_plan(setting, machine.isas());
  const Target target = target_of(compute_pace(setting.suite));
  double done = 0.0;
  for (const FmaWork& work : works) {
    recorder.progress(
        done++ / static_cast<double>(works.size()),
        fmt::format("{} {}, {} workers", work.isa, precision_name(work.precision), work.workers));
    const Measured measured = machine.time_fma(work, target);
    recorder.add(point_of({{fields::isa, work.isa},
                           {fields::precision, std::string(precision_name(work.precision))},
                           {fields::workers, std::int64_t{work.workers}}},
                          measured));
  }
}

Seconds estimate_compute(const Setting& setting) {
  const std::vector<std::string> isas(setting.isa_count);
  return static_cast<double>(compute_plan(setting, isas).size()) *
         time_per_setting(compute_pace(setting.suite));
}

}  // namespace scaleworth::probes
