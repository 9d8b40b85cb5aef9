// SPDX-License-Identifier: Apache-2.0
/// Registers by the compiler's vector types. The flags of the including file choose the
/// instructions; with -ffp-contract=fast they multiply and add at once where the set can.
#pragma once

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
}  // namespace scaleworth::probes::host
