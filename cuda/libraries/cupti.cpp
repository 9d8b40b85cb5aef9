// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/cupti.h"

#include <cstddef>

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
// CUDA 12.8 and 12.9 write CUpti_ActivityKernel9, and all else that is read as it is in 13.0.
static_assert(offsetof(CUpti_ActivityKernel10, dynamicSharedMemory) ==
              offsetof(CUpti_ActivityKernel9, dynamicSharedMemory));
static_assert(offsetof(CUpti_ActivityKernel10, graphNodeId) ==
              offsetof(CUpti_ActivityKernel9, graphNodeId));
static_assert(offsetof(CUpti_ActivityMemcpy6, correlationId) ==
              offsetof(CUpti_ActivityMemcpy5, correlationId));
static_assert(std::is_same_v<decltype(&cuptiActivityGetNextRecord),
                             CUptiResult (*)(std::uint8_t*, std::size_t, CUpti_Activity**)>);
static_assert(std::is_same_v<decltype(&cuptiActivityGetNumDroppedRecords),
                             CUptiResult (*)(CUcontext, std::uint32_t, std::size_t*)>);

/// CUPTI_API_VERSION: 10000 major + 100 minor + update from CUDA 13.0 on, a counter before.
std::string api_text(std::uint32_t version) {
  constexpr std::uint32_t first_readable = 130000;
  if (version < first_readable) return fmt::format("API {}", version);
  return version_text(version);
}

void fill_cupti(const SharedLibrary& library, Cupti& table) {
  const decltype(&cuptiGetVersion) get_version = library.need("cuptiGetVersion");
  std::uint32_t version = 0;
  if (get_version(&version) != CUPTI_SUCCESS) throw UnusableLibrary("cuptiGetVersion fails");
  constexpr std::uint32_t cuda_12_0 = 19;
  if (version < cuda_12_0) {
    throw UnusableLibrary(fmt::format(
        "version {} is too old, that of CUDA 12.0 ({}) is needed", api_text(version), cuda_12_0));
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
