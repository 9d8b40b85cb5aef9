// SPDX-License-Identifier: Apache-2.0
/// The compute kernels over any vector type. Include only in files compiled for one instruction
/// set; `Vector` must be a type of that set alone, so that no instance is shared between sets.
#pragma once

#include "probes/host/compute/kernels.h"

namespace scaleworth::probes::host {

template <class Vector>
struct ComputeTemplates {
  using Scalar = typename Vector::Scalar;
  using Register = typename Vector::Register;
  static constexpr int chains = Vector::chains;
  static constexpr int lanes = Vector::lanes;
  static constexpr std::int64_t block = chains * lanes;
  static constexpr int line = 64 / sizeof(Scalar);    // elements
  static constexpr std::int64_t prefetch_blocks = 2;  // 1, 4 and 8 were slower

  static void load(Register (&x)[chains], const Scalar* from) {
#pragma GCC unroll 32
    for (int c = 0; c < chains; ++c) x[c] = Vector::load(from + c * lanes);
  }
  static void store(const Register (&x)[chains], Scalar* to) {
#pragma GCC unroll 32
    for (int c = 0; c < chains; ++c) Vector::store(to + c * lanes, x[c]);
  }
  static void step(Register (&x)[chains], Register a, Register b) {
#pragma GCC unroll 32
    for (int c = 0; c < chains; ++c) x[c] = Vector::multiply_add(x[c], a, b);
  }

  static void run_chains(const Scalar* start, Scalar* result, std::int64_t steps) {
    const Register a = Vector::broadcast(Recurrence<Scalar>::a);
    const Register b = Vector::broadcast(Recurrence<Scalar>::b);
    Register x[chains];
    load(x, start);
    for (std::int64_t i = 0; i < steps; i += 4) {
      step(x, a, b);
      step(x, a, b);
      step(x, a, b);
      step(x, a, b);
    }
    store(x, result);
  }

  /// Long chains fill the window in which the CPU looks ahead, and its prefetchers see one block
  /// at a time: without this, each block would begin with a wait for memory.
  static void prefetch(const Scalar* from) {
#pragma GCC unroll 32
    for (int c = 0; c < chains; c += line / lanes) __builtin_prefetch(from + c * lanes, 1);
  }

  static void update(Scalar* data, std::int64_t elements, int steps) {
    const Register a = Vector::broadcast(Recurrence<Scalar>::a);
    const Register b = Vector::broadcast(Recurrence<Scalar>::b);
    for (Scalar* end = data + elements; data != end; data += block) {
      Register x[chains];
      load(x, data);
      prefetch(data + prefetch_blocks * block);
      for (int i = 0; i < steps; ++i) step(x, a, b);
      store(x, data);
    }
  }

  static constexpr ComputeKernels<Scalar> kernels() {
    return {block, &run_chains, &update};
  }
};

}  // namespace scaleworth::probes::host
