// SPDX-License-Identifier: Apache-2.0
/// cuBLASLt as the GPUs of a process share it, opened when the first product is asked for.
#pragma once

#include "cuda/libraries/cublas_lt.h"
#include "src/core/outcome.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace scaleworth::gpu {

/// May be asked by several threads.
class GemmLibrary {
 public:
  using Table = std::shared_ptr<const CublasLt>;

  /// `path` that the user gave; empty: search.
  explicit GemmLibrary(std::string path) : path_(std::move(path)) {}
  Outcome<Table> table();
  /// "cuBLASLt 13.1.0 (/usr/lib/...)", or why there is none.
  Outcome<std::string> description();

 private:
  std::string path_;
  std::once_flag opened_;
  std::optional<Outcome<Table>> table_;
};

}  // namespace scaleworth::gpu
