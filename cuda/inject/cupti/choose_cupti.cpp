// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/cupti/tracer.h"

#include <array>
#include <variant>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

namespace scaleworth::gpu {
namespace {

constexpr std::uint32_t per_major = 10000;  // in CUPTI's version numbers since CUDA 13.0

/// The file of a copy that the process has loaded; empty when it has none. A second copy would
/// compete with the first for CUPTI's one place.
std::string loaded_copy() {
  for (const char* name : {"libcupti.so.13", "libcupti.so"}) {
    void* library = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const link_map* map = nullptr;
    std::string path;
    if (::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) path = map->l_name;
    ::dlclose(library);
    if (!path.empty()) return path;
  }
  return {};
}

}  // namespace

Outcome<std::shared_ptr<const Cupti>> choose_cupti(const std::string& named) {
  Outcome<std::shared_ptr<const Cupti>> opened = open_cupti(named.empty() ? loaded_copy() : named);
  const auto* cupti = std::get_if<std::shared_ptr<const Cupti>>(&opened);
  if (cupti == nullptr || (*cupti)->version_number / per_major == CUPTI_API_VERSION / per_major)
    return opened;
  return Skipped{fmt::format(
      "CUPTI {} ({}) is not of CUDA {}, whose records this scaleworth reads: kernels, copies and "
      "calls are not recorded; name a libcupti.so.{} with --cupti-lib",
      (*cupti)->version,
      (*cupti)->path,
      CUPTI_API_VERSION / per_major,
      CUPTI_API_VERSION / per_major)};
}

}  // namespace scaleworth::gpu
