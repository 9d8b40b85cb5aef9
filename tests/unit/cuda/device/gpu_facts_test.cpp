// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/gpu_facts.h"

#include "cuda/device/telemetry.h"
#include "tests/catch.h"
#include "tests/unit/core/temporary_directory.h"
#include "tests/unit/cuda/fake_nvml/open_fake.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {
Outcome<NvmlDevice> fake_device() {
  return find_nvml_device(open_fake_nvml(), fake_gpu());
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
  REQUIRE(value<std::string>(section, "ecc") == "on");
  REQUIRE(value<std::int64_t>(section, "uncorrected_errors") == 3);
  REQUIRE(value<std::string>(section, "mig") == "off");
  REQUIRE(value<std::string>(section, "power_reading") == "a method");
}

namespace {
/// The facts as a process would see them whose namespace of processes is `space`.
FactSection section_in(const std::string& space, const std::vector<pid_t>& own) {
  const TemporaryDirectory root;
  std::filesystem::create_directories(root.path() / "proc/self/ns");
  std::filesystem::create_symlink("pid:[" + space + "]", root.path() / "proc/self/ns/pid");
  return gpu_section(fake_gpu(), fake_device(), std::string("a method"), {}, root.path(), own);
}
const std::string of_host = "4026531836";
const std::string of_container = "4026532501";
}  // namespace

TEST_CASE("ranks of this job are no foreign programs on a GPU", "[facts]") {
  FakeNvml& fake = fresh_fake_nvml();
  fake.processes.value = 3;
  fake.first_process = 700;
  const std::vector<pid_t> ranks{700, 701};
  REQUIRE(value<std::int64_t>(section_in(of_host, ranks), "foreign_processes") == 1);
  REQUIRE(value<std::int64_t>(section_in(of_host, {}), "foreign_processes") == 3);
  // A driver that shows ours shows the container's numbers.
  REQUIRE(value<std::int64_t>(section_in(of_container, ranks), "foreign_processes") == 1);
  REQUIRE(value<std::int64_t>(section_in(of_container, {700, 701, 702}), "foreign_processes") == 0);
  fake.first_process = static_cast<unsigned int>(::getpid());
  fake.processes.value = 1;
  REQUIRE(value<std::int64_t>(section_in(of_host, {}), "foreign_processes") == 0);
}

TEST_CASE(
    "in a container whose driver numbers as the host, no more processes than ours are no verdict",
    "[facts]") {
  FakeNvml& fake = fresh_fake_nvml();
  fake.first_process = 2'000'000'000;
  fake.processes.value = 2;
  const std::vector<pid_t> ranks{41, 42};
  const FactSection unknown = section_in(of_container, ranks);
  REQUIRE(contains(reason(unknown, "foreign_processes"), "may be this job's own"));
  fake.processes.value = 5;  // of this job two ranks and the process that asks
  REQUIRE(value<std::int64_t>(section_in(of_container, ranks), "foreign_processes") == 2);
  fake.processes.value = 0;
  REQUIRE(value<std::int64_t>(section_in(of_container, ranks), "foreign_processes") == 0);
}

TEST_CASE("the PCIe link is what GPU and slot can do", "[facts]") {
  fresh_fake_nvml();
  const FactSection section = section_of(fake_device());
  REQUIRE(value<std::int64_t>(section, "pcie_generation") == 5);
  REQUIRE(value<std::int64_t>(section, "pcie_width") == 16);
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

namespace {
void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text << '\n';
}

std::filesystem::path device_folder(const TemporaryDirectory& root) {
  const auto folder = root.path() / "sys/bus/pci/devices/0000:18:00.0";
  std::filesystem::create_directories(folder);
  return folder;
}
}  // namespace

TEST_CASE("bus ids of CUDA and NVML become the kernel's", "[pci]") {
  REQUIRE(kernel_bus_id("0000:18:00.0") == "0000:18:00.0");
  REQUIRE(kernel_bus_id("00000000:AB:00.0") == "0000:ab:00.0");
  REQUIRE(kernel_bus_id("00000008:01:00.0") == "0008:01:00.0");
  REQUIRE(kernel_bus_id("18:00.0").empty());
  REQUIRE(kernel_bus_id("0000:../00.0").empty());
  REQUIRE(kernel_bus_id("").empty());
}

TEST_CASE("id and node of a device are read", "[pci]") {
  const TemporaryDirectory root;
  const auto folder = device_folder(root);
  write(folder / "device", "0x2335");
  write(folder / "numa_node", "1");
  const PciSysfs pci = read_pci_sysfs("00000000:18:00.0", root.path());
  REQUIRE(pci.device_id == 0x2335);
  REQUIRE(pci.numa_node == 1);
}

TEST_CASE("what the kernel does not know is absent", "[pci]") {
  const TemporaryDirectory root;
  const auto folder = device_folder(root);
  write(folder / "device", "2335?");
  write(folder / "numa_node", "-1");
  const PciSysfs pci = read_pci_sysfs("0000:18:00.0", root.path());
  REQUIRE(!pci.device_id);
  REQUIRE(!pci.numa_node);
  REQUIRE(!read_pci_sysfs("0000:19:00.0", root.path()).device_id);
}
