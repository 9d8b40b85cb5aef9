// SPDX-License-Identifier: Apache-2.0
/// What can be asked of a GPU: the settings of each question.
#pragma once

#include "probes/gpu/number_format.h"
#include "probes/machine.h"
#include "src/core/units.h"

#include <cstdint>
#include <optional>
#include <string>

namespace scaleworth::probes {

/// Independent chains of fused multiply-adds in registers on all multiprocessors, CUDA cores only:
/// fp64, fp32, fp16 (half2), bf16 (bf16x2); or `tensor`: back-to-back matrix instructions on
/// registers (fp16, bf16, tf32, fp64, int8, and fp8_e4m3 at 8.9 and from 12.0), the ceiling without
/// memory.
struct DeviceFma {
  NumberFormat format = NumberFormat::fp32;
  bool tensor = false;
};

/// Where a stream's working set lies. device: one array over all multiprocessors, so L2 or memory
/// by its size; multiprocessor: each one rereads a private part (L1 by its size); shared: shared
/// memory.
enum class StreamScope { device, multiprocessor, shared };
/// persistent: a grid of a few blocks per multiprocessor that loops; one_shot: one block per piece.
enum class StreamGrid { persistent, one_shot };
const char* stream_scope_name(StreamScope scope);
const char* stream_grid_name(StreamGrid grid);

/// How the kernel walks: 16-byte accesses, `unroll` independent ones per thread and turn.
struct StreamVariant {
  StreamGrid grid = StreamGrid::persistent;
  int block_threads = 512;  // 256, 512 or 1024
  int unroll = 4;           // 1, 2, 4 or 8
  bool streaming = false;   // cache-streaming loads and stores
};
std::string stream_variant_name(
    const StreamVariant& variant);  // "persistent, 512 threads, 4 x 16 B"

/// read: s += a[i]; write: a[i] = s; copy: a[i] = b[i]; triad: a[i] = b[i] + s c[i].
/// Shared memory and L1 have read only.
struct StreamWork {
  MemoryKernel kernel = MemoryKernel::read;
  StreamScope scope = StreamScope::device;
  Bytes working_set;  // all arrays together; scope multiprocessor or shared: of one multiprocessor
  StreamVariant variant;
};

/// One dependent load after another along a random cycle with one node per 128-byte line, one
/// thread; times are per load. `stride` 2 MiB instead of 128 B measures the reach of the TLBs.
struct ChaseWork {
  Bytes working_set;
  Bytes stride{128};
};

/// Read-modify-write of an array with `fma_per_element` FMAs per element over independent chains,
/// chosen at run time: intensity = 2 fma_per_element / (2 sizeof element). fp32, fp64, fp16, bf16.
struct LadderWork {
  NumberFormat format = NumberFormat::fp32;
  Bytes working_set;
  int fma_per_element = 1;
};

/// One end of a transfer: this node's memory, or a GPU by its ordinal.
struct Endpoint {
  std::optional<int> device;     // absent: host memory
  bool pinned = true;            // host memory only
  std::optional<int> numa_node;  // host memory only: where it is placed; absent: the GPU's node
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
/// copy_engine: cudaMemcpyAsync; kernel: loads and stores by the asked GPU's multiprocessors.
enum class TransferEngine { copy_engine, kernel };
const char* transfer_engine_name(TransferEngine engine);
std::string endpoint_name(const Endpoint& endpoint);  // "gpu 1", "host (pinned, node 0)", ...

/// Moves `bytes` from `source` to `target`; at least one end is the asked GPU.
/// `both_directions`: as many bytes go back at the same time, and count.
struct TransferWork {
  Endpoint source;
  Endpoint target;
  TransferEngine engine = TransferEngine::copy_engine;
  bool both_directions = false;
  Bytes bytes;
};

/// empty_kernel, empty_graph_node: time per launch in a long queue; synchronise: launch, wait, seen
/// by the host.
enum class LaunchKind { empty_kernel, graph_node, synchronise };
const char* launch_kind_name(LaunchKind kind);

/// D (m x n) = A (m x k) B (k x n), A row-major and B column-major ("TN"), uniform data in [-1, 1],
/// buffers rotated so that together they exceed twice the L2 cache.
struct GemmProblem {
  NumberFormat input = NumberFormat::bf16;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool fast_accumulation = true;  // fp8 on cc 8.9 and 9.0; meaningless otherwise
  int multiprocessors = 0;        // leave the others free, as a collective would; 0: use all
};

/// A way to compute the product, as the library proposes it.
struct GemmCandidate {
  int heuristic_rank = 0;   // 0: what the library would take by itself
  std::string description;  // "algorithm 66, tile 128x256, cluster 2x1, split-k 1, ..."
  Bytes workspace;
  double waves = 0.0;  // of tiles over the multiprocessors, as the library computes it
};

/// gap_free: nothing between products: the rate that long training loops see, at the clock that
/// power allows. duty_cycled: the output is reset and a 256 MiB buffer written between products, as
/// mamf-finder does, so the chip is cooler and the clock higher.
enum class GemmRegime { gap_free, duty_cycled };
const char* gemm_regime_name(GemmRegime regime);

/// A sample is the mean over a batch of products that lasts 20 ms, or `target.time_budget` over
/// `target.minimum_samples` where that is shorter. duty_cycled: each product lies between two
/// events of its own, and reset and fill are not counted.
struct GemmPace {
  GemmRegime regime = GemmRegime::gap_free;
  Seconds pause{0.0};    // the GPU idles this long first
  Seconds warm_up{0.0};  // of the same product just before the first timed batch
  Target target;
};

}  // namespace scaleworth::probes
