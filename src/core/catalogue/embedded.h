// SPDX-License-Identifier: Apache-2.0
/// The data files that are part of the program, so that one binary stands alone.
#pragma once

#include <string_view>

namespace scaleworth {

std::string_view embedded_gpus_toml();
std::string_view embedded_models_toml();
std::string_view embedded_grid_toml();

}  // namespace scaleworth
