// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/point.h"

#include "src/core/run/fields.h"
#include "tests/catch.h"

#include <limits>

using namespace scaleworth;
using namespace scaleworth::probes;

TEST_CASE("a point of a GPU carries its ordinal, times, clocks and amounts that are not zero",
          "[gpu]") {
  DeviceMeasured measured;
  measured.time_s = {1.0, 2.0};
  measured.clock_hz = {1.7e9, 1.8e9};
  measured.stop_reason = "enough";
  measured.flops = Flops(5.0);
  const Point point = device_point(3, {{fields::precision, std::string("fp32")}}, measured);
  REQUIRE(integer_parameter(point, fields::gpu) == 3);
  REQUIRE(text_parameter(point, fields::precision) == "fp32");
  REQUIRE(series(point, fields::wall_s) == std::vector<double>{1.0, 2.0});
  REQUIRE(series(point, fields::clock_hz) == std::vector<double>{1.7e9, 1.8e9});
  REQUIRE(point.amounts == std::map<std::string, double>{{fields::flops, 5.0}});
  REQUIRE(point.samples.size() == 2);  // no telemetry series, no cpu_s
  REQUIRE(point.stop_reason == "enough");
}

TEST_CASE("telemetry that the driver refused in part is left out of a point and counted", "[gpu]") {
  DeviceMeasured measured;
  measured.time_s = {1.0};
  measured.telemetry.time_s = {0.0, 0.02, 0.04};
  measured.telemetry.power_w = {500.0, std::numeric_limits<double>::quiet_NaN(), 510.0};
  measured.telemetry.clock_event_reasons = {0, 4, 4};
  measured.telemetry.energy_j = 20.0;
  const Point point = device_point(0, {}, measured);
  REQUIRE(series(point, fields::telemetry_time_s) == std::vector<double>{0.0, 0.04});
  REQUIRE(series(point, fields::telemetry_power_w) == std::vector<double>{500.0, 510.0});
  REQUIRE(series(point, fields::telemetry_clock_event_reasons) == std::vector<double>{0.0, 4.0});
  REQUIRE(series(point, fields::telemetry_energy_j) == std::vector<double>{20.0});
  REQUIRE(point.samples.count(fields::telemetry_temperature_c) == 0);
  REQUIRE(point.warnings.size() == 1);
}

TEST_CASE("the PCIe link and an early end of telemetry are carried", "[gpu]") {
  DeviceMeasured measured;
  measured.time_s = {1.0};
  measured.telemetry.time_s = {0.0};
  measured.telemetry.clock_event_reasons = {-1};
  measured.telemetry.pcie_generation = 5;
  measured.telemetry.pcie_width = 8;
  measured.telemetry.missing = "GPU is lost";
  const Point point = device_point(0, {}, measured);
  REQUIRE(series(point, fields::telemetry_pcie_generation) == std::vector<double>{5.0});
  REQUIRE(series(point, fields::telemetry_pcie_width) == std::vector<double>{8.0});
  REQUIRE(point.samples.count(fields::telemetry_time_s) == 0);  // its mask was refused
  REQUIRE(point.warnings.size() == 2);
}
