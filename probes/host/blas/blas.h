// SPDX-License-Identifier: Apache-2.0
/// OpenBLAS, opened at run time after its core type was chosen from the CPU's own flags.
#pragma once

#include "src/core/outcome.h"

#include <cstdint>
#include <memory>
#include <string>

namespace scaleworth::probes::host {

/// C(m x n) = alpha op(A) op(B) + beta C, row-major, leading dimensions in elements.
template <class T>
struct GemmArguments {
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  T alpha{1};
  const T* a = nullptr;
  std::int64_t lda = 0;
  const T* b = nullptr;
  std::int64_t ldb = 0;
  T beta{0};
  T* c = nullptr;
  std::int64_t ldc = 0;
};

/// The loaded library. One per process; calls are safe from several threads when set to one thread.
class Blas {
 public:
  virtual ~Blas() = default;
  virtual void gemm(const GemmArguments<float>& arguments) const = 0;
  virtual void gemm(const GemmArguments<double>& arguments) const = 0;
  /// Threads inside one call.
  virtual void set_threads(int threads) const = 0;
  /// "OpenBLAS 0.3.21, SkylakeX kernels", for the record.
  virtual std::string description() const = 0;
  /// Empty, or why its kernels are not the best for this CPU.
  virtual std::string doubt() const = 0;
};

/// Opens libopenblas (`path` empty: the loader's search), with OPENBLAS_CORETYPE set from CPU flags
/// unless the user set it. Skipped names the Debian package to install.
Outcome<std::shared_ptr<const Blas>> open_blas(const std::string& path = {});

}  // namespace scaleworth::probes::host
