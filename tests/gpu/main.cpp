// SPDX-License-Identifier: Apache-2.0
/// Runs the cases on the GPUs of this node; without one each is skipped, but can be listed.
#include "tests/gpu/rates.h"
#include "tests/run_catch.h"

#include <algorithm>
#include <span>
#include <string_view>

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const bool lists = std::ranges::any_of(
      arguments, [](const char* text) { return std::string_view(text).starts_with("--list"); });
  if (!lists && scaleworth::gpu_tests::devices().empty()) return skipped;
  return scaleworth::tests::run_catch(argc, argv);
}
