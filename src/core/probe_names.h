// SPDX-License-Identifier: Apache-2.0
/// Names of the probes in run.json, for its writers and readers.
#pragma once

namespace scaleworth::probe_name {
inline constexpr const char* roofline_compute = "roofline.compute";
inline constexpr const char* roofline_memory = "roofline.memory";
inline constexpr const char* roofline_latency = "roofline.latency";
inline constexpr const char* roofline_intensity = "roofline.intensity";
inline constexpr const char* roofline_gemm = "roofline.gemm";
inline constexpr const char* gpu_compute = "roofline.gpu.compute";
inline constexpr const char* gpu_memory = "roofline.gpu.memory";
inline constexpr const char* gpu_latency = "roofline.gpu.latency";
inline constexpr const char* gpu_intensity = "roofline.gpu.intensity";
inline constexpr const char* gpu_gemm = "roofline.gpu.gemm";
inline constexpr const char* gpu_contention = "roofline.gpu.contention";
inline constexpr const char* gpu_together = "roofline.gpu.together";
inline constexpr const char* gpu_transfer = "roofline.gpu.transfer";
inline constexpr const char* gpu_launch = "roofline.gpu.launch";
inline constexpr const char* comm_collectives = "comm.collectives";
inline constexpr const char* comm_nccl = "comm.nccl";
inline constexpr const char* step_training = "step.training";
inline constexpr const char* step_ledger = "step.ledger";
inline constexpr const char* step_variants = "step.variants";
}  // namespace scaleworth::probe_name
