// SPDX-License-Identifier: Apache-2.0
/// Nodes made of files: whether one has GPUs, and what keeps a program from using them.
#include "probes/gpu/driver_signs.h"

#include "tests/catch.h"
#include "tests/unit/core/temporary_directory.h"

#include <unistd.h>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {
constexpr const char* needed = "525.60.13";

/// A node's root folder, to which a test adds what a node of its kind has.
class Node {
 public:
  Node& file(const std::string& name, const std::string& text = "") {
    const auto target = folder_.path() / name;
    std::filesystem::create_directories(target.parent_path());
    std::ofstream(target) << text << "\n";
    return *this;
  }
  Node& link(const std::string& name, const std::string& target) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::filesystem::create_symlink(target, folder_.path() / name);
    return *this;
  }
  Node& pci_gpu(const std::string& driver) {
    const std::string device = "sys/bus/pci/devices/0000:18:00.0/";
    file(device + "vendor", "0x10de").file(device + "class", "0x030200");
    if (!driver.empty()) link(device + "driver", "../../drivers/" + driver);
    return *this;
  }
  Node& module(const std::string& version) {
    return file("proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + version +
                    "  Tue Jun  6 23:34:31 UTC 2023");
  }
  Node& library(const std::string& version) {
    const std::string folder = "usr/lib/x86_64-linux-gnu/";
    return file(folder + "libcuda.so." + version)
        .link(folder + "libcuda.so.1", "libcuda.so." + version);
  }
  Node& device_files() { return file("dev/nvidia0").file("dev/nvidiactl").file("dev/nvidia-uvm"); }

  DriverSigns signs(const EnvironmentVariables& variables = {}) const {
    return read_driver_signs(variables, "", folder_.path());
  }
  std::string obstacle(const EnvironmentVariables& variables = {}) const {
    return probes::obstacle(signs(variables), needed).value_or("none");
  }
  std::filesystem::path path() const { return folder_.path(); }

 private:
  TemporaryDirectory folder_;
};

}  // namespace

TEST_CASE("a node without anything of NVIDIA's has no GPUs that could be missed", "[gpu][signs]") {
  Node node;
  node.file("sys/bus/pci/devices/0000:00:02.0/vendor", "0x1af4")
      .file("sys/bus/pci/devices/0000:00:02.0/class", "0x030000");
  node.file("sys/bus/pci/devices/0000:00:03.0/vendor", "0x10de")
      .file("sys/bus/pci/devices/0000:00:03.0/class", "0x040300");  // sound
  node.file("dev/dxg").file("dev/nvidia-caps");
  CHECK_FALSE(node.signs({{"PATH", "/usr/bin:/bin"}, {"NVIDIA_VISIBLE_DEVICES", "void"}}).any());
  CHECK(node.obstacle({{"CUDA_VISIBLE_DEVICES", ""}}) == "none");
}

TEST_CASE("a device, the loaded driver or a container's promise shows that there may be a GPU",
          "[gpu][signs]") {
  CHECK(Node().device_files().signs().any());
  CHECK(Node().module("535.54.03").signs().any());
  CHECK(Node().pci_gpu("").signs().any());
  CHECK(Node().signs({{"NVIDIA_VISIBLE_DEVICES", "all"}}).any());
}

TEST_CASE("packages of the driver without a GPU are no sign of one", "[gpu][signs]") {
  Node node;
  node.library("535.54.03").file("usr/bin/nvidia-smi");
  CHECK_FALSE(node.signs({{"PATH", "/usr/bin"}}).any());
  CHECK(node.obstacle() == "none");
}

TEST_CASE("where nothing is wrong no obstacle is seen", "[gpu][signs]") {
  Node node;
  node.module("535.54.03").library("535.54.03").device_files().pci_gpu("nvidia");
  CHECK(node.obstacle() == "none");
  CHECK(node.obstacle({{"CUDA_VISIBLE_DEVICES", "0,1"}}) == "none");
  CHECK(describe(node.signs()) == "1 NVIDIA GPU, NVIDIA's driver 535.54.03");
}

TEST_CASE("a driver that is too old is named with the first that serves", "[gpu][signs]") {
  const std::string old = Node().module("510.47.03").library("510.47.03").device_files().obstacle();
  CHECK(contains(old, "driver 510.47.03 is too old: 525.60.13 or later"));
  CHECK(Node().module("525.105.17").library("525.105.17").device_files().obstacle() == "none");
  // Of a CUDA whose first driver is not known here nothing is too old.
  CHECK_FALSE(obstacle(Node().module("700.1.2").library("700.1.2").device_files().signs(),
                       first_driver(99)));
  // A library of cuda-compat makes up for it.
  Node compatible;
  compatible.module("510.47.03").device_files().file("usr/local/cuda/compat/libcuda.so.535.54.03");
  compatible.link("usr/local/cuda/compat/libcuda.so.1", "libcuda.so.535.54.03");
  CHECK(compatible.obstacle({{"LD_LIBRARY_PATH", "/usr/local/cuda/compat"}}) == "none");
}

TEST_CASE("a container that was given no GPU is told so", "[gpu][signs]") {
  CHECK(contains(Node().obstacle({{"NVIDIA_VISIBLE_DEVICES", "all"}}), "--gpus all"));
  // The kernel's files show the GPU of the host in it.
  const std::string seen =
      Node().file(".dockerenv").module("535.54.03").pci_gpu("nvidia").obstacle();
  CHECK(contains(seen, "this container was given no GPU (1 NVIDIA GPU, NVIDIA's driver 535.54.03"));
}

TEST_CASE("device files that are missing or closed are named with the way to them",
          "[gpu][signs]") {
  CHECK(contains(Node().module("535.54.03").obstacle(), "no /dev/nvidia0: run nvidia-smi once"));
  DriverSigns closed;
  closed.device_files = {"/dev/nvidia0"};
  closed.closed_files = {"/dev/nvidiactl"};
  CHECK(contains(obstacle(closed, needed).value_or(""), "may not open /dev/nvidiactl"));
  // One of two that this user may open is enough.
  closed.device_files = {"/dev/nvidia0", "/dev/nvidia1"};
  closed.closed_files = {"/dev/nvidia1"};
  closed.library = "/usr/lib64/libcuda.so.1";
  CHECK_FALSE(obstacle(closed, needed));
}

TEST_CASE("a device file that this user may not open is found", "[gpu][signs]") {
  Node node;
  node.library("535.54.03").device_files();
  std::filesystem::permissions(node.path() / "dev/nvidia0", std::filesystem::perms::none);
  if (geteuid() == 0) {
    CHECK(node.signs().closed_files.empty());  // root may open all
  } else {
    CHECK(contains(node.obstacle(), "may not open /dev/nvidia0"));
  }
}

TEST_CASE("a driver of which a half is missing is named by the missing one", "[gpu][signs]") {
  CHECK(contains(Node().module("535.54.03").device_files().obstacle(), "no libcuda.so.1"));
  CHECK(contains(Node().pci_gpu("nouveau").obstacle(),
                 "no kernel module of NVIDIA's driver is loaded (the GPU belongs to nouveau)"));
}

TEST_CASE("a library and a kernel module of two drivers are named with both", "[gpu][signs]") {
  const std::string mixed =
      Node().module("535.54.03").library("550.90.07").device_files().obstacle();
  CHECK(contains(mixed,
                 "libcuda.so.1 is of driver 550.90.07, the kernel module of driver 535.54.03"));
  CHECK(contains(mixed, "reboot"));
  // The library of a board with its GPU in the processor has no version.
  CHECK(Node().module("540.4.0").library("1.1").device_files().obstacle() == "none");
}

TEST_CASE("GPUs that the environment hides are told apart from GPUs that are not there",
          "[gpu][signs]") {
  Node node;
  node.module("535.54.03").library("535.54.03").device_files();
  for (const char* none : {"", "-1"}) {
    CHECK(contains(node.obstacle({{"CUDA_VISIBLE_DEVICES", none}}),
                   "CUDA_VISIBLE_DEVICES names no GPU"));
  }
}

TEST_CASE("Windows' subsystem for Linux has one device file for all GPUs", "[gpu][signs]") {
  Node node;
  node.file("dev/dxg").file("usr/lib/wsl/lib/libcuda.so.1");
  CHECK(node.obstacle() == "none");
  CHECK(node.signs().any());
}
