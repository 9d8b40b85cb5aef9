// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/links/link_section.h"

#include "tests/catch.h"

#include <fmt/format.h>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {

LinkedGpu linked(int ordinal, const std::string& name, std::vector<std::optional<bool>> access) {
  LinkedGpu result;
  result.description.ordinal = ordinal;
  result.description.name = name;
  result.description.bus_id = fmt::format("0000:{:02x}:00.0", ordinal + 1);
  result.peer_access = std::move(access);
  return result;
}

std::string text(const FactSection& section, const std::string& name) {
  for (const Fact& fact : section.facts) {
    if (fact.name == name && fact.value) {
      const auto* found = std::get_if<std::string>(&*fact.value);
      return found != nullptr ? *found : "true";
    }
  }
  return "absent";
}

}  // namespace

TEST_CASE("GPUs behind switches share as many links as both have", "[facts]") {
  auto first = linked(0, "H200", {true, true});
  auto second = linked(1, "H200", {true, true});
  first.nvlinks.to_switches = 18;
  second.nvlinks.to_switches = 17;
  const FactSection section = link_section({first, second});
  REQUIRE(section.name == "gpu links");
  REQUIRE(text(section, "gpu_0_gpu_1") == "peer access, 17 NVLinks through switches");
  REQUIRE(text(section, "models") == "2 x H200");
  REQUIRE(text(section, "mixed_models") == "absent");
}

TEST_CASE("direct links are counted by the peer's bus id", "[facts]") {
  auto first = linked(0, "A100", {true, true});
  const auto second = linked(1, "A100", {true, true});
  first.nvlinks.to_gpus["0000:02:00.0"] = 12;
  REQUIRE(text(link_section({first, second}), "gpu_0_gpu_1") == "peer access, 12 NVLinks");
}

TEST_CASE("peer access without NVLink is over PCIe, or there is none", "[facts]") {
  const FactSection section = link_section({linked(0, "L40S", {true, true, false}),
                                            linked(1, "L40S", {true, true, false}),
                                            linked(2, "RTX 4090", {false, true, true})});
  REQUIRE(text(section, "gpu_0_gpu_1") == "peer access over PCIe");
  REQUIRE(text(section, "gpu_0_gpu_2") == "no peer access: bytes go through this node's memory");
  REQUIRE(text(section, "gpu_1_gpu_2") == "peer access from gpu 2 only");
  REQUIRE(text(section, "models") == "2 x L40S, 1 x RTX 4090");
  REQUIRE(text(section, "mixed_models") == "true");
}

TEST_CASE("a pair that CUDA does not answer for is absent", "[facts]") {
  const FactSection section =
      link_section({linked(0, "A", {true, std::nullopt}), linked(1, "A", {std::nullopt, true})});
  REQUIRE(text(section, "gpu_0_gpu_1") == "absent");
}
