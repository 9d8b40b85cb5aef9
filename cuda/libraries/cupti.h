// SPDX-License-Identifier: Apache-2.0
/// CUPTI's activity functions, opened at run time.
#pragma once

#include "cuda/libraries/library.h"

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

#include <cupti.h>

namespace scaleworth::gpu {
/// Every pointer is set. Records come in the layout of the library's version: fields that the
/// records of CUDA 12.0 have lie where this build's types have them; later ones ask for
/// `version_number`.
struct Cupti : OpenedLibrary {
  std::uint32_t version_number =
      0;  // 130001: CUDA 13.0 update 1; below 13.0 a counter, 28: CUDA 12.9
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) result_words = nullptr;
  decltype(&cuptiGetTimestamp) get_timestamp = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivitySetAttribute) set_attribute = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityFlushPeriod) flush_period = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;

  // What only tracing of other programs needs: null where this version has it not. The NVTX entries
  // are exported without a declaration in CUPTI's headers.
  decltype(&cuptiSubscribe_v2) subscribe_v2 = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiEnableDomain) enable_domain = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_api = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enable_driver_api = nullptr;
  CUptiResult (*payload_schema)(std::uint32_t domain,
                                std::uint64_t schema,
                                CUpti_NvtxExtPayloadAttr* attributes) = nullptr;
  int (*nvtx_initialize)(void* export_table) = nullptr;  // of NVTX 3
  int (*nvtx_extension_initialize)(void* module) = nullptr;

  /// Throws LibraryError naming the call site unless `status` is success.
  void check(CUptiResult status,
             std::source_location where = std::source_location::current()) const;
};

/// Of CUDA 12.0 or later: older records are laid out differently. Skipped or Failed as
/// `open_library` says.
Outcome<std::shared_ptr<const Cupti>> open_cupti(const std::string& user_path,
                                                 const SearchScope& scope = {});
}  // namespace scaleworth::gpu
