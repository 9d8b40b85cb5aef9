// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/cublas_lt.h"

namespace scaleworth::gpu {
namespace {
void fill_cublas(const SharedLibrary& library, CublasLt& table) {
  const decltype(&cublasLtGetVersion) get_version = library.need("cublasLtGetVersion");
  constexpr std::int64_t oldest = 120000;  // CUDA 12.0, whose structures the calls have
  const auto version = static_cast<std::int64_t>(get_version());
  if (version < oldest) {
    throw UnusableLibrary(
        "version {} is too old, {} is needed", version_text(version), version_text(oldest));
  }
  table = {{{.version = version_text(version), .library = &library}}};
}
}  // namespace

Outcome<std::shared_ptr<const CublasLt>> open_cublas_lt(const std::string& user_path,
                                                        const SearchScope& scope) {
  return open_table<CublasLt>({CublasLt::name,
                               "--cublas-lib",
                               "the CUDA toolkit or pip's nvidia-cublas",
                               {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
                               {"cublas/lib"},
                               {"lib64", "lib"}},
                              user_path,
                              scope,
                              &fill_cublas);
}

LtHandle make_lt_handle(const std::shared_ptr<const CublasLt>& library) {
  cublasLtHandle_t handle = nullptr;
  library->check(library->create(&handle));
  return LtHandle(handle, {library});
}

LtDescriptor make_lt_descriptor(const std::shared_ptr<const CublasLt>& library,
                                cublasComputeType_t compute,
                                cudaDataType_t scale_type) {
  cublasLtMatmulDesc_t descriptor = nullptr;
  library->check(library->descriptor_create(&descriptor, compute, scale_type));
  return LtDescriptor(descriptor, {library});
}

LtLayout make_lt_layout(const std::shared_ptr<const CublasLt>& library, const LtMatrix& matrix) {
  cublasLtMatrixLayout_t raw = nullptr;
  library->check(library->layout_create(&raw,
                                        matrix.type,
                                        static_cast<std::uint64_t>(matrix.rows),
                                        static_cast<std::uint64_t>(matrix.columns),
                                        matrix.leading));
  LtLayout layout(raw, {library});
  if (matrix.batch > 1) {
    const auto count = static_cast<std::int32_t>(matrix.batch);
    library->check(
        library->layout_set(raw, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    library->check(library->layout_set(raw,
                                       CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                       &matrix.batch_stride,
                                       sizeof matrix.batch_stride));
  }
  return layout;
}

LtPreference make_lt_preference(const std::shared_ptr<const CublasLt>& library,
                                std::size_t workspace_bytes,
                                std::uint32_t alignment) {
  cublasLtMatmulPreference_t raw = nullptr;
  library->check(library->preference_create(&raw));
  LtPreference preference(raw, {library});
  const std::uint64_t workspace = workspace_bytes;
  library->check(library->preference_set(
      raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace));
  for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    library->check(library->preference_set(raw, attribute, &alignment, sizeof alignment));
  }
  return preference;
}
}  // namespace scaleworth::gpu
