// SPDX-License-Identifier: Apache-2.0
#include "cuda/telemetry/nvml_source.h"

#include "cuda/nvml/nvml_device.h"

#include <map>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

/// A GPU of which nothing can be read.
class MissingSource : public TelemetrySource {
 public:
  explicit MissingSource(std::string reason) : reason_(std::move(reason)) {}
  TelemetryReading read() noexcept override { return {}; }
  std::optional<double> energy_j() noexcept override { return std::nullopt; }
  std::string ended() const override { return reason_; }
  std::string refused() const override { return reason_; }

 private:
  std::string reason_;
};

enum class PowerQuestion { instant_field, usage, none };

PowerQuestion power_question(const NvmlDevice& device) {
  if (device.slice() != nullptr) return PowerQuestion::none;
  const auto instant = device.ask_field(nvml::field_power_instant_mw);
  if (instant && instant.value > 0.0) return PowerQuestion::instant_field;
  return device.ask(device.table().power) ? PowerQuestion::usage : PowerQuestion::none;
}

class NvmlSource : public TelemetrySource {
 public:
  explicit NvmlSource(NvmlDevice device)
      : device_(std::move(device)), power_question_(power_question(device_)) {
    if (device_.slice() != nullptr) {
      refusals_["power"] = "a MIG slice has no power reading of its own";
    }
  }

  TelemetryReading read() noexcept override {
    const Nvml& nvml = device_.table();
    TelemetryReading reading;
    reading.sm_clock_hz =
        scaled(keep("clock", device_.ask(nvml.clock, nvml::Clock::sm)), hertz_per_megahertz);
    reading.memory_clock_hz = scaled(
        keep("memory clock", device_.ask(nvml.clock, nvml::Clock::memory)), hertz_per_megahertz);
    reading.power_w = power();
    reading.temperature_c = scaled(
        keep("temperature", device_.ask(nvml.temperature, nvml::TemperatureSensor::gpu)), 1.0);
    const auto reasons = device_.ask(nvml.clock_event_reasons);
    if (keep("clock-event reasons", reasons)) {
      reading.clock_event_reasons = static_cast<std::int64_t>(reasons.value);
    }
    if (looks_++ % looks_per_link_look == 0) add_link(reading);
    return reading;
  }

  std::optional<double> energy_j() noexcept override {
    if (device_.slice() != nullptr || !ended_.empty()) return std::nullopt;
    return scaled(keep("energy", device_.ask(device_.table().total_energy)), joules_per_millijoule);
  }

  std::string ended() const override { return ended_; }

  std::string refused() const override {
    std::string text;
    for (const auto& [what, why] : refusals_) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", what, why);
    }
    return text;
  }

 private:
  static constexpr int looks_per_link_look = 4;
  static constexpr double hertz_per_megahertz = 1e6;
  static constexpr double joules_per_millijoule = 1e-3;
  static constexpr double watts_per_milliwatt = 1e-3;

  /// The answer's value if there is one; else its reason is kept for people, and a lost GPU ends
  /// the source.
  template <class T>
  std::optional<T> keep(const char* what, const NvmlAnswer<T>& answer) {
    if (answer) return answer.value;
    refusals_[what] = answer.reason;
    if (answer.status == nvml::Result::gpu_is_lost) ended_ = answer.reason;
    return std::nullopt;
  }

  template <class T>
  static std::optional<double> scaled(const std::optional<T>& value, double factor) {
    if (!value) return std::nullopt;
    return static_cast<double>(*value) * factor;
  }

  void add_link(TelemetryReading& reading) {
    const Nvml& nvml = device_.table();
    const auto generation = keep("PCIe generation", device_.ask(nvml.pcie_generation));
    const auto width = keep("PCIe width", device_.ask(nvml.pcie_width));
    if (generation) reading.pcie_generation = static_cast<int>(*generation);
    if (width) reading.pcie_width = static_cast<int>(*width);
  }

  std::optional<double> power() {
    switch (power_question_) {
      case PowerQuestion::instant_field:
        return scaled(keep("power", device_.ask_field(nvml::field_power_instant_mw)),
                      watts_per_milliwatt);
      case PowerQuestion::usage:
        return scaled(keep("power", device_.ask(device_.table().power)), watts_per_milliwatt);
      case PowerQuestion::none:
        return std::nullopt;
    }
    return std::nullopt;
  }

  NvmlDevice device_;
  PowerQuestion power_question_;
  int looks_ = 0;
  std::map<std::string, std::string> refusals_;
  std::string ended_;
};

/// The device, or the reason why there is none.
Outcome<NvmlDevice> device_of(const Outcome<std::shared_ptr<const Nvml>>& nvml,
                              const probes::DeviceDescription& device) {
  if (const auto* skipped = std::get_if<Skipped>(&nvml)) return *skipped;
  if (const auto* failed = std::get_if<Failed>(&nvml)) return *failed;
  return find_nvml_device(std::get<std::shared_ptr<const Nvml>>(nvml), device);
}

}  // namespace

std::shared_ptr<TelemetrySource> open_telemetry_source(
    const Outcome<std::shared_ptr<const Nvml>>& nvml, const probes::DeviceDescription& device) {
  const auto found = device_of(nvml, device);
  if (const auto* skipped = std::get_if<Skipped>(&found)) {
    return std::make_shared<MissingSource>(skipped->reason);
  }
  if (const auto* failed = std::get_if<Failed>(&found)) {
    return std::make_shared<MissingSource>(failed->reason);
  }
  return std::make_shared<NvmlSource>(std::get<NvmlDevice>(found));
}

Outcome<std::string> power_method(const Outcome<std::shared_ptr<const Nvml>>& nvml,
                                  const probes::DeviceDescription& device) {
  const auto found = device_of(nvml, device);
  if (const auto* skipped = std::get_if<Skipped>(&found)) return *skipped;
  if (const auto* failed = std::get_if<Failed>(&found)) return Skipped{failed->reason};
  const auto& known = std::get<NvmlDevice>(found);
  if (known.slice() != nullptr) return Skipped{"a MIG slice has no power reading of its own"};
  switch (power_question(known)) {
    case PowerQuestion::instant_field:
      return "NVML field 186 (instantaneous)";
    case PowerQuestion::usage:
      return "nvmlDeviceGetPowerUsage (averaged over 1 s from Ampere on, except GA100)";
    case PowerQuestion::none:
      break;
  }
  return Skipped{known.ask(known.table().power).reason};
}

}  // namespace scaleworth::gpu
