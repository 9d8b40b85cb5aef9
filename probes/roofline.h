// SPDX-License-Identifier: Apache-2.0
/// What the node's roofline is measured at, and the probes that measure it.
#pragma once

#include "probes/machine.h"
#include "probes/registry.h"
#include "src/core/units.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {
/// 1 and, where there are more, all workers.
std::vector<int> worker_counts(const PlanInputs& setting);

// Seconds and samples for each setting, quick and standard: what the plan's total allows. Presumed;
// shorter gives wider intervals, longer only takes time.
inline constexpr SuitePace compute_pace{{Seconds(0.1), 20}, {Seconds(0.4), 40}};
inline constexpr SuitePace memory_pace{{Seconds(0.03), 20}, {Seconds(0.12), 40}};
inline constexpr SuitePace latency_pace{{Seconds(0.05), 20}, {Seconds(0.15), 40}};
inline constexpr SuitePace gemm_pace{{Seconds(0.13), 20}, {Seconds(0.35), 20}};

/// Bytes per worker from which streams go: 4 KiB, then by a constant factor up to 4 times the last
/// cache divided by the workers, or less where memory is short: `workers` workers use at most an
/// eighth of what is available, because sources and targets are kept apart and two worker counts
/// share them. Multiples of 1 KiB, ascending.
std::vector<Bytes> working_sets(const PlanInputs& setting, int workers);

/// Says that the sets end below 4 times the last cache because of memory; absent when they do not.
std::optional<Finding> memory_shortage(const PlanInputs& setting, int workers);

/// In the order to measure: random, so that a drift of the machine becomes noise along the size
/// axis, but the largest set is read and written first, so that memory is touched once.
std::vector<MemoryWork> memory_plan(const PlanInputs& setting);
std::vector<LatencyWork> latency_plan(const PlanInputs& setting);
std::vector<FmaWork> compute_plan(const PlanInputs& setting, const std::vector<std::string>& isas);

// What the preparation of a setting costs, for estimates only. Round figures between a laptop and
// a server; measured on virtual machines of 2 vCPUs in 2026.

/// Rates grow with workers until memory saturates, at about 8.
constexpr double effective_workers(int workers) {
  return static_cast<double>(std::min(workers, 8));
}

/// Streaming through memory.
constexpr BytesPerSecond sweep_rate(int workers) {
  // A server core's usual rate, for estimates.
  return BytesPerSecond(10e9 * effective_workers(workers));
}

/// A product and why it is asked for:
///   square   m = n = k: from overhead to the library's best rate
///   tokens   a batch of m tokens through a layer of n = k: intensity grows with m, so the ridge
///            reads as a batch size
///   rank-k   m = n fixed, small k: intensity grows with k
///   batched  many small independent products, 32 MiB of operands together: intensity grows with
///            their size at equal occupancy
///   free     asked for by the user
struct GemmShape {
  ProductFamily family = ProductFamily::square;
  GemmWork work;
  std::string name = {};  // that the user gave
};

/// Shapes of all families in fp32 and fp64, on one and on all workers, whose operands fit a quarter
/// of the available memory. In the order to measure: one worker first, then the batched family,
/// because a library's own threads keep spinning for a while after its last call; within that
/// random, so that a drift of the machine does not follow the size.
std::vector<GemmShape> gemm_plan(const PlanInputs& setting);

/// Products of the families that do not fit a quarter of the available memory.
std::size_t gemm_shapes_left_out(const PlanInputs& setting);

/// Expected time of one shape: filling and checking its operands, and samples, of which at least 6
/// are taken however long a product lasts.
Seconds gemm_time(const GemmWork& work, const Pace& pace);

/// The user's own shapes instead, recorded as family free. Throws NothingToMeasure with the
/// reason when the machine has no GEMM library, and UserError for a shape that cannot be asked.
void measure_gemm_shapes(Machine& machine,
                         const std::vector<GemmShape>& shapes,
                         Suite suite,
                         Recorder& recorder);
Seconds estimate_gemm_shapes(const std::vector<GemmShape>& shapes, Suite suite);
}  // namespace scaleworth::probes
