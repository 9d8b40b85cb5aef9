// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/session/gemm_library.h"

#include <variant>

#include <fmt/format.h>

namespace scaleworth::gpu {

Outcome<GemmLibrary::Table> GemmLibrary::table() {
  std::call_once(opened_, [this] { table_ = open_cublas_lt(path_); });
  return *table_;
}

Outcome<std::string> GemmLibrary::description() {
  const Outcome<Table> opened = table();
  if (const auto* skipped = std::get_if<Skipped>(&opened)) return *skipped;
  if (const auto* failed = std::get_if<Failed>(&opened)) return *failed;
  const CublasLt& library = *std::get<Table>(opened);
  return fmt::format("cuBLASLt {} ({})", library.version, library.path);
}

}  // namespace scaleworth::gpu
