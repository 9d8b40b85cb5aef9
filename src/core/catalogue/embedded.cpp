// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue/embedded.h"

// Defined by assembler files that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_gpus[];
extern const char scaleworth_asset_gpus_end[];
}

namespace scaleworth {

std::string_view embedded_gpus_toml() {
  return {scaleworth_asset_gpus,
          static_cast<std::size_t>(scaleworth_asset_gpus_end - scaleworth_asset_gpus)};
}

}  // namespace scaleworth
