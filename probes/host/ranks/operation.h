// SPDX-License-Identifier: Apache-2.0
/// One collective with its buffers, ready to run.
#pragma once

#include "probes/collectives/message.h"
#include "probes/host/mpi/module.h"

#include <cstdlib>
#include <memory>
#include <span>

namespace scaleworth::probes::host {

/// Page-aligned memory that grows and is kept between settings: fresh pages at each setting would
/// cost more time than the operations.
class Buffer {
 public:
  /// At least `elements`, contents unspecified. Throws std::bad_alloc.
  std::span<float> reserve(std::size_t elements);
  void release();

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> memory_;
  std::size_t capacity_ = 0;
};

struct Operation {
  const MpiModule& mpi;
  MpiGroup group;
  Collective collective;
  MessageShape shape;
  int rank;
  int ranks;
  std::span<float> send;
  std::span<float> receive;
};

/// The pattern into the send buffer, NaN into the receive buffer (broadcast: the pattern into rank
/// 0's, which is what it sends).
void prepare(const Operation& operation);

/// Runs it once; 0 on success, as the module reports it.
int run_once(const Operation& operation);

/// Throws ProbeFailure naming the first wrong element unless the receive buffer holds the result.
void verify(const Operation& operation);

}  // namespace scaleworth::probes::host
