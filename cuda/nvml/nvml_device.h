// SPDX-License-Identifier: Apache-2.0
/// One GPU as NVML knows it, and answers that carry the driver's words when there are none.
#pragma once

#include "cuda/libraries/nvml.h"
#include "probes/gpu/description.h"
#include "src/core/outcome.h"

#include <memory>
#include <string>

namespace scaleworth::gpu {

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

  /// Calls a function of the table for the whole GPU; one that this driver lacks is a reason too.
  template <class T>
  NvmlAnswer<T> ask(Nvml::Question<T> function) const {
    NvmlAnswer<T> answer;
    answer.status =
        function == nullptr ? nvml::Result::function_not_found : function(handle_, &answer.value);
    answer.reason = reason_of(answer.status);
    return answer;
  }
  template <class T, class Argument>
  NvmlAnswer<T> ask(Nvml::Result (*function)(nvml::Device, Argument, T*),
                    std::type_identity_t<Argument> argument) const {
    NvmlAnswer<T> answer;
    answer.status = function == nullptr ? nvml::Result::function_not_found
                                        : function(handle_, argument, &answer.value);
    answer.reason = reason_of(answer.status);
    return answer;
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
/// back on the PCI bus id for a GPU that is no slice. Skipped with NVML's words.
Outcome<NvmlDevice> find_nvml_device(std::shared_ptr<const Nvml> nvml,
                                     const probes::DeviceDescription& device);

}  // namespace scaleworth::gpu
