// SPDX-License-Identifier: Apache-2.0
/// PyTorch profiler JSON -> `Recording`.
#pragma once

#include "trace/classify.h"
#include "trace/formats/byte_source.h"
#include "trace/formats/json_events.h"
#include "trace/recording.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <simdjson.h>

namespace scaleworth::trace {
// Reads what the PyTorch profiler (Kineto) writes: Chrome JSON, of any of its versions.

/// Whether to keep a framework's operator or Python function of this name.
using KeepOperation = std::function<bool(std::string_view)>;

/// The one recording in `source`, on the clock of the file: nanoseconds since 1970 where the file
/// says from when its times count. Of operators and Python functions only what `keep` wants.
/// Throws UserError when it holds no events.
std::vector<Recording> read_kineto(ByteSource& source, const KeepOperation& keep);

/// Keeps the operators in which the host rules see a cause.
inline std::vector<Recording> read_kineto(ByteSource& source, const RuleTable& rules) {
  return read_kineto(source, [&](std::string_view name) { return rules.host(name).has_value(); });
}

// The threads of a Chrome trace: numbered as they occur, named at the end.

class ThreadTable {
 public:
  /// The number of the thread that the texts of pid and tid name.
  std::uint32_t index(std::string_view process, std::string_view thread);
  void name_process(std::string_view process, std::string_view name);
  /// "python 144/1" for each, by number.
  std::vector<std::string> labels() const;

 private:
  std::string last_;  // most events are on the thread of the one before
  std::uint32_t last_index_ = 0;
  std::string key_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by "pid/tid"
  std::map<std::string, std::string, std::less<>> process_names_;
};

// The fields of one Kineto event as their text, without a copy.

/// What an event is, by its category; those that nobody needs are `none`.
enum class KinetoCategory : std::uint8_t {
  none,
  kernel,
  copy,
  fill,
  runtime_call,
  driver_call,
  synchronization,
  annotation,
  gpu_annotation,
  overhead,
  operation,
  metadata,  // process and thread names
};

/// The category of today's and older names: "kernel", "Kernel", ...
KinetoCategory kineto_category(std::string_view name);

/// JSON text of the fields, strings with their quotes; empty where they are missing.
struct KinetoFields {
  KinetoCategory category = KinetoCategory::none;
  std::string_view name;  // without quotes and escapes
  std::string_view process;
  std::string_view thread;
  std::string_view start;
  std::string_view duration;
  // From args:
  std::string_view label;  // of metadata: without quotes
  std::string_view correlation;
  std::string_view device;
  std::string_view stream;
  std::string_view graph_node;
  std::string_view bytes;
  std::string_view sync_kind;
  std::string_view waits_on;
  std::string_view event_record;
  std::string_view collective;
  std::string_view elements_in;
  std::string_view elements_out;
  std::string_view element_type;
  std::string_view group;
  std::string_view group_description;
  std::string_view group_ranks;
  std::string_view group_size;
  std::string_view source_rank;
  std::string_view destination_rank;
  std::string_view root_rank;  // only our own exports say it
  std::string_view sequence;
};

/// Reads `event` as far as its category needs; `fields.category` is `none` for what nobody needs.
/// The views are valid as long as the text that `event` is of. Returns simdjson's word on it.
simdjson::error_code read_fields(simdjson::ondemand::object& event, KinetoFields& fields);

// From the events of a Kineto file to a recording.

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

// What PyTorch says of the collective that a kernel carries out.

/// The kind in PyTorch's or a framework's spelling: "allreduce", "_allgather_base",
/// "all_to_allv", "grads-reduce-scatter", ...
attribution::CollectiveKind parse_collective_name(std::string_view name);

/// Bytes of one element of PyTorch's type: "Float", "BFloat16", ...; absent for other words.
std::optional<std::int64_t> element_bytes(std::string_view type);

/// Ranks of "[0, 1]"; none when the list is not complete ("[0, 1, ...]").
std::vector<std::int32_t> parse_rank_list(std::string_view list);

/// Adds the communication that `fields` describe, and its group, to `recording`. Returns its
/// index; no_index when the event says nothing of a collective.
std::uint32_t add_communication(const KinetoFields& fields, Recording& recording);

// What a Kineto file says around its events: rank, groups, host, and from when its times count.

/// Takes what the member tells into `recording`; `base` is what all times of the file count from.
void read_kineto_member(std::string_view key,
                        std::string_view json,
                        Recording& recording,
                        std::chrono::nanoseconds& base);
}  // namespace scaleworth::trace
