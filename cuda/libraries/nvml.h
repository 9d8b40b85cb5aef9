// SPDX-License-Identifier: Apache-2.0
/// NVML's functions, opened at run time. The library belongs to the driver, not to the toolkit.
#pragma once

#include "cuda/libraries/nvml_types.h"
#include "cuda/libraries/open/open_library.h"

#include <memory>
#include <source_location>
#include <string>

namespace scaleworth::gpu {

/// The first pointers are set; the others are null where the driver has no such function, and a
/// function that is there may still answer `not_supported` for a GPU. Calls are thread-safe.
/// Prototypes: NVIDIA's NVML API reference, version 13.0; units in the comments.
struct Nvml : OpenedLibrary {
  using Result = nvml::Result;
  using Device = nvml::Device;
  using Number = unsigned int;
  template <class... Arguments>
  using Function = Result (*)(Arguments...);
  template <class Answer>
  using Question = Function<Device, Answer*>;
  template <class Answer>
  using LinkQuestion = Function<Device, Number, Answer*>;

  std::string driver_version;  // "580.65.06"
  Function<> initialise = nullptr;
  Function<> shut_down = nullptr;
  const char* (*error_words)(Result) = nullptr;
  Function<char*, Number> read_driver_version = nullptr;  // buffer of 80 bytes
  Function<char*, Number> read_library_version = nullptr;
  Function<const char*, Device*> device_by_uuid = nullptr;  // "GPU-..." or "MIG-..."
  Function<const char*, Device*> device_by_bus_id = nullptr;

  Function<Number*> device_count = nullptr;
  Question<nvml::PciInfo> pci_info = nullptr;
  Question<Device> device_of_slice = nullptr;             // the GPU that a MIG slice is part of
  Function<Device, Number*, Number*> mig_mode = nullptr;  // current, pending: 0 or 1
  Question<nvml::ComputeMode> compute_mode = nullptr;
  Question<nvml::EnableState> persistence_mode = nullptr;
  Question<nvml::Memory> memory = nullptr;
  Function<Device, Number*, nvml::Process*> compute_processes = nullptr;  // count in and out

  Function<Device, nvml::Clock, Number*> clock = nullptr;                      // MHz
  Function<Device, nvml::Clock, Number*> maximum_clock = nullptr;              // MHz
  Function<Device, nvml::Clock, Number*> default_application_clock = nullptr;  // MHz
  Question<unsigned long long> clock_event_reasons = nullptr;                  // bit mask
  Question<int> performance_state = nullptr;       // 0: fastest; 32: unknown
  Question<Number> power = nullptr;                // mW, averaged over 1 s from Ampere on
  Question<Number> power_limit = nullptr;          // mW, as set
  Question<Number> default_power_limit = nullptr;  // mW
  Function<Device, Number*, Number*> power_limit_range = nullptr;  // mW, least and most to be set
  Question<Number> enforced_power_limit = nullptr;                 // mW, the smallest of all limits
  Question<unsigned long long> total_energy = nullptr;             // mJ since the driver was loaded
  Function<Device, nvml::TemperatureSensor, Number*> temperature = nullptr;               // C
  Function<Device, nvml::TemperatureThreshold, Number*> temperature_threshold = nullptr;  // C

  Function<Device, nvml::EnableState*, nvml::EnableState*> ecc_mode = nullptr;  // current, pending
  Function<Device, nvml::MemoryError, nvml::EccCounter, unsigned long long*> ecc_errors = nullptr;

  Question<Number> pcie_generation = nullptr;
  Question<Number> pcie_width = nullptr;
  Question<Number> maximum_pcie_generation = nullptr;  // of GPU and slot together
  Question<Number> maximum_pcie_width = nullptr;
  Question<Number> pcie_replays = nullptr;
  Function<Device, nvml::PcieCounter, Number*> pcie_throughput = nullptr;  // KB/s over 20 ms

  LinkQuestion<nvml::EnableState> nvlink_state = nullptr;
  LinkQuestion<Number> nvlink_version = nullptr;
  LinkQuestion<nvml::PciInfo> nvlink_remote = nullptr;
  LinkQuestion<nvml::NvLinkRemote> nvlink_remote_kind = nullptr;
  Function<Device, Number, nvml::NvLinkCapability, Number*> nvlink_capability = nullptr;
  Function<Device, int, nvml::FieldValue*> field_values =
      nullptr;  // each answer has its own result

  /// Throws LibraryError naming the call site unless `status` is success.
  void check(Result status, std::source_location where = std::source_location::current()) const;
};

/// Initialised; shut down when the last owner lets go. Skipped also when the library is there and
/// the driver is not loaded, does not match it or refuses; Failed as `open_library` says.
Outcome<std::shared_ptr<const Nvml>> open_nvml(const std::string& user_path,
                                               const SearchScope& scope = {});

}  // namespace scaleworth::gpu
