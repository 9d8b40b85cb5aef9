// SPDX-License-Identifier: Apache-2.0
/// From the events of a Kineto file to a recording.
#pragma once

#include "trace/format/json/walk.h"
#include "trace/format/kineto/fields.h"
#include "trace/format/kineto/read_kineto.h"
#include "trace/format/kineto/threads.h"

#include <optional>
#include <unordered_map>

namespace scaleworth::trace {

class KinetoReader final : public TraceReader {
 public:
  KinetoReader(Recording& recording, const KeepOperation& keep)
      : recording_(recording), keep_(keep) {}

  Use event(simdjson::ondemand::object& event) override;
  void member(std::string_view key, std::string_view json) override;
  /// After the last event.
  void finish();

 private:
  struct Span {
    nanoseconds start{};
    nanoseconds end{};
  };

  /// Absent, and counted, for an event without a time.
  std::optional<Span> span_of(const KinetoFields& fields);
  bool add(const KinetoFields& fields);
  void add_device_event(const KinetoFields& fields, Span span);
  void add_host_event(const KinetoFields& fields, Span span);
  void add_annotation(const KinetoFields& fields, Span span);
  std::uint32_t add_copy(const KinetoFields& fields);
  std::uint32_t add_synchronization(const KinetoFields& fields);
  bool is_kept_operation(std::string_view name);
  void lose(const char* what) { ++recording_.losses[what]; }

  Recording& recording_;
  const KeepOperation& keep_;
  ThreadTable threads_;
  std::unordered_map<std::string, bool> kept_operations_;  // what keep_ said
  std::string operation_;
  std::vector<StepMark> gpu_step_marks_;  // taken when the host has none
  nanoseconds base_{};
};

}  // namespace scaleworth::trace
