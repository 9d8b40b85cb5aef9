// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/telemetry.h"

#include "tests/catch.h"
#include "tests/unit/cuda/fake_nvml/open_fake.h"

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {
// Codes of nvmlReturn_t.
constexpr int not_supported = 3;
constexpr int no_permission = 4;

}  // namespace

TEST_CASE("NVML's units become hertz, watts and joules", "[telemetry]") {
  fresh_fake_nvml();
  const auto source = open_telemetry_source(open_fake_nvml(), fake_gpu());
  REQUIRE(source->ended().empty());
  const TelemetryReading reading = source->read();
  REQUIRE(reading.sm_clock_hz == 1.98e9);
  REQUIRE_THAT(reading.power_w.value(), WithinRel(690.5, 1e-12));
  REQUIRE(reading.temperature_c == 61.0);
  REQUIRE(reading.clock_event_reasons == 0x4);
  REQUIRE(reading.pcie_generation == 1);
  REQUIRE(reading.pcie_width == 16);
  // The counter starts at 1000 mJ and moves by 7000 mJ at each look.
  const double before = source->energy_j().value();
  REQUIRE_THAT(source->energy_j().value() - before, WithinRel(7.0, 1e-9));
}

TEST_CASE("power falls back on the averaged reading, and the facts say so", "[telemetry]") {
  FakeNvml& fake = fresh_fake_nvml();
  REQUIRE(contains(std::get<std::string>(power_method(open_fake_nvml(), fake_gpu())), "186"));
  fake.instant_power_mw.result = not_supported;
  const auto nvml = open_fake_nvml();
  REQUIRE(contains(std::get<std::string>(power_method(nvml, fake_gpu())), "PowerUsage"));
  REQUIRE(open_telemetry_source(nvml, fake_gpu())->read().power_w == 650.0);
}

TEST_CASE("a refusal keeps NVML's words and the other readings", "[telemetry]") {
  FakeNvml& fake = fresh_fake_nvml();
  fake.reasons.result = no_permission;
  fake.instant_power_mw.result = not_supported;
  fake.power_mw.result = not_supported;
  const auto nvml = open_fake_nvml();
  const auto source = open_telemetry_source(nvml, fake_gpu());
  const TelemetryReading reading = source->read();
  REQUIRE(!reading.clock_event_reasons);
  REQUIRE(!reading.power_w);
  REQUIRE(reading.temperature_c == 61.0);
  REQUIRE(contains(source->refused(), "clock-event reasons: NVML: Insufficient Permissions"));
  REQUIRE(source->ended().empty());
  REQUIRE(contains(std::get<Skipped>(power_method(nvml, fake_gpu())).reason, "Not Supported"));
}

TEST_CASE("a GPU lost during a watch ends it with NVML's words", "[telemetry]") {
  FakeNvml& fake = fresh_fake_nvml();
  const auto source = open_telemetry_source(open_fake_nvml(), fake_gpu());
  fake.clock_readings_before_loss = 2;
  TelemetryWatch watch(source, {std::chrono::milliseconds(1), std::chrono::milliseconds(2000)});
  while (fake_clock_readings() < 3) std::this_thread::yield();
  const probes::Telemetry telemetry = watch.take();
  REQUIRE(telemetry.time_s.size() == 2);
  REQUIRE(contains(telemetry.missing, "GPU is lost"));
  REQUIRE(!telemetry.energy_j);
}

TEST_CASE("a slice is read through its GPU, without power and energy", "[telemetry]") {
  FakeNvml& fake = fresh_fake_nvml();
  fake.slice_uuid = "MIG-99112233-4455-6677-8899-aabbccddeeff";
  probes::DeviceDescription slice = fake_gpu();
  slice.uuid = fake.slice_uuid;
  slice.mig = true;
  const auto nvml = open_fake_nvml();
  const auto source = open_telemetry_source(nvml, slice);
  const TelemetryReading reading = source->read();
  REQUIRE(reading.sm_clock_hz == 1.98e9);
  REQUIRE(!reading.power_w);
  REQUIRE(!source->energy_j());
  REQUIRE(contains(source->refused(), "slice"));
  REQUIRE(std::holds_alternative<Skipped>(power_method(nvml, slice)));
}

TEST_CASE("a GPU is found by UUID, then by its bus id", "[telemetry]") {
  fresh_fake_nvml();
  probes::DeviceDescription gpu = fake_gpu();
  gpu.uuid = "GPU-00000000-0000-0000-0000-000000000000";
  REQUIRE(open_telemetry_source(open_fake_nvml(), gpu)->ended().empty());
  gpu.bus_id = "0000:99:00.0";
  const auto source = open_telemetry_source(open_fake_nvml(), gpu);
  REQUIRE(contains(source->ended(), "NVML does not know GPU 0"));
  REQUIRE(contains(source->ended(), "Not Found"));
}

TEST_CASE("without NVML the reason is the source's", "[telemetry]") {
  const auto source = open_telemetry_source(Skipped{"no libnvidia-ml.so.1"}, fake_gpu());
  REQUIRE(source->ended() == "no libnvidia-ml.so.1");
  REQUIRE(TelemetryWatch(source).take().missing == "no libnvidia-ml.so.1");
}

TEST_CASE("NVML is shut down when its last owner lets go", "[telemetry]") {
  const FakeNvml& fake = fresh_fake_nvml();
  {
    const auto source = open_telemetry_source(open_fake_nvml(), fake_gpu());
    REQUIRE(fake.open_count == 1);
    source->read();
  }
  REQUIRE(fake.open_count == 0);
}

TEST_CASE("a driver that is not loaded is the reason", "[telemetry]") {
  FakeNvml& fake = fresh_fake_nvml();
  fake.init_result = 9;
  const auto source = open_telemetry_source(open_fake_nvml(), fake_gpu());
  REQUIRE(contains(source->ended(), "Driver Not Loaded"));
  REQUIRE(fake.open_count == 0);
}

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
  return {1e9 + number, 300.0, 50.0, std::int64_t{4}, std::nullopt, std::nullopt};
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
    reading.temperature_c.reset();
    if (number == 1) {
      reading.power_w.reset();
      reading.clock_event_reasons.reset();
    }
    return reading;
  };
  TelemetryWatch watch(source, quick);
  source->wait_for(3);
  const probes::Telemetry telemetry = watch.take();
  REQUIRE(telemetry.temperature_c.empty());
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
