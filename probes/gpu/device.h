// SPDX-License-Identifier: Apache-2.0
/// The questions a probe may ask of one GPU. Each is a whole operation that returns samples, so
/// that no virtual call stands inside a timed region. Devices: cuda (real), sim (tests).
#pragma once

#include "probes/gpu/numbers.h"
#include "probes/machine.h"
#include "src/core/estimate.h"
#include "src/core/units.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {
struct StreamWork {
  MemoryKernel kernel = MemoryKernel::read;
  Bytes working_set;  // all arrays together
  StreamVariant variant;
};

/// One dependent load after another along a random cycle with one node per 128-byte line, one
/// thread; times are per load.
struct ChaseWork {
  Bytes working_set;
};
inline constexpr Bytes chase_stride{128};  // a cache line: each load is one line, none comes free

/// One end of a transfer: this node's memory, or a GPU by its ordinal.
struct Endpoint {
  std::optional<int> device{};     // absent: host memory
  bool pinned = true;              // host memory only
  std::optional<int> numa_node{};  // host memory only: where it is placed; absent: the GPU's node
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
MemoryPlace place_of(const Endpoint& endpoint);

/// Moves `bytes` from `source` to `target`; at least one end is the asked GPU.
/// `both_directions`: as many bytes go back at the same time, and count.
struct TransferWork {
  Endpoint source;
  Endpoint target;
  TransferEngine engine = TransferEngine::copy_engine;
  bool both_directions = false;
  Bytes bytes;
};

/// D (m x n) = A (m x k) B (k x n), A row-major and B column-major ("TN"), buffers rotated so that
/// together they exceed twice the L2 cache.
struct GemmProblem {
  NumberFormat input = NumberFormat::bf16;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool fast_accumulation = true;  // fp8 on cc 8.9 and 9.0; meaningless otherwise
};

/// The part of a product's output that one block of threads computes.
struct OutputTile {
  std::int64_t m = 0;
  std::int64_t n = 0;
};

/// A way to compute the product, as the library proposes it.
struct GemmCandidate {
  int heuristic_rank = 0;   // 0: what the library would take by itself
  std::string description;  // "algorithm 66, tile 128x256, cluster 2x1, split-k 1, ..."
  Bytes workspace;
  std::optional<OutputTile> tile{};
};

/// A sample is the mean over a batch of products without gaps that lasts 20 ms, or
/// `target.time_budget` over `target.minimum_samples` where that is shorter.
struct GemmPace {
  Seconds pause{0.0};    // the GPU idles this long first
  Seconds warm_up{0.0};  // of the same product just before the first timed batch
  Target target;
};

/// `ordinal` counts the GPUs that this process sees (CUDA_VISIBLE_DEVICES applied); the UUID is the
/// GPU's identity. An optional is absent where the driver does not report it.
struct DeviceDescription {
  int ordinal = 0;
  std::string name;
  std::string uuid;                  // "GPU-..." or "MIG-..."
  std::string bus_id;                // "0000:18:00.0"
  std::optional<int> pci_device_id;  // 16 bits, as in data/gpus.toml
  int compute_capability = 0;        // 10 major + minor: 90
  int multiprocessors = 0;
  Bytes memory;
  Bytes l2_cache;
  Bytes shared_per_multiprocessor;
  std::optional<double> maximum_clock_hz;  // of the multiprocessors
  std::optional<double> memory_clock_hz;
  std::optional<int> memory_bus_bits;
  std::optional<int> numa_node;
  bool mig = false;  // a slice of a GPU: its share of clocks and power is not its own
};

/// One reading every 10 to 20 ms, all series of equal length; a reading that the driver refused
/// is NaN, a series that it always refused is empty.
struct Telemetry {
  std::vector<double> time_s;  // since the start of the window
  std::vector<double> sm_clock_hz;
  std::vector<double> power_w;  // instantaneous where the driver has it
  std::vector<double> temperature_c;
  std::vector<std::int64_t> clock_event_reasons;  // NVML's bit mask; -1: refused
  /// Difference of the energy counter over the window: the truth about power for windows of 2 s and
  /// more. Absent without the counter.
  std::optional<double> energy_j;
  double window_s = 0.0;
  /// The highest that the link reached in the window: idle GPUs lower it, a transfer raises it.
  std::optional<int> pcie_generation;
  std::optional<int> pcie_width;
  std::string missing;  // why there are no readings, or none after some moment; else empty
};

/// Samples of one operation. A sample is the time between two events on the GPU around a batch of
/// operations, divided by their number; the batch lasts long enough for the event clock (20 ms
/// where the operation can be repeated so often).
struct DeviceMeasured {
  std::vector<double> time_s;
  /// Clock of a multiprocessor over the same batch, from cycles counted on the GPU; empty where it
  /// could not be counted. Equal length otherwise.
  std::vector<double> clock_hz;
  std::vector<Finding> stop_reason;
  std::vector<Finding> warnings;
  /// Operations of a batch that has no gaps, where longer batches had some; 0: none had.
  int most_at_once = 0;
  Telemetry telemetry;
  Flops flops;  // one operation
  Bytes bytes;  // one operation: explicit loads and stores
};

/// One product with its operands in place. Lives while candidates are compared.
class GemmSession {
 public:
  virtual ~GemmSession() = default;
  /// What the library proposes within `workspace`, best guess first; at most `wanted`. Empty when
  /// it supports no such product.
  virtual std::vector<GemmCandidate> candidates(int wanted, Bytes workspace) = 0;
  /// Compares sampled rows with a reference in fp64. Throws ProbeFailure naming the candidate and
  /// the deviation; a NaN never passes.
  virtual void verify(const GemmCandidate& candidate) = 0;
  /// Fills the operands anew; they are uniform at first.
  virtual void fill(OperandData data) = 0;
  /// The first call of a candidate loads its kernel before timing.
  virtual DeviceMeasured time(const GemmCandidate& candidate, const GemmPace& pace) = 0;
};

/// One GPU. Every question throws ProbeFailure when the operation breaks (wrong result, a call that
/// failed; the message says which): OutOfMemory, GpuLost (after a time-out too) where that is why;
/// NothingToMeasure with the reason for
/// what this GPU does not have, Interrupted on Ctrl-C. Devices may be asked at the same time by one
/// thread each.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceDescription& description() const = 0;
  /// Takes up front what the first use takes, such as loading kernels. Throws ProbeFailure.
  virtual void prepare() {}
  /// Memory that this process may still allocate on the GPU.
  virtual Bytes available_memory() const = 0;

  /// Independent chains of fused multiply-adds in registers on all multiprocessors, by the CUDA
  /// cores: fp64, fp32, fp16 (half2), bf16 (bf16x2).
  virtual DeviceMeasured time_fma(NumberFormat format, const Target& target) = 0;
  virtual DeviceMeasured time_stream(const StreamWork& work, const Target& target) = 0;
  /// time_s is the time per load.
  virtual DeviceMeasured time_chase(const ChaseWork& work, const Target& target) = 0;
  virtual DeviceMeasured time_transfer(const TransferWork& work, const Target& target) = 0;
  virtual DeviceMeasured time_launch(LaunchKind kind, const Target& target) = 0;

  /// The library behind `open_gemm` with version and path, or why there is none.
  virtual Outcome<std::string> gemm_library() = 0;
  virtual std::unique_ptr<GemmSession> open_gemm(const GemmProblem& problem) = 0;
  /// Whether this GPU can read the memory of the one with that ordinal directly.
  virtual bool can_access_peer(int ordinal) const = 0;
  /// Gives back memory kept between questions.
  virtual void release_memory() {}
};
}  // namespace scaleworth::probes
