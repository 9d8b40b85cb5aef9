// SPDX-License-Identifier: Apache-2.0
/// The questions a probe may ask of one GPU. Each is a whole operation that returns samples, so
/// that no virtual call stands inside a timed region. Devices: cuda (real), sim (tests).
#pragma once

#include "probes/gpu/description.h"
#include "probes/gpu/telemetry.h"
#include "probes/gpu/work.h"
#include "src/core/outcome.h"
#include "src/core/units.h"

#include <memory>
#include <string>
#include <vector>

namespace scaleworth::probes {

/// Samples of one operation. A sample is the time between two events on the GPU around a batch of
/// operations, divided by their number; the batch lasts long enough for the event clock (20 ms
/// where the operation can be repeated so often).
struct DeviceMeasured {
  std::vector<double> time_s;
  /// Clock of a multiprocessor over the same batch, from cycles counted on the GPU; empty where it
  /// could not be counted. Equal length otherwise.
  std::vector<double> clock_hz;
  std::string stop_reason;
  std::vector<std::string> warnings;
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
  /// The first call of a candidate loads its kernel before timing.
  virtual DeviceMeasured time(const GemmCandidate& candidate, const GemmPace& pace) = 0;
};

/// One GPU. Every question throws ProbeFailure when the operation breaks (wrong result, a call that
/// failed; the message says which): OutOfMemory, GpuLost (after a time-out too) where that is why;
/// NothingToMeasure with the reason for what
/// this GPU does not have, Interrupted on Ctrl-C. Devices may be asked at the same time by
/// one thread each.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceDescription& description() const = 0;
  /// Memory that this process may still allocate on the GPU.
  virtual Bytes available_memory() const = 0;

  virtual DeviceMeasured time_fma(const DeviceFma& work, const Target& target) = 0;
  virtual DeviceMeasured time_stream(const StreamWork& work, const Target& target) = 0;
  /// time_s is the time per load.
  virtual DeviceMeasured time_chase(const ChaseWork& work, const Target& target) = 0;
  virtual DeviceMeasured time_ladder(const LadderWork& work, const Target& target) = 0;
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
