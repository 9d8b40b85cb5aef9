// SPDX-License-Identifier: Apache-2.0
/// Names of probes, parameters, amounts and series in run.json, for its writers and readers.
#pragma once

namespace scaleworth::fields {
// Probes.
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

// Parameters: what was asked.
inline constexpr const char* run = "run";  // of several, each in processes of its own; from 1
inline constexpr const char* isa = "isa";  // "sse2" | "avx2" | "avx512" | "neon"
inline constexpr const char* precision = "precision";  // "fp32" | "fp64"
inline constexpr const char* workers = "workers";      // threads measured at once
inline constexpr const char* kernel = "kernel";        // "read" | "write" | "copy" | "triad"
inline constexpr const char* nontemporal = "nontemporal";
inline constexpr const char* working_set_bytes = "working_set_bytes";  // per worker, all arrays
inline constexpr const char* fma_per_element = "fma_per_element";
inline constexpr const char* m = "m";
inline constexpr const char* n = "n";
inline constexpr const char* k = "k";
inline constexpr const char* batch = "batch";
inline constexpr const char* family = "family";  // square, tokens, rank-k, batched or free
inline constexpr const char* library = "library";
inline constexpr const char* collective = "collective";  // "all_reduce", "all_gather", ...
inline constexpr const char* ranks = "ranks";
inline constexpr const char* message_bytes = "message_bytes";  // as nccl-tests counts them
inline constexpr const char* mode =
    "mode";  // collectives: "isolated" | "back_to_back" | "graph", and "symmetric windows", which
             // is isolated too; step: "strong" | "weak"
// Collectives on GPUs, besides the ones above. The algorithm and protocol asked for are empty where
// the library chose; what ran is absent where it does not report it.
inline constexpr const char* topology = "topology";  // "all ranks", "pair, NVLink", ...
inline constexpr const char* protocol = "protocol";
inline constexpr const char* in_place = "in_place";
inline constexpr const char* registered = "registered";
inline constexpr const char* shared_gpu = "shared_gpu";  // true: no figure of an interconnect
inline constexpr const char* ran_algorithm = "ran_algorithm";
inline constexpr const char* ran_protocol = "ran_protocol";
inline constexpr const char* ran_channels = "ran_channels";
inline constexpr const char* rank = "rank";
inline constexpr const char* global_batch = "global_batch_sequences";
// The transformer of step.training.
inline constexpr const char* layers = "layers";
inline constexpr const char* width = "width";
inline constexpr const char* heads = "heads";
inline constexpr const char* sequence = "sequence";
inline constexpr const char* vocabulary = "vocabulary";
inline constexpr const char* straggler_rank = "straggler_rank";
inline constexpr const char* straggler_factor = "straggler_factor";

// Probes of GPUs, besides the ones above.
inline constexpr const char* gpu = "gpu";          // ordinal; section "gpu N" of the environment
inline constexpr const char* scope = "scope";      // "device" | "multiprocessor" | "shared"
inline constexpr const char* variant = "variant";  // of a streaming kernel, or a step: in words
inline constexpr const char* stride_bytes = "stride_bytes";
inline constexpr const char* source = "source";  // "gpu 0", "host (pinned, node 0)"
inline constexpr const char* target = "target";
inline constexpr const char* engine = "engine";  // "copy engine" | "kernel"
inline constexpr const char* both_directions = "both_directions";
inline constexpr const char* transfer_bytes = "transfer_bytes";
inline constexpr const char* launch = "launch";
/// Products: "coarse" | "fine" | "trial" (search); "burst" (near the highest clock, after a pause)
/// | "steady" (sustained) | "contention" | "alone" | "together". Streams: "pilot" (few samples, to
/// choose the kernel) | "sweep". Transfers: "alone" | "together" (all GPUs at once).
inline constexpr const char* pass = "pass";
inline constexpr const char* data = "data";  // of operands: "uniform" | "normal" | "zero"
inline constexpr const char* heuristic_rank = "heuristic_rank";
inline constexpr const char* algorithm = "algorithm";  // of a library, in its words
inline constexpr const char* workspace_bytes = "workspace_bytes";
inline constexpr const char* fast_accumulation = "fast_accumulation";
inline constexpr const char* multiprocessors = "multiprocessors";  // used; the others are held
inline constexpr const char* name = "name";                        // that the user gave

// Amounts: known exactly, per sample.
inline constexpr const char* flops = "flops";
inline constexpr const char* bytes = "bytes";  // as STREAM counts: explicit loads and stores
inline constexpr const char* bytes_real = "bytes_real";  // with the read that a write-allocate adds
inline constexpr const char* accesses = "accesses";
/// Through the busier direction of one GPU's port, by the algorithm that ran.
inline constexpr const char* wire_bytes = "wire_bytes";
/// Followed by a way ("predicted_s.Ring/LL"): what the library expects it to take.
inline constexpr const char* predicted_s_prefix = "predicted_s.";
inline constexpr const char* model_parameters = "model_parameters";
inline constexpr const char* model_flops = "model_flops";  // all ranks, one step
inline constexpr const char* tokens = "tokens";            // all ranks, one step
inline constexpr const char* gradient_bytes = "gradient_bytes";
inline constexpr const char* bucket_count = "bucket_count";

// Series.
inline constexpr const char* wall_s = "wall_s";
inline constexpr const char* cpu_s = "cpu_s";  // thread-CPU time, summed over workers
inline constexpr const char* time_s = "time_s";
/// GPUs: clock of a multiprocessor, from cycles counted during the same sample.
inline constexpr const char* clock_hz = "clock_hz";
// Telemetry of a GPU while a point was measured: readings every 10 to 20 ms, of equal length.
inline constexpr const char* telemetry_time_s = "telemetry_time_s";
inline constexpr const char* telemetry_sm_clock_hz = "telemetry_sm_clock_hz";
inline constexpr const char* telemetry_memory_clock_hz = "telemetry_memory_clock_hz";
inline constexpr const char* telemetry_power_w = "telemetry_power_w";
inline constexpr const char* telemetry_temperature_c = "telemetry_temperature_c";
inline constexpr const char* telemetry_clock_event_reasons = "telemetry_clock_event_reasons";
inline constexpr const char* telemetry_energy_j = "telemetry_energy_j";  // one value: the window's
inline constexpr const char* telemetry_window_s = "telemetry_window_s";  // one value
/// One value each: the highest that the PCIe link reached in the window.
inline constexpr const char* telemetry_pcie_generation = "telemetry_pcie_generation";
inline constexpr const char* telemetry_pcie_width = "telemetry_pcie_width";
inline constexpr const char* loss = "loss";      // mean training loss per step, equal on all ranks
inline constexpr const char* step_s = "step_s";  // of each step, on the slowest rank

// Series of step.ledger, one point per (mode, ranks, rank), one value per step. The others are the
// keys of `probe_parts` (src/core/step_ledger.h) and sum to step_ns exactly, in whole nanoseconds.
inline constexpr const char* step_ns = "step_ns";
/// Followed by a rank ("waited_for_ns.3"): the part of exposed_wait_ns spent waiting for it.
inline constexpr const char* waited_for_ns_prefix = "waited_for_ns.";
}  // namespace scaleworth::fields
