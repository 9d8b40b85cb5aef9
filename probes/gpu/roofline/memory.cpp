// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/point.h"
#include "probes/gpu/roofline/memory_plan.h"
#include "probes/gpu/roofline/probes.h"
#include "probes/gpu/roofline/walk.h"
#include "src/core/error.h"
#include "src/core/run/fields.h"
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr int most_attempts = 4;
constexpr double shrink = 0.75;
constexpr double presumed_cache_gain = 3.0;  // of L2 over memory, for estimates

std::string name_of(const StreamWork& work) {
  return fmt::format("{} of {} ({}), {}",
                     memory_kernel_name(work.kernel),
                     size_name(work.working_set),
                     stream_scope_name(work.scope),
                     stream_variant_name(work.variant));
}

Point point_of(const Device& device,
               const StreamWork& work,
               const char* pass,
               const DeviceMeasured& measured) {
  const DeviceDescription& gpu = device.description();
  Point point = device_point(
      gpu.ordinal,
      {{fields::kernel, std::string(memory_kernel_name(work.kernel))},
       {fields::scope, std::string(stream_scope_name(work.scope))},
       {fields::variant, stream_variant_name(work.variant)},
       {fields::nontemporal, work.variant.streaming},
       {fields::workers, std::int64_t{1}},
       {fields::pass, std::string(pass)},
       {fields::working_set_bytes, std::int64_t{std::llround(work.working_set.value())}}},
      measured);
  if (work.scope != StreamScope::device) {
    point.parameters[fields::multiprocessors] = std::int64_t{gpu.multiprocessors};
  }
  return point;
}

/// Settings of one GPU, pilots and all.
std::size_t settings_of(const PlannedDevice& planned) {
  const VariantChoice choice;
  return pilot_plan(planned).size() + sweep_plan(planned, choice).size() +
         (whole_memory_work(planned, choice) ? 1 : 0);
}

class MemoryProbe {
 public:
  MemoryProbe(const std::vector<PlannedDevice>& planned, Recorder& recorder)
      : recorder_(recorder), walk_(recorder, total(planned)) {}

  void measure(Device& device, PlannedDevice planned) {
    if (const auto shortage = device_memory_shortage(planned)) recorder_.warn(*shortage);
    VariantChoice& choice = choices_[kind_of(planned.description)];
    const Target brief = target_of(pilot_pace(planned.suite));
    for (const StreamWork& work : pilot_plan(planned)) {
      if (const auto rate = ask(device, work, "pilot", brief)) {
        choice.saw(work, region_of(planned, work.working_set), *rate);
      }
    }
    const Target target = target_of(device_memory_pace(planned.suite));
    for (const StreamWork& work : sweep_plan(planned, choice)) ask(device, work, "sweep", target);
    walk_.release(device);
    planned.available = available_or(device, planned.available);
    if (const auto whole = whole_memory_work(planned, choice))
      measure_whole(device, *whole, target);
    walk_.release(device);
  }

  void finish() const { walk_.finish(); }

 private:
  static std::size_t total(const std::vector<PlannedDevice>& planned) {
    std::size_t settings = 0;
    for (const PlannedDevice& device : planned) settings += settings_of(device);
    return settings;
  }

  std::optional<BytesPerSecond> ask(Device& device,
                                    const StreamWork& work,
                                    const char* pass,
                                    const Target& target) {
    std::optional<BytesPerSecond> rate;
    walk_.ask(device, name_of(work), [&] {
      const DeviceMeasured measured = device.time_stream(work, target);
      recorder_.add(point_of(device, work, pass, measured));
      if (const auto time = median(measured.time_s)) rate = measured.bytes / Seconds(*time);
    });
    return rate;
  }

  /// A driver may refuse what it called available: then with less, and said.
  void measure_whole(Device& device, StreamWork work, const Target& target) {
    walk_.ask(device, name_of(work), [&] {
      for (int attempt = 1;; ++attempt) {
        try {
          recorder_.add(point_of(device, work, "sweep", device.time_stream(work, target)));
          return;
        } catch (const ProbeFailure& failure) {
          if (attempt == most_attempts) throw;
          recorder_.warn(fmt::format("GPU {}, {}: tried again with three quarters: {}",
                                     device.description().ordinal,
                                     name_of(work),
                                     failure.what()));
          device.release_memory();
          work.working_set = Bytes(std::floor(shrink * work.working_set.value() / 4096.0) * 4096.0);
        }
      }
    });
  }

  Recorder& recorder_;
  DeviceWalk walk_;
  std::map<std::string, VariantChoice> choices_;  // by the kind of GPU
};

Seconds time_of(const PlannedDevice& planned, const StreamWork& work, const Pace& pace) {
  if (work.scope != StreamScope::device) return device_setting_time(pace);
  const bool cached = region_of(planned, work.working_set) == Region::cache;
  const BytesPerSecond rate =
      (cached ? presumed_cache_gain : 1.0) * presumed_memory_rate(planned.description);
  // A launch makes as many passes as last half a millisecond.
  return device_setting_time(pace, std::max(work.working_set / rate, Seconds(0.5e-3)));
}

Seconds time_of(const PlannedDevice& planned) {
  const VariantChoice choice;
  Seconds total{};
  for (const StreamWork& work : pilot_plan(planned)) {
    total += time_of(planned, work, pilot_pace(planned.suite));
  }
  const Pace pace = device_memory_pace(planned.suite);
  for (const StreamWork& work : sweep_plan(planned, choice)) total += time_of(planned, work, pace);
  if (const auto whole = whole_memory_work(planned, choice))
    total += time_of(planned, *whole, pace);
  return total;
}

}  // namespace

void measure_device_memory(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const auto planned = planned_devices(devices, setting);
  warn_of_glance(planned, "one large read", recorder);
  MemoryProbe probe(planned, recorder);
  for (std::size_t i = 0; i < planned.size(); ++i) probe.measure(*devices[i], planned[i]);
  probe.finish();
}

Seconds estimate_device_memory(const DeviceSetting& setting) {
  Seconds total{};
  for (const PlannedDevice& planned : planned_devices(setting)) total += time_of(planned);
  return total;
}

}  // namespace scaleworth::probes
