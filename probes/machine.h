// SPDX-License-Identifier: Apache-2.0
/// The questions a probe may ask of one node. Each is a whole operation that returns samples, so
/// that no virtual call stands inside a timed region. Machines: host (CPU), cuda, sim (tests).
#pragma once

#include "src/core/estimate.h"
#include "src/core/run.h"
#include "src/core/span.h"
#include "src/core/statistics/sampling.h"
#include "src/core/units.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace scaleworth::probes {

/// Samples of one operation. `wall[i]` is the time from the first worker's start to the last
/// worker's end of repetition i, divided by the operations in it; `cpu[i]` the thread-CPU time of
/// all workers together, likewise divided. A host where cpu < 0.98 x workers x wall was contended.
struct Samples {
  std::vector<double> wall_s;
  std::vector<double> cpu_s;
  std::vector<Finding> stop_reason;
  std::vector<Finding> warnings;
};

/// Independent chains of fused multiply-adds in registers: the compute ceiling.
struct FmaWork {
  std::string isa;  // one of Machine::isas()
  NumberFormat precision = NumberFormat::fp64;
  int workers = 1;
};

/// Streams over a private working set per worker, touched first by that worker.
/// read: s += a[i]; write: a[i] = s; copy: a[i] = b[i]; triad: a[i] = b[i] + s c[i]; doubles.
struct MemoryWork {
  MemoryKernel kernel = MemoryKernel::read;
  Bytes working_set;  // per worker, all arrays together
  int workers = 1;
  bool nontemporal = false;  // stores that bypass the caches; meaningless for read
};

/// One dependent load after another along a random cycle through the working set, one worker.
struct LatencyWork {
  Bytes working_set;
};

/// C(m x n) = A(m x k) B(k x n), row-major, random data, `batch` independent products per
/// operation.
struct GemmWork {
  NumberFormat precision = NumberFormat::fp32;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  int workers = 1;
};

Flops gemm_flops(const GemmWork& work);
/// Memory that the operands take.
Bytes gemm_footprint(const GemmWork& work);

/// Samples plus the exactly known amounts of one operation (all workers together).
struct Measured {
  Samples samples;
  Flops flops;
  Bytes bytes;       // explicit loads and stores (STREAM's count)
  Bytes bytes_real;  // with write-allocate reads; equals `bytes` where none happen
};

/// How long a probe may sample one setting.
using Target = StoppingTarget;

/// One node. Every question throws ProbeFailure when the operation breaks (out of memory, a wrong
/// numerical result), Interrupted on Ctrl-C; what cannot be had here at all is Skipped.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual std::string name() const = 0;  // "host", "cuda", "sim"
  virtual std::vector<FactSection> facts() const = 0;
  /// Physical or quota-limited workers that can compute at once.
  virtual int workers() const = 0;
  /// Memory this process may still allocate (cgroup limit, rlimit, free memory: the least).
  virtual Bytes available_memory() const = 0;
  /// What the working sets of all workers together can hide in: every instance that they use of the
  /// level of caches that keeps most, mostly the last. Probes go to several times this.
  virtual Bytes last_cache() const = 0;
  /// Vector instruction sets with an FMA kernel here, narrowest first.
  virtual std::vector<std::string> isas() const = 0;

  virtual Measured time_fma(const FmaWork& work, const Target& target) = 0;
  virtual Measured time_memory(const MemoryWork& work, const Target& target) = 0;
  /// wall_s is the time per load.
  virtual Measured time_latency(const LatencyWork& work, const Target& target) = 0;
  /// The library behind `time_gemm`, or why there is none.
  virtual Outcome<std::string> gemm_library() = 0;
  /// Throws ProbeFailure if the result differs from a reference beyond rounding.
  virtual Measured time_gemm(const GemmWork& work, const Target& target) = 0;
  /// Gives back memory that the machine keeps between questions. A probe whose questions need much
  /// of it calls this at its end.
  virtual void release_memory() {}
};

/// What is recorded of one setting besides its samples.
struct SettingFacts {
  std::string name;  // in progress and warnings
  Setting setting;
  std::map<Metric, double> amounts{};
};
std::int64_t whole_bytes(Bytes bytes);

// Where a probe puts what it measured, point by point, so that an interruption loses nothing.

class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void add(Point point) = 0;
  /// Keeps the spans of one measured setting; `setting` is the point they belong to (already
  /// added).
  virtual void add_timeline(const Point& setting, Timeline timeline) = 0;
  /// Keeps rows of a table beside run.json; `name` ends in .csv, columns carry units. Appends; the
  /// header is written once.
  virtual void add_rows(const std::string& name,
                        const std::vector<std::string>& header,
                        const std::vector<std::vector<std::string>>& rows) = 0;
  virtual void warn(const Finding& warning) = 0;
  /// Counts something lost ("discarded_samples").
  virtual void lose(const std::string& what, double amount) = 0;
  /// `fraction` of this probe done, 0 to 1, and what comes now; shown on stderr.
  virtual void progress(double fraction, const std::string& what) = 0;
};
}  // namespace scaleworth::probes
