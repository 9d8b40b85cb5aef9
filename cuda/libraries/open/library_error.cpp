// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/open/library_error.h"

#include <fmt/format.h>

namespace scaleworth::gpu {

LibraryError::LibraryError(const std::string& library,
                           const std::string& words,
                           int code,
                           std::source_location where)
    : std::runtime_error(fmt::format(
          "{}: {} (code {}) at {}:{}", library, words, code, where.file_name(), where.line())),
      code_(code) {}

}  // namespace scaleworth::gpu
