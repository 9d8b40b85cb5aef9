// SPDX-License-Identifier: Apache-2.0
#include "cuda/telemetry/nvml_source.h"

#include "cuda/telemetry/telemetry_watch.h"
#include "tests/catch.h"
#include "tests/unit/cuda/fake_nvml/open_fake.h"

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {

// Codes of nvmlReturn_t.
constexpr int not_supported = 3;
constexpr int no_permission = 4;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("NVML's units become hertz, watts and joules", "[telemetry]") {
  fresh_fake_nvml();
  const auto source = open_telemetry_source(open_fake_nvml(), fake_gpu());
  REQUIRE(source->ended().empty());
  const TelemetryReading reading = source->read();
  REQUIRE(reading.sm_clock_hz == 1.98e9);
  REQUIRE(reading.memory_clock_hz == 3.201e9);
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
