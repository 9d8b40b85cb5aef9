// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml/nvml_device.h"

#include <utility>

#include <fmt/format.h>

namespace scaleworth::gpu {
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
