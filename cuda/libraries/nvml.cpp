// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/nvml.h"

#include "cuda/libraries/open/library_error.h"

#include <array>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

const LibraryNames& names() {
  static const LibraryNames entry{
      "NVML", "--nvml-lib", "NVIDIA's driver", {"libnvidia-ml.so.1", "libnvidia-ml.so"}, {}, {}};
  return entry;
}

void fill_identity(const SharedLibrary& library, Nvml& table) {
  library.take(table.device_count, "nvmlDeviceGetCount_v2");
  library.take(table.pci_info, "nvmlDeviceGetPciInfo_v3");
  library.take(table.device_of_slice, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  library.take(table.mig_mode, "nvmlDeviceGetMigMode");
  library.take(table.compute_mode, "nvmlDeviceGetComputeMode");
  library.take(table.persistence_mode, "nvmlDeviceGetPersistenceMode");
  library.take(table.memory, "nvmlDeviceGetMemoryInfo");
  library.take(table.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  library.take(table.ecc_mode, "nvmlDeviceGetEccMode");
  library.take(table.ecc_errors, "nvmlDeviceGetTotalEccErrors");
}

void fill_state(const SharedLibrary& library, Nvml& table) {
  library.take(table.clock, "nvmlDeviceGetClockInfo");
  library.take(table.maximum_clock, "nvmlDeviceGetMaxClockInfo");
  library.take(table.default_application_clock, "nvmlDeviceGetDefaultApplicationsClock");
  library.take(table.clock_event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (table.clock_event_reasons == nullptr) {  // its name in drivers before 535
    library.take(table.clock_event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  library.take(table.performance_state, "nvmlDeviceGetPerformanceState");
  library.take(table.power, "nvmlDeviceGetPowerUsage");
  library.take(table.power_limit, "nvmlDeviceGetPowerManagementLimit");
  library.take(table.default_power_limit, "nvmlDeviceGetPowerManagementDefaultLimit");
  library.take(table.power_limit_range, "nvmlDeviceGetPowerManagementLimitConstraints");
  library.take(table.enforced_power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  library.take(table.total_energy, "nvmlDeviceGetTotalEnergyConsumption");
  library.take(table.temperature, "nvmlDeviceGetTemperature");
  library.take(table.temperature_threshold, "nvmlDeviceGetTemperatureThreshold");
}

void fill_links(const SharedLibrary& library, Nvml& table) {
  library.take(table.pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
  library.take(table.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
  library.take(table.maximum_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  library.take(table.maximum_pcie_width, "nvmlDeviceGetMaxPcieLinkWidth");
  library.take(table.pcie_replays, "nvmlDeviceGetPcieReplayCounter");
  library.take(table.pcie_throughput, "nvmlDeviceGetPcieThroughput");
  library.take(table.nvlink_state, "nvmlDeviceGetNvLinkState");
  library.take(table.nvlink_version, "nvmlDeviceGetNvLinkVersion");
  library.take(table.nvlink_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  library.take(table.nvlink_remote_kind, "nvmlDeviceGetNvLinkRemoteDeviceType");
  library.take(table.nvlink_capability, "nvmlDeviceGetNvLinkCapability");
  library.take(table.field_values, "nvmlDeviceGetFieldValues");
}

std::string text_of(Nvml::Function<char*, Nvml::Number> read) {
  std::array<char, 80> buffer{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
  if (read(buffer.data(), static_cast<Nvml::Number>(buffer.size())) != nvml::Result::success) {
    return "unknown";
  }
  return buffer.data();
}

/// Last, so that a refused library was not left initialised.
void initialise(Nvml& table) {
  const nvml::Result status = table.initialise();
  if (status != nvml::Result::success) {
    throw UnusableLibrary(fmt::format(
        "nvmlInit_v2 says \"{}\" (code {})", table.error_words(status), static_cast<int>(status)));
  }
  table.version = text_of(table.read_library_version);
  table.driver_version = text_of(table.read_driver_version);
}

void fill(const SharedLibrary& library, Nvml& table) {
  library.need(table.initialise, "nvmlInit_v2");
  library.need(table.shut_down, "nvmlShutdown");
  library.need(table.error_words, "nvmlErrorString");
  library.need(table.read_driver_version, "nvmlSystemGetDriverVersion");
  library.need(table.read_library_version, "nvmlSystemGetNVMLVersion");
  library.need(table.device_by_uuid, "nvmlDeviceGetHandleByUUID");
  library.need(table.device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  fill_identity(library, table);
  fill_state(library, table);
  fill_links(library, table);
  initialise(table);
}

}  // namespace

void Nvml::check(Result status, std::source_location where) const {
  if (status == Result::success) return;
  throw LibraryError("NVML", error_words(status), static_cast<int>(status), where);
}

Outcome<std::shared_ptr<const Nvml>> open_nvml(const std::string& user_path,
                                               const SearchScope& scope) {
  auto opened = open_table<Nvml>(names(), user_path, scope, &fill);
  if (const auto* table = std::get_if<std::shared_ptr<const Nvml>>(&opened)) {
    const Nvml* plain = table->get();
    return std::shared_ptr<const Nvml>(plain,
                                       [owner = *table](const Nvml*) { owner->shut_down(); });
  }
  return opened;
}

}  // namespace scaleworth::gpu
