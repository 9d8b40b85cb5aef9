// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/nvml.h"

#include <array>

namespace scaleworth::gpu {
namespace {
std::string text_of(Nvml::Function<char*, Nvml::Number> read) {
  std::array<char, 80> buffer{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
  if (read(buffer.data(), static_cast<Nvml::Number>(buffer.size())) != nvml::Result::success) {
    return "unknown";
  }
  return buffer.data();
}

void fill_nvml(const SharedLibrary& library, Nvml& table) {
  table = {{{.library = &library}}};
  // Last, so that a refused library was not left initialised.
  const nvml::Result status = table.initialise();
  if (status != nvml::Result::success) {
    throw UnusableLibrary(
        "nvmlInit_v2 says \"{}\" (code {})", table.words(status), static_cast<int>(status));
  }
  table.version = text_of(table.read_library_version);
  table.driver_version = text_of(table.read_driver_version);
}

const char* words_of(const Nvml& nvml, nvml::Result status) {
  const char* words = nvml.words(status);
  return words == nullptr ? "unknown error" : words;
}

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

/// The same 16 bytes, called a GPU's and a slice's: CUDA's name does not always show which.
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

Outcome<NvmlDevice> find_device(const std::shared_ptr<const Nvml>& nvml,
                                const DeviceDescription& device) {
  nvml::Device found = nullptr;
  const nvml::Result status = nvml->device_by_uuid(device.uuid.c_str(), &found);
  if (status == nvml::Result::success) return with_parent(nvml, found);
  const std::string other = other_kind(device.uuid);
  if (!other.empty() && nvml->device_by_uuid(other.c_str(), &found) == nvml::Result::success) {
    return with_parent(nvml, found);
  }
  if (!device.mig &&
      nvml->device_by_bus_id(device.bus_id.c_str(), &found) == nvml::Result::success) {
    return NvmlDevice(nvml, found);
  }
  return Skipped{fmt::format(
      "NVML does not know GPU {} ({}): {}", device.ordinal, device.uuid, words_of(*nvml, status))};
}
}  // namespace

Outcome<std::shared_ptr<const Nvml>> open_nvml(const std::string& user_path,
                                               const SearchScope& scope) {
  const auto opened = open_table<Nvml>({Nvml::name,
                                        "--nvml-lib",
                                        "NVIDIA's driver",
                                        {"libnvidia-ml.so.1", "libnvidia-ml.so"},
                                        {},
                                        {}},
                                       user_path,
                                       scope,
                                       &fill_nvml);
  return and_then(opened, [](const auto& table) -> Outcome<std::shared_ptr<const Nvml>> {
    return std::shared_ptr<const Nvml>(table.get(),
                                       [owner = table](const Nvml*) { owner->shut_down(); });
  });
}

NvmlAnswer<double> NvmlDevice::ask_field(nvml::Field field, unsigned int scope) const {
  return answer<double>(nvml_->field_values != nullptr, [&](double& value) {
    nvml::FieldValue question{};
    question.field = field;
    question.scope = scope;
    const nvml::Result status = nvml_->field_values(handle_, 1, &question);
    if (status != nvml::Result::success) return status;
    if (question.result == nvml::Result::success) value = number_of(question);
    return question.result;
  });
}

std::string NvmlDevice::reason_of(nvml::Result status) const {
  if (status == nvml::Result::success) return {};
  if (status == nvml::Result::function_not_found) return "this driver has no such question";
  return fmt::format("NVML: {}", words_of(*nvml_, status));
}

Outcome<NvmlDevice> find_nvml_device(const Outcome<std::shared_ptr<const Nvml>>& nvml,
                                     const DeviceDescription& device) {
  return and_then(nvml, [&](const auto& table) { return find_device(table, device); });
}
}  // namespace scaleworth::gpu
