// SPDX-License-Identifier: Apache-2.0
/// Files of ways to pay and of the carbon of electricity.
#include "src/cli/input/table_input.h"
#include "src/core/catalogue.h"
#include "src/core/error.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace scaleworth;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    cli::parse_regimes(text, "regimes.toml");
  } catch (const UserError&) {
  }
  try {
    parse_grid_catalogue(text, "grid.toml");
  } catch (const UserError&) {
  }
  return 0;
}
