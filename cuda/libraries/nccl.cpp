// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/nccl.h"

namespace scaleworth::gpu {
namespace {
void fill_nccl(const SharedLibrary& library, Nccl& table) {
  const decltype(&ncclGetVersion) get_version = library.need("ncclGetVersion");
  int version = 0;  // 10000 major + 100 minor + patch; before 2.9 the major version counts 1000
  if (get_version(&version) != ncclSuccess) throw UnusableLibrary("ncclGetVersion fails");
  constexpr int oldest = 21800;  // 2.18: ncclCommSplit, see nccl.h
  if (version < oldest) {
    throw UnusableLibrary(
        "version number {} is too old, {} is needed", version, version_text(oldest));
  }
  table = {{{.version = version_text(version), .library = &library}}};
}
}  // namespace

std::string Nccl::words(ncclResult_t status) const {
  std::string text = error_words(status);
  // NCCL keeps the sentence that explains the last failure; the argument is unused by design.
  const char* detail = last_error(nullptr);
  if (detail != nullptr && *detail != '\0') text += fmt::format("; {}", detail);
  return text;
}

Outcome<std::shared_ptr<const Nccl>> open_nccl(const std::string& user_path,
                                               const SearchScope& scope) {
  return open_table<Nccl>({Nccl::name,
                           "--nccl-lib",
                           "pip's nvidia-nccl-cu13 or the package libnccl2",
                           {"libnccl.so.2", "libnccl.so"},
                           {"nccl/lib"},
                           {"lib64", "lib"}},
                          user_path,
                          scope,
                          &fill_nccl);
}
}  // namespace scaleworth::gpu
