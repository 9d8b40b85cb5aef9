// SPDX-License-Identifier: Apache-2.0
/// What cuda/libraries expects of the vendors' headers and declares itself of newer ones, against
/// the headers that this is built with.
#include "cuda/gemm/recipe.h"
#include "cuda/libraries/cublas_lt.h"
#include "cuda/libraries/cupti.h"
#include "cuda/libraries/nccl.h"
#include "tests/catch.h"
#include "trace/formats/nvidia_records.h"

#include <array>
#include <cstddef>

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif

namespace scaleworth::gpu {
namespace {
// CUPTI. What is read of a kernel lies as in CUpti_ActivityKernel8, which a library of CUDA 12.0
// writes: the record was only ever lengthened since.
static_assert(offsetof(CUpti_ActivityKernel9, start) == offsetof(CUpti_ActivityKernel8, start));
static_assert(offsetof(CUpti_ActivityKernel9, streamId) ==
              offsetof(CUpti_ActivityKernel8, streamId));
static_assert(offsetof(CUpti_ActivityKernel9, correlationId) ==
              offsetof(CUpti_ActivityKernel8, correlationId));
static_assert(offsetof(CUpti_ActivityKernel9, name) == offsetof(CUpti_ActivityKernel8, name));
static_assert(offsetof(CUpti_ActivityKernel9, graphId) == offsetof(CUpti_ActivityKernel8, graphId));
static_assert(std::is_same_v<decltype(&cuptiActivityGetNextRecord),
                             CUptiResult (*)(std::uint8_t*, std::size_t, CUpti_Activity**)>);
static_assert(std::is_same_v<decltype(&cuptiActivityGetNumDroppedRecords),
                             CUptiResult (*)(CUcontext, std::uint32_t, std::size_t*)>);

#if CUPTI_API_VERSION >= 130000
// The vendor's own of what newer_cupti.h declares, and newer records of what is read by older ones.
static_assert(sizeof(cupti::Synchronization2) == sizeof(CUpti_ActivitySynchronization2));
static_assert(offsetof(CUpti_ActivitySynchronization2, cudaEventSyncId) ==
              sizeof(CUpti_ActivitySynchronization));
static_assert(sizeof(cupti::CudaEvent2) == sizeof(CUpti_ActivityCudaEvent2));
static_assert(offsetof(CUpti_ActivityCudaEvent2, deviceId) == sizeof(CUpti_ActivityCudaEvent));
static_assert(offsetof(CUpti_ActivityCudaEvent2, cudaEventSyncId) ==
              sizeof(CUpti_ActivityCudaEvent2) - sizeof(std::uint64_t));
static_assert(sizeof(cupti::MarkerData2) == sizeof(CUpti_ActivityMarkerData2));
static_assert(offsetof(CUpti_ActivityMarkerData2, cuptiDomainId) ==
              sizeof(CUpti_ActivityMarkerData));
static_assert(cupti::extended_payload == CUPTI_METRIC_VALUE_KIND_NVTX_EXTENDED_PAYLOAD);
static_assert(cupti::overhead_buffer_request == CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
static_assert(cupti::overhead_uvm_init == CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT);
static_assert(sizeof(cupti::SubscriberParams) == CUpti_SubscriberParams_STRUCT_SIZE);
static_assert(offsetof(cupti::SubscriberParams, oldSubscriberSize) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberSize));
static_assert(sizeof(cupti::PayloadAttributes) == sizeof(CUpti_NvtxExtPayloadAttr));
static_assert(cupti::payload_is_schema == CUPTI_NVTX_EXT_PAYLOAD_TYPE_SCHEMA);
static_assert(offsetof(CUpti_ActivityKernel10, dynamicSharedMemory) ==
              offsetof(CUpti_ActivityKernel9, dynamicSharedMemory));
static_assert(offsetof(CUpti_ActivityKernel10, graphNodeId) ==
              offsetof(CUpti_ActivityKernel9, graphNodeId));
static_assert(offsetof(CUpti_ActivityMemcpy6, correlationId) ==
              offsetof(CUpti_ActivityMemcpy5, correlationId));
static_assert(offsetof(CUpti_ActivityMemcpy6, graphNodeId) ==
              offsetof(CUpti_ActivityMemcpy5, graphNodeId));
#endif
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
static_assert(sizeof(cupti::PayloadEntry) == sizeof(nvtxPayloadSchemaEntry_t));
static_assert(offsetof(cupti::PayloadEntry, offset) == offsetof(nvtxPayloadSchemaEntry_t, offset));
static_assert(sizeof(cupti::PayloadSchema) == sizeof(nvtxPayloadSchemaAttr_t));
static_assert(offsetof(cupti::PayloadSchema, numEntries) ==
              offsetof(nvtxPayloadSchemaAttr_t, numEntries));
static_assert(sizeof(cupti::PayloadData) == sizeof(nvtxPayloadData_t));
static_assert(trace::nvtx_integer_bytes(NVTX_PAYLOAD_ENTRY_TYPE_INT) == sizeof(int));
static_assert(trace::nvtx_integer_bytes(NVTX_PAYLOAD_ENTRY_TYPE_UINT32) == 4);
static_assert(trace::nvtx_integer_bytes(NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG) == 8);
static_assert(trace::nvtx_integer_bytes(NVTX_PAYLOAD_ENTRY_TYPE_UINT64) == 8);
static_assert(trace::nvtx_integer_bytes(NVTX_PAYLOAD_ENTRY_TYPE_SIZE) == sizeof(std::size_t));
static_assert(trace::nvtx_integer_bytes(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE) == 0);
#endif

// cuBLASLt. The library that is opened need not be the header's version: these are what both sides
// must share.
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

#if CUBLAS_VERSION >= 130000
static_assert(real_4f_e2m1 == CUDA_R_4F_E2M1);
static_assert(lt_a_scale_mode == CUBLASLT_MATMUL_DESC_A_SCALE_MODE);
static_assert(lt_b_scale_mode == CUBLASLT_MATMUL_DESC_B_SCALE_MODE);
constexpr bool same(LtScale scale, cublasLtMatmulMatrixScale_t vendors) {
  return static_cast<int>(scale) == static_cast<int>(vendors);
}
static_assert(same(LtScale::scalar_32f, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F));
static_assert(same(LtScale::vec16_ue4m3, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3));
static_assert(same(LtScale::vec32_ue8m0, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0));
static_assert(same(LtScale::vec128_32f, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F));
static_assert(same(LtScale::block128x128_32f, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F));
#endif

// NCCL.
static_assert(sizeof(ncclUniqueId) == 128);
static_assert(ncclInt8 == 0 && ncclFloat32 == 7 && ncclBfloat16 == 9);
static_assert(ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3 && ncclAvg == 4);
static_assert(ncclInProgress == 7);
static_assert(std::is_same_v<decltype(&ncclAllReduce),
                             ncclResult_t (*)(const void* source,
                                              void* target,
                                              std::size_t count,
                                              ncclDataType_t,
                                              ncclRedOp_t,
                                              ncclComm_t,
                                              cudaStream_t)>);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
static_assert(std::is_same_v<decltype(&ncclAlltoAll), decltype(Nccl::all_to_all)>);
static_assert(std::is_same_v<decltype(&ncclGather), NcclRooted>);
static_assert(std::is_same_v<decltype(&ncclScatter), NcclRooted>);
#endif

TEST_CASE("names of cuBLASLt's settings are the header's", "[libraries]") {
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_128x128) == "128x128");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_128x160) == "128x160");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_128x192) == "128x192");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_128x256) == "128x256");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_128x32) == "128x32");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_128x64) == "128x64");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_128x96) == "128x96");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_160x128) == "160x128");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_192x128) == "192x128");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_256x128) == "256x128");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_256x64) == "256x64");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_32x128) == "32x128");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_32x32) == "32x32");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_32x64) == "32x64");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_512x64) == "512x64");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_64x128) == "64x128");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_64x256) == "64x256");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_64x32) == "64x32");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_64x512) == "64x512");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_64x64) == "64x64");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_64x96) == "64x96");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_96x128) == "96x128");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_MATMUL_TILE_96x64) == "96x64");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_128x3) == "128 x 3");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_128x4) == "128 x 4");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_128x5) == "128 x 5");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_128x6) == "128 x 6");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_128xAUTO) ==
        "128 x auto");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_16x3) == "16 x 3");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_16x4) == "16 x 4");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_16x5) == "16 x 5");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_16x6) == "16 x 6");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_16xAUTO) ==
        "16 x auto");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_32x3) == "32 x 3");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_32x4) == "32 x 4");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_32x5) == "32 x 5");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_32x6) == "32 x 6");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_32xAUTO) ==
        "32 x auto");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_64x3) == "64 x 3");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_64x4) == "64 x 4");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_64x5) == "64 x 5");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_64x6) == "64 x 6");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_64xAUTO) ==
        "64 x auto");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_8xAUTO) == "8 x auto");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_16x1x1) ==
        "16x1");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_1x16x1) ==
        "1x16");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_1x1x1) == "1x1");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_1x2x1) == "1x2");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_1x4x1) == "1x4");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_1x8x1) == "1x8");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_2x1x1) == "2x1");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_2x2x1) == "2x2");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_2x4x1) == "2x4");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_2x8x1) == "2x8");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_4x1x1) == "4x1");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_4x2x1) == "4x2");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_4x4x1) == "4x4");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_8x1x1) == "8x1");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_8x2x1) == "8x2");
  CHECK(setting_name(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, CUBLASLT_CLUSTER_SHAPE_AUTO) == "auto");
#if CUBLAS_VERSION >= 130000
  const auto name = [](cublasLtMatmulAlgoConfigAttributes_t attribute, int value) {
    return setting_name(attribute, value);
  };
  CHECK(name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_256xAUTO) == "256 x auto");
  CHECK(name(CUBLASLT_ALGO_CONFIG_STAGES_ID, CUBLASLT_MATMUL_STAGES_768xAUTO) == "768 x auto");
  const std::array tiles{std::pair{CUBLASLT_MATMUL_TILE_64x192, "64x192"},
                         std::pair{CUBLASLT_MATMUL_TILE_192x64, "192x64"},
                         std::pair{CUBLASLT_MATMUL_TILE_192x192, "192x192"},
                         std::pair{CUBLASLT_MATMUL_TILE_128x320, "128x320"},
                         std::pair{CUBLASLT_MATMUL_TILE_192x256, "192x256"},
                         std::pair{CUBLASLT_MATMUL_TILE_256x192, "256x192"},
                         std::pair{CUBLASLT_MATMUL_TILE_320x128, "320x128"},
                         std::pair{CUBLASLT_MATMUL_TILE_128x384, "128x384"},
                         std::pair{CUBLASLT_MATMUL_TILE_384x128, "384x128"},
                         std::pair{CUBLASLT_MATMUL_TILE_256x256, "256x256"},
                         std::pair{CUBLASLT_MATMUL_TILE_128x512, "128x512"},
                         std::pair{CUBLASLT_MATMUL_TILE_512x128, "512x128"}};
  for (const auto& [tile, text] : tiles) CHECK(name(CUBLASLT_ALGO_CONFIG_TILE_ID, tile) == text);
#endif
}
}  // namespace
}  // namespace scaleworth::gpu
