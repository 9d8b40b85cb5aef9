// SPDX-License-Identifier: Apache-2.0
/// The compute kernels over any vector type. Include only in files compiled for one instruction
/// set; `Vector` must be a type of that set alone, so that no instance is shared between sets.
/// Registers are the compiler's vector types: the flags of the including file choose the
/// instructions; with -ffp-contract=fast they multiply and add at once where the set can.
#pragma once

#include "probes/host/kernels/compute.h"
#include "probes/host/kernels/memory.h"

namespace scaleworth::probes::host {
/// A register of so many bytes; `independent` operations on as many of them hide the latency.
template <class Element, int bytes, int independent>
struct Simd {
  using Scalar = Element;
  using Register [[gnu::vector_size(bytes)]] = Element;
  static constexpr int lanes = bytes / sizeof(Scalar);
  static constexpr int chains = independent;
  static Register load(const Scalar* from) { return *reinterpret_cast<const Register*>(from); }
  static void store(Scalar* to, Register x) { *reinterpret_cast<Register*>(to) = x; }
  static Register broadcast(Scalar x) { return x - Register{}; }
  static Register add(Register x, Register y) { return x + y; }
  static Register multiply_add(Register x, Register a, Register b) { return x * a + b; }
};

template <class Vector>
struct ComputeTemplates {
  using Scalar = typename Vector::Scalar;
  using Register = typename Vector::Register;
  static constexpr int chains = Vector::chains;
  static constexpr int lanes = Vector::lanes;
  static constexpr std::int64_t block = chains * lanes;

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

  static constexpr ComputeKernels<Scalar> kernels() {
    return {block, &run_chains};
  }
};

template <class Float, class Double>
constexpr ComputeIsa compute_table(const char* name, bool fused = true) {
  return {name, fused, ComputeTemplates<Float>::kernels(), ComputeTemplates<Double>::kernels()};
}

// The stream kernels over any vector type. Include only in files compiled for one instruction set;
// `Vector` must be a type of that set alone, so that no instance is shared between sets.

template <class Vector>
struct StreamTemplates {
  using Register = typename Vector::Register;
  static constexpr int lanes = Vector::lanes;
  // Presumed: less shows the loop, more leaves short sets without a block.
  static constexpr int unroll = 8;
  /// 16 of 32 registers, 8 of 16: two additions a cycle of latency 4 need 8 at the least.
  static constexpr int accumulators = Vector::chains * 2 / 3;
  static constexpr std::int64_t block = unroll * lanes;

  /// Keeps the compiler from merging passes over the same data.
  static void end_pass() { asm volatile("" ::: "memory"); }

  template <bool nontemporal>
  static void put(double* to, Register x) {
    if constexpr (nontemporal) {
      Vector::stream(to, x);
    } else {
      Vector::store(to, x);
    }
  }

  /// Adds `count` vectors from `b` to as many sums.
  template <int count>
  static void accumulate(Register (&sums)[accumulators], const double* b) {
#pragma GCC unroll 16
    for (int u = 0; u < count; ++u) sums[u] = Vector::add(sums[u], Vector::load(b + u * lanes));
  }

  static double read(
      double*, const double* b, const double*, std::int64_t elements, std::int64_t passes) {
    constexpr std::int64_t long_block = accumulators * lanes;
    constexpr std::int64_t short_block = 4 * lanes;  // what is left of a long block
    Register sums[accumulators];
#pragma GCC unroll 16
    for (int u = 0; u < accumulators; ++u) sums[u] = Vector::broadcast(0.0);
    for (std::int64_t pass = 0; pass < passes; ++pass, end_pass()) {
      std::int64_t i = 0;
      for (; i + long_block <= elements; i += long_block) accumulate<accumulators>(sums, b + i);
      for (; i + short_block <= elements; i += short_block) accumulate<4>(sums, b + i);
      for (; i < elements; i += lanes) accumulate<1>(sums, b + i);
    }
#pragma GCC unroll 16
    for (int u = 1; u < accumulators; ++u) sums[0] = Vector::add(sums[0], sums[u]);
    alignas(64) double parts[lanes];
    Vector::store(parts, sums[0]);
    double sum = 0.0;
    for (const double part : parts) sum += part;
    return sum;
  }

  /// a[i] = value(i), a vector at a time.
  template <bool nontemporal, class Value>
  static double fill(double* a, std::int64_t elements, std::int64_t passes, Value value) {
    for (std::int64_t pass = 0; pass < passes; ++pass, end_pass()) {
      std::int64_t i = 0;
      for (; i + block <= elements; i += block) {
#pragma GCC unroll 8
        for (int u = 0; u < unroll; ++u) put<nontemporal>(a + i + u * lanes, value(i + u * lanes));
      }
      for (; i < elements; i += lanes) put<nontemporal>(a + i, value(i));
    }
    if constexpr (nontemporal) Vector::fence();
    return 0.0;
  }

  template <bool nontemporal>
  static double write(
      double* a, const double*, const double*, std::int64_t elements, std::int64_t passes) {
    const Register s = Vector::broadcast(stream_scalar);
    return fill<nontemporal>(a, elements, passes, [=](std::int64_t) { return s; });
  }

  template <bool nontemporal>
  static double copy(
      double* a, const double* b, const double*, std::int64_t elements, std::int64_t passes) {
    return fill<nontemporal>(
        a, elements, passes, [=](std::int64_t i) { return Vector::load(b + i); });
  }

  template <bool nontemporal>
  static double triad(
      double* a, const double* b, const double* c, std::int64_t elements, std::int64_t passes) {
    const Register s = Vector::broadcast(stream_scalar);
    return fill<nontemporal>(a, elements, passes, [=](std::int64_t i) {
      return Vector::multiply_add(Vector::load(c + i), s, Vector::load(b + i));
    });
  }

  static constexpr StreamIsa table(const char* name) {
    return {.name = name,
            .read = &read,
            .regular = {&write<false>, &copy<false>, &triad<false>},
            .nontemporal = {&write<true>, &copy<true>, &triad<true>}};
  }
};
}  // namespace scaleworth::probes::host
