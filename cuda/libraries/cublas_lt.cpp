// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/cublas_lt.h"

#include "cuda/libraries/library.h"

#include <cstdint>
#include <type_traits>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {
// The library that is opened need not be the header's version: these are what both sides must
// share.
static_assert(sizeof(cublasLtMatmulAlgo_t) == 64);
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96);
static_assert(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET == 15);
static_assert(CUBLASLT_MATMUL_DESC_FAST_ACCUM == 25);
static_assert(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == 1);
static_assert(std::is_same_v<decltype(&cublasLtMatmul),
                             cublasStatus_t (*)(cublasLtHandle_t,
                                                cublasLtMatmulDesc_t,
                                                const void* alpha,
                                                const void* a,
                                                cublasLtMatrixLayout_t,
                                                const void* b,
                                                cublasLtMatrixLayout_t,
                                                const void* beta,
                                                const void* c,
                                                cublasLtMatrixLayout_t,
                                                void* d,
                                                cublasLtMatrixLayout_t,
                                                const cublasLtMatmulAlgo_t*,
                                                void* workspace,
                                                std::size_t workspace_bytes,
                                                cudaStream_t)>);

const LibraryNames& names() {
  static const LibraryNames entry{"cuBLASLt",
                                  "--cublas-lib",
                                  "the CUDA toolkit or pip's nvidia-cublas",
                                  {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
                                  {"cublas/lib"},
                                  {"lib64", "lib"}};
  return entry;
}

void fill(const SharedLibrary& library, CublasLt& table) {
  library.need(table.get_version, "cublasLtGetVersion");
  constexpr std::int64_t oldest = 120000;
  const auto version = static_cast<std::int64_t>(table.get_version());
  table.version = version_text(version);
  if (version < oldest) {
    throw UnusableLibrary(
        fmt::format("version {} is too old, {} is needed", table.version, version_text(oldest)));
  }
  library.need(table.status_name, "cublasLtGetStatusName");
  library.need(table.status_words, "cublasLtGetStatusString");
  library.need(table.create, "cublasLtCreate");
  library.need(table.destroy, "cublasLtDestroy");
  library.need(table.matmul, "cublasLtMatmul");
  library.need(table.matmul_descriptor_create, "cublasLtMatmulDescCreate");
  library.need(table.matmul_descriptor_destroy, "cublasLtMatmulDescDestroy");
  library.need(table.matmul_descriptor_set, "cublasLtMatmulDescSetAttribute");
  library.need(table.matmul_descriptor_get, "cublasLtMatmulDescGetAttribute");
  library.need(table.layout_create, "cublasLtMatrixLayoutCreate");
  library.need(table.layout_destroy, "cublasLtMatrixLayoutDestroy");
  library.need(table.layout_set, "cublasLtMatrixLayoutSetAttribute");
  library.need(table.preference_create, "cublasLtMatmulPreferenceCreate");
  library.need(table.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  library.need(table.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  library.need(table.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  library.need(table.algorithm_config, "cublasLtMatmulAlgoConfigGetAttribute");
  library.need(table.algorithm_capability, "cublasLtMatmulAlgoCapGetAttribute");
}
}  // namespace

void CublasLt::check(cublasStatus_t status, std::source_location where) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw LibraryError("cuBLASLt", status_name(status), static_cast<int>(status), where);
}

Outcome<std::shared_ptr<const CublasLt>> open_cublas_lt(const std::string& user_path,
                                                        const SearchScope& scope) {
  return open_table<CublasLt>(names(), user_path, scope, &fill);
}
}  // namespace scaleworth::gpu
