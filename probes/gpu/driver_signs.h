// SPDX-License-Identifier: Apache-2.0
/// What a node shows of NVIDIA's GPUs and driver without asking the driver: it tells a node without
/// GPUs from one whose GPUs cannot be used, and why they cannot.
#pragma once

#include "src/core/process.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {
struct DriverSigns {
  std::string kernel_driver;              // version of the loaded kernel module; empty: none
  std::vector<std::string> device_files;  // "/dev/nvidia0", one per GPU
  std::vector<std::string> closed_files;  // of these and the control files: this user may not open
  std::vector<std::string> pci_gpus;      // "0000:18:00.0"
  std::string other_driver;               // of one of them: "nouveau"; empty: none or NVIDIA's
  std::string library;                    // libcuda.so.1, where it was found; empty: nowhere
  std::string library_version;            // "535.54.03", by the file's name; empty: not known
  std::string container;                  // what runs this one: "docker"; empty: no mark of any
  std::string requested;                  // GPUs that NVIDIA_VISIBLE_DEVICES promises; empty: none
  bool hidden = false;                    // CUDA_VISIBLE_DEVICES names no GPU

  /// True where a GPU, the loaded driver or a container's request for GPUs is there.
  bool any() const;
};

/// `loaded_library`: libcuda.so.1 as the loader found it; empty: it is looked for in the usual
/// folders. `root` stands before all paths, also those in `variables` (tests).
DriverSigns read_driver_signs(const EnvironmentVariables& variables,
                              const std::string& loaded_library = "",
                              const std::filesystem::path& root = "/");

/// "2 NVIDIA GPUs, NVIDIA's driver 535.54.03": the signs in words.
std::string describe(const DriverSigns& signs);

/// Why no program of this node can use a GPU, with the remedy, as far as the signs tell; absent
/// where they show nothing wrong. `least_driver` is the first version that serves the program.
std::optional<std::string> obstacle(const DriverSigns& signs, const std::string& least_driver);

/// The first Linux driver that serves CUDA of this major version.
std::string first_driver(int cuda_major);

/// The container runtime that left its mark below `root`, and the mark; absent without one.
struct ContainerMark {
  std::string runtime;
  std::string file;
};
std::optional<ContainerMark> container_mark(const std::filesystem::path& root = "/");
}  // namespace scaleworth::probes
