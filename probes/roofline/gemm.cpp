// SPDX-License-Identifier: Apache-2.0
#include "probes/roofline/gemm.h"

#include "probes/roofline/gemm_plan.h"
#include "probes/roofline/point.h"
#include "src/core/error.h"
#include "src/core/run/fields.h"

#include <variant>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

/// The library's name; throws when there is none.
std::string require_library(Machine& machine) {
  Outcome<std::string> library = machine.gemm_library();
  if (const auto* skipped = std::get_if<Skipped>(&library)) throw NothingToMeasure(skipped->reason);
  if (const auto* failed = std::get_if<Failed>(&library)) throw ProbeFailure(failed->reason);
  return std::get<std::string>(library);
}

void measure_shapes(Machine& machine,
                    const std::vector<GemmShape>& shapes,
                    Suite suite,
                    Recorder& recorder) {
  const std::string library = require_library(machine);
  const Target target = target_of(gemm_pace(suite));
  double done = 0.0;
  for (const auto& [family, work] : shapes) {
    recorder.progress(done++ / static_cast<double>(shapes.size()),
                      fmt::format("{} {} x {} x {}, batch {}, {} workers",
                                  precision_name(work.precision),
                                  work.m,
                                  work.n,
                                  work.k,
                                  work.batch,
                                  work.workers));
    recorder.add(point_of({{fields::family, family},
                           {fields::library, library},
                           {fields::precision, std::string(precision_name(work.precision))},
                           {fields::m, work.m},
                           {fields::n, work.n},
                           {fields::k, work.k},
                           {fields::batch, work.batch},
                           {fields::workers, std::int64_t{work.workers}}},
                          machine.time_gemm(work, target)));
  }
}

}  // namespace

void measure_gemm(Machine& machine, const Setting& setting, Recorder& recorder) {
  const std::size_t left_out = gemm_shapes_left_out(setting);
  if (left_out > 0) {
    recorder.warn(
        fmt::format("{} GEMM shapes left out: their operands exceed a quarter of the {:.0f} MiB of "
                    "available memory",
                    left_out,
                    setting.available_memory.value() / (1024.0 * 1024.0)));
  }
  const std::vector<GemmShape> plan = gemm_plan(setting);
  if (plan.empty()) throw NothingToMeasure("no GEMM shape fits the available memory");
  measure_shapes(machine, plan, setting.suite, recorder);
}

Seconds estimate_gemm(const Setting& setting) {
  Seconds total{};
  for (const GemmShape& shape : gemm_plan(setting)) {
    total += gemm_time(shape.work, gemm_pace(setting.suite));
  }
  return total;
}

void measure_gemm_shapes(Machine& machine,
                         const std::vector<GemmWork>& works,
                         Suite suite,
                         Recorder& recorder) {
  std::vector<GemmShape> shapes;
  for (const GemmWork& work : works) shapes.push_back({"free", work});
  measure_shapes(machine, shapes, suite, recorder);
}

Seconds estimate_gemm_shapes(const std::vector<GemmWork>& works, Suite suite) {
  Seconds total{};
  for (const GemmWork& work : works) total += gemm_time(work, gemm_pace(suite));
  return total;
}

}  // namespace scaleworth::probes
