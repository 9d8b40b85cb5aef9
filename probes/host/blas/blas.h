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
  /// Throws UserError for a dimension past 2^31 - 1, std::invalid_argument for a negative one or a
  /// leading dimension shorter than a row.
  virtual void gemm(const GemmArguments<float>& arguments) const = 0;
  virtual void gemm(const GemmArguments<double>& arguments) const = 0;
  /// Threads inside one call from now on. Returns how many the library will really use: fewer than
  /// asked when its build has a lower maximum. Throws ProbeFailure when a resource limit leaves no
  /// room for their buffers.
  virtual int set_threads(int threads) const = 0;
  /// "OpenBLAS 0.3.21, SkylakeX kernels", for the record.
  virtual std::string description() const = 0;
  /// Empty, or why its kernels are not the best for this CPU.
  virtual std::string doubt() const = 0;
};

/// Opens libopenblas (`path` empty: the loader's search), with OPENBLAS_CORETYPE set from CPU flags
/// unless the user set it; it starts with one thread. Skipped names the Debian package to install,
/// or the resource limit that leaves no room (OpenBLAS maps 128 MiB per calling thread and would
/// retry for ever). `gemm` from several threads needs that room for each.
Outcome<std::shared_ptr<const Blas>> open_blas(const std::string& path = {});

}  // namespace scaleworth::probes::host
