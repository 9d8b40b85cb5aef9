// SPDX-License-Identifier: Apache-2.0
/// Facts of a GPU from CUDA and the kernel.
#pragma once

#include "cuda/libraries/nvml.h"
#include "probes/gpu/device.h"
#include "src/core/estimate.h"
#include "src/core/run.h"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace scaleworth::gpu {
/// What CUDA and the kernel report of a GPU, without NVML and without a context on it. `ordinal`
/// counts as CUDA does, CUDA_VISIBLE_DEVICES applied. Throws gpu::Error.
DeviceDescription describe_device(int ordinal);

/// The NVLinks of one GPU: how many are up, how fast, and what is at their other ends.
struct Nvlinks {
  int active = 0;
  /// Links that exist and are down: a sign of a defect, or of a board without its bridge.
  int inactive = 0;
  /// Of one link in one direction, as the driver reports it.
  std::optional<double> link_bytes_per_s;
  int to_switches = 0;
  std::map<std::string, int> to_gpus;  // links by the peer's bus id, as the kernel writes it
  std::string reason;                  // why nothing is known; empty when something is
};

Nvlinks read_nvlinks(const NvmlDevice& device);

/// Section "gpu N" for the ordinal N. Without NVML one fact "nvml" says why, and what only it
/// knows is left out. Of a MIG slice: identity and sizes are the slice's, the rest the whole
/// GPU's. `power` is how power is read, as power_method() says. `own`: as in gpu_facts.
FactSection gpu_section(const DeviceDescription& device,
                        const Outcome<NvmlDevice>& nvml,
                        const Outcome<std::string>& power,
                        const Nvlinks& links,
                        const std::filesystem::path& root = "/",
                        std::span<const pid_t> own = {});

/// What the kernel reports of a PCI device without any vendor library. Of /sys/bus/pci/devices/<bus
/// id>; absent what cannot be read. A node of -1 (none known) is absent.
struct PciSysfs {
  std::optional<int> device_id;  // 16 bits
  std::optional<int> numa_node;
};

/// `bus_id` as CUDA or NVML write it ("0000:18:00.0", "00000000:18:00.0", any case); `root` stands
/// before the path (tests).
PciSysfs read_pci_sysfs(const std::string& bus_id, const std::filesystem::path& root = "/");

/// "0000:18:00.0": a domain of four digits, lower case. Empty for text of another form.
std::string kernel_bus_id(const std::string& bus_id);

/// Facts from NVML; each that it refuses keeps the driver's reason: power_limit_w (the one in
/// force: the smallest of all), power_limit_default_w.
std::vector<Fact> power_facts(const NvmlDevice& device);

/// ecc, uncorrected_errors (since the driver was loaded), mig, foreign_processes: those on the GPU
/// without this one and `own`. In a container the driver may number processes as the host does, and
/// this process cannot find itself among them: then only that there are more than its job has is
/// known, and with no more the fact is absent.
std::vector<Fact> state_facts(const NvmlDevice& device,
                              std::span<const pid_t> own,
                              const std::filesystem::path& root = "/");

/// nvlinks, nvlinks_down, nvlink_bytes_per_s (one link, one direction), nvlink_peers.
std::vector<Fact> nvlink_facts(const Nvlinks& links);

struct LinkedGpu {
  DeviceDescription description;
  Nvlinks nvlinks;
  /// By the ordinal of the other GPU: whether it can be read directly; absent where CUDA failed.
  std::vector<std::optional<bool>> peer_access;
};

/// Section "gpu links": models (and mixed_models: true where they differ), and for each pair
/// gpu_0_gpu_1: "peer access, 18 NVLinks through switches", "peer access over PCIe", "no peer
/// access: bytes go through this node's memory".
FactSection link_section(const std::vector<LinkedGpu>& gpus);
/// The same as values; `unknown` where only one of a pair reaches the other, or CUDA failed.
std::vector<GpuLink> gpu_links(const std::vector<LinkedGpu>& gpus);

/// pcie_generation and pcie_width, the most that GPU and slot can do together; none without NVML.
std::vector<Fact> pcie_facts(const Outcome<NvmlDevice>& nvml);
}  // namespace scaleworth::gpu
