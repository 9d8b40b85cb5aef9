// SPDX-License-Identifier: Apache-2.0
#include "probes/machine.h"
#include "probes/roofline.h"
#include "src/core/error.h"
#include "src/core/files/run_names.h"
#include "src/core/run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {
/// Samples wall_s and cpu_s, amounts flops, bytes and bytes_real (those that are not zero).
Point point_of(std::map<std::string, Value> parameters, const Measured& measured) {
  Point point;
  point.parameters = std::move(parameters);
  if (measured.flops.value() > 0.0) point.amounts[fields::flops] = measured.flops.value();
  if (measured.bytes.value() > 0.0) {
    point.amounts[fields::bytes] = measured.bytes.value();
    point.amounts[fields::bytes_real] = measured.bytes_real.value();
  }
  point.samples = {{fields::wall_s, measured.samples.wall_s},
                   {fields::cpu_s, measured.samples.cpu_s}};
  point.stop_reason = measured.samples.stop_reason;
  point.warnings = measured.samples.warnings;
  return point;
}
}  // namespace

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
