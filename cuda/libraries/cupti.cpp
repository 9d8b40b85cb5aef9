// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/cupti.h"

#include "cuda/libraries/library.h"

#include <cstddef>
#include <type_traits>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {
// A library of CUDA 12.0 writes CUpti_ActivityKernel8; the record was only ever lengthened since.
static_assert(offsetof(CUpti_ActivityKernel10, start) == offsetof(CUpti_ActivityKernel8, start));
static_assert(offsetof(CUpti_ActivityKernel10, streamId) ==
              offsetof(CUpti_ActivityKernel8, streamId));
static_assert(offsetof(CUpti_ActivityKernel10, correlationId) ==
              offsetof(CUpti_ActivityKernel8, correlationId));
static_assert(offsetof(CUpti_ActivityKernel10, name) == offsetof(CUpti_ActivityKernel8, name));
static_assert(offsetof(CUpti_ActivityKernel10, graphId) ==
              offsetof(CUpti_ActivityKernel8, graphId));
static_assert(offsetof(CUpti_ActivityMemcpy6, correlationId) ==
              offsetof(CUpti_ActivityMemcpy5, correlationId));
static_assert(std::is_same_v<decltype(&cuptiActivityGetNextRecord),
                             CUptiResult (*)(std::uint8_t*, std::size_t, CUpti_Activity**)>);
static_assert(std::is_same_v<decltype(&cuptiActivityGetNumDroppedRecords),
                             CUptiResult (*)(CUcontext, std::uint32_t, std::size_t*)>);

const LibraryNames& names() {
  static const LibraryNames entry{"CUPTI",
                                  "--cupti-lib",
                                  "the CUDA toolkit or pip's nvidia-cuda-cupti",
                                  {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
                                  {"cuda_cupti/lib"},
                                  {"extras/CUPTI/lib64", "lib64", "lib"}};
  return entry;
}

/// CUPTI_API_VERSION: 10000 major + 100 minor + update from CUDA 13.0 on, a counter before.
std::string api_text(std::uint32_t version) {
  constexpr std::uint32_t first_readable = 130000;
  if (version < first_readable) return fmt::format("API {}", version);
  return version_text(version);
}

void read_version(const SharedLibrary& library, Cupti& table) {
  library.need(table.get_version, "cuptiGetVersion");
  if (table.get_version(&table.version_number) != CUPTI_SUCCESS) {
    throw UnusableLibrary("cuptiGetVersion fails");
  }
  table.version = api_text(table.version_number);
  constexpr std::uint32_t cuda_12_0 = 19;
  if (table.version_number < cuda_12_0) {
    throw UnusableLibrary(fmt::format(
        "version {} is too old, that of CUDA 12.0 ({}) is needed", table.version, cuda_12_0));
  }
}

void take_tracing(const SharedLibrary& library, Cupti& table) {
  library.take(table.subscribe_v2, "cuptiSubscribe_v2");
  library.take(table.enable_callback, "cuptiEnableCallback");
  library.take(table.enable_domain, "cuptiEnableDomain");
  library.take(table.callback_name, "cuptiGetCallbackName");
  library.take(table.set_thread_id_type, "cuptiSetThreadIdType");
  library.take(table.enable_runtime_api, "cuptiActivityEnableRuntimeApi");
  library.take(table.enable_driver_api, "cuptiActivityEnableDriverApi");
  library.take(table.payload_schema, "cuptiActivityGetNvtxExtPayloadAttr");
  library.take(table.nvtx_initialize, "cuptiNvtxInitialize2");
  library.take(table.nvtx_extension_initialize, "cuptiNvtxExtensionInitialize");
}

void fill(const SharedLibrary& library, Cupti& table) {
  read_version(library, table);
  library.need(table.result_words, "cuptiGetResultString");
  library.need(table.get_timestamp, "cuptiGetTimestamp");
  library.need(table.subscribe, "cuptiSubscribe");
  library.need(table.unsubscribe, "cuptiUnsubscribe");
  library.need(table.register_callbacks, "cuptiActivityRegisterCallbacks");
  library.need(table.enable, "cuptiActivityEnable");
  library.need(table.disable, "cuptiActivityDisable");
  library.need(table.set_attribute, "cuptiActivitySetAttribute");
  library.need(table.flush_all, "cuptiActivityFlushAll");
  library.need(table.flush_period, "cuptiActivityFlushPeriod");
  library.need(table.next_record, "cuptiActivityGetNextRecord");
  library.need(table.dropped_records, "cuptiActivityGetNumDroppedRecords");
  take_tracing(library, table);
}
}  // namespace

void Cupti::check(CUptiResult status, std::source_location where) const {
  if (status == CUPTI_SUCCESS) return;
  const char* words = nullptr;
  if (result_words(status, &words) != CUPTI_SUCCESS || words == nullptr) words = "unknown result";
  throw LibraryError("CUPTI", words, static_cast<int>(status), where);
}

Outcome<std::shared_ptr<const Cupti>> open_cupti(const std::string& user_path,
                                                 const SearchScope& scope) {
  return open_table<Cupti>(names(), user_path, scope, &fill);
}
}  // namespace scaleworth::gpu
