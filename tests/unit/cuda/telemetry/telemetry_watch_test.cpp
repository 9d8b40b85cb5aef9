// SPDX-License-Identifier: Apache-2.0
#include "cuda/telemetry/telemetry_watch.h"

#include "tests/catch.h"

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {

/// Plays readings by their number; ends, refuses or hangs as the test says.
class ScriptedSource : public TelemetrySource {
 public:
  TelemetryReading read() noexcept override {
    const int number = count_++;
    if (on_read) on_read(number);
    const std::lock_guard lock(mutex_);
    seen_ = number + 1;
    changed_.notify_all();
    return reading ? reading(number) : TelemetryReading{};
  }
  std::optional<double> energy_j() noexcept override {
    return energy ? energy(energy_looks_++) : std::nullopt;
  }
  std::string ended() const override {
    return ends_after >= 0 && count_ > ends_after ? "GPU is lost" : "";
  }
  std::string refused() const override { return "clock: Insufficient Permissions"; }

  /// Waits until so many readings were taken.
  void wait_for(int readings) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen_ >= readings; });
  }
  int readings() const { return count_; }

  std::function<TelemetryReading(int)> reading;
  std::function<std::optional<double>(int)> energy;
  std::function<void(int)> on_read;
  int ends_after = -1;  // readings

 private:
  std::atomic<int> count_ = 0;
  int energy_looks_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  int seen_ = 0;
};

constexpr WatchPace quick{std::chrono::milliseconds(1), std::chrono::milliseconds(2000)};

TelemetryReading full_reading(int number) {
  return {1e9 + number, 2e9, 300.0, 50.0, std::int64_t{4}, std::nullopt, std::nullopt};
}

}  // namespace

TEST_CASE("a watch takes readings of equal number until it is taken", "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  source->reading = full_reading;
  TelemetryWatch watch(source, quick);
  source->wait_for(4);
  const probes::Telemetry telemetry = watch.take();
  const std::size_t count = telemetry.time_s.size();
  REQUIRE(count >= 4);
  REQUIRE(telemetry.sm_clock_hz.size() == count);
  REQUIRE(telemetry.power_w.size() == count);
  REQUIRE(telemetry.clock_event_reasons.size() == count);
  REQUIRE(telemetry.sm_clock_hz[3] == 1e9 + 3);
  REQUIRE(telemetry.time_s[0] <= telemetry.time_s[3]);
  REQUIRE(telemetry.missing.empty());
  REQUIRE(telemetry.window_s > 0.0);
}

TEST_CASE("energy is the counter's difference over the window", "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  source->reading = full_reading;
  source->energy = [](int look) { return std::optional(look == 0 ? 1000.0 : 1234.5); };
  TelemetryWatch watch(source, quick);
  source->wait_for(1);
  REQUIRE_THAT(watch.take().energy_j.value(), WithinAbs(234.5, 1e-9));
}

TEST_CASE("the PCIe link of a window is the highest that was seen", "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  source->reading = [](int number) {
    TelemetryReading reading = full_reading(number);
    if (number == 0 || number == 2) reading.pcie_generation = 1;
    if (number == 1) reading.pcie_generation = 5;
    if (number == 1) reading.pcie_width = 16;
    return reading;
  };
  TelemetryWatch watch(source, quick);
  source->wait_for(4);
  const probes::Telemetry telemetry = watch.take();
  REQUIRE(telemetry.pcie_generation == 5);
  REQUIRE(telemetry.pcie_width == 16);
}

TEST_CASE("a counter that went back gives no energy", "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  source->reading = full_reading;
  source->energy = [](int look) { return std::optional(look == 0 ? 1000.0 : 10.0); };
  TelemetryWatch watch(source, quick);
  source->wait_for(1);
  REQUIRE(!watch.take().energy_j);
}

TEST_CASE("a series that is always refused is empty, one refused at times has gaps",
          "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  source->reading = [](int number) {
    TelemetryReading reading = full_reading(number);
    reading.memory_clock_hz.reset();
    if (number == 1) {
      reading.power_w.reset();
      reading.clock_event_reasons.reset();
    }
    return reading;
  };
  TelemetryWatch watch(source, quick);
  source->wait_for(3);
  const probes::Telemetry telemetry = watch.take();
  REQUIRE(telemetry.memory_clock_hz.empty());
  REQUIRE(telemetry.power_w[0] == 300.0);
  REQUIRE(std::isnan(telemetry.power_w[1]));
  REQUIRE(telemetry.clock_event_reasons[1] == -1);
  REQUIRE(telemetry.clock_event_reasons[2] == 4);
}

TEST_CASE("nothing but refusals leaves their reasons", "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  TelemetryWatch watch(source, quick);
  source->wait_for(2);
  const probes::Telemetry telemetry = watch.take();
  REQUIRE(telemetry.time_s.empty());
  REQUIRE(telemetry.missing == "clock: Insufficient Permissions");
}

TEST_CASE("a source that ends keeps its readings and says why it ended", "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  source->reading = full_reading;
  source->ends_after = 2;
  TelemetryWatch watch(source, quick);
  source->wait_for(3);
  const probes::Telemetry telemetry = watch.take();
  REQUIRE(telemetry.time_s.size() == 3);
  REQUIRE(telemetry.missing == "GPU is lost");
}

TEST_CASE("a source that has ended is not asked", "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  source->ends_after = 0;
  source->read();
  TelemetryWatch watch(source, quick);
  const probes::Telemetry telemetry = watch.take();
  REQUIRE(telemetry.missing == "GPU is lost");
  REQUIRE(telemetry.time_s.empty());
  REQUIRE(source->readings() == 1);
}

TEST_CASE("without a source there is a reason", "[telemetry]") {
  TelemetryWatch watch(nullptr);
  REQUIRE(!watch.take().missing.empty());
}

TEST_CASE("a watch that is not taken ends with its scope", "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  source->reading = full_reading;
  {
    const TelemetryWatch watch(source, quick);
    source->wait_for(1);
  }
  const int readings = source->readings();
  REQUIRE(source.use_count() == 1);
  REQUIRE(source->readings() == readings);
}

TEST_CASE("a driver that does not return is left behind, and its source is not used again",
          "[telemetry]") {
  auto source = std::make_shared<ScriptedSource>();
  std::mutex gate;
  std::atomic<bool> hanging = false;
  std::atomic<bool> left = false;
  source->reading = full_reading;
  source->on_read = [&](int number) {
    if (number != 1) return;
    hanging = true;
    const std::lock_guard wait(gate);
  };
  source->energy = [&](int look) {
    if (look == 1) left = true;  // the thread's last deed
    return std::optional(0.0);
  };
  {
    const std::lock_guard closed(gate);
    TelemetryWatch watch(source, {std::chrono::milliseconds(1), std::chrono::milliseconds(20)});
    while (!hanging) std::this_thread::yield();
    const probes::Telemetry telemetry = watch.take();
    REQUIRE(telemetry.time_s.size() == 1);
    REQUIRE(telemetry.missing == "a telemetry call to the driver did not return in time");
    TelemetryWatch next(source, quick);
    REQUIRE(!next.take().missing.empty());
  }
  while (!left) std::this_thread::yield();
  REQUIRE(source->readings() == 2);
}
