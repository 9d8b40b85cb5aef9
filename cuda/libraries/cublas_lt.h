// SPDX-License-Identifier: Apache-2.0
/// cuBLASLt's functions, opened at run time.
#pragma once

#include "cuda/libraries/library.h"

#include <memory>
#include <source_location>
#include <string>

#include <cublasLt.h>

namespace scaleworth::gpu {
/// Every pointer is set. Handles and descriptors must not outlive the table that made them.
struct CublasLt : OpenedLibrary {
  decltype(&cublasLtGetVersion) get_version = nullptr;
  decltype(&cublasLtGetStatusName) status_name = nullptr;
  decltype(&cublasLtGetStatusString) status_words = nullptr;
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) matmul_descriptor_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) matmul_descriptor_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) matmul_descriptor_set = nullptr;
  decltype(&cublasLtMatmulDescGetAttribute) matmul_descriptor_get = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_config = nullptr;
  decltype(&cublasLtMatmulAlgoCapGetAttribute) algorithm_capability = nullptr;

  /// Throws LibraryError naming the call site unless `status` is success.
  void check(cublasStatus_t status,
             std::source_location where = std::source_location::current()) const;
};

/// Version 12 or later: older ones do not know fp8. Skipped or Failed as `open_library` says.
Outcome<std::shared_ptr<const CublasLt>> open_cublas_lt(const std::string& user_path,
                                                        const SearchScope& scope = {});
}  // namespace scaleworth::gpu
