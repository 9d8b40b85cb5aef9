// SPDX-License-Identifier: Apache-2.0
/// What is written beside a slice: in the words of PyTorch's profiler where it has words for it, so
/// that an export can be read back, and in ours for the rest.
#pragma once

#include "trace/format/export/export_writer.h"
#include "trace/timeline/recording.h"

#include <string>
#include <vector>

namespace scaleworth::trace {

/// Arguments of one event; valid until the next call.
class EventArguments {
 public:
  explicit EventArguments(const Recording& recording) : recording_(recording) {}

  const std::vector<Argument>& of(const DeviceEvent& event);
  const std::vector<Argument>& of(const HostEvent& event);

 private:
  void number(std::string_view name, std::int64_t value) { all_.push_back({name, value}); }
  void text(std::string_view name, std::string_view value) { all_.push_back({name, value}); }
  void add_communication(const Communication& communication);
  void add_group(NameId group);
  void add_synchronization(const Synchronization& synchronization);

  const Recording& recording_;
  std::vector<Argument> all_;
};

/// "kernel", "gpu_memcpy", "gpu_memset"
std::string_view category_of(const DeviceEvent& event);
/// "cuda_runtime", "user_annotation", ...
std::string_view category_of(const HostEvent& event);

}  // namespace scaleworth::trace
