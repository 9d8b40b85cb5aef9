// SPDX-License-Identifier: Apache-2.0
/// Builders of GPU points and of a round GPU: 100 multiprocessors, 1000 bf16 FLOP per clock and
/// multiprocessor, datasheet clock 1 GHz: 100 TFLOP/s.
#pragma once

#include "src/core/run.h"
#include "src/model/analysis.h"

#include <string>
#include <vector>

namespace scaleworth::model {

using Samples = std::vector<double>;

inline GpuDatasheet round_datasheet() {
  GpuDatasheet sheet;
  sheet.id = "round";
  sheet.name = "Round GPU";
  sheet.pci_device_ids = {0x1234};
  sheet.compute_capability = 90;
  sheet.multiprocessors = 100;
  sheet.tensor = {{"bf16", {FlopPerSecond(100e12), 1e9}},
                  {"fp8_e4m3", {FlopPerSecond(200e12), 1e9}}};
  sheet.cuda_cores = {{"fp32", {FlopPerSecond(10e12), 1.25e9}}};
  sheet.maximum_clock_hz = 1.25e9;
  sheet.memory_bandwidth = BytesPerSecond(1e12);
  sheet.memory = Bytes(80e9);
  sheet.l2_cache = Bytes(32e6);
  sheet.nvlink = BytesPerSecond(400e9);
  sheet.power_limit_w = 700.0;
  return sheet;
}

inline GpuIdentity round_gpu() {
  GpuIdentity gpu;
  gpu.name = "Round GPU";
  gpu.multiprocessors = 100;
  gpu.memory = Bytes(80e9);
  gpu.l2_cache = Bytes(32e6);
  gpu.shared_per_multiprocessor = Bytes(200e3);
  gpu.maximum_clock_hz = 1.25e9;
  gpu.power_limit_w = 700.0;
  gpu.default_power_limit_w = 700.0;
  gpu.datasheet = round_datasheet();
  return gpu;
}

inline GpuResult round_result() {
  GpuResult result;
  result.identity = round_gpu();
  return result;
}

/// Seven equal samples of `wall` seconds; a clock where it is above 0.
inline Point gpu_point(double wall, double clock_hz = 0.0, std::int64_t ordinal = 0) {
  Point point;
  point.setting.set(Parameter::gpu, ordinal);
  point.samples[Metric::wall_s] = Samples(7, wall);
  if (clock_hz > 0.0) point.samples[Metric::clock_hz] = Samples(7, clock_hz);
  return point;
}

/// `bytes` in one second.
inline Point stream_point(const char* scope,
                          std::int64_t working_set,
                          double rate,
                          const StreamVariant& variant = {},
                          const char* kernel = "read") {
  Point point = gpu_point(1.0);
  point.setting.set(Parameter::scope, std::string(scope));
  point.setting.set(Parameter::kernel, std::string(kernel));
  point.setting.set_stream_variant(variant);
  point.setting.set(Parameter::workers, std::int64_t{1});
  point.setting.set(Parameter::working_set_bytes, working_set);
  point.amounts[Metric::bytes] = rate;
  return point;
}

/// `flops` in one second.
inline Point fma_point(const char* isa, const char* precision, double flops, double clock_hz) {
  Point point = gpu_point(1.0, clock_hz);
  point.setting.set(Parameter::isa, std::string(isa));
  point.setting.set(Parameter::precision, std::string(precision));
  point.setting.set(Parameter::workers, std::int64_t{1});
  point.amounts[Metric::flops] = flops;
  return point;
}

inline Point chase_point(std::int64_t working_set,
                         double latency,
                         double clock_hz,
                         std::int64_t stride = 128) {
  Point point = gpu_point(latency, clock_hz);
  point.setting.set(Parameter::working_set_bytes, working_set);
  point.setting.set(Parameter::stride_bytes, stride);
  point.amounts[Metric::accesses] = 1.0;
  return point;
}

/// 2 m n k FLOPs at `rate`, gap-free, a cube by default.
inline Point product_point(const char* pass,
                           double rate,
                           double clock_hz = 0.0,
                           const char* precision = "bf16",
                           GemmShape shape = {8192, 8192, 8192, 1}) {
  const double flops = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                       static_cast<double>(shape.k) * static_cast<double>(shape.batch);
  Point point = gpu_point(flops / rate, clock_hz);
  point.amounts[Metric::flops] = flops;
  point.setting.set(Parameter::precision, std::string(precision));
  point.setting.set(Parameter::family, std::string("cube"));
  point.setting.set(Parameter::pass, std::string(pass));
  point.setting.set(Parameter::library, std::string("cuBLASLt 13.1"));
  point.setting.set(Parameter::recipe, std::string("algorithm 66, tile 128x256, split-k 1"));
  point.setting.set(Parameter::tile_m, std::int64_t{128});
  point.setting.set(Parameter::tile_n, std::int64_t{256});
  point.setting.set(Parameter::heuristic_rank, std::int64_t{0});
  point.setting.set(Parameter::workspace_bytes, std::int64_t{33554432});
  point.setting.set(Parameter::fast_accumulation, true);
  point.setting.set(Parameter::m, shape.m);
  point.setting.set(Parameter::n, shape.n);
  point.setting.set(Parameter::k, shape.k);
  point.setting.set(Parameter::batch, shape.batch);
  point.setting.set(Parameter::multiprocessors, std::int64_t{100});
  return point;
}

inline Point transfer_point(const MemoryPlace& source,
                            const MemoryPlace& target,
                            std::int64_t size,
                            double time,
                            bool both_directions = false) {
  Point point = gpu_point(time);
  point.setting.set_place(Parameter::source, source);
  point.setting.set_place(Parameter::target, target);
  point.setting.set(Parameter::engine, TransferEngine::copy_engine);
  point.setting.set(Parameter::both_directions, both_directions);
  point.setting.set(Parameter::transfer_bytes, size);
  point.setting.set(Parameter::pass, std::string("alone"));
  point.amounts[Metric::bytes] = static_cast<double>(size) * (both_directions ? 2.0 : 1.0);
  return point;
}

/// GPU 0 and pinned memory of the host.
inline const MemoryPlace gpu_0{TransferEnd::gpu, 0};
inline const MemoryPlace host_memory{TransferEnd::host_pinned, {}};

inline void add_power(Point& point, double watts, double seconds, double temperature_c = 60.0) {
  point.samples[Metric::telemetry_power_w] = Samples(4, watts);
  point.samples[Metric::telemetry_temperature_c] = Samples(4, temperature_c);
  point.samples[Metric::telemetry_energy_j] = {watts * seconds};
  point.samples[Metric::telemetry_window_s] = {seconds};
}

inline ProbeRecord record_of(const char* probe, std::vector<Point> points) {
  ProbeRecord record;
  record.name = probe;
  record.status = ProbeStatus::measured;
  record.points = std::move(points);
  return record;
}

}  // namespace scaleworth::model
