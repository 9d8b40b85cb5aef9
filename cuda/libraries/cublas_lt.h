// SPDX-License-Identifier: Apache-2.0
/// cuBLASLt's functions, opened at run time, and owners of its descriptors.
#pragma once

#include "cuda/libraries/library.h"

#include <bit>
#include <cstddef>

#include <cublasLt.h>

namespace scaleworth::gpu {
// Of cuBLAS after 12.4, the oldest whose headers this is built with: a test compares it with newer
// ones. Older libraries refuse them.
inline constexpr auto real_4f_e2m1 = std::bit_cast<cudaDataType_t>(33);  // CUDA_R_4F_E2M1, 12.8
/// CUBLASLT_MATMUL_DESC_A_SCALE_MODE and .._B_SCALE_MODE, 12.8, of type LtScale.
inline constexpr auto lt_a_scale_mode = std::bit_cast<cublasLtMatmulDescAttributes_t>(31);
inline constexpr auto lt_b_scale_mode = std::bit_cast<cublasLtMatmulDescAttributes_t>(32);
/// cublasLtMatmulMatrixScale_t: the last two are of 12.9, the others of 12.8.
enum class LtScale : std::int32_t {
  scalar_32f = 0,
  vec16_ue4m3 = 1,
  vec32_ue8m0 = 2,
  vec128_32f = 4,
  block128x128_32f = 5
};

/// Every pointer is set. Handles and descriptors must not outlive the table that made them.
struct CublasLt : CheckedLibrary<CublasLt, cublasStatus_t> {
  static constexpr const char* name = "cuBLASLt";
  decltype(&cublasLtGetStatusName) words = need("cublasLtGetStatusName");
  decltype(&cublasLtCreate) create = need("cublasLtCreate");
  decltype(&cublasLtDestroy) destroy = need("cublasLtDestroy");
  decltype(&cublasLtMatmul) matmul = need("cublasLtMatmul");
  decltype(&cublasLtMatmulDescCreate) descriptor_create = need("cublasLtMatmulDescCreate");
  decltype(&cublasLtMatmulDescDestroy) descriptor_destroy = need("cublasLtMatmulDescDestroy");
  decltype(&cublasLtMatmulDescSetAttribute) descriptor_set = need("cublasLtMatmulDescSetAttribute");
  decltype(&cublasLtMatrixLayoutCreate) layout_create = need("cublasLtMatrixLayoutCreate");
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = need("cublasLtMatrixLayoutDestroy");
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = need("cublasLtMatrixLayoutSetAttribute");
  decltype(&cublasLtMatmulPreferenceCreate) preference_create =
      need("cublasLtMatmulPreferenceCreate");
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy =
      need("cublasLtMatmulPreferenceDestroy");
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set =
      need("cublasLtMatmulPreferenceSetAttribute");
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = need("cublasLtMatmulAlgoGetHeuristic");
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_config =
      need("cublasLtMatmulAlgoConfigGetAttribute");
};

/// Version 12 or later: older ones do not know fp8. Skipped or Failed as `open_library` says.
Outcome<std::shared_ptr<const CublasLt>> open_cublas_lt(const std::string& user_path,
                                                        const SearchScope& scope = {});

using LtHandle = OwnedThrough<cublasLtHandle_t, &CublasLt::destroy>;
using LtDescriptor = OwnedThrough<cublasLtMatmulDesc_t, &CublasLt::descriptor_destroy>;
using LtLayout = OwnedThrough<cublasLtMatrixLayout_t, &CublasLt::layout_destroy>;
using LtPreference = OwnedThrough<cublasLtMatmulPreference_t, &CublasLt::preference_destroy>;

/// Throws LibraryError, like all of the following. On the current device.
LtHandle make_lt_handle(const std::shared_ptr<const CublasLt>& library);

LtDescriptor make_lt_descriptor(const std::shared_ptr<const CublasLt>& library,
                                cublasComputeType_t compute,
                                cudaDataType_t scale_type);

template <class Value>
void set_attribute(const LtDescriptor& descriptor,
                   cublasLtMatmulDescAttributes_t attribute,
                   const Value& value) {
  const CublasLt& library = *descriptor.get_deleter().library;
  library.check(library.descriptor_set(descriptor.get(), attribute, &value, sizeof value));
}

/// A column-major matrix: `leading` elements from column to column, `batch_stride` from one product
/// of the batch to the next.
struct LtMatrix {
  cudaDataType_t type;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;
  std::int64_t batch;
  std::int64_t batch_stride;
};
LtLayout make_lt_layout(const std::shared_ptr<const CublasLt>& library, const LtMatrix& matrix);

/// `alignment`: of the addresses of A, B, C and D, in bytes.
LtPreference make_lt_preference(const std::shared_ptr<const CublasLt>& library,
                                std::size_t workspace_bytes,
                                std::uint32_t alignment);
}  // namespace scaleworth::gpu
