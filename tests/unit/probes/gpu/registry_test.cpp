// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/registry.h"

#include "tests/catch.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {

DeviceSetting one_gpu(Suite suite) {
  DeviceSetting setting;
  setting.suite = suite;
  DeviceDescription description;
  description.compute_capability = 90;
  description.multiprocessors = 132;
  description.memory = Bytes(80e9);
  description.l2_cache = Bytes(50e6);
  description.shared_per_multiprocessor = Bytes(233472.0);
  setting.devices = {description};
  return setting;
}

}  // namespace

TEST_CASE("names of GPU probes are unique", "[gpu]") {
  std::set<std::string_view> names;
  for (const DeviceProbe& probe : device_probes()) names.insert(probe.name);
  REQUIRE(names.size() == device_probes().size());
}

TEST_CASE("every GPU probe is described in probes/gpu/README.md", "[gpu]") {
  std::ifstream file(SOURCE_DIRECTORY "/probes/gpu/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const DeviceProbe& probe : device_probes()) {
    INFO(std::string(probe.name));
    REQUIRE(page.find("**`" + std::string(probe.name) + "`**") != std::string::npos);
  }
}

TEST_CASE("estimates of GPU probes grow with the suite and keep to the budget of one GPU",
          "[gpu]") {
  Seconds quick{};
  Seconds standard{};
  for (const DeviceProbe& probe : device_probes()) {
    INFO(std::string(probe.name));
    REQUIRE(probe.estimate(one_gpu(Suite::standard)) >= probe.estimate(one_gpu(Suite::quick)));
    quick += probe.estimate(one_gpu(Suite::quick));
    standard += probe.estimate(one_gpu(Suite::standard));
  }
  REQUIRE(quick > Seconds(10.0));
  CHECK(quick.value() < 90.0);
  CHECK(standard.value() < 330.0);
}
