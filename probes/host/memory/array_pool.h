// SPDX-License-Identifier: Apache-2.0
/// The memory that kernels run on: one pair of regions per worker, touched first by that worker.
#pragma once

#include "probes/host/workers/team.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scaleworth::probes::host {

/// Anonymous memory, advised to use huge pages (2 MiB where the kernel allows): streams then run
/// at the speed of memory rather than of the page tables, and latency has few TLB misses in it.
class Mapping {
 public:
  Mapping() = default;
  /// Throws ProbeFailure naming the size when the system refuses.
  explicit Mapping(std::size_t bytes);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// What the first `bytes` of a target region hold, so that a kernel that needs certain values
/// writes them only when the last one left others.
struct TargetContent {
  enum class Kind { unknown, fp32_recurrence, fp64_recurrence };
  Kind kind = Kind::unknown;
  std::size_t bytes = 0;
  /// Where the last sweep over them ended. The next one goes on from here: what it meets first is
  /// then not what the caches still hold.
  std::size_t next_byte = 0;
};

/// Value of element `index` of a source region: a multiple of 1/256 in [0, 1), so that sums of
/// up to 2^45 of them are exact in any order. 256 consecutive ones add up to 127.5.
double source_value(std::int64_t index);

/// Sum of source_value over [first, last).
double source_sum(std::int64_t first, std::int64_t last);

/// Kept between questions, so that a sweep over sizes touches its pages once. Sources keep
/// source_value for ever; targets hold whatever the last kernel left.
class ArrayPool {
 public:
  /// Gives every worker of the team at least this much of each, written for the first time by
  /// that worker. Existing regions are kept where they suffice.
  /// Throws ProbeFailure naming the sizes when memory does not suffice; the pool is then empty.
  void reserve(WorkerTeam& team, std::size_t source_bytes, std::size_t target_bytes);
  const double* source(int worker) const;
  void* target(int worker) const;
  /// For whoever writes to the target to keep up to date.
  TargetContent& target_content(int worker);
  /// Gives all memory back to the system.
  void release() { regions_.clear(); }

 private:
  struct Regions {
    Mapping source;
    Mapping target;
    TargetContent content;
  };
  std::vector<Regions> regions_;
};

}  // namespace scaleworth::probes::host
