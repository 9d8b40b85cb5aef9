// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a shape file: refused with one line, or shapes that a product can have.
#include "src/cli/measure/plan.h"
#include "src/core/error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace scaleworth;
  try {
    const auto shapes =
        cli::parse_shape_file({reinterpret_cast<const char*>(data), size}, "shapes.csv");
    if (shapes.empty()) std::abort();
    for (const cli::NamedShape& shape : shapes) {
      if (shape.m < 1 || shape.n < 1 || shape.k < 1 || shape.batch < 1) std::abort();
    }
  } catch (const UserError&) {
  }
  return 0;
}
