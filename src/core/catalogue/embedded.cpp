// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue/embedded.h"

// Defined by assembler files that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_gpus[];
extern const char scaleworth_asset_gpus_end[];
extern const char scaleworth_asset_models[];
extern const char scaleworth_asset_models_end[];
extern const char scaleworth_asset_grid[];
extern const char scaleworth_asset_grid_end[];
}

namespace scaleworth {

namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view embedded_gpus_toml() {
  return between(scaleworth_asset_gpus, scaleworth_asset_gpus_end);
}

std::string_view embedded_models_toml() {
  return between(scaleworth_asset_models, scaleworth_asset_models_end);
}

std::string_view embedded_grid_toml() {
  return between(scaleworth_asset_grid, scaleworth_asset_grid_end);
}

}  // namespace scaleworth
