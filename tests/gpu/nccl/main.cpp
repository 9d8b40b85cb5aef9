// SPDX-License-Identifier: Apache-2.0
/// Runs the cases with the GPUs and the NCCL of this node; without either each is skipped, but can
/// be listed.
#include "probes/gpu/registry.h"
#include "tests/gpu/nccl/group.h"
#include "tests/run_catch.h"

#include <algorithm>
#include <iostream>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace scaleworth::gpu_tests {

OpenedGroup& opened_group() {
  static OpenedGroup opened = [] {
    OpenedGroup result;
    auto outcome = probes::open_device_group({}, {});
    if (auto* group = std::get_if<std::unique_ptr<probes::RankGroup>>(&outcome)) {
      result.group = std::move(*group);
    } else if (const auto* skipped = std::get_if<Skipped>(&outcome)) {
      result.reason = skipped->reason;
    } else {
      result.reason = std::get<Failed>(outcome).reason;
    }
    return result;
  }();
  return opened;
}

}  // namespace scaleworth::gpu_tests

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const bool lists = std::ranges::any_of(
      arguments, [](const char* text) { return std::string_view(text).starts_with("--list"); });
  if (!lists && !scaleworth::gpu_tests::opened_group().group) {
    std::cout << "skipped: " << scaleworth::gpu_tests::opened_group().reason << "\n";
    return skipped;
  }
  const int result = scaleworth::tests::run_catch(argc, argv);
  // Before the CUDA runtime ends with the program.
  scaleworth::gpu_tests::opened_group().group.reset();
  return result;
}
