// SPDX-License-Identifier: Apache-2.0
/// CUPTI's activity functions, opened at run time.
#pragma once

#include "cuda/libraries/library.h"
#include "cuda/libraries/newer_cupti.h"

#include <cupti.h>

namespace scaleworth::gpu {
/// Records come in the layout of the library's version: fields that the records of CUDA 12.0 have
/// lie where this build's types have them; later ones ask for `version_number`.
struct Cupti : CheckedLibrary<Cupti, CUptiResult> {
  static constexpr const char* name = "CUPTI";
  /// 130001: CUDA 13.0 update 1; below 13.0 a counter, 28: CUDA 12.9.
  std::uint32_t version_number = 0;
  decltype(&cuptiGetResultString) result_words = need("cuptiGetResultString");
  decltype(&cuptiSubscribe) subscribe = need("cuptiSubscribe");
  decltype(&cuptiUnsubscribe) unsubscribe = need("cuptiUnsubscribe");
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks =
      need("cuptiActivityRegisterCallbacks");
  decltype(&cuptiActivityEnable) enable = need("cuptiActivityEnable");
  decltype(&cuptiActivityDisable) disable = need("cuptiActivityDisable");
  decltype(&cuptiActivitySetAttribute) set_attribute = need("cuptiActivitySetAttribute");
  decltype(&cuptiActivityFlushAll) flush_all = need("cuptiActivityFlushAll");
  decltype(&cuptiActivityGetNextRecord) next_record = need("cuptiActivityGetNextRecord");
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records =
      need("cuptiActivityGetNumDroppedRecords");

  // What only tracing of other programs needs: null where this version has it not. The NVTX entries
  // are exported without a declaration in CUPTI's headers.
  CUptiResult (*subscribe_v2)(CUpti_SubscriberHandle*,
                              CUpti_CallbackFunc,
                              void* user,
                              cupti::SubscriberParams*) = take("cuptiSubscribe_v2");  // 13.0
  decltype(&cuptiEnableCallback) enable_callback = take("cuptiEnableCallback");
  decltype(&cuptiGetCallbackName) callback_name = take("cuptiGetCallbackName");
  decltype(&cuptiSetThreadIdType) set_thread_id_type = take("cuptiSetThreadIdType");
  CUptiResult (*enable_runtime_api)(CUpti_CallbackId, std::uint8_t enable) =
      take("cuptiActivityEnableRuntimeApi");  // 12.5
  CUptiResult (*enable_driver_api)(CUpti_CallbackId, std::uint8_t enable) =
      take("cuptiActivityEnableDriverApi");  // 12.5
  CUptiResult (*enable_all_waits)(std::uint8_t enable) =
      take("cuptiActivityEnableAllSyncRecords");  // 12.8
  CUptiResult (*payload_schema)(std::uint32_t domain,
                                std::uint64_t schema,
                                cupti::PayloadAttributes* attributes) =
      take("cuptiActivityGetNvtxExtPayloadAttr");  // 13.0
  // NVTX's own entries, which initialise CUPTI first; cuptiNvtxInitialize2 alone crashes at the
  // first range of a process that has not called CUPTI yet (13.0.1).
  int (*nvtx_initialize)(void* export_table) = take("InitializeInjectionNvtx2");
  int (*nvtx_1_initialize)(void* export_table) = take("InitializeInjectionNvtx");
  int (*nvtx_extension_initialize)(void* module) = take("InitializeInjectionNvtxExtension");

  const char* words(CUptiResult status) const;
};

/// Of CUDA 12.0 or later: older records are laid out differently. Skipped or Failed as
/// `open_library` says. `accept` throws UnusableLibrary for a version that is not wanted.
Outcome<std::shared_ptr<const Cupti>> open_cupti(
    const std::string& user_path,
    const SearchScope& scope = {},
    const std::function<void(std::uint32_t version)>& accept = {});

/// The library with which this process is traced, from outside and by itself: `named` where it is
/// not empty, else the newest that is found; not before `oldest`, and of no later major version
/// than the driver's. Of one that the process has loaded already, a copy in memory: the other user
/// would replace the buffers and switch the kinds of a shared one. Chosen once per name. Skipped or
/// Failed with the reason.
Outcome<std::shared_ptr<const Cupti>> choose_cupti(const std::string& named, std::uint32_t oldest);
}  // namespace scaleworth::gpu
