// SPDX-License-Identifier: Apache-2.0
/// Two GPUs of one model, the second with a lowered power limit, as points; analysed as any run is.
#include "src/core/run.h"
#include "src/model/analysis.h"
#include "tests/golden/report/fixture.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::report::fixture {
namespace {

std::string text(const char* value) {
  return value;
}

std::int64_t whole(double value) {
  return static_cast<std::int64_t>(value);
}

/// Nine values around `centre` that differ by up to `spread` of it.
std::vector<double> around(double centre, double spread) {
  std::vector<double> values;
  for (const double place : {0.0, 0.5, -0.25, -1.0, 0.75, 0.25, -0.5, 1.0, -0.75}) {
    values.push_back(centre * (1.0 + spread * place));
  }
  return values;
}

Point point(int gpu, Setting parameters, double time, double spread, double clock_hz) {
  Point result;
  result.setting = std::move(parameters);
  result.setting.set(Parameter::gpu, std::int64_t{gpu});
  result.samples[Metric::wall_s] = around(time, spread);
  if (clock_hz > 0.0) {
    result.samples[Metric::clock_hz] = around(clock_hz, spread / 4.0);
  }
  result.stop_reason = {{FindingId::stated, "time budget"}};
  return result;
}

void add_telemetry(Point& point, double power, double heat, double seconds) {
  point.samples[Metric::telemetry_power_w] = around(power, 0.01);
  point.samples[Metric::telemetry_temperature_c] = around(heat, 0.01);
  point.samples[Metric::telemetry_clock_event_reasons] = {4, 4, 4, 4, 4, 4, 4, 0, 4};
  point.samples[Metric::telemetry_energy_j] = {power * seconds};
  point.samples[Metric::telemetry_window_s] = {seconds};
}

struct Product {
  const char* precision;
  const char* pass;
  double m, n, k;
  double rate;
  double clock_hz;
  double power;
  int rank = 2;
  bool fast = true;
  int multiprocessors = 132;
  const char* family = "cube";
  const char* name = nullptr;
  const char* data = "uniform";
};

Point product(int gpu, const Product& work) {
  const double flops = 2.0 * work.m * work.n * work.k;
  Point result = point(gpu,
                       {{Parameter::precision, text(work.precision)},
                        {Parameter::family, text(work.family)},
                        {Parameter::pass, text(work.pass)},
                        {Parameter::data, text(work.data)},
                        {Parameter::library, text("cuBLASLt 13.1.0")},
                        {Parameter::recipe, text("algorithm 66, tile 128x256, cluster 2x1")},
                        {Parameter::tile_m, std::int64_t{128}},
                        {Parameter::tile_n, std::int64_t{256}},
                        {Parameter::heuristic_rank, std::int64_t{work.rank}},
                        {Parameter::workspace_bytes, std::int64_t{33554432}},
                        {Parameter::fast_accumulation, work.fast},
                        {Parameter::m, whole(work.m)},
                        {Parameter::n, whole(work.n)},
                        {Parameter::k, whole(work.k)},
                        {Parameter::batch, std::int64_t{1}},
                        {Parameter::multiprocessors, std::int64_t{work.multiprocessors}}},
                       flops / work.rate,
                       0.004,
                       work.clock_hz);
  if (work.name != nullptr) {
    result.setting.set(Parameter::name, text(work.name));
  }
  result.amounts[Metric::flops] = flops;
  const bool steady = std::string(work.pass) != "burst";
  add_telemetry(result, work.power, 0.09 * work.power, steady ? 5.0 : 0.2);
  return result;
}

ProbeRecord probe(const char* name, std::vector<Point> points) {
  ProbeRecord record;
  record.name = name;
  record.status = ProbeStatus::measured;
  record.duration_s = 12.0;
  record.points = std::move(points);
  return record;
}

Product of_data(const char* data, Product work) {
  work.data = data;
  return work;
}

Product searched(Product work) {
  work.family = "search";
  return work;
}

ProbeRecord products() {
  const double c = 8192.0;
  const Product works[] = {{"bf16", "coarse", c, c, c, 655e12, 1.50e9, 690.0, 0},
                           {"bf16", "coarse", c, c, c, 702e12, 1.50e9, 690.0, 2},
                           {"bf16", "fine", c, c, c, 661e12, 1.49e9, 694.0, 0},
                           {"bf16", "fine", c, c, c, 707e12, 1.49e9, 694.0, 2},
                           {"bf16", "burst", c, c, c, 781e12, 1.74e9, 610.0},
                           {"bf16", "steady", c, c, c, 709e12, 1.485e9, 697.0},
                           of_data("normal", {"bf16", "burst", c, c, c, 774e12, 1.73e9, 612.0}),
                           of_data("normal", {"bf16", "steady", c, c, c, 689e12, 1.44e9, 698.0}),
                           of_data("zero", {"bf16", "burst", c, c, c, 822e12, 1.83e9, 480.0}),
                           of_data("zero", {"bf16", "steady", c, c, c, 818e12, 1.82e9, 495.0}),
                           searched({"bf16", "steady", 1536, 2816, c, 721e12, 1.49e9, 696.0}),
                           searched({"bf16", "burst", 1536, 2816, c, 802e12, 1.755e9, 560.0}),
                           {"fp8_e4m3", "burst", c, c, c, 1490e12, 1.77e9, 600.0},
                           {"fp8_e4m3", "steady", c, c, c, 1395e12, 1.53e9, 698.0},
                           searched({"fp8_e4m3", "steady", 3072, 2816, c, 1412e12, 1.54e9, 697.0}),
                           searched({"fp8_e4m3", "burst", 3072, 2816, c, 1512e12, 1.77e9, 580.0}),
                           {"fp8_e4m3", "steady", c, c, c, 1021e12, 1.62e9, 695.0, 1, false},
                           {"tf32", "steady", c, c, c, 372e12, 1.56e9, 690.0},
                           {"fp32", "steady", c, c, c, 51.8e12, 1.83e9, 640.0}};
  std::vector<Point> points;
  for (const Product& work : works) {
    points.push_back(product(0, work));
  }
  return probe(probe_name::gpu_gemm, points);
}

ProbeRecord own_products() {
  ProbeRecord record = products();
  for (const Product& work :
       {Product{
            "bf16", "steady", 64, 12288, 4096, 122e12, 1.9e9, 420.0, 0, true, 132, "own", "qkv"},
        Product{"bf16",
                "steady",
                64,
                4096,
                16384,
                139e12,
                1.9e9,
                430.0,
                0,
                true,
                132,
                "own",
                "down"}}) {
    record.points.push_back(product(0, work));
  }
  return record;
}

ProbeRecord together() {
  const double c = 8192.0;
  std::vector<Point> points;
  points.push_back(product(0, {"bf16", "alone", c, c, c, 709e12, 1.485e9, 697.0}));
  points.push_back(product(1, {"bf16", "alone", c, c, c, 561e12, 1.160e9, 498.0}));
  points.push_back(product(0, {"bf16", "together", c, c, c, 704e12, 1.475e9, 698.0}));
  points.push_back(product(1, {"bf16", "together", c, c, c, 556e12, 1.150e9, 499.0}));
  return probe(probe_name::gpu_together, points);
}

Point stream(const char* kernel, double size, double rate) {
  Point result = point(0,
                       {{Parameter::kernel, text(kernel)},
                        {Parameter::scope, text("device")},
                        {Parameter::grid, StreamGrid::persistent},
                        {Parameter::block_threads, std::int64_t{512}},
                        {Parameter::loads_at_once, std::int64_t{4}},
                        {Parameter::nontemporal, false},
                        {Parameter::workers, std::int64_t{1}},
                        {Parameter::pass, text("sweep")},
                        {Parameter::working_set_bytes, whole(size)}},
                       size / rate,
                       0.003,
                       1.98e9);
  result.amounts[Metric::bytes] = size;
  return result;
}

ProbeRecord memory() {
  struct Kernel {
    const char* name;
    double cache, memory;
  };
  std::vector<Point> points;
  for (const Kernel& kernel : {Kernel{"read", 9.6e12, 4.31e12},
                               {"write", 6.1e12, 4.05e12},
                               {"copy", 7.2e12, 4.12e12},
                               {"triad", 7.4e12, 4.02e12}}) {
    for (double size = 2.0 * mebibyte; size <= 16.0 * mebibyte; size *= 2.0) {
      points.push_back(stream(kernel.name, size, kernel.cache));
    }
    points.push_back(stream(kernel.name, 64.0 * mebibyte, 0.5 * (kernel.cache + kernel.memory)));
    for (double size = 256.0 * mebibyte; size <= 2048.0 * mebibyte; size *= 2.0) {
      points.push_back(stream(kernel.name, size, kernel.memory));
    }
  }
  return probe(probe_name::gpu_memory, points);
}

ProbeRecord latency() {
  std::vector<Point> points;
  for (double size = 4096.0; size <= 1024.0 * mebibyte; size *= 2.0) {
    const double cycles = size <= 200e3             ? 33.0
                          : size <= 24.0 * mebibyte ? 276.0
                          : size <= 50.0 * mebibyte ? 420.0
                                                    : 672.0;
    Point one =
        point(0,
              {{Parameter::working_set_bytes, whole(size)}, {Parameter::stride_bytes, whole(128)}},
              cycles / 1.98e9,
              0.004,
              1.98e9);
    one.amounts[Metric::accesses] = 1.0;
    points.push_back(one);
  }
  return probe(probe_name::gpu_latency, points);
}

ProbeRecord compute() {
  struct Unit {
    const char* isa;
    const char* precision;
    double rate;
    double clock_hz;
  };
  std::vector<Point> points;
  for (const Unit& unit :
       {Unit{"cuda_cores", "fp32", 60.9e12, 1.92e9}, {"cuda_cores", "fp64", 31.2e12, 1.95e9}}) {
    Point one = point(0,
                      {{Parameter::isa, text(unit.isa)},
                       {Parameter::precision, text(unit.precision)},
                       {Parameter::workers, std::int64_t{1}}},
                      1e12 / unit.rate,
                      0.002,
                      unit.clock_hz);
    one.amounts[Metric::flops] = 1e12;
    points.push_back(one);
  }
  return probe(probe_name::gpu_compute, points);
}

Point copy(int gpu, MemoryPlace source, MemoryPlace target, bool both, double size, double time) {
  Point result = point(gpu,
                       {{Parameter::engine, TransferEngine::copy_engine},
                        {Parameter::both_directions, both},
                        {Parameter::pass, text("alone")},
                        {Parameter::transfer_bytes, whole(size)}},
                       time,
                       0.002,
                       0.0);
  result.setting.set_place(Parameter::source, source);
  result.setting.set_place(Parameter::target, target);
  result.amounts[Metric::bytes] = both ? 2.0 * size : size;
  return result;
}

ProbeRecord transfers() {
  const MemoryPlace host{TransferEnd::host_pinned, {}};
  const MemoryPlace gpu_0{TransferEnd::gpu, 0};
  const MemoryPlace gpu_1{TransferEnd::gpu, 1};
  std::vector<Point> points;
  double ripple = 1.004;
  for (double size = 4096.0; size <= 256.0 * mebibyte; size *= 16.0) {
    points.push_back(copy(0, host, gpu_0, false, size, ripple * (3.1e-6 + size / 55.4e9)));
    points.push_back(copy(0, gpu_0, host, false, size, ripple * (3.4e-6 + size / 54.9e9)));
    ripple = 2.0 - ripple;
  }
  const double size = 256.0 * mebibyte;
  points.push_back(copy(0, host, gpu_0, true, size, size / 44e9));
  points.push_back(copy(0, gpu_0, gpu_1, false, size, size / 386e9));
  points.push_back(copy(1, gpu_1, gpu_0, false, size, size / 384e9));
  return probe(probe_name::gpu_transfer, points);
}

ProbeRecord launches() {
  std::vector<Point> points;
  points.push_back(point(0, {{Parameter::launch, text("empty_kernel")}}, 2.1e-6, 0.01, 0.0));
  points.push_back(point(0, {{Parameter::launch, text("graph_node")}}, 1.3e-6, 0.01, 0.0));
  points.push_back(point(0, {{Parameter::launch, text("launch_and_wait")}}, 6.8e-6, 0.02, 0.0));
  return probe(probe_name::gpu_launch, points);
}

FactSection gpu_section(int ordinal, double limit) {
  return {fmt::format("gpu {}", ordinal),
          {{"name", text("NVIDIA H200"), "cudaGetDeviceProperties"},
           {"uuid", text("GPU-5f3a0000-0000-0000-0000-000000000000"), "cudaGetDeviceProperties"},
           {"compute_capability", text("9.0"), "cudaGetDeviceProperties"},
           {"pci_device_id", whole(0x2335), "/sys/bus/pci/devices"},
           {"multiprocessors", whole(132), "cudaGetDeviceProperties"},
           {"memory_bytes", whole(150754820096.0), "cudaGetDeviceProperties"},
           {"l2_bytes", whole(62914560), "cudaGetDeviceProperties"},
           {"shared_per_multiprocessor_bytes", whole(233472), "cudaGetDeviceProperties"},
           {"maximum_clock_hz", Value(1.98e9), "cudaDeviceGetAttribute"},
           {"power_limit_w", Value(limit), "NVML"},
           {"power_limit_default_w", Value(700.0), "NVML"},
           {"pcie_generation", whole(5), "NVML"},
           {"pcie_width", whole(16), "NVML"},
           {"nvlinks", whole(18), "NVML"},
           {"nvlink_bytes_per_s", Value(26.562e9), "NVML"}}};
}

}  // namespace

Run gpu_run() {
  Run run;
  run.tool_version = "0.1.0";
  run.git_revision = "0123abc";
  run.started_at = "2026-11-21T09:00:00Z";
  run.command_line = {"scaleworth", "roofline", "--suite", "standard"};
  run.suite = "standard";
  run.complete = true;
  run.environment = {{"cpu", {{"model", text("AMD EPYC 9654"), "/proc/cpuinfo"}}},
                     gpu_section(0, 700.0),
                     gpu_section(1, 500.0),
                     {"gpu links",
                      {{"models", text("2 x NVIDIA H200"), "cudaGetDeviceProperties"},
                       {"gpu_0_gpu_1",
                        text("peer access, 18 NVLinks through switches"),
                        "cudaDeviceCanAccessPeer, NVML"}}}};
  run.gpu_links = {{0, 1, LinkKind::nvlink, 18}};
  run.probes = {
      compute(), memory(), latency(), own_products(), together(), transfers(), launches()};
  return run;
}

model::Analysis gpu_analysis() {
  model::AnalysisOptions assumptions;
  assumptions.price_per_rank = dollars_per_hour(3.5);
  return model::analyse(gpu_run(), assumptions);
}

}  // namespace scaleworth::report::fixture
