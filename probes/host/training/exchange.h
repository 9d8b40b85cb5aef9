// SPDX-License-Identifier: Apache-2.0
/// The all-reduces of one step: handed over as gradients become ready, driven between kernels,
/// awaited at the end.
#pragma once

#include "probes/host/mpi/module.h"

#include <chrono>
#include <cstddef>
#include <vector>

namespace scaleworth::probes::host {

/// Collectives are numbered in the order of posting, from 0 in each step. Every call throws
/// ProbeFailure when MPI reports an error.
class Exchange {
 public:
  /// Room for `capacity` collectives a step, so that posting does not allocate.
  Exchange(const MpiModule& mpi, MpiGroup group, std::size_t capacity);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// A new step: numbering restarts. All collectives must be complete.
  void restart();
  /// Starts the sum over ranks of `count` elements; buffers stay untouched until it is complete.
  void post(const float* send, float* receive, std::size_t count);
  std::size_t posted() const { return requests_.size(); }
  bool pending() const { return first_pending_ < requests_.size(); }
  /// Gives the library a chance to move data: tests every collective that is not complete. Returns
  /// those that it found complete; valid until the next call.
  const std::vector<std::size_t>& progress();
  bool complete(std::size_t sequence) const { return requests_[sequence] == nullptr; }
  /// Blocks until the collective is complete. Throws ProbeFailure after `timeout`: another rank is
  /// stuck or gone.
  void wait(std::size_t sequence);

  static constexpr std::chrono::seconds timeout{60};

 private:
  void test(std::size_t sequence);

  const MpiModule& mpi_;
  MpiGroup group_;
  std::vector<MpiRequest> requests_;    // null once complete
  std::vector<std::size_t> completed_;  // by the latest progress
  std::size_t first_pending_ = 0;
};

}  // namespace scaleworth::probes::host
