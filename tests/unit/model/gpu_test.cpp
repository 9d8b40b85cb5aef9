// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/analysis.h"
#include "tests/catch.h"
#include "tests/unit/model/points.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
const MemoryLevel* level_named(const GpuResult& result, const std::string& label) {
  for (const MemoryLevel& level : result.roofline.memory_levels) {
    if (word_of(level.name) == label) return &level;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("device streams show L2 and memory by the GPU's own L2", "[gpu]") {
  GpuResult result = round_result();
  analyse_gpu_memory(record_of(probe_name::gpu_memory,
                               {stream_point("device", 4'000'000, 5e12),
                                stream_point("device", 8'000'000, 5e12),
                                stream_point("device", 16'000'000, 5e12),
                                stream_point("device", 256'000'000, 0.9e12),
                                stream_point("device", 512'000'000, 0.9e12),
                                stream_point("device", 1'024'000'000, 0.9e12)}),
                     result);
  REQUIRE(level_named(result, "L2") != nullptr);
  CHECK_THAT(level_named(result, "L2")->value.value.value(), WithinRel(5e12, 1e-9));
  CHECK_FALSE(level_named(result, "L2")->of_datasheet.has_value());
  REQUIRE(level_named(result, "memory") != nullptr);
  // 0.9 of the datasheet's 1 TB/s.
  CHECK_THAT(level_named(result, "memory")->of_datasheet->value, WithinRel(0.9, 1e-9));
  CHECK(result.roofline.memory.size() == 6);
  CHECK_THAT(bandwidth_at(result.roofline.memory, 1, Bytes(1e9))->likely.value(),
             WithinRel(0.9e12, 1e-9));
}

TEST_CASE("of several variants at one size the fastest counts and is named", "[gpu]") {
  GpuResult result = round_result();
  analyse_gpu_memory(
      record_of(
          probe_name::gpu_memory,
          {stream_point(
               "device", 1'000'000'000, 0.7e12, StreamVariant{StreamGrid::one_shot, 256, 4, false}),
           stream_point("device", 1'000'000'000, 0.8e12, StreamVariant{}),
           stream_point("device",
                        1'000'000'000,
                        0.6e12,
                        StreamVariant{StreamGrid::persistent, 1024, 4, false})}),
      result);
  REQUIRE(result.roofline.memory_levels.size() == 1);
  CHECK(word_of(result.roofline.memory_levels[0].name) == "memory");
  CHECK(result.roofline.memory_levels[0].variant->block_threads == 512);
  CHECK_THAT(result.roofline.memory_levels[0].value.value.value(), WithinRel(0.8e12, 1e-9));
}

TEST_CASE("latency is told in cycles of the clock counted beside it", "[gpu]") {
  GpuResult result = round_result();
  analyse_gpu_latency(record_of(probe_name::gpu_latency,
                                {chase_point(16'000, 20e-9, 1.5e9),
                                 chase_point(32'000, 20e-9, 1.5e9),
                                 chase_point(64'000, 20e-9, 1.5e9),
                                 chase_point(256'000'000, 400e-9, 1.75e9),
                                 chase_point(512'000'000, 400e-9, 1.75e9)}),
                      result);
  REQUIRE(result.roofline.latency_levels.size() == 2);
  CHECK(word_of(result.roofline.latency_levels[0].name) == "L1");
  CHECK_THAT(result.roofline.latency_levels[0].cycles->value,
             WithinRel(30.0, 1e-9));  // 20 ns x 1.5 GHz
  CHECK(word_of(result.roofline.latency_levels[1].name) == "memory");
  CHECK_THAT(result.roofline.latency_levels[1].cycles->value, WithinRel(700.0, 1e-9));
}

TEST_CASE("without a counted clock there are no cycles", "[gpu]") {
  GpuResult result = round_result();
  analyse_gpu_latency(
      record_of(probe_name::gpu_latency,
                {chase_point(256'000'000, 400e-9, 0.0), chase_point(512'000'000, 400e-9, 0.0)}),
      result);
  REQUIRE(result.roofline.latency_levels.size() == 1);
  CHECK_FALSE(result.roofline.latency_levels[0].cycles.has_value());
}

namespace {
Point of_gpu(Point point, std::int64_t ordinal) {
  point.setting.set(Parameter::gpu, ordinal);
  return point;
}

Point with_heat(Point point, double watts, double temperature_c) {
  add_power(point, watts, 5.0, temperature_c);
  return point;
}

/// GPU i: `rates[i]` together at `clocks[i]`, all 1 % slower than alone.
Run node(const std::vector<double>& rates, const std::vector<double>& clocks) {
  Run run;
  ProbeRecord record = record_of(probe_name::gpu_together, {});
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
  const auto together = compare_gpus(node({70e12, 68e12, 71e12}, {1e9, 1e9, 1e9}), results(3));
  REQUIRE(together.has_value());
  CHECK(together->precision == NumberFormat::bf16);
  CHECK_THAT(together->spread, WithinRel(1.0 - 68.0 / 71.0, 1e-9));
  CHECK(together->slowest == 1);
  for (const GpuPace& pace : together->paces) CHECK_FALSE(pace.slow);
  CHECK_THAT(together->paces[0].of_alone->value, WithinRel(0.99, 1e-9));
}

TEST_CASE("a slow GPU is explained by its clock and the limit behind it", "[gpu]") {
  auto gpus = results(3);
  gpus[1].identity.power_limit_w = 500.0;
  // 60 / 70 = 85.7 %; the clock's 0.9 / 1.05 = 85.7 % explains all of it.
  const auto together = compare_gpus(node({70e12, 60e12, 70e12}, {1.05e9, 0.9e9, 1.05e9}), gpus);
  CHECK_FALSE(together->paces[0].slow);
  CHECK(together->paces[1].slow);
  CHECK_THAT(together->paces[1].of_others->value, WithinRel(60.0 / 70.0, 1e-9));
  REQUIRE(together->paces[1].cause.size() == 2);
  CHECK(together->paces[1].cause[0].id == FindingId::slower_clock);
  CHECK(together->paces[1].cause[1] == Finding(FindingId::lower_power_limit, 500.0, 700.0));
}

TEST_CASE("heat and reasons that the others do not have are named", "[gpu]") {
  Run run = node({70e12, 60e12}, {1.05e9, 0.9e9});
  Point& slow = run.probes[0].points[3];
  slow.samples[Metric::telemetry_temperature_c] = Samples(4, 87.0);
  slow.samples[Metric::telemetry_clock_event_reasons] = Samples(4, 64.0);
  run.probes[0].points[1].samples[Metric::telemetry_clock_event_reasons] = Samples(4, 0.0);
  const auto together = compare_gpus(run, results(2));
  REQUIRE(together->paces[1].cause.size() == 3);
  CHECK(together->paces[1].cause[1] ==
        Finding(FindingId::reason_more_often, "thermal, hardware", 1.0, 0.0));
  CHECK(together->paces[1].cause[2] == Finding(FindingId::hotter, 87.0, 60.0));
}

TEST_CASE("a slow GPU at the clock of the others is unexplained", "[gpu]") {
  const auto together = compare_gpus(node({70e12, 60e12, 70e12}, {1e9, 1e9, 1e9}), results(3));
  CHECK(together->paces[1].slow);
  CHECK(together->paces[1].cause.empty());
}

TEST_CASE("GPUs are compared with those of their own model", "[gpu]") {
  auto gpus = results(3);
  gpus[2].identity.name = "Other GPU";
  const auto together = compare_gpus(node({70e12, 69e12, 30e12}, {1e9, 1e9, 1e9}), gpus);
  CHECK_FALSE(together->paces[2].of_others.has_value());
  CHECK_FALSE(together->paces[2].slow);
  CHECK_FALSE(together->paces[1].slow);
  CHECK(together->slowest == 2);
}

TEST_CASE("one GPU compares with nobody", "[gpu]") {
  CHECK_FALSE(compare_gpus(node({70e12}, {1e9}), results(1)).has_value());
}

TEST_CASE("a PCIe link that never rises under load is told, one that does is not", "[gpu]") {
  Run run;
  run.environment = {{"gpu 0",
                      {{"pcie_generation", std::int64_t{5}, "a test"},
                       {"pcie_width", std::int64_t{16}, "a test"}}}};
  ProbeRecord probe;
  probe.points = {gpu_point(1.0), gpu_point(1.0)};
  CHECK(!lowered_pcie_link(run, probe, 0));  // no readings
  probe.points[0].samples[Metric::telemetry_pcie_generation] = {1.0};
  probe.points[0].samples[Metric::telemetry_pcie_width] = {8.0};
  const auto lowered = lowered_pcie_link(run, probe, 0);
  REQUIRE(lowered);
  CHECK(*lowered == Finding(FindingId::pcie_lowered, 1.0, 8.0, 5.0, 16.0));
  probe.points[1].samples[Metric::telemetry_pcie_generation] = {5.0};
  probe.points[1].samples[Metric::telemetry_pcie_width] = {16.0};
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
        transfer_point(host_memory, gpu_0, size, 10e-6 + static_cast<double>(size) / 50e9));
  }
  const auto transfers = transfers_of(run, record_of(probe_name::gpu_transfer, points), gpu);
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
                   record_of(probe_name::gpu_transfer,
                             {transfer_point(host_memory, gpu_0, 100'000'000, 1e-3, true)}),
                   gpu);
  CHECK_THAT(transfers.at(0).plateau.value.value(), WithinRel(200e9, 1e-9));
  CHECK_THAT(*transfers.at(0).of_link, WithinRel(200.0 / 120.0, 1e-9));
  CHECK_FALSE(transfers.at(0).alpha.has_value());
}

TEST_CASE("rates that the link or the memory forbid are named", "[gpu]") {
  GpuResult result;
  result.identity = round_gpu();
  GpuTransfer transfer;
  transfer.source = host_memory;
  transfer.target = gpu_0;
  transfer.link = "PCIe";
  transfer.of_link = 1.1;
  result.transfers = {transfer};
  MemoryLevel memory{{{MemoryLevelName::memory}, Bytes(1e9), Bytes(1e9), {}}, {}};
  memory.of_datasheet = Estimate<double>{1.2, {}, 7};
  result.roofline.memory_levels = {memory};
  warn_of_impossible_rates(result);
  REQUIRE(result.warnings.size() == 2);
  CHECK(result.warnings[0].id == FindingId::transfer_above_link);
  CHECK(result.warnings[1].id == FindingId::memory_above_sheet);
}

TEST_CASE("the link between two GPUs is what the facts say of the pair", "[gpu]") {
  Run run;
  run.gpu_links = {
      {0, 1, LinkKind::nvlink, 18}, {0, 2, LinkKind::peer, 0}, {1, 2, LinkKind::through_host, 0}};
  run.environment = {{"gpu 0", {{"nvlink_bytes_per_s", Value(25e9), ""}}}};
  const auto of_gpu_number = [](int ordinal) { return MemoryPlace{TransferEnd::gpu, ordinal}; };
  GpuIdentity gpu = round_gpu();
  gpu.pcie_bandwidth = BytesPerSecond(60e9);
  const auto switched = link_between(run, of_gpu_number(0), of_gpu_number(1), gpu);
  CHECK(switched->name == "18 NVLinks");
  CHECK_THAT(switched->rate.value(), WithinRel(450e9, 1e-12));
  // GPU 1 does not tell the speed: half of the datasheet's 400 GB/s for both directions.
  CHECK_THAT(link_between(run, of_gpu_number(1), of_gpu_number(0), gpu)->rate.value(),
             WithinRel(200e9, 1e-12));
  CHECK(link_between(run, of_gpu_number(2), of_gpu_number(0), gpu)->name == "PCIe");
  CHECK_FALSE(link_between(run, of_gpu_number(1), of_gpu_number(2), gpu).has_value());
  CHECK_FALSE(link_between(run, of_gpu_number(0), of_gpu_number(0), gpu).has_value());
  CHECK(link_between(run, {TransferEnd::host_pinned, 1}, gpu_0, gpu)->name == "PCIe");
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
  launch.setting.set(Parameter::launch, LaunchKind::empty_kernel);
  Point best = product_point("steady", 66e12, 1.1e9);
  best.setting.set(Parameter::family, std::string("search"));
  run.probes = {record_of(probe_name::gpu_memory, {stream_point("device", 1'000'000'000, 0.9e12)}),
                record_of(probe_name::gpu_launch, {launch}),
                record_of(probe_name::gpu_gemm, {product_point("steady", 60e12, 1.1e9), best}),
                record_of(probe_name::gpu_compute,
                          {of_gpu(fma_point("cuda_cores", "fp32", 9e12, 1.2e9), 1)})};
  AnalysisOptions options;
  options.price_per_rank = dollars_per_hour(3.6);
  options.datasheets = {round_datasheet()};
  const auto gpus = analyse_gpus(run, options);
  REQUIRE(gpus.size() == 2);
  const GpuResult& first = gpus[0];
  REQUIRE(first.identity.datasheet.has_value());
  CHECK(first.identity.datasheet->id == "round");
  CHECK_THAT(first.identity.pcie_bandwidth->value(), WithinRel(63.015e9, 1e-4));
  CHECK_THAT(first.launches.at(0).value.value.value(), WithinRel(2e-6, 1e-9));
  REQUIRE(first.formats.size() == 1);
  CHECK_THAT(first.formats[0].waterfall->spec.value(), WithinRel(100e12, 1e-12));
  // 100 x 1.25 x 0.88 = 110 TFLOP/s at the clock: the best shape does 60 % of it.
  CHECK(first.formats[0].waterfall->steps.at(2).name == LossStep::kernel);
  CHECK(first.roofline.gemms.size() == 2);
  CHECK(gpus[1].identity.ordinal == 1);
  CHECK_FALSE(gpus[1].identity.datasheet.has_value());
  CHECK_FALSE(gpus[1].roofline.ceilings.at(0).against.has_value());
  CHECK(analyse_gpus(Run{}, options).empty());
}

namespace {
Estimate<FlopPerSecond> exactly(double rate) {
  return {
      FlopPerSecond(rate), Interval<FlopPerSecond>{FlopPerSecond(rate), FlopPerSecond(rate)}, 7};
}
}  // namespace

TEST_CASE("a rate is held against the datasheet and against what its clock allowed", "[gpu]") {
  // 72 of 100 TFLOP/s; at 1.2 GHz the multiprocessors could do 120, of which 72 is 60 %.
  const auto against = against_peak(round_gpu(), NumberFormat::bf16, false, exactly(72e12), 1.2e9);
  REQUIRE(against.has_value());
  CHECK(against->basis == Finding(FindingId::of_datasheet_at, "bf16", 1000.0));
  CHECK_THAT(against->fraction.value, WithinRel(0.72, 1e-12));
  CHECK_THAT(*against->clock_ratio, WithinRel(1.2, 1e-12));
  CHECK_THAT(against->fraction_at_clock->value, WithinRel(0.6, 1e-12));
}

TEST_CASE("a rate above the datasheet at a higher clock is possible, above the clock it is not",
          "[gpu]") {
  const GpuIdentity gpu = round_gpu();  // up to 1.25 GHz: 125 TFLOP/s
  const auto impossible = [&](double rate) {
    return impossible_rate(gpu,
                           *against_peak(gpu, NumberFormat::bf16, false, exactly(rate), 1.2e9));
  };
  CHECK_FALSE(impossible(110e12));
  CHECK_FALSE(impossible(125.5e12));
  REQUIRE(impossible(150e12));
  CHECK_THAT(std::get<double>(impossible(150e12)->arguments.at(0).value), WithinRel(1.2, 1e-9));
  CHECK(impossible(150e12)->arguments.at(1) == 1250.0);
}

TEST_CASE("formats of eight bits share a peak, a format without one has none", "[gpu]") {
  const auto against = [](NumberFormat precision, bool on_cuda_cores) {
    return against_peak(round_gpu(), precision, on_cuda_cores, exactly(1e12), std::nullopt);
  };
  CHECK_THAT(against(NumberFormat::fp8_e5m2, false)->peak.value(), WithinRel(200e12, 1e-12));
  CHECK_THAT(against(NumberFormat::fp32, false)->peak.value(), WithinRel(10e12, 1e-12));
  CHECK_FALSE(against(NumberFormat::int8, false).has_value());
  CHECK_FALSE(against(NumberFormat::bf16, true).has_value());
}

TEST_CASE("a given --peak takes the place of the bf16 peak and has no clock", "[gpu]") {
  GpuIdentity gpu = round_gpu();
  gpu.datasheet.reset();
  CHECK_FALSE(against_peak(gpu, NumberFormat::bf16, false, exactly(25e12), 1e9).has_value());
  gpu.given_peak = FlopPerSecond(50e12);
  const auto against = against_peak(gpu, NumberFormat::bf16, false, exactly(25e12), 1e9);
  CHECK(against->basis == Finding(FindingId::as_given));
  CHECK_THAT(against->fraction.value, WithinRel(0.5, 1e-12));
  CHECK_FALSE(against->fraction_at_clock.has_value());
  CHECK_FALSE(against_peak(gpu, NumberFormat::fp16, false, exactly(25e12), 1e9).has_value());
}

TEST_CASE("a slice of a GPU is held against its own multiprocessors at its clock", "[gpu]") {
  GpuIdentity gpu = round_gpu();
  gpu.multiprocessors = 50;
  const auto against = against_peak(gpu, NumberFormat::bf16, false, exactly(40e12), 1e9);
  CHECK_THAT(against->fraction.value, WithinRel(0.4, 1e-12));
  CHECK_THAT(against->fraction_at_clock->value, WithinRel(0.8, 1e-12));
}

TEST_CASE("ceilings of a GPU have no CPU time and name an impossible one", "[gpu]") {
  GpuResult result;
  result.identity = round_gpu();
  analyse_gpu_compute(record_of(probe_name::gpu_compute,
                                {fma_point("cuda_cores", "fp32", 9e12, 1.25e9),
                                 fma_point("cuda_cores", "fp32", 19e12, 1.25e9)}),
                      result);
  REQUIRE(result.roofline.ceilings.size() == 2);
  CHECK_FALSE(result.roofline.ceilings[0].cpu_rate.has_value());
  CHECK_FALSE(result.roofline.ceilings[0].contended);
  CHECK_THAT(result.roofline.ceilings[0].against->fraction_at_clock->value, WithinRel(0.9, 1e-12));
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0].id == FindingId::ceiling_above_clock);
}

TEST_CASE("a PCIe link's rate follows from generation and width", "[gpu]") {
  // 32 GT/s x 128/130 / 8 bits x 16 lanes = 63.0 GB/s.
  CHECK_THAT(pcie_rate(5, 16)->value(), WithinRel(63.015e9, 1e-4));
  CHECK_THAT(pcie_rate(3, 8)->value(), WithinRel(7.877e9, 1e-4));
  CHECK_THAT(pcie_rate(6, 16)->value(), WithinRel(118.0e9, 1e-4));  // 16 lanes of 64 Gbit/s, 236 of 256 bytes
  CHECK_FALSE(pcie_rate(9, 16).has_value());
}
