// SPDX-License-Identifier: Apache-2.0
/// The functions of OpenBLAS that we call, found in the library at run time.
#pragma once

#include "src/core/outcome.h"

#include <string>

namespace scaleworth::probes::host {

/// Values of CBLAS_ORDER and CBLAS_TRANSPOSE in cblas.h.
enum CblasOrder : int { cblas_row_major = 101 };
enum CblasTranspose : int { cblas_no_transpose = 111, cblas_transpose = 112 };

/// Prototypes of cblas.h for the LP64 build (32-bit int dimensions). The library stays loaded until
/// the process ends: its threads cannot be stopped safely.
struct OpenBlasLibrary {
  using Sgemm = void (*)(CblasOrder,
                         CblasTranspose,
                         CblasTranspose,
                         int m,
                         int n,
                         int k,
                         float alpha,
                         const float* a,
                         int lda,
                         const float* b,
                         int ldb,
                         float beta,
                         float* c,
                         int ldc);
  using Dgemm = void (*)(CblasOrder,
                         CblasTranspose,
                         CblasTranspose,
                         int m,
                         int n,
                         int k,
                         double alpha,
                         const double* a,
                         int lda,
                         const double* b,
                         int ldb,
                         double beta,
                         double* c,
                         int ldc);
  Sgemm sgemm = nullptr;
  Dgemm dgemm = nullptr;
  void (*set_num_threads)(int) = nullptr;
  int (*get_num_threads)() = nullptr;
  int (*get_parallel)() = nullptr;  // 0 sequential, 1 own threads, 2 OpenMP
  const char* (*get_config)() = nullptr;
  const char* (*get_corename)() = nullptr;
};

/// Opens the library: `path` if given, else the loader's search for libopenblas.so.0, else Debian's
/// folders of its threaded builds. While it loads, OPENBLAS_CORETYPE is `core_type` (unless empty
/// or set by the user) and OPENBLAS_NUM_THREADS is 1, so that it starts no thread; the environment
/// is then as before, and child processes see nothing of it. Call it before other threads read the
/// environment. Skipped says what is missing and what to install.
Outcome<OpenBlasLibrary> load_openblas(const std::string& path, const std::string& core_type);

}  // namespace scaleworth::probes::host
