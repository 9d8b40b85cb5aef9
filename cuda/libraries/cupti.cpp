// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/cupti.h"

#include <cstddef>

#include <fmt/format.h>

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif

namespace scaleworth::gpu {
namespace {
// What is read of a kernel lies as in CUpti_ActivityKernel8, which a library of CUDA 12.0 writes:
// the record was only ever lengthened since.
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
static_assert(cupti::entry_ulonglong == NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG);
static_assert(cupti::entry_uint64 == NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
static_assert(cupti::entry_size == NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
#endif

/// CUPTI_API_VERSION: 10000 major + 100 minor + update from CUDA 13.0 on, a counter before.
std::string api_text(std::uint32_t version) {
  if (version < cupti_of_cuda_13) return fmt::format("API {}", version);
  return version_text(version);
}

void fill_cupti(const SharedLibrary& library, Cupti& table) {
  const decltype(&cuptiGetVersion) get_version = library.need("cuptiGetVersion");
  std::uint32_t version = 0;
  if (get_version(&version) != CUPTI_SUCCESS) throw UnusableLibrary("cuptiGetVersion fails");
  if (version < cupti_of_cuda_12_0) {
    throw UnusableLibrary(fmt::format("version {} is too old, that of CUDA 12.0 ({}) is needed",
                                      api_text(version),
                                      cupti_of_cuda_12_0));
  }
  table = {{{.version = api_text(version), .library = &library}}, version};
}
}  // namespace

const char* Cupti::words(CUptiResult status) const {
  const char* text = nullptr;
  return result_words(status, &text) == CUPTI_SUCCESS && text != nullptr ? text : "unknown result";
}

Outcome<std::shared_ptr<const Cupti>> open_cupti(const std::string& user_path,
                                                 const SearchScope& scope,
                                                 const std::function<void(std::uint32_t)>& accept) {
  return open_table<Cupti>({Cupti::name,
                            "--cupti-lib",
                            "the CUDA toolkit or pip's nvidia-cuda-cupti",
                            {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
                            {"cuda_cupti/lib"},
                            {"extras/CUPTI/lib64", "lib64", "lib"}},
                           user_path,
                           scope,
                           [&](const SharedLibrary& library, Cupti& table) {
                             fill_cupti(library, table);
                             if (accept) accept(table.version_number);
                           });
}
}  // namespace scaleworth::gpu
