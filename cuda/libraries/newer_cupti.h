// SPDX-License-Identifier: Apache-2.0
/// What is used of CUPTI and NVTX and is not in their headers of CUDA 12.4, the oldest to build
/// with: written from the header named at each, with the version that brought it. A test
/// compares them with the vendor's own where those are newer.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cupti.h>

namespace scaleworth::gpu {
/// Versions of CUPTI's API: 10000 major + 100 minor + update from CUDA 13.0 on, a counter before.
inline constexpr std::uint32_t cupti_of_cuda_12_0 = 19;
inline constexpr std::uint32_t cupti_of_cuda_12_4 = 22;
inline constexpr std::uint32_t cupti_of_cuda_12_8 = 26;
inline constexpr std::uint32_t cupti_of_cuda_13 = 130000;
/// The newest major version whose records are known, whichever headers this build has.
inline constexpr std::uint32_t newest_cupti_major = 13;
}  // namespace scaleworth::gpu

namespace scaleworth::gpu::cupti {
// Records, from cupti_activity.h. A library writes those of its own version: a newer record begins
// as the older one does, and what was appended may be read from libraries of that version on only.

struct Synchronization2 : CUpti_ActivitySynchronization {  // 12.8
  std::uint64_t cudaEventSyncId;
  std::uint32_t returnValue;
  std::uint32_t pad;
};

struct CudaEvent2 : CUpti_ActivityCudaEvent {  // 12.8
  std::uint32_t deviceId;
  std::uint32_t pad2;
  void* reserved0;
  std::uint64_t deviceTimestamp;
  std::uint64_t cudaEventSyncId;
};

struct MarkerData2 : CUpti_ActivityMarkerData {  // 13.0
  std::uint32_t cuptiDomainId;
  std::uint32_t padding;
};

/// CUPTI_METRIC_VALUE_KIND_NVTX_EXTENDED_PAYLOAD, 13.0: the value is the address of PayloadData.
inline constexpr auto extended_payload = static_cast<CUpti_MetricValueKind>(6);

/// CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, 12.6, and .._UVM_ACTIVITY_INIT, 12.8.
inline constexpr auto overhead_buffer_request = static_cast<CUpti_ActivityOverheadKind>(7 << 16);
inline constexpr auto overhead_uvm_init = static_cast<CUpti_ActivityOverheadKind>(8 << 16);

/// CUpti_SubscriberParams of cuptiSubscribe_v2, 13.0, from cupti_callbacks.h.
struct SubscriberParams {
  std::size_t structSize;
  const char* subscriberName;
  char* oldSubscriberName;
  std::size_t oldSubscriberSize;
};

/// CUpti_NvtxExtPayloadAttr of cuptiActivityGetNvtxExtPayloadAttr, 13.0, from cupti_activity.h.
struct PayloadAttributes {
  std::uint32_t structSize;
  std::uint32_t type;
  void* attributes;
};
inline constexpr std::uint32_t payload_is_schema = 1;  // CUPTI_NVTX_EXT_PAYLOAD_TYPE_SCHEMA

// NVTX 3.1, from nvtx3/nvToolsExtPayload.h, which toolkits before CUDA 13.0 may lack.

struct PayloadEntry {  // nvtxPayloadSchemaEntry_t
  std::uint64_t flags;
  std::uint64_t type;
  const char* name;
  const char* description;
  std::uint64_t arrayOrUnionDetail;
  std::uint64_t offset;
  const void* semantics;
  const void* reserved;
};

struct PayloadSchema {  // nvtxPayloadSchemaAttr_t
  std::uint64_t fieldMask;
  const char* name;
  std::uint64_t type;
  std::uint64_t flags;
  const PayloadEntry* entries;
  std::size_t numEntries;
  std::size_t payloadStaticSize;
  std::size_t packAlign;
  std::uint64_t schemaId;
  void* extension;
};

struct PayloadData {  // nvtxPayloadData_t
  std::uint64_t schemaId;
  std::size_t size;
  const void* payload;
};
}  // namespace scaleworth::gpu::cupti
