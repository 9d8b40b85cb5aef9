// SPDX-License-Identifier: Apache-2.0
#include "probes/machine.h"
#include "probes/roofline.h"
#include "src/core/error.h"
#include "src/core/run.h"

#include <array>
#include <functional>

namespace scaleworth::probes {
namespace {
/// Writing fresh pages.
BytesPerSecond first_touch_rate(int workers) {
  // For estimates: the kernel clears each page first.
  return BytesPerSecond(2.5e9 * effective_workers(workers));
}

/// Writing a random cycle: beyond the caches each line of 64 bytes costs part of a miss.
constexpr BytesPerSecond cycle_write_rate{64.0 / 40e-9};

void warn_of_shortage(const PlanInputs& setting,
                      const std::vector<int>& counts,
                      Recorder& recorder) {
  for (const int workers : counts) {
    if (const auto shortage = memory_shortage(setting, workers)) recorder.warn(*shortage);
  }
}

/// Samples wall_s and cpu_s, amounts flops, bytes and bytes_real (those that are not zero).
Point point_of(SettingFacts facts, const Measured& measured) {
  Point point;
  point.setting = std::move(facts.setting);
  point.amounts = std::move(facts.amounts);
  if (measured.flops.value() > 0.0) point.amounts[Metric::flops] = measured.flops.value();
  if (measured.bytes.value() > 0.0) {
    point.amounts[Metric::bytes] = measured.bytes.value();
    point.amounts[Metric::bytes_real] = measured.bytes_real.value();
  }
  point.samples = {{Metric::wall_s, measured.samples.wall_s},
                   {Metric::cpu_s, measured.samples.cpu_s}};
  point.stop_reason = measured.samples.stop_reason;
  point.warnings = measured.samples.warnings;
  return point;
}

SettingFacts facts_of(const FmaWork& work) {
  return {fmt::format("{} {}, {} workers", work.isa, key_of(work.precision), work.workers),
          {{Parameter::isa, work.isa},
           {Parameter::precision, work.precision},
           {Parameter::workers, work.workers}}};
}

SettingFacts facts_of(const GemmShape& shape) {
  const GemmWork& work = shape.work;
  SettingFacts facts{fmt::format("{} {} x {} x {}, batch {}, {} workers",
                                 key_of(work.precision),
                                 work.m,
                                 work.n,
                                 work.k,
                                 work.batch,
                                 work.workers),
                     {{Parameter::family, shape.family},
                      {Parameter::precision, work.precision},
                      {Parameter::m, work.m},
                      {Parameter::n, work.n},
                      {Parameter::k, work.k},
                      {Parameter::batch, work.batch},
                      {Parameter::workers, work.workers}}};
  if (!shape.name.empty()) facts.setting.set(Parameter::name, shape.name);
  return facts;
}

SettingFacts facts_of(const LatencyWork& work) {
  return {fmt::format("loads within {:.0f} KiB", work.working_set.value() / 1024.0),
          {{Parameter::working_set_bytes, whole_bytes(work.working_set)}},
          {{Metric::accesses, 1.0}}};
}

SettingFacts facts_of(const MemoryWork& work) {
  return {fmt::format("{}{} of {:.0f} KiB, {} workers",
                      key_of(work.kernel),
                      work.nontemporal ? " (non-temporal)" : "",
                      work.working_set.value() / 1024.0,
                      work.workers),
          {{Parameter::kernel, work.kernel},
           {Parameter::nontemporal, work.nontemporal},
           {Parameter::workers, work.workers},
           {Parameter::working_set_bytes, whole_bytes(work.working_set)}}};
}

/// Calls `ask` of the machine along `works` and records a point per setting with its facts and
/// `common` ones.
template <class Work, class Ask>
void measure_plan(Machine& machine,
                  const std::vector<Work>& works,
                  const Pace& pace,
                  Recorder& recorder,
                  const Ask& ask,
                  const Setting& common = {}) {
  const Target target = target_of(pace);
  double done = 0.0;
  for (const Work& work : works) {
    SettingFacts facts = facts_of(work);
    facts.setting.set(common);
    recorder.progress(done++ / static_cast<double>(works.size()), facts.name);
    recorder.add(point_of(std::move(facts), std::invoke(ask, machine, work, target)));
  }
}

/// Every isa x {fp32, fp64} x {1, all} workers: the ceilings.
void measure_compute(Machine& machine, const PlanInputs& setting, Recorder& recorder) {
  const std::vector<FmaWork> plan = compute_plan(setting, machine.isas());
  measure_plan(machine, plan, compute_pace(setting.suite), recorder, &Machine::time_fma);
}

/// Those of all workers.
void look_at_compute_again(Machine& machine, const PlanInputs& setting, Recorder& recorder) {
  std::vector<FmaWork> plan = compute_plan(setting, machine.isas());
  std::erase_if(plan, [&](const FmaWork& work) { return work.workers != setting.workers; });
  const Setting again{{Parameter::run, std::int64_t{0}}};
  measure_plan(machine, plan, second_look_pace, recorder, &Machine::time_fma, again);
}

Seconds estimate_compute(const PlanInputs& setting) {
  const std::vector<std::string> isas(setting.isa_count);
  return static_cast<double>(compute_plan(setting, isas).size()) *
         time_per_setting(compute_pace(setting.suite));
}

/// All families of gemm_plan.
void measure_gemm(Machine& machine, const PlanInputs& setting, Recorder& recorder) {
  const std::size_t left_out = gemm_shapes_left_out(setting);
  if (left_out > 0) {
    recorder.warn(
        {FindingId::gemm_shapes_left_out, left_out, setting.available_memory.value() / mebibyte});
  }
  const std::vector<GemmShape> plan = gemm_plan(setting);
  if (plan.empty()) throw NothingToMeasure(FindingId::no_gemm_shape_fits);
  measure_gemm_shapes(machine, plan, setting.suite, recorder);
}

Seconds estimate_gemm(const PlanInputs& setting) {
  return estimate_gemm_shapes(gemm_plan(setting), setting.suite);
}

/// One dependent load over the same working sets as memory, one worker.
void measure_latency(Machine& machine, const PlanInputs& setting, Recorder& recorder) {
  warn_of_shortage(setting, {1}, recorder);
  const auto plan = latency_plan(setting);
  measure_plan(machine, plan, latency_pace(setting.suite), recorder, &Machine::time_latency);
  machine.release_memory();
}

Seconds estimate_latency(const PlanInputs& setting) {
  Seconds total = working_sets(setting, 1).back() / first_touch_rate(1);
  for (const LatencyWork& work : latency_plan(setting)) {
    total += time_per_setting(latency_pace(setting.suite)) + work.working_set / cycle_write_rate;
  }
  return total;
}

/// {read, write, copy, triad} over working sets from L1 to several times the last cache, regular
/// stores, and non-temporal ones beyond 4 MiB; 1 and all workers.
void measure_memory(Machine& machine, const PlanInputs& setting, Recorder& recorder) {
  warn_of_shortage(setting, worker_counts(setting), recorder);
  const auto plan = memory_plan(setting);
  measure_plan(machine, plan, memory_pace(setting.suite), recorder, &Machine::time_memory);
  machine.release_memory();
}

/// The largest sets, of all workers.
void look_at_memory_again(Machine& machine, const PlanInputs& setting, Recorder& recorder) {
  std::vector<MemoryWork> plan = memory_plan(setting);
  const Bytes largest = working_sets(setting, setting.workers).back();
  std::erase_if(plan, [&](const MemoryWork& work) {
    return work.workers != setting.workers || work.working_set != largest;
  });
  const Setting again{{Parameter::run, std::int64_t{0}}};
  measure_plan(machine, plan, second_look_pace, recorder, &Machine::time_memory, again);
  machine.release_memory();
}

Seconds estimate_memory(const PlanInputs& setting) {
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
}  // namespace

std::span<const NodeProbe> node_probes() {
  static constexpr std::array probes{
      NodeProbe{probe_name::roofline_compute,
                "How many FLOP/s can the cores retire, per instruction set and precision?",
                &estimate_compute,
                &measure_compute,
                &look_at_compute_again},
      NodeProbe{probe_name::roofline_memory,
                "How fast do data stream from each level of cache and from memory?",
                &estimate_memory,
                &measure_memory,
                &look_at_memory_again},
      NodeProbe{probe_name::roofline_latency,
                "How long does one dependent load take at each level?",
                &estimate_latency,
                &measure_latency},
      NodeProbe{probe_name::roofline_gemm,
                "How close to the roof does the library multiply matrices of these shapes?",
                &estimate_gemm,
                &measure_gemm},
  };
  return probes;
}

void measure_gemm_shapes(Machine& machine,
                         const std::vector<GemmShape>& shapes,
                         Suite suite,
                         Recorder& recorder) {
  const std::string library = required(machine.gemm_library());
  const auto ask = [](Machine& asked, const GemmShape& shape, const Target& target) {
    return asked.time_gemm(shape.work, target);
  };
  measure_plan(machine, shapes, gemm_pace(suite), recorder, ask, {{Parameter::library, library}});
}

Seconds estimate_gemm_shapes(const std::vector<GemmShape>& shapes, Suite suite) {
  Seconds total{};
  for (const GemmShape& shape : shapes) total += gemm_time(shape.work, gemm_pace(suite));
  return total;
}
}  // namespace scaleworth::probes
