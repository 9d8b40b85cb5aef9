// SPDX-License-Identifier: Apache-2.0
/// The fields of one Kineto event as their text, without a copy.
#pragma once

#include <cstdint>
#include <string_view>

#include <simdjson.h>

namespace scaleworth::trace {

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

}  // namespace scaleworth::trace
