// SPDX-License-Identifier: Apache-2.0
#include "cuda/facts/pci_sysfs.h"

#include "tests/catch.h"
#include "tests/unit/core/temporary_directory.h"

using namespace scaleworth;
using namespace scaleworth::gpu;

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

TEST_CASE("ids, node and link of a device are read", "[pci]") {
  const TemporaryDirectory root;
  const auto folder = device_folder(root);
  write(folder / "device", "0x2335");
  write(folder / "subsystem_device", "0x18be");
  write(folder / "subsystem_vendor", "0x10de");
  write(folder / "numa_node", "1");
  write(folder / "current_link_speed", "2.5 GT/s PCIe");
  write(folder / "max_link_speed", "32.0 GT/s PCIe");
  write(folder / "current_link_width", "16");
  write(folder / "max_link_width", "16");
  const PciSysfs pci = read_pci_sysfs("00000000:18:00.0", root.path());
  REQUIRE(pci.device_id == 0x2335);
  REQUIRE(pci.subsystem_id == 0x18be);
  REQUIRE(pci.subsystem_vendor_id == 0x10de);
  REQUIRE(pci.numa_node == 1);
  REQUIRE(pci.link_gigatransfers_per_s == 2.5);
  REQUIRE(pci.maximum_link_gigatransfers_per_s == 32.0);
  REQUIRE(pci.link_width == 16);
  REQUIRE(pci.maximum_link_width == 16);
}

TEST_CASE("what the kernel does not know is absent", "[pci]") {
  const TemporaryDirectory root;
  const auto folder = device_folder(root);
  write(folder / "device", "2335?");
  write(folder / "numa_node", "-1");
  write(folder / "current_link_speed", "Unknown");
  write(folder / "current_link_width", "255");
  const PciSysfs pci = read_pci_sysfs("0000:18:00.0", root.path());
  REQUIRE(!pci.device_id);
  REQUIRE(!pci.numa_node);
  REQUIRE(!pci.link_gigatransfers_per_s);
  REQUIRE(!pci.link_width);
  REQUIRE(!pci.maximum_link_width);
  REQUIRE(!read_pci_sysfs("0000:19:00.0", root.path()).device_id);
}

TEST_CASE("a lane's rate tells the PCIe generation", "[pci]") {
  REQUIRE(pcie_generation(2.5) == 1);
  REQUIRE(pcie_generation(16.0) == 4);
  REQUIRE(pcie_generation(32.0) == 5);
  REQUIRE(pcie_generation(64.0) == 6);
  REQUIRE(!pcie_generation(25.0));
}
