// SPDX-License-Identifier: Apache-2.0
/// The part of NVML's binary interface that is used here, written from NVIDIA's NVML API reference
/// (version 13.0) because the toolkit's header is often not installed.
#pragma once

#include <cstddef>

namespace scaleworth::gpu::nvml {

struct OpaqueDevice;
using Device = OpaqueDevice*;  // nvmlDevice_t

/// nvmlReturn_t; other values exist and have words in `Nvml::error_words`.
enum class Result : int {
  success = 0,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  driver_not_loaded = 9,
  function_not_found = 13,
  gpu_is_lost = 15,
  library_driver_mismatch = 18
};

enum class Clock : int { graphics = 0, sm = 1, memory = 2 };  // nvmlClockType_t
enum class TemperatureSensor : int { gpu = 0 };               // nvmlTemperatureSensors_t
enum class TemperatureThreshold : int {
  shutdown = 0,
  slowdown = 1,
  memory_maximum = 2,
  gpu_maximum = 3
};
enum class EnableState : int { disabled = 0, enabled = 1 };           // nvmlEnableState_t
enum class MemoryError : int { corrected = 0, uncorrected = 1 };      // nvmlMemoryErrorType_t
enum class EccCounter : int { since_driver_load = 0, lifetime = 1 };  // nvmlEccCounterType_t
enum class PcieCounter : int { transmit = 0, receive = 1 };           // nvmlPcieUtilCounter_t
enum class NvLinkCapability : int { peer_to_peer = 0, valid = 5 };    // nvmlNvLinkCapability_t
enum class NvLinkRemote : int { gpu = 0, npu = 1, nvswitch = 2, unknown = 0xff };
enum class ComputeMode : int {
  shared = 0,
  exclusive_thread = 1,
  prohibited = 2,
  exclusive_process = 3
};

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

/// nvmlMemory_t, in bytes; `used` counts what the driver keeps.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(Memory) == 24);

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
  field_total_energy_mj = 83,
  field_nvlink_speed_common_mbps = 90,  // megabytes per second and link, of the active links
  field_nvlink_count = 91,
  field_pcie_replays = 94,
  field_nvlink_speed_mbps = 164,  // scope: the link
  field_power_average_mw = 185,
  field_power_instant_mw = 186
};

}  // namespace scaleworth::gpu::nvml
