// SPDX-License-Identifier: Apache-2.0
/// What cuda/libraries/nvml.h declares itself, against NVIDIA's own header.
#include "cuda/libraries/nvml.h"
#include "tests/catch.h"

#include <nvml.h>

namespace scaleworth::gpu {
namespace {
static_assert(sizeof(nvml::PciInfo) == sizeof(nvmlPciInfo_t));
static_assert(offsetof(nvml::PciInfo, domain) == offsetof(nvmlPciInfo_t, domain));
static_assert(offsetof(nvml::PciInfo, device_and_vendor) == offsetof(nvmlPciInfo_t, pciDeviceId));
static_assert(offsetof(nvml::PciInfo, bus_id) == offsetof(nvmlPciInfo_t, busId));

static_assert(sizeof(nvml::Process) == sizeof(nvmlProcessInfo_t));
static_assert(offsetof(nvml::Process, used_memory) == offsetof(nvmlProcessInfo_t, usedGpuMemory));
static_assert(offsetof(nvml::Process, gpu_instance) == offsetof(nvmlProcessInfo_t, gpuInstanceId));
static_assert(offsetof(nvml::Process, compute_instance) ==
              offsetof(nvmlProcessInfo_t, computeInstanceId));

static_assert(sizeof(nvml::FieldValue) == sizeof(nvmlFieldValue_t));
static_assert(offsetof(nvml::FieldValue, scope) == offsetof(nvmlFieldValue_t, scopeId));
static_assert(offsetof(nvml::FieldValue, timestamp_us) == offsetof(nvmlFieldValue_t, timestamp));
static_assert(offsetof(nvml::FieldValue, latency_us) == offsetof(nvmlFieldValue_t, latencyUsec));
static_assert(offsetof(nvml::FieldValue, type) == offsetof(nvmlFieldValue_t, valueType));
static_assert(offsetof(nvml::FieldValue, result) == offsetof(nvmlFieldValue_t, nvmlReturn));
static_assert(offsetof(nvml::FieldValue, value) == offsetof(nvmlFieldValue_t, value));
static_assert(nvml::field_nvlink_speed_common_mbps == NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON);
static_assert(nvml::field_nvlink_speed_mbps == NVML_FI_DEV_NVLINK_GET_SPEED);
static_assert(nvml::field_power_instant_mw == NVML_FI_DEV_POWER_INSTANT);

template <class Ours, class Vendors>
constexpr bool same(Ours ours, Vendors vendors) {
  return sizeof(Ours) == sizeof(Vendors) && static_cast<int>(ours) == static_cast<int>(vendors);
}
static_assert(same(nvml::Result::success, NVML_SUCCESS));
static_assert(same(nvml::Result::not_supported, NVML_ERROR_NOT_SUPPORTED));
static_assert(same(nvml::Result::no_permission, NVML_ERROR_NO_PERMISSION));
static_assert(same(nvml::Result::not_found, NVML_ERROR_NOT_FOUND));
static_assert(same(nvml::Result::driver_not_loaded, NVML_ERROR_DRIVER_NOT_LOADED));
static_assert(same(nvml::Result::function_not_found, NVML_ERROR_FUNCTION_NOT_FOUND));
static_assert(same(nvml::Result::gpu_is_lost, NVML_ERROR_GPU_IS_LOST));
static_assert(same(nvml::Clock::graphics, NVML_CLOCK_GRAPHICS));
static_assert(same(nvml::Clock::sm, NVML_CLOCK_SM));
static_assert(same(nvml::Clock::memory, NVML_CLOCK_MEM));
static_assert(same(nvml::TemperatureSensor::gpu, NVML_TEMPERATURE_GPU));
static_assert(same(nvml::TemperatureThreshold::slowdown, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN));
static_assert(same(nvml::TemperatureThreshold::gpu_maximum, NVML_TEMPERATURE_THRESHOLD_GPU_MAX));
static_assert(same(nvml::EnableState::enabled, NVML_FEATURE_ENABLED));
static_assert(same(nvml::MemoryError::uncorrected, NVML_MEMORY_ERROR_TYPE_UNCORRECTED));
static_assert(same(nvml::EccCounter::lifetime, NVML_AGGREGATE_ECC));
static_assert(same(nvml::NvLinkRemote::nvswitch, NVML_NVLINK_DEVICE_TYPE_SWITCH));
static_assert(same(nvml::NvLinkRemote::unknown, NVML_NVLINK_DEVICE_TYPE_UNKNOWN));
static_assert(same(nvml::ComputeMode::prohibited, NVML_COMPUTEMODE_PROHIBITED));
static_assert(same(nvml::ComputeMode::exclusive_process, NVML_COMPUTEMODE_EXCLUSIVE_PROCESS));
static_assert(same(nvml::ValueType::real, NVML_VALUE_TYPE_DOUBLE));
static_assert(same(nvml::ValueType::signed_int, NVML_VALUE_TYPE_SIGNED_INT));

/// Whether two functions are called alike: as many arguments, each of the same size.
template <class Ours, class Vendors>
struct Alike;
template <class R, class... A, class S, class... B>
struct Alike<R (*)(A...), S (*)(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) != sizeof...(B)) return false;
    return sizeof(R) == sizeof(S) && std::array<std::size_t, sizeof...(A)>{sizeof(A)...} ==
                                         std::array<std::size_t, sizeof...(B)>{sizeof(B)...};
  }();
};
template <auto ours, class Vendors>
constexpr bool alike(Vendors* /*function*/) {
  return Alike<std::remove_cvref_t<decltype(std::declval<Nvml>().*ours)>, Vendors*>::value;
}
static_assert(alike<&Nvml::initialise>(&nvmlInit_v2));
static_assert(alike<&Nvml::shut_down>(&nvmlShutdown));
static_assert(alike<&Nvml::words>(&nvmlErrorString));
static_assert(alike<&Nvml::read_driver_version>(&nvmlSystemGetDriverVersion));
static_assert(alike<&Nvml::read_library_version>(&nvmlSystemGetNVMLVersion));
static_assert(alike<&Nvml::device_by_uuid>(&nvmlDeviceGetHandleByUUID));
static_assert(alike<&Nvml::device_by_bus_id>(&nvmlDeviceGetHandleByPciBusId_v2));
static_assert(alike<&Nvml::device_of_slice>(&nvmlDeviceGetDeviceHandleFromMigDeviceHandle));
static_assert(alike<&Nvml::mig_mode>(&nvmlDeviceGetMigMode));
static_assert(alike<&Nvml::compute_processes>(&nvmlDeviceGetComputeRunningProcesses_v3));
static_assert(alike<&Nvml::clock>(&nvmlDeviceGetClockInfo));
static_assert(alike<&Nvml::clock_event_reasons>(&nvmlDeviceGetCurrentClocksEventReasons));
static_assert(alike<&Nvml::power>(&nvmlDeviceGetPowerUsage));
static_assert(alike<&Nvml::default_power_limit>(&nvmlDeviceGetPowerManagementDefaultLimit));
static_assert(alike<&Nvml::enforced_power_limit>(&nvmlDeviceGetEnforcedPowerLimit));
static_assert(alike<&Nvml::total_energy>(&nvmlDeviceGetTotalEnergyConsumption));
static_assert(alike<&Nvml::temperature>(&nvmlDeviceGetTemperature));
static_assert(alike<&Nvml::ecc_mode>(&nvmlDeviceGetEccMode));
static_assert(alike<&Nvml::ecc_errors>(&nvmlDeviceGetTotalEccErrors));
static_assert(alike<&Nvml::pcie_generation>(&nvmlDeviceGetCurrPcieLinkGeneration));
static_assert(alike<&Nvml::pcie_width>(&nvmlDeviceGetCurrPcieLinkWidth));
static_assert(alike<&Nvml::maximum_pcie_generation>(&nvmlDeviceGetMaxPcieLinkGeneration));
static_assert(alike<&Nvml::maximum_pcie_width>(&nvmlDeviceGetMaxPcieLinkWidth));
static_assert(alike<&Nvml::nvlink_state>(&nvmlDeviceGetNvLinkState));
static_assert(alike<&Nvml::nvlink_remote>(&nvmlDeviceGetNvLinkRemotePciInfo_v2));
static_assert(alike<&Nvml::nvlink_remote_kind>(&nvmlDeviceGetNvLinkRemoteDeviceType));
static_assert(alike<&Nvml::field_values>(&nvmlDeviceGetFieldValues));
}  // namespace
}  // namespace scaleworth::gpu

TEST_CASE("a field's answer is read where NVIDIA's header has it", "[nvml]") {
  nvmlFieldValue_t vendors{};
  vendors.fieldId = NVML_FI_DEV_POWER_INSTANT;
  vendors.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
  vendors.value.uiVal = 512000;
  scaleworth::gpu::nvml::FieldValue ours{};
  std::memcpy(&ours, &vendors, sizeof ours);
  CHECK(ours.field == scaleworth::gpu::nvml::field_power_instant_mw);
  CHECK(ours.type == scaleworth::gpu::nvml::ValueType::unsigned_int);
  CHECK(ours.value.unsigned_int == 512000);
}
