// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/telemetry.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

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
  // 60 ms: the link changes seldom, a look costs a call.
  static constexpr int looks_per_link_look = 4;
  static constexpr double hertz_per_megahertz = 1e6;  // clocks are answered in MHz, energy in mJ
  static constexpr double joules_per_millijoule = 1e-3;

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
    if (power_question_ == PowerQuestion::none) return std::nullopt;
    if (power_question_ == PowerQuestion::usage) {
      return scaled(keep("power", device_.ask(device_.table().power)), watts_per_milliwatt);
    }
    return scaled(keep("power", device_.ask_field(nvml::field_power_instant_mw)),
                  watts_per_milliwatt);
  }

  NvmlDevice device_;
  PowerQuestion power_question_;
  int looks_ = 0;
  std::map<std::string, std::string> refusals_;
  std::string ended_;
};
}  // namespace

std::shared_ptr<TelemetrySource> open_telemetry_source(
    const Outcome<std::shared_ptr<const Nvml>>& nvml, const DeviceDescription& device) {
  const auto found = find_nvml_device(nvml, device);
  const auto* known = std::get_if<NvmlDevice>(&found);
  if (known == nullptr) return std::make_shared<MissingSource>(reason_of(found));
  return std::make_shared<NvmlSource>(*known);
}

Outcome<std::string> power_method(const Outcome<std::shared_ptr<const Nvml>>& nvml,
                                  const DeviceDescription& device) {
  const auto found = find_nvml_device(nvml, device);
  const auto* known = std::get_if<NvmlDevice>(&found);
  if (known == nullptr) return Skipped{reason_of(found)};
  if (known->slice() != nullptr) return Skipped{"a MIG slice has no power reading of its own"};
  const PowerQuestion question = power_question(*known);
  if (question == PowerQuestion::instant_field) return "NVML field 186 (instantaneous)";
  if (question == PowerQuestion::usage) {
    return "nvmlDeviceGetPowerUsage (averaged over 1 s from Ampere on, except GA100)";
  }
  return Skipped{known->ask(known->table().power).reason};
}

using Clock = std::chrono::steady_clock;

/// Owned by the watch and the thread together: a thread that hangs in the driver outlives the
/// watch.
struct TelemetryWatch::Shared {
  std::shared_ptr<TelemetrySource> source;
  WatchPace pace;
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  bool done = false;
  Telemetry telemetry;
};

namespace {
constexpr double refused = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t refused_reasons = -1;  // no mask: NVML's bits are counted from the lowest
constexpr const char* no_answer = "a telemetry call to the driver did not return in time";

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// A link of no reading yet is lower than any.
void raise(std::optional<int>& highest, const std::optional<int>& seen) {
  if (seen && (!highest || *seen > *highest)) highest = seen;
}

void append(Telemetry& telemetry, double time_s, const TelemetryReading& reading) {
  telemetry.time_s.push_back(time_s);
  telemetry.sm_clock_hz.push_back(reading.sm_clock_hz.value_or(refused));
  telemetry.power_w.push_back(reading.power_w.value_or(refused));
  telemetry.temperature_c.push_back(reading.temperature_c.value_or(refused));
  telemetry.clock_event_reasons.push_back(reading.clock_event_reasons.value_or(refused_reasons));
  raise(telemetry.pcie_generation, reading.pcie_generation);
  raise(telemetry.pcie_width, reading.pcie_width);
}

bool is_empty(const TelemetryReading& reading) {
  return !reading.sm_clock_hz && !reading.power_w && !reading.temperature_c &&
         !reading.clock_event_reasons;
}

/// Series that the driver always refused become empty.
void drop_refused_series(Telemetry& telemetry) {
  for (auto* series : {&telemetry.sm_clock_hz, &telemetry.power_w, &telemetry.temperature_c}) {
    if (std::ranges::all_of(*series, [](double value) { return std::isnan(value); })) {
      series->clear();
    }
  }
  auto& reasons = telemetry.clock_event_reasons;
  if (std::ranges::all_of(reasons, [](auto mask) { return mask == refused_reasons; })) {
    reasons.clear();
  }
}

std::string reason_for_nothing(const TelemetrySource& source) {
  const std::string reason = source.refused();
  return reason.empty() ? "the watch was over before the first reading" : reason;
}

/// Reads until `stop` is set or the source ends. The lock is never held during a look at the GPU.
template <class Shared>
void watch(Shared& shared) {
  TelemetrySource& source = *shared.source;
  const Clock::time_point start = Clock::now();
  const auto energy_before = source.energy_j();
  const Clock::time_point window_start = Clock::now();
  Clock::time_point next = window_start;
  std::unique_lock lock(shared.mutex);
  while (!shared.stop) {
    lock.unlock();
    const double time_s = seconds(Clock::now() - start);
    const TelemetryReading reading = source.read();
    std::string ended = source.ended();
    lock.lock();
    if (!is_empty(reading)) append(shared.telemetry, time_s, reading);
    if (!ended.empty()) {
      shared.telemetry.missing = std::move(ended);
      break;
    }
    next = std::max(next + shared.pace.interval, Clock::now());
    shared.changed.wait_until(lock, next, [&] { return shared.stop; });
  }
  lock.unlock();
  const auto energy_after = source.energy_j();
  const double window_s = seconds(Clock::now() - window_start);
  lock.lock();
  shared.telemetry.window_s = window_s;
  if (energy_before && energy_after && *energy_after >= *energy_before) {
    shared.telemetry.energy_j = *energy_after - *energy_before;
  }
}

template <class Shared>
void watch_to_the_end(const std::shared_ptr<Shared>& shared) noexcept {
  std::string failure;
  try {
    watch(*shared);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const std::lock_guard lock(shared->mutex);
  if (!failure.empty()) shared->telemetry.missing = std::move(failure);
  shared->done = true;
  shared->changed.notify_all();
}
}  // namespace

TelemetryWatch::TelemetryWatch(std::shared_ptr<TelemetrySource> source, WatchPace pace)
    : shared_(std::make_shared<Shared>()) {
  shared_->source = std::move(source);
  shared_->pace = pace;
  shared_->done = true;
  const auto& of = shared_->source;
  shared_->telemetry.missing = !of               ? "no source of telemetry"
                               : of->abandoned() ? no_answer
                                                 : of->ended();
  if (!shared_->telemetry.missing.empty()) return;
  try {
    shared_->done = false;
    thread_ = std::thread([shared = shared_] { watch_to_the_end(shared); });
  } catch (const std::system_error& error) {
    shared_->done = true;
    shared_->telemetry.missing = std::string("no thread for telemetry: ") + error.what();
  }
}

TelemetryWatch::~TelemetryWatch() {
  finish();
}

void TelemetryWatch::finish() {
  if (!thread_.joinable()) return;
  bool done = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
    done = shared_->changed.wait_for(lock, shared_->pace.patience, [&] { return shared_->done; });
    if (!done) shared_->telemetry.missing = no_answer;
  }
  if (done) {
    thread_.join();
  } else {
    shared_->source->abandon();
    thread_.detach();
  }
}

Telemetry TelemetryWatch::take() {
  finish();
  const std::lock_guard lock(shared_->mutex);
  Telemetry telemetry = shared_->telemetry;
  drop_refused_series(telemetry);
  if (telemetry.time_s.empty() && telemetry.missing.empty()) {
    telemetry.missing = reason_for_nothing(*shared_->source);
  }
  return telemetry;
}
}  // namespace scaleworth::gpu
