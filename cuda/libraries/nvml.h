// SPDX-License-Identifier: Apache-2.0
/// NVML's functions, opened at run time. The library belongs to the driver, not to the toolkit.
#pragma once

#include "cuda/libraries/library.h"
#include "probes/gpu/device.h"
#include "src/core/estimate.h"

#include <cstddef>

namespace scaleworth::gpu::nvml {
// The part of NVML's binary interface that is used here, written from NVIDIA's NVML API reference
// (version 13.0) because the toolkit's header is often not installed.

struct OpaqueDevice;
using Device = OpaqueDevice*;  // nvmlDevice_t

/// nvmlReturn_t; other values exist and have words in `Nvml::words`.
enum class Result : int {
  success = 0,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  driver_not_loaded = 9,
  function_not_found = 13,
  gpu_is_lost = 15
};

enum class Clock : int { graphics = 0, sm = 1, memory = 2 };          // nvmlClockType_t
enum class TemperatureSensor : int { gpu = 0 };                       // nvmlTemperatureSensors_t
enum class EnableState : int { disabled = 0, enabled = 1 };           // nvmlEnableState_t
enum class MemoryError : int { corrected = 0, uncorrected = 1 };      // nvmlMemoryErrorType_t
enum class EccCounter : int { since_driver_load = 0, lifetime = 1 };  // nvmlEccCounterType_t
enum class NvLinkRemote : int { gpu = 0, npu = 1, nvswitch = 2, unknown = 0xff };
/// NVML_NVLINK_MAX_LINKS; a driver refuses numbers beyond its own limit.
inline constexpr unsigned int most_nvlinks = 36;

/// nvmlPciInfo_t
struct PciInfo {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int device_and_vendor;  // the device in the upper 16 bits
  unsigned int subsystem;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

/// nvmlProcessInfo_t, as of nvmlDeviceGetComputeRunningProcesses_v3.
struct Process {
  unsigned int pid;
  unsigned long long used_memory;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
static_assert(sizeof(Process) == 24);

/// nvmlValueType_t: which member of FieldValue::value holds the answer.
enum class ValueType : int {
  real = 0,
  unsigned_int = 1,
  unsigned_long = 2,
  unsigned_long_long = 3,
  signed_long_long = 4,
  signed_int = 5,
  unsigned_short = 6
};

/// nvmlFieldValue_t: question (`field`, `scope`) and answer in one.
struct FieldValue {
  unsigned int field;
  unsigned int scope;
  long long timestamp_us;
  long long latency_us;
  ValueType type;
  Result result;
  union {
    double real;
    int signed_int;
    unsigned int unsigned_int;
    unsigned short unsigned_short;
    unsigned long unsigned_long;
    unsigned long long unsigned_long_long;
    signed long long signed_long_long;
  } value;
};
static_assert(sizeof(FieldValue) == 40);
static_assert(offsetof(FieldValue, value) == 32);

/// Field identifiers; units are those of the answer.
enum Field : unsigned int {
  field_nvlink_speed_common_mbps = 90,  // megabytes per second and link, of the active links
  field_nvlink_speed_mbps = 164,        // scope: the link
  field_power_instant_mw = 186
};
}  // namespace scaleworth::gpu::nvml

namespace scaleworth::gpu {
inline constexpr double watts_per_milliwatt = 1e-3;  // power is answered in mW

/// The first pointers are set; the others are null where the driver has no such function, and a
/// function that is there may still answer `not_supported` for a GPU. Calls are thread-safe.
/// Prototypes: NVIDIA's NVML API reference, version 13.0; units in the comments.
struct Nvml : CheckedLibrary<Nvml, nvml::Result> {
  static constexpr const char* name = "NVML";
  using Result = nvml::Result;
  using Device = nvml::Device;
  using Number = unsigned int;
  template <class... Arguments>
  using Function = Result (*)(Arguments...);
  template <class Answer>
  using Question = Function<Device, Answer*>;
  template <class Answer>
  using LinkQuestion = Function<Device, Number, Answer*>;

  std::string driver_version{};  // "580.65.06"
  Function<> initialise = need("nvmlInit_v2");
  Function<> shut_down = need("nvmlShutdown");
  const char* (*words)(Result) = need("nvmlErrorString");
  Function<char*, Number> read_driver_version =
      need("nvmlSystemGetDriverVersion");  // buffer of 80 bytes
  Function<char*, Number> read_library_version = need("nvmlSystemGetNVMLVersion");
  /// "GPU-..." or "MIG-..."
  Function<const char*, Device*> device_by_uuid = need("nvmlDeviceGetHandleByUUID");
  Function<const char*, Device*> device_by_bus_id = need("nvmlDeviceGetHandleByPciBusId_v2");

  /// The GPU that a MIG slice is part of.
  Question<Device> device_of_slice = take("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  /// Current, pending: 0 or 1.
  Function<Device, Number*, Number*> mig_mode = take("nvmlDeviceGetMigMode");
  /// Count in and out.
  Function<Device, Number*, nvml::Process*> compute_processes =
      take("nvmlDeviceGetComputeRunningProcesses_v3");

  Function<Device, nvml::Clock, Number*> clock = take("nvmlDeviceGetClockInfo");  // MHz
  /// Bit mask; the second name is that of drivers before 535.
  Question<unsigned long long> clock_event_reasons =
      take("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
  /// mW, averaged over 1 s from Ampere on.
  Question<Number> power = take("nvmlDeviceGetPowerUsage");
  Question<Number> default_power_limit = take("nvmlDeviceGetPowerManagementDefaultLimit");  // mW
  /// mW, the smallest of all limits.
  Question<Number> enforced_power_limit = take("nvmlDeviceGetEnforcedPowerLimit");
  /// mJ since the driver was loaded.
  Question<unsigned long long> total_energy = take("nvmlDeviceGetTotalEnergyConsumption");
  Function<Device, nvml::TemperatureSensor, Number*> temperature =
      take("nvmlDeviceGetTemperature");  // C

  /// Current, pending.
  Function<Device, nvml::EnableState*, nvml::EnableState*> ecc_mode = take("nvmlDeviceGetEccMode");
  Function<Device, nvml::MemoryError, nvml::EccCounter, unsigned long long*> ecc_errors =
      take("nvmlDeviceGetTotalEccErrors");

  Question<Number> pcie_generation = take("nvmlDeviceGetCurrPcieLinkGeneration");
  Question<Number> pcie_width = take("nvmlDeviceGetCurrPcieLinkWidth");
  /// Of GPU and slot together.
  Question<Number> maximum_pcie_generation = take("nvmlDeviceGetMaxPcieLinkGeneration");
  Question<Number> maximum_pcie_width = take("nvmlDeviceGetMaxPcieLinkWidth");

  LinkQuestion<nvml::EnableState> nvlink_state = take("nvmlDeviceGetNvLinkState");
  LinkQuestion<nvml::PciInfo> nvlink_remote = take("nvmlDeviceGetNvLinkRemotePciInfo_v2");
  LinkQuestion<nvml::NvLinkRemote> nvlink_remote_kind = take("nvmlDeviceGetNvLinkRemoteDeviceType");
  /// Each answer has its own result.
  Function<Device, int, nvml::FieldValue*> field_values = take("nvmlDeviceGetFieldValues");
};

/// Initialised; shut down when the last owner lets go. Skipped also when the library is there and
/// the driver is not loaded, does not match it or refuses; Failed as `open_library` says.
Outcome<std::shared_ptr<const Nvml>> open_nvml(const std::string& user_path,
                                               const SearchScope& scope = {});

/// A value, or the reason why the driver gave none ("Not Supported", "Insufficient Permissions").
template <class T>
struct NvmlAnswer {
  T value{};
  nvml::Result status = nvml::Result::success;
  std::string reason;

  explicit operator bool() const { return status == nvml::Result::success; }
};

class NvmlDevice {
 public:
  /// `slice` is the MIG slice on the GPU `handle`; null without MIG.
  NvmlDevice(std::shared_ptr<const Nvml> nvml, nvml::Device handle, nvml::Device slice = nullptr)
      : nvml_(std::move(nvml)), handle_(handle), slice_(slice) {}

  const Nvml& table() const { return *nvml_; }
  /// The whole GPU, also when this process sees a slice of it.
  nvml::Device handle() const { return handle_; }
  nvml::Device slice() const { return slice_; }

  /// The value that `call` fills, or why it could not; `known`: this driver has the function.
  template <class T, class Call>
  NvmlAnswer<T> answer(bool known, Call call) const {
    NvmlAnswer<T> result;
    result.status = known ? call(result.value) : nvml::Result::function_not_found;
    result.reason = reason_of(result.status);
    return result;
  }
  /// Calls a function of the table for the whole GPU.
  template <class T>
  NvmlAnswer<T> ask(Nvml::Question<T> function) const {
    return answer<T>(function != nullptr, [&](T& value) { return function(handle_, &value); });
  }
  template <class T, class Argument>
  NvmlAnswer<T> ask(Nvml::Result (*function)(nvml::Device, Argument, T*),
                    std::type_identity_t<Argument> argument) const {
    return answer<T>(function != nullptr,
                     [&](T& value) { return function(handle_, argument, &value); });
  }
  /// A field's value as a double, whatever type the driver answers in. `scope` 0, or a link.
  NvmlAnswer<double> ask_field(nvml::Field field, unsigned int scope = 0) const;

  /// NVML's words for a status, empty for success.
  std::string reason_of(nvml::Result status) const;

 private:
  std::shared_ptr<const Nvml> nvml_;
  nvml::Device handle_;
  nvml::Device slice_;
};

/// By UUID, never by index: NVML counts all GPUs of the node, CUDA those that are visible. Falls
/// back on the PCI bus id for a GPU that is no slice. Skipped with NVML's words, or as NVML is.
Outcome<NvmlDevice> find_nvml_device(const Outcome<std::shared_ptr<const Nvml>>& nvml,
                                     const DeviceDescription& device);
}  // namespace scaleworth::gpu
