// SPDX-License-Identifier: Apache-2.0
#include "cuda/telemetry/telemetry_watch.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace scaleworth::gpu {

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
  probes::Telemetry telemetry;
};

namespace {

constexpr double refused = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t refused_reasons = -1;
constexpr const char* no_answer = "a telemetry call to the driver did not return in time";

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// A link of no reading yet is lower than any.
void raise(std::optional<int>& highest, const std::optional<int>& seen) {
  if (seen && (!highest || *seen > *highest)) highest = seen;
}

void append(probes::Telemetry& telemetry, double time_s, const TelemetryReading& reading) {
  telemetry.time_s.push_back(time_s);
  telemetry.sm_clock_hz.push_back(reading.sm_clock_hz.value_or(refused));
  telemetry.memory_clock_hz.push_back(reading.memory_clock_hz.value_or(refused));
  telemetry.power_w.push_back(reading.power_w.value_or(refused));
  telemetry.temperature_c.push_back(reading.temperature_c.value_or(refused));
  telemetry.clock_event_reasons.push_back(reading.clock_event_reasons.value_or(refused_reasons));
  raise(telemetry.pcie_generation, reading.pcie_generation);
  raise(telemetry.pcie_width, reading.pcie_width);
}

bool is_empty(const TelemetryReading& reading) {
  return !reading.sm_clock_hz && !reading.memory_clock_hz && !reading.power_w &&
         !reading.temperature_c && !reading.clock_event_reasons;
}

void drop_if_refused(std::vector<double>& series) {
  const auto absent = [](double value) { return std::isnan(value); };
  if (std::ranges::all_of(series, absent)) series.clear();
}

/// Series that the driver always refused become empty.
void drop_refused_series(probes::Telemetry& telemetry) {
  drop_if_refused(telemetry.sm_clock_hz);
  drop_if_refused(telemetry.memory_clock_hz);
  drop_if_refused(telemetry.power_w);
  drop_if_refused(telemetry.temperature_c);
  auto& reasons = telemetry.clock_event_reasons;
  if (std::ranges::all_of(reasons, [](auto mask) { return mask == refused_reasons; })) {
    reasons.clear();
  }
}

std::string reason_for_nothing(const TelemetrySource& source) {
  const std::string reason = source.refused();
  return reason.empty() ? "the watch was over before the first reading" : reason;
}

/// Reads until told to stop or the source ends. The lock is never held during a look at the GPU.
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
  if (shared_->source == nullptr) {
    shared_->telemetry.missing = "no source of telemetry";
    return;
  }
  if (shared_->source->abandoned()) {
    shared_->telemetry.missing = no_answer;
    return;
  }
  shared_->telemetry.missing = shared_->source->ended();
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

probes::Telemetry TelemetryWatch::take() {
  finish();
  const std::lock_guard lock(shared_->mutex);
  probes::Telemetry telemetry = shared_->telemetry;
  drop_refused_series(telemetry);
  if (telemetry.time_s.empty() && telemetry.missing.empty()) {
    telemetry.missing = reason_for_nothing(*shared_->source);
  }
  return telemetry;
}

}  // namespace scaleworth::gpu
