// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/batching.h"
#include "probes/gpu/roofline.h"
#include "src/core/error.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace scaleworth::probes {
void DeviceWalk::ask(const Device& device,
                     const std::string& what,
                     Point setting,
                     const std::function<void()>& measure) {
  // One may be its setting; two are the GPU.
  constexpr int most_failures_in_a_row = 2;
  check_interrupt();
  const int gpu = device.description().ordinal;
  const double share = static_cast<double>(asked_++) / static_cast<double>(settings_);
  int& failures = failures_in_a_row_[gpu];
  if (failures >= most_failures_in_a_row) return;
  recorder_.progress(share, fmt::format("GPU {}: {}", gpu, what));
  const auto broke = [&](const std::exception& failure) {
    if (first_failure_.empty()) first_failure_ = fmt::format("GPU {}: {}", gpu, failure.what());
    note(gpu, what, {FindingId::stated, failure.what()});
  };
  try {
    measure();
    failures = 0;
    ++measured_;
  } catch (const NothingToMeasure& absent) {
    if (!first_absence_) first_absence_ = absent.reason;
    note(gpu, what, absent.reason);
  } catch (const WrongResult& wrong) {
    broke(wrong);
    failures = 0;
    setting.stop_reason = {{FindingId::setting_failed, wrong.what()}};
    setting.warnings.push_back(setting.stop_reason.front());
    recorder_.add(std::move(setting));
  } catch (const ProbeFailure& failure) {
    broke(failure);
    if (++failures != most_failures_in_a_row) return;
    recorder_.warn({FindingId::gpu_left_out_of_rest, gpu, most_failures_in_a_row});
  }
}

void DeviceWalk::release(Device& device) {
  try {
    device.release_memory();
  } catch (const ProbeFailure& failure) {
    note(device.description().ordinal, "giving back memory", {FindingId::stated, failure.what()});
  }
}

void DeviceWalk::finish() const {
  if (measured_ > 0) return;
  if (!first_failure_.empty()) throw ProbeFailure(first_failure_);
  throw NothingToMeasure(first_absence_.value_or(FindingId::no_gpu_setting));
}

void DeviceWalk::note(int gpu, const std::string& what, const Finding& reason) {
  recorder_.warn({FindingId::setting_not_measured, gpu, what, reason});
}

namespace {
// For estimates.
constexpr Seconds one_kernel{1e-3};
// H100, H200: 1.3 to 1.6 us (docs/measurements), older ones more.
constexpr Seconds one_launch{4e-6};

// Seconds and samples for each setting, quick and standard. At 20 ms a batch 20 samples take 0.4 s:
// less would leave the stopping rule no choice; more only takes time.
constexpr SuitePace compute_pace{{Seconds(0.4), 20}, {Seconds(1.2), 40}};
constexpr SuitePace launch_pace{{Seconds(0.2), 20}, {Seconds(0.6), 40}};
constexpr SuitePace latency_pace{{Seconds(0.2), 20}, {Seconds(0.26), 20}};
constexpr SuitePace memory_pace{{Seconds(0.18), 20}, {Seconds(0.35), 20}};
constexpr Pace pilot_pace{Seconds(0.06), 3};  // ranks variants that differ by per cents, no result

SettingFacts facts_of(NumberFormat format) {
  return {
      fmt::format("{} on the CUDA cores", key_of(format)),
      {{Parameter::isa, Isa::cuda_cores}, {Parameter::precision, format}, {Parameter::workers, 1}}};
}

SettingFacts facts_of(LaunchKind kind) {
  return {word_of(kind), {{Parameter::launch, kind}}};
}

SettingFacts facts_of(const ChaseWork& work) {
  return {fmt::format("loads within {}", size_name(work.working_set)),
          {{Parameter::working_set_bytes, whole_bytes(work.working_set)},
           {Parameter::stride_bytes, whole_bytes(chase_stride)}},
          {{Metric::accesses, 1.0}}};
}

/// Calls `ask` of every GPU along `plan(GPU)` and records a point per setting.
template <class Plan, class Ask>
void measure_plan(Devices& devices,
                  const DeviceSetting& setting,
                  Recorder& recorder,
                  const Plan& plan,
                  const SuitePace& pace,
                  const Ask& ask) {
  const std::vector<PlannedDevice> planned = planned_devices(devices, setting);
  warn_of_glance(planned, "", recorder);
  const Target target = target_of(pace(setting.suite));
  std::vector<decltype(plan(planned.front()))> plans;
  std::size_t settings = 0;
  for (const PlannedDevice& device : planned) settings += plans.emplace_back(plan(device)).size();
  DeviceWalk walk(recorder, settings);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Device& device = *devices[i];
    for (const auto& work : plans[i]) {
      const SettingFacts facts = facts_of(work);
      const int gpu = device.description().ordinal;
      walk.ask(device, facts.name, device_point(gpu, facts.setting, {}), [&] {
        Point point = device_point(gpu, facts.setting, std::invoke(ask, device, work, target));
        point.amounts.insert(facts.amounts.begin(), facts.amounts.end());
        recorder.add(std::move(point));
      });
    }
    walk.release(device);
  }
  walk.finish();
}

template <class Plan>
Seconds time_of(const DeviceSetting& setting,
                const Plan& plan,
                const Pace& pace,
                Seconds operation) {
  std::size_t settings = 0;
  for (const PlannedDevice& device : planned_devices(setting)) settings += plan(device).size();
  return static_cast<double>(settings) * device_setting_time(pace, operation);
}

constexpr double smallest_set = 4.0 * kibibyte;       // 32 lines: well within L1
constexpr double chase_cache_multiple = 4.0;          // at most a quarter of the loads can then hit
constexpr double least_chase_end = 256.0 * mebibyte;  // where L2 is small: far beyond it
constexpr double line_memory_share = 0.25;            // the cycle is built on the host and copied

/// Building the cycle on the host.
Seconds chase_preparation(const ChaseWork& work) {
  constexpr double node_s = 20e-9;  // a swap at a random place
  return Seconds(work.working_set / chase_stride * node_s);
}

constexpr int most_attempts = 4;             // the last has 0.42 of what was wished
constexpr double shrink = 0.75;              // gives back little, and 4 tries reach less than half
constexpr double presumed_cache_gain = 3.0;  // of L2 over memory, for estimates

std::string name_of(const StreamWork& work) {
  return fmt::format(
      "{} of {}, {}", key_of(work.kernel), size_name(work.working_set), word_of(work.variant));
}

Point point_of(const Device& device,
               const StreamWork& work,
               Pass pass,
               const DeviceMeasured& measured) {
  Point point = device_point(device.description().ordinal,
                             {{Parameter::kernel, work.kernel},
                              {Parameter::scope, StreamScope::device},
                              {Parameter::workers, 1},
                              {Parameter::pass, pass},
                              {Parameter::working_set_bytes, whole_bytes(work.working_set)}},
                             measured);
  point.setting.set_stream_variant(work.variant);
  return point;
}

/// Every setting of one GPU, pilots and all, as it is expected before any pilot was run.
std::vector<std::pair<StreamWork, Pace>> settings_of(const PlannedDevice& planned) {
  const VariantChoice choice;
  const Pace pace = memory_pace(planned.suite);
  std::vector<std::pair<StreamWork, Pace>> settings;
  for (const StreamWork& work : pilot_plan(planned)) settings.emplace_back(work, pilot_pace);
  for (const StreamWork& work : sweep_plan(planned, choice)) settings.emplace_back(work, pace);
  if (const auto whole = whole_memory_work(planned, choice)) settings.emplace_back(*whole, pace);
  return settings;
}

class MemoryProbe {
 public:
  MemoryProbe(Recorder& recorder, DeviceWalk& walk) : recorder_(recorder), walk_(walk) {}

  void measure(Device& device, PlannedDevice planned) {
    if (const auto shortage = device_memory_shortage(planned)) recorder_.warn(*shortage);
    VariantChoice& choice = choices_[kind_of(planned.description)];
    const Target brief = target_of(pilot_pace);
    for (const StreamWork& work : pilot_plan(planned)) {
      if (const auto rate = ask(device, work, Pass::pilot, brief)) {
        choice.saw(work, region_of(planned, work.working_set), *rate);
      }
    }
    const Target target = target_of(memory_pace(planned.suite));
    for (const StreamWork& work : sweep_plan(planned, choice))
      ask(device, work, Pass::sweep, target);
    walk_.release(device);
    planned.available = available_or(device, planned.available);
    if (const auto whole = whole_memory_work(planned, choice))
      measure_whole(device, *whole, target);
    walk_.release(device);
  }

 private:
  std::optional<BytesPerSecond> ask(Device& device,
                                    const StreamWork& work,
                                    Pass pass,
                                    const Target& target) {
    std::optional<BytesPerSecond> rate;
    walk_.ask(device, name_of(work), point_of(device, work, pass, {}), [&] {
      const DeviceMeasured measured = device.time_stream(work, target);
      recorder_.add(point_of(device, work, pass, measured));
      if (const auto time = median(measured.time_s)) rate = measured.bytes / Seconds(*time);
    });
    return rate;
  }

  /// A driver may refuse what it called available: then with less, and said.
  void measure_whole(Device& device, StreamWork work, const Target& target) {
    walk_.ask(device, name_of(work), point_of(device, work, Pass::sweep, {}), [&] {
      for (int attempt = 1;; ++attempt) {
        try {
          recorder_.add(point_of(device, work, Pass::sweep, device.time_stream(work, target)));
          return;
        } catch (const OutOfMemory& failure) {
          if (attempt == most_attempts) throw;
          recorder_.warn({FindingId::tried_with_less,
                          device.description().ordinal,
                          name_of(work),
                          failure.what()});
          device.release_memory();
          work.working_set = Bytes(std::floor(shrink * work.working_set.value() / 4096.0) * 4096.0);
        }
      }
    });
  }

  Recorder& recorder_;
  DeviceWalk& walk_;
  std::map<std::string, VariantChoice> choices_;  // by the kind of GPU
};

Seconds time_of(const PlannedDevice& planned, const StreamWork& work, const Pace& pace) {
  const bool cached = region_of(planned, work.working_set) == Region::cache;
  const BytesPerSecond rate =
      (cached ? presumed_cache_gain : 1.0) * presumed_memory_rate(planned.description);
  // A launch makes as many passes as last half a millisecond.
  return device_setting_time(pace, std::max(work.working_set / rate, Seconds(0.5e-3)));
}
}  // namespace

void measure_device_compute(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  measure_plan(devices, setting, recorder, &device_compute_plan, compute_pace, &Device::time_fma);
}

Seconds estimate_device_compute(const DeviceSetting& setting) {
  return time_of(setting, &device_compute_plan, compute_pace(setting.suite), one_kernel);
}

void measure_device_launch(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  measure_plan(devices, setting, recorder, &device_launch_plan, launch_pace, &Device::time_launch);
}

Seconds estimate_device_launch(const DeviceSetting& setting) {
  // The clock comes up by 0.3 s of empty kernels, which take the host longer to launch than the GPU
  // to run: on an H200 the whole probe lasts 1.8 s.
  constexpr Seconds warm_up{1.2};
  return warm_up + time_of(setting, &device_launch_plan, launch_pace(setting.suite), one_launch);
}

std::vector<ChaseWork> chase_plan(const PlannedDevice& planned) {
  if (planned.part == Part::glance) return {};
  const double wished =
      std::max(chase_cache_multiple * planned.description.l2_cache.value(), least_chase_end);
  const double largest = std::min(wished, line_memory_share * planned.available.value());
  // A step shows as 2 or 6 points.
  const double factor = planned.suite == Suite::quick ? 2.0 : 1.25;
  auto works = geometric(smallest_set, largest, factor, [](double set) {
    return ChaseWork{std::floor(set / chase_stride.value()) * chase_stride};
  });
  in_random_order(works);
  return works;
}

void measure_device_latency(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  measure_plan(devices, setting, recorder, &chase_plan, latency_pace, &Device::time_chase);
}

Seconds estimate_device_latency(const DeviceSetting& setting) {
  Seconds total{};
  for (const PlannedDevice& planned : planned_devices(setting)) {
    for (const ChaseWork& work : chase_plan(planned)) {
      total += device_setting_time(latency_pace(setting.suite)) + chase_preparation(work);
    }
  }
  return total;
}

void measure_device_memory(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const auto planned = planned_devices(devices, setting);
  warn_of_glance(planned, "one large read", recorder);
  std::size_t settings = 0;
  for (const PlannedDevice& device : planned) settings += settings_of(device).size();
  DeviceWalk walk(recorder, settings);
  MemoryProbe probe(recorder, walk);
  for (std::size_t i = 0; i < planned.size(); ++i) probe.measure(*devices[i], planned[i]);
  walk.finish();
}

Seconds estimate_device_memory(const DeviceSetting& setting) {
  Seconds total{};
  for (const PlannedDevice& planned : planned_devices(setting)) {
    for (const auto& [work, pace] : settings_of(planned)) total += time_of(planned, work, pace);
  }
  return total;
}
}  // namespace scaleworth::probes
