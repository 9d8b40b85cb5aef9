// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/open/version_text.h"

#include <fmt/format.h>

namespace scaleworth::gpu {

std::string version_text(std::int64_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace scaleworth::gpu
