// SPDX-License-Identifier: Apache-2.0
// A fabricated libnvidia-ml: it answers as its state says, with NVML's names and codes.
#include "cuda/libraries/nvml.h"
#include "tests/unit/cuda/fake_nvml/control.h"

#include <atomic>
#include <cstdio>
#include <cstring>

namespace {

using namespace scaleworth::gpu;
using nvml::Device;
using nvml::Result;

FakeNvml state;
std::atomic<int> clock_readings = 0;

nvml::Device gpu() {
  return reinterpret_cast<Device>(1);
}
nvml::Device slice() {
  return reinterpret_cast<Device>(2);
}

bool lost() {
  return state.clock_readings_before_loss >= 0 && clock_readings > state.clock_readings_before_loss;
}

/// Most questions are for a whole GPU and refused for a slice.
template <class T>
Result answer(nvml::Device device, const FakeAnswer& scripted, T* value) {
  if (lost()) return Result::gpu_is_lost;
  if (device != gpu()) return Result::not_supported;
  if (scripted.result == 0) *value = static_cast<T>(scripted.value);
  return static_cast<Result>(scripted.result);
}

Result find(bool known, nvml::Device device, nvml::Device* found) {
  if (!known) return Result::not_found;
  *found = device;
  return Result::success;
}

Result write_text(const char* text, char* buffer, unsigned int size) {
  std::snprintf(buffer, size, "%s", text);
  return Result::success;
}

}  // namespace

extern "C" {

FakeNvml* fake_nvml() {
  return &state;
}

int fake_nvml_clock_readings() {
  return clock_readings;
}

Result nvmlInit_v2() {
  clock_readings = 0;
  if (state.init_result == 0) ++state.open_count;
  return static_cast<Result>(state.init_result);
}
Result nvmlShutdown() {
  --state.open_count;
  return Result::success;
}
const char* nvmlErrorString(Result result) {
  switch (result) {
    case Result::not_supported:
      return "Not Supported";
    case Result::no_permission:
      return "Insufficient Permissions";
    case Result::not_found:
      return "Not Found";
    case Result::gpu_is_lost:
      return "GPU is lost";
    case Result::driver_not_loaded:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}
Result nvmlSystemGetDriverVersion(char* buffer, unsigned int size) {
  return write_text("580.65.06", buffer, size);
}
Result nvmlSystemGetNVMLVersion(char* buffer, unsigned int size) {
  return write_text("13.580.65.06", buffer, size);
}
Result nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* device) {
  if (state.slice_uuid[0] != '\0' && std::strcmp(uuid, state.slice_uuid) == 0) {
    return find(true, slice(), device);
  }
  return find(std::strcmp(uuid, state.uuid) == 0, gpu(), device);
}
Result nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvml::Device* device) {
  const char* known = state.bus_id;
  const std::size_t longer = std::strlen(known) - std::strlen(bus_id);
  return find(std::strlen(bus_id) <= std::strlen(known) && std::strcmp(known + longer, bus_id) == 0,
              gpu(),
              device);
}
Result nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvml::Device device, nvml::Device* parent) {
  return find(device == slice(), gpu(), parent);
}

Result nvmlDeviceGetClockInfo(nvml::Device device, nvml::Clock clock, unsigned int* value) {
  if (clock == nvml::Clock::memory) return answer(device, state.memory_clock_mhz, value);
  ++clock_readings;
  return answer(device, state.sm_clock_mhz, value);
}
Result nvmlDeviceGetCurrentClocksEventReasons(nvml::Device device, unsigned long long* value) {
  return answer(device, state.reasons, value);
}
Result nvmlDeviceGetPowerUsage(nvml::Device device, unsigned int* value) {
  return answer(device, state.power_mw, value);
}
Result nvmlDeviceGetTotalEnergyConsumption(nvml::Device device, unsigned long long* value) {
  const Result result = answer(device, state.energy_mj, value);
  state.energy_mj.value += state.energy_step_mj;
  return result;
}
Result nvmlDeviceGetTemperature(nvml::Device device, nvml::TemperatureSensor, unsigned int* value) {
  return answer(device, state.temperature_c, value);
}
Result nvmlDeviceGetFieldValues(nvml::Device device, int count, nvml::FieldValue* values) {
  if (lost()) return Result::gpu_is_lost;
  for (int i = 0; i < count; ++i) {
    const bool power = values[i].field == nvml::field_power_instant_mw;
    values[i].type = nvml::ValueType::unsigned_int;
    values[i].result = answer(device,
                              power ? state.instant_power_mw : state.link_speed_mbps,
                              &values[i].value.unsigned_int);
  }
  return Result::success;
}

Result nvmlDeviceGetEnforcedPowerLimit(nvml::Device device, unsigned int* value) {
  return answer(device, state.enforced_limit_mw, value);
}
Result nvmlDeviceGetPowerManagementDefaultLimit(nvml::Device device, unsigned int* value) {
  return answer(device, state.default_limit_mw, value);
}
Result nvmlDeviceGetEccMode(nvml::Device device,
                            nvml::EnableState* current,
                            nvml::EnableState* pending) {
  *pending = nvml::EnableState::disabled;
  return answer(device, state.ecc, current);
}
Result nvmlDeviceGetTotalEccErrors(nvml::Device device,
                                   nvml::MemoryError kind,
                                   nvml::EccCounter counter,
                                   unsigned long long* value) {
  const bool asked =
      kind == nvml::MemoryError::uncorrected && counter == nvml::EccCounter::since_driver_load;
  return asked ? answer(device, state.uncorrected_errors, value) : Result::not_supported;
}
Result nvmlDeviceGetMigMode(nvml::Device device, unsigned int* current, unsigned int* pending) {
  *pending = 1;
  return answer(device, state.mig, current);
}
Result nvmlDeviceGetComputeRunningProcesses_v3(nvml::Device device,
                                               unsigned int* count,
                                               nvml::Process* processes) {
  const Result result = answer(device, state.processes, count);
  for (unsigned int i = 0; result == Result::success && i < *count; ++i) {
    processes[i] = {state.first_process + i, 0, 0, 0};
  }
  return result;
}

Result nvmlDeviceGetCurrPcieLinkGeneration(nvml::Device device, unsigned int* value) {
  return answer(device, state.pcie_generation, value);
}
Result nvmlDeviceGetCurrPcieLinkWidth(nvml::Device device, unsigned int* value) {
  return answer(device, state.pcie_width, value);
}
Result nvmlDeviceGetMaxPcieLinkGeneration(nvml::Device device, unsigned int* value) {
  return answer(device, state.maximum_pcie_generation, value);
}
Result nvmlDeviceGetMaxPcieLinkWidth(nvml::Device device, unsigned int* value) {
  return answer(device, state.maximum_pcie_width, value);
}

Result nvmlDeviceGetNvLinkState(nvml::Device, unsigned int link, nvml::EnableState* value) {
  if (link >= 36 || !state.links[link].exists) return Result::not_supported;
  *value = state.links[link].up ? nvml::EnableState::enabled : nvml::EnableState::disabled;
  return Result::success;
}
Result nvmlDeviceGetNvLinkRemoteDeviceType(nvml::Device,
                                           unsigned int link,
                                           nvml::NvLinkRemote* value) {
  *value = static_cast<nvml::NvLinkRemote>(state.links[link].remote_kind);
  return Result::success;
}
Result nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml::Device, unsigned int link, nvml::PciInfo* value) {
  std::snprintf(value->bus_id, sizeof value->bus_id, "%s", state.links[link].remote_bus_id);
  return Result::success;
}

}  // extern "C"
