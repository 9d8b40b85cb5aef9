// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/gpu/ceilings/impossible.h"
#include "src/model/gpu/gemm/contention.h"
#include "src/model/gpu/gemm/products.h"
#include "src/model/gpu/gpus.h"
#include "src/model/gpu/node/gpu_cost.h"
#include "src/model/gpu/node/together.h"
#include "src/model/gpu/node/transfers.h"
#include "tests/catch.h"
#include "tests/unit/model/gpu/points.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

Point of_gpu(Point point, std::int64_t ordinal) {
  point.parameters[fields::gpu] = ordinal;
  return point;
}

Point with_heat(Point point, double watts, double temperature_c) {
  add_power(point, watts, 5.0, temperature_c);
  return point;
}

/// GPU i: `rates[i]` together at `clocks[i]`, all 1 % slower than alone.
Run node(const std::vector<double>& rates, const std::vector<double>& clocks) {
  Run run;
  ProbeRecord record = record_of(fields::gpu_together, {});
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const auto ordinal = static_cast<std::int64_t>(i);
    record.points.push_back(of_gpu(product_point("alone", rates[i] / 0.99, clocks[i]), ordinal));
    record.points.push_back(
        of_gpu(with_heat(product_point("together", rates[i], clocks[i]), 600.0, 60.0), ordinal));
  }
  run.probes = {record};
  return run;
}

std::vector<GpuResult> results(std::size_t count) {
  std::vector<GpuResult> gpus(count);
  for (std::size_t i = 0; i < count; ++i) {
    gpus[i].identity = round_gpu();
    gpus[i].identity.ordinal = static_cast<int>(i);
  }
  return gpus;
}

}  // namespace

TEST_CASE("a spread of four per cent is normal and names nobody", "[gpu]") {
  const auto together =
      compare_gpus(node({70e12, 68e12, 71e12}, {1e9, 1e9, 1e9}), results(3), std::nullopt);
  REQUIRE(together.has_value());
  CHECK(together->precision == "bf16");
  CHECK_THAT(together->spread, WithinRel(1.0 - 68.0 / 71.0, 1e-9));
  CHECK(together->slowest == 1);
  for (const GpuPace& pace : together->paces) CHECK_FALSE(pace.slow);
  CHECK_THAT(together->paces[0].of_alone->value, WithinRel(0.99, 1e-9));
}

TEST_CASE("a slow GPU is explained by its clock and the limit behind it", "[gpu]") {
  auto gpus = results(3);
  gpus[1].identity.power_limit_w = 500.0;
  // 60 / 70 = 85.7 %; the clock's 0.9 / 1.05 = 85.7 % explains all of it.
  const auto together =
      compare_gpus(node({70e12, 60e12, 70e12}, {1.05e9, 0.9e9, 1.05e9}), gpus, std::nullopt);
  CHECK_FALSE(together->paces[0].slow);
  CHECK(together->paces[1].slow);
  CHECK_THAT(together->paces[1].of_others->value, WithinRel(60.0 / 70.0, 1e-9));
  CHECK(together->paces[1].cause ==
        "it runs at 900 MHz, the others at 1050 MHz; its power limit is 500 W, the others' 700 W");
}

TEST_CASE("heat and reasons that the others do not have are named", "[gpu]") {
  Run run = node({70e12, 60e12}, {1.05e9, 0.9e9});
  Point& slow = run.probes[0].points[3];
  slow.samples[fields::telemetry_temperature_c] = Samples(4, 87.0);
  slow.samples[fields::telemetry_clock_event_reasons] = Samples(4, 64.0);
  run.probes[0].points[1].samples[fields::telemetry_clock_event_reasons] = Samples(4, 0.0);
  const auto together = compare_gpus(run, results(2), std::nullopt);
  CHECK(together->paces[1].cause ==
        "it runs at 900 MHz, the others at 1050 MHz; thermal, hardware in 100 % of the readings, "
        "the others 0 %; it is at 87 C, the others at 60 C");
}

TEST_CASE("a slow GPU at the clock of the others is unexplained", "[gpu]") {
  const auto together =
      compare_gpus(node({70e12, 60e12, 70e12}, {1e9, 1e9, 1e9}), results(3), std::nullopt);
  CHECK(together->paces[1].slow);
  CHECK(together->paces[1].cause.empty());
}

TEST_CASE("GPUs are compared with those of their own model", "[gpu]") {
  auto gpus = results(3);
  gpus[2].identity.name = "Other GPU";
  const auto together =
      compare_gpus(node({70e12, 69e12, 30e12}, {1e9, 1e9, 1e9}), gpus, std::nullopt);
  CHECK_FALSE(together->paces[2].of_others.has_value());
  CHECK_FALSE(together->paces[2].slow);
  CHECK_FALSE(together->paces[1].slow);
  CHECK(together->slowest == 2);
}

TEST_CASE("one GPU compares with nobody", "[gpu]") {
  CHECK_FALSE(compare_gpus(node({70e12}, {1e9}), results(1), std::nullopt).has_value());
}

TEST_CASE("a PCIe link that never rises under load is told, one that does is not", "[gpu]") {
  Run run;
  run.environment = {{"gpu 0",
                      {{"pcie_generation", std::int64_t{5}, "a test"},
                       {"pcie_width", std::int64_t{16}, "a test"}}}};
  ProbeRecord probe;
  probe.points = {gpu_point(1.0), gpu_point(1.0)};
  CHECK(!lowered_pcie_link(run, probe, 0));  // no readings
  probe.points[0].samples[fields::telemetry_pcie_generation] = {1.0};
  probe.points[0].samples[fields::telemetry_pcie_width] = {8.0};
  const auto lowered = lowered_pcie_link(run, probe, 0);
  REQUIRE(lowered);
  CHECK(lowered->find("generation 1 x8") != std::string::npos);
  CHECK(lowered->find("generation 5 x16") != std::string::npos);
  probe.points[1].samples[fields::telemetry_pcie_generation] = {5.0};
  probe.points[1].samples[fields::telemetry_pcie_width] = {16.0};
  CHECK(!lowered_pcie_link(run, probe, 0));
  CHECK(!lowered_pcie_link(run, probe, 1));  // facts of another GPU
}

TEST_CASE("a transfer has a latency, a plateau and the size at half of it", "[gpu]") {
  Run run;
  GpuIdentity gpu = round_gpu();
  gpu.pcie_bandwidth = BytesPerSecond(62.5e9);
  // 10 us + n / 50 GB/s.
  std::vector<Point> points;
  for (const std::int64_t size : {4096, 65536, 1048576, 16777216, 268435456}) {
    points.push_back(
        transfer_point("host (pinned)", "gpu 0", size, 10e-6 + static_cast<double>(size) / 50e9));
  }
  const auto transfers = transfers_of(run, record_of(fields::gpu_transfer, points), gpu);
  REQUIRE(transfers.size() == 1);
  CHECK_THAT(transfers[0].alpha->value.value(), WithinRel(10e-6, 1e-6));
  CHECK_THAT(transfers[0].beta->value.value(), WithinRel(1.0 / 50e9, 1e-6));
  CHECK_THAT(transfers[0].half_size->value(), WithinRel(500e3, 1e-6));  // 10 us x 50 GB/s
  // 268.4 MB in 5.3787 ms.
  const double plateau = 268435456.0 / (10e-6 + 268435456.0 / 50e9);
  CHECK_THAT(transfers[0].plateau.value.value(), WithinRel(plateau, 1e-9));
  CHECK_THAT(*transfers[0].of_link, WithinRel(plateau / 62.5e9, 1e-9));
  CHECK(transfers[0].link == "PCIe");
}

TEST_CASE("both directions count twice the bytes and twice the link", "[gpu]") {
  GpuIdentity gpu = round_gpu();
  gpu.pcie_bandwidth = BytesPerSecond(60e9);
  const auto transfers =
      transfers_of(Run{},
                   record_of(fields::gpu_transfer,
                             {transfer_point("host (pinned)", "gpu 0", 100'000'000, 1e-3, true)}),
                   gpu);
  CHECK_THAT(transfers.at(0).plateau.value.value(), WithinRel(200e9, 1e-9));
  CHECK_THAT(*transfers.at(0).of_link, WithinRel(200.0 / 120.0, 1e-9));
  CHECK_FALSE(transfers.at(0).alpha.has_value());
}

TEST_CASE("rates that the link or the memory forbid are named", "[gpu]") {
  GpuResult result;
  result.identity = round_gpu();
  GpuTransfer transfer;
  transfer.source = "host (pinned)";
  transfer.target = "gpu 0";
  transfer.link = "PCIe";
  transfer.of_link = 1.1;
  result.transfers = {transfer};
  GpuMemoryLevel memory{"device", {"memory", "read", 1, Bytes(1e9), Bytes(1e9), {}}, "", {}};
  memory.of_datasheet = Estimate<double>{1.2, {}, 7};
  result.memory_levels = {memory};
  warn_of_impossible_rates(result);
  REQUIRE(result.warnings.size() == 2);
  CHECK(result.warnings[0].starts_with("host (pinned) to gpu 0 moves 110 % of its PCIe link"));
  CHECK(result.warnings[1].starts_with("read of memory reaches 120 % of the datasheet"));
}

TEST_CASE("the link between two GPUs is what the facts say of the pair", "[gpu]") {
  Run run;
  run.environment = {
      {"gpu links",
       {{"gpu_0_gpu_1", Value(std::string("peer access, 18 NVLinks through switches")), ""},
        {"gpu_0_gpu_2", Value(std::string("peer access over PCIe")), ""},
        {"gpu_1_gpu_2", Value(std::string("no peer access")), ""}}},
      {"gpu 0", {{"nvlink_bytes_per_s", Value(25e9), ""}}}};
  GpuIdentity gpu = round_gpu();
  gpu.pcie_bandwidth = BytesPerSecond(60e9);
  const auto switched = link_between(run, "gpu 0", "gpu 1", gpu);
  CHECK(switched->name == "18 NVLinks");
  CHECK_THAT(switched->rate.value(), WithinRel(450e9, 1e-12));
  // GPU 1 does not tell the speed: half of the datasheet's 400 GB/s for both directions.
  CHECK_THAT(link_between(run, "gpu 1", "gpu 0", gpu)->rate.value(), WithinRel(200e9, 1e-12));
  CHECK(link_between(run, "gpu 2", "gpu 0", gpu)->name == "PCIe");
  CHECK_FALSE(link_between(run, "gpu 1", "gpu 2", gpu).has_value());
  CHECK_FALSE(link_between(run, "gpu 0", "gpu 0", gpu).has_value());
  CHECK(link_between(run, "host (pinned, node 1)", "gpu 0", gpu)->name == "PCIe");
}

TEST_CASE("a product beside a collective keeps part of its rate", "[gpu]") {
  std::vector<Point> points;
  for (const auto& [left, rate] : {std::pair{84, 51e12}, {100, 60e12}, {68, 36e12}}) {
    Point point = product_point("contention", rate, 1e9);
    point.parameters[fields::multiprocessors] = std::int64_t{left};
    points.push_back(point);
  }
  std::vector<std::string> warnings;
  const auto products =
      products_of(record_of(fields::gpu_contention, points), round_gpu(), std::nullopt, warnings);
  const auto contention = contention_of(products);
  REQUIRE(contention.size() == 3);
  CHECK(contention[0].multiprocessors == 100);
  CHECK_THAT(contention[1].of_all.value, WithinRel(0.85, 1e-9));
  CHECK_THAT(contention[1].of_multiprocessors, WithinRel(0.84, 1e-9));
  CHECK_THAT(contention[2].of_all.value, WithinRel(0.6, 1e-9));
}

TEST_CASE("a price gives the cost of a FLOP and of a byte", "[gpu]") {
  // 3.6 USD/h = 1e-3 USD/s; 1e18 / 500e12 = 2000 s: 2 USD. 1e12 / 4e12 = 0.25 s: 0.00025 USD.
  const DollarsPerSecond price = dollars_per_hour(3.6);
  CHECK_THAT(cost_per_exaflop(price, FlopPerSecond(500e12)).value(), WithinRel(2.0, 1e-12));
  CHECK_THAT(cost_per_terabyte(price, BytesPerSecond(4e12)).value(), WithinRel(0.00025, 1e-12));
  CHECK_THROWS_AS(cost_per_exaflop(price, FlopPerSecond(0.0)), UserError);
  CHECK_FALSE(gpu_cost(price, GpuResult{}).has_value());
}

TEST_CASE("a run is analysed GPU by GPU with the datasheet of each", "[gpu]") {
  Run run;
  run.environment = {{"gpu 0",
                      {{"name", Value(std::string("Round GPU")), ""},
                       {"pci_device_id", Value(std::int64_t{0x1234}), ""},
                       {"multiprocessors", Value(std::int64_t{100}), ""},
                       {"memory_bytes", Value(std::int64_t{80'000'000'000}), ""},
                       {"l2_bytes", Value(std::int64_t{32'000'000}), ""},
                       {"maximum_clock_hz", Value(1.25e9), ""},
                       {"power_limit_w", Value(700.0), ""},
                       {"pcie_generation", Value(std::int64_t{5}), ""},
                       {"pcie_width", Value(std::int64_t{16}), ""}}}};
  Point launch = gpu_point(2e-6);
  launch.parameters[fields::launch] = std::string("empty kernel");
  run.probes = {
      record_of(fields::gpu_memory, {stream_point("device", 1'000'000'000, 0.9e12)}),
      record_of(fields::gpu_launch, {launch}),
      record_of(
          fields::gpu_gemm,
          {product_point("steady", 60e12, 1.1e9), product_point("duty-cycled", 66e12, 1.1e9)}),
      record_of(fields::gpu_compute, {of_gpu(fma_point("cuda cores", "fp32", 9e12, 1.2e9), 1)})};
  AnalysisOptions options;
  options.price_per_rank = dollars_per_hour(3.6);
  const auto gpus = analyse_gpus(run, {round_datasheet()}, options);
  REQUIRE(gpus.size() == 2);
  const GpuResult& first = gpus[0];
  REQUIRE(first.identity.datasheet.has_value());
  CHECK(first.identity.datasheet->id == "round");
  CHECK_THAT(first.identity.pcie_bandwidth->value(), WithinRel(63.015e9, 1e-4));
  CHECK_THAT(first.launches.at(0).time.value.value(), WithinRel(2e-6, 1e-9));
  REQUIRE(first.formats.size() == 1);
  CHECK_THAT(first.formats[0].waterfall->spec.value(), WithinRel(100e12, 1e-12));
  // 100 x 1.25 x 0.88 = 110 TFLOP/s at the clock: the best shape does 60 % of it.
  CHECK(first.formats[0].waterfall->steps.at(2).name == "algorithm and tiles");
  CHECK(first.roofline.gemms.size() == 1);
  CHECK(first.ridge_batches.size() == 1);
  CHECK(first.cost->per_exaflop.has_value());
  CHECK(gpus[1].identity.ordinal == 1);
  CHECK_FALSE(gpus[1].identity.datasheet.has_value());
  CHECK_FALSE(gpus[1].ceilings.at(0).against.has_value());
  CHECK(analyse_gpus(Run{}, {}, options).empty());
}
