// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/cupti/record_words.h"

#include <cctype>

namespace scaleworth::gpu {

using trace::recording::CopyDirection;

CopyDirection copy_direction(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyDirection::to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyDirection::to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return CopyDirection::on_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyDirection::between_devices;
    default:
      return CopyDirection::other;
  }
}

const char* overhead_name(CUpti_ActivityOverheadKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "Driver Compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "Buffer Flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "Instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "Resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "Runtime Triggered Module Loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "Lazy Function Loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "Command Buffer Full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "Activity Buffer Request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
      return "UVM Activity Init";
    default:
      return "Unrecognized Overhead";
  }
}

std::string_view without_release(std::string_view name) {
  constexpr std::size_t shortest_release = 4;  // digits of "v3020"
  const std::size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos) return name;
  const std::string_view digits = name.substr(mark + 2);
  if (digits.size() < shortest_release) return name;
  for (const char c : digits) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return name;
  }
  return name.substr(0, mark);
}

}  // namespace scaleworth::gpu
