// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/gpu_section.h"

#include "cuda/telemetry/nvml_source.h"
#include "tests/catch.h"
#include "tests/unit/core/temporary_directory.h"
#include "tests/unit/cuda/fake_nvml/open_fake.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {

Outcome<NvmlDevice> fake_device() {
  return find_nvml_device(std::get<std::shared_ptr<const Nvml>>(open_fake_nvml()), fake_gpu());
}

/// The section of the fabricated GPU; the kernel shows nothing of it.
FactSection section_of(const Outcome<NvmlDevice>& device) {
  const TemporaryDirectory nothing;
  const auto* known = std::get_if<NvmlDevice>(&device);
  return gpu_section(fake_gpu(),
                     device,
                     std::string("a method"),
                     known != nullptr ? read_nvlinks(*known) : Nvlinks{},
                     nothing.path());
}

const Fact* fact(const FactSection& section, const std::string& name) {
  const auto found = std::ranges::find(section.facts, name, &Fact::name);
  return found == section.facts.end() ? nullptr : &*found;
}

template <class T>
T value(const FactSection& section, const std::string& name) {
  const Fact* found = fact(section, name);
  INFO(name);
  REQUIRE(found != nullptr);
  REQUIRE(found->value.has_value());
  return std::get<T>(*found->value);
}

std::string reason(const FactSection& section, const std::string& name) {
  const Fact* found = fact(section, name);
  INFO(name);
  REQUIRE(found != nullptr);
  REQUIRE(!found->value);
  return found->source;
}

}  // namespace

TEST_CASE("identity and sizes come from CUDA", "[facts]") {
  fresh_fake_nvml();
  const FactSection section = section_of(fake_device());
  REQUIRE(section.name == "gpu 0");
  REQUIRE(value<std::string>(section, "name") == "NVIDIA H200");
  REQUIRE(value<std::string>(section, "compute_capability") == "9.0");
  REQUIRE(value<std::int64_t>(section, "pci_device_id") == 0x2335);
  REQUIRE(value<std::int64_t>(section, "multiprocessors") == 132);
  REQUIRE(value<std::int64_t>(section, "memory_bytes") == 150000000000);
  REQUIRE(value<std::int64_t>(section, "maximum_clock_hz") == 1980000000);
  REQUIRE(!fact(section, "memory_clock_hz")->value);
}

TEST_CASE("limits are in watts, errors counted, modes in words", "[facts]") {
  fresh_fake_nvml();
  const FactSection section = section_of(fake_device());
  REQUIRE_THAT(value<double>(section, "power_limit_w"), WithinRel(600.0, 1e-12));
  REQUIRE_THAT(value<double>(section, "power_limit_default_w"), WithinRel(700.0, 1e-12));
  REQUIRE_THAT(value<double>(section, "power_limit_maximum_w"), WithinRel(700.0, 1e-12));
  REQUIRE(value<std::int64_t>(section, "default_application_clock_hz") == 1980000000);
  REQUIRE(value<std::string>(section, "ecc") == "on");
  REQUIRE(value<std::int64_t>(section, "uncorrected_errors") == 3);
  REQUIRE(value<std::string>(section, "mig") == "off");
  REQUIRE(value<std::string>(section, "compute_mode") == "exclusive to one process");
  REQUIRE(value<std::string>(section, "persistence") == "on");
  REQUIRE(value<std::int64_t>(section, "foreign_processes") == 2);
  REQUIRE(value<std::string>(section, "power_reading") == "a method");
}

TEST_CASE("the idle PCIe link is told apart from the possible one", "[facts]") {
  fresh_fake_nvml();
  const FactSection section = section_of(fake_device());
  REQUIRE(value<std::int64_t>(section, "pcie_generation") == 5);
  REQUIRE(value<std::int64_t>(section, "pcie_width") == 16);
  REQUIRE(value<std::int64_t>(section, "pcie_generation_idle") == 1);
  REQUIRE(value<std::int64_t>(section, "pcie_replays") == 4);
}

TEST_CASE("a refused fact keeps NVML's words, the others stay", "[facts]") {
  FakeNvml& fake = fresh_fake_nvml();
  fake.ecc.result = 3;
  fake.enforced_limit_mw.result = 4;
  const FactSection section = section_of(fake_device());
  REQUIRE(reason(section, "ecc").find("Not Supported") != std::string::npos);
  REQUIRE(reason(section, "power_limit_w").find("Insufficient Permissions") != std::string::npos);
  REQUIRE_THAT(value<double>(section, "power_limit_default_w"), WithinRel(700.0, 1e-12));
}

TEST_CASE("without NVML one fact says why, and CUDA's stay", "[facts]") {
  const FactSection section = section_of(Skipped{"no libnvidia-ml.so.1 here"});
  REQUIRE(reason(section, "nvml") == "no libnvidia-ml.so.1 here");
  REQUIRE(value<std::int64_t>(section, "multiprocessors") == 132);
  REQUIRE(fact(section, "power_limit_w") == nullptr);
}

TEST_CASE("a slice says what is not its own", "[facts]") {
  FakeNvml& fake = fresh_fake_nvml();
  fake.mig.value = 1;
  probes::DeviceDescription slice = fake_gpu();
  slice.mig = true;
  const TemporaryDirectory nothing;
  const FactSection section =
      gpu_section(slice, fake_device(), Skipped{"no power of its own"}, {}, nothing.path());
  REQUIRE(value<bool>(section, "mig_slice"));
  REQUIRE(value<std::string>(section, "mig") == "on");
  REQUIRE(reason(section, "power_reading") == "no power of its own");
}

TEST_CASE("NVLinks are counted, with the speed of one and the other ends", "[facts]") {
  FakeNvml& fake = fresh_fake_nvml();
  fake.links[0] = {true, true, 2, ""};
  fake.links[1] = {true, true, 0, "00000000:3A:00.0"};
  fake.links[2] = {true, false, 0xff, ""};
  const FactSection section = section_of(fake_device());
  REQUIRE(value<std::int64_t>(section, "nvlinks") == 2);
  REQUIRE(value<std::int64_t>(section, "nvlinks_down") == 1);
  REQUIRE_THAT(value<double>(section, "nvlink_bytes_per_s"), WithinRel(26.562e9, 1e-12));
  REQUIRE(value<std::string>(section, "nvlink_peers") == "switches (1), 0000:3a:00.0 (1)");
}

TEST_CASE("a GPU without NVLink has the driver's reason", "[facts]") {
  fresh_fake_nvml();
  REQUIRE(reason(section_of(fake_device()), "nvlinks") == "NVML: Not Supported");
}
