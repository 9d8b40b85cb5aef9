// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/nvml.h"

#include "cuda/libraries/library.h"

#include <array>
#include <utility>

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

namespace {
double number_of(const nvml::FieldValue& answer) {
  switch (answer.type) {
    case nvml::ValueType::real:
      return answer.value.real;
    case nvml::ValueType::unsigned_int:
      return answer.value.unsigned_int;
    case nvml::ValueType::unsigned_long:
      return static_cast<double>(answer.value.unsigned_long);
    case nvml::ValueType::unsigned_long_long:
      return static_cast<double>(answer.value.unsigned_long_long);
    case nvml::ValueType::signed_long_long:
      return static_cast<double>(answer.value.signed_long_long);
    case nvml::ValueType::signed_int:
      return answer.value.signed_int;
    case nvml::ValueType::unsigned_short:
      return answer.value.unsigned_short;
  }
  return 0.0;
}

/// The same 16 bytes, called a GPU's and a slice's: CUDA's name does not always tell which.
std::string other_kind(const std::string& uuid) {
  if (uuid.starts_with("GPU-")) return "MIG-" + uuid.substr(4);
  if (uuid.starts_with("MIG-")) return "GPU-" + uuid.substr(4);
  return {};
}

NvmlDevice with_parent(const std::shared_ptr<const Nvml>& nvml, nvml::Device found) {
  nvml::Device parent = nullptr;
  const bool is_slice = nvml->device_of_slice != nullptr &&
                        nvml->device_of_slice(found, &parent) == nvml::Result::success &&
                        parent != nullptr;
  return is_slice ? NvmlDevice(nvml, parent, found) : NvmlDevice(nvml, found);
}
}  // namespace

NvmlAnswer<double> NvmlDevice::ask_field(nvml::Field field, unsigned int scope) const {
  NvmlAnswer<double> answer;
  nvml::FieldValue question{};
  question.field = field;
  question.scope = scope;
  answer.status = nvml_->field_values == nullptr ? nvml::Result::function_not_found
                                                 : nvml_->field_values(handle_, 1, &question);
  if (answer) answer.status = question.result;
  if (answer) answer.value = number_of(question);
  answer.reason = reason_of(answer.status);
  return answer;
}

std::string NvmlDevice::reason_of(nvml::Result status) const {
  if (status == nvml::Result::success) return {};
  if (status == nvml::Result::function_not_found) return "this driver has no such question";
  const char* words = nvml_->error_words(status);
  return fmt::format("NVML: {}", words == nullptr ? "unknown error" : words);
}

Outcome<NvmlDevice> find_nvml_device(std::shared_ptr<const Nvml> nvml,
                                     const probes::DeviceDescription& device) {
  nvml::Device found = nullptr;
  const nvml::Result status = nvml->device_by_uuid(device.uuid.c_str(), &found);
  if (status == nvml::Result::success) return with_parent(nvml, found);
  const std::string other = other_kind(device.uuid);
  if (!other.empty() && nvml->device_by_uuid(other.c_str(), &found) == nvml::Result::success) {
    return with_parent(nvml, found);
  }
  if (!device.mig &&
      nvml->device_by_bus_id(device.bus_id.c_str(), &found) == nvml::Result::success) {
    return NvmlDevice(std::move(nvml), found);
  }
  const char* words = nvml->error_words(status);
  return Skipped{fmt::format("NVML does not know GPU {} ({}): {}",
                             device.ordinal,
                             device.uuid,
                             words == nullptr ? "unknown error" : words)};
}
}  // namespace scaleworth::gpu
