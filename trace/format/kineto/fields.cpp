// SPDX-License-Identifier: Apache-2.0
#include "trace/format/kineto/fields.h"

#include "trace/format/json/event_text.h"

#include <array>
#include <utility>

namespace scaleworth::trace {

namespace {

namespace od = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;

struct ArgumentKey {
  std::string_view key;
  std::string_view KinetoFields::*field;
};

// Grouped by first letter, which is what is compared first.
constexpr std::array argument_keys = {
    ArgumentKey{"correlation", &KinetoFields::correlation},
    ArgumentKey{"cuda_sync_kind", &KinetoFields::sync_kind},
    ArgumentKey{"device", &KinetoFields::device},
    ArgumentKey{"dtype", &KinetoFields::element_type},
    ArgumentKey{"stream", &KinetoFields::stream},
    ArgumentKey{"bytes", &KinetoFields::bytes},
    ArgumentKey{"graph node id", &KinetoFields::graph_node},
    ArgumentKey{"wait_on_stream", &KinetoFields::waits_on},
    ArgumentKey{"wait_on_cuda_event_record_corr_id", &KinetoFields::event_record},
    ArgumentKey{"Collective name", &KinetoFields::collective},
    ArgumentKey{"In msg nelems", &KinetoFields::elements_in},
    ArgumentKey{"Out msg nelems", &KinetoFields::elements_out},
    ArgumentKey{"Process Group Name", &KinetoFields::group},
    ArgumentKey{"Process Group Description", &KinetoFields::group_description},
    ArgumentKey{"Process Group Ranks", &KinetoFields::group_ranks},
    ArgumentKey{"Group size", &KinetoFields::group_size},
    ArgumentKey{"Src Rank", &KinetoFields::source_rank},
    ArgumentKey{"Dst Rank", &KinetoFields::destination_rank},
    ArgumentKey{"Root Rank", &KinetoFields::root_rank},
    ArgumentKey{"Seq", &KinetoFields::sequence},
};

error_code read_argument(const char* key, od::value& value, KinetoFields& fields) {
  if (fields.category == KinetoCategory::metadata)
    return is_key(key, "name") ? read_text(value, fields.label) : SUCCESS;
  for (const auto& known : argument_keys) {
    if (!is_key(key, known.key)) continue;
    fields.*known.field = value.raw_json_token();
    break;
  }
  return SUCCESS;
}

error_code read_arguments(od::value& value, KinetoFields& fields) {
  od::object arguments;
  // "args": null or of another kind says nothing.
  if (value.raw_json_token().front() != '{') return SUCCESS;
  if (const auto error = value.get_object().get(arguments)) return error;
  for (auto each : arguments) {
    od::field field;
    if (const auto error = std::move(each).get(field)) return error;
    if (const auto error = read_argument(field.key().raw(), field.value(), fields)) return error;
  }
  return SUCCESS;
}

bool is_wanted(char phase) {
  return phase == 'X' || phase == 'M';
}

/// How far the fields of an event were read.
struct Progress {
  char phase = '\0';
  bool has_category = false;
  bool arguments_left = false;
  bool unwanted() const { return phase != '\0' && !is_wanted(phase); }
};

error_code read_field(od::field& field, KinetoFields& fields, Progress& progress) {
  const char* key = field.key().raw();
  auto& value = field.value();
  if (is_key(key, "name")) return read_text(value, fields.name);
  if (is_key(key, "pid")) fields.process = value.raw_json_token();
  if (is_key(key, "tid")) fields.thread = value.raw_json_token();
  if (is_key(key, "ts")) fields.start = value.raw_json_token();
  if (is_key(key, "dur")) fields.duration = value.raw_json_token();
  if (is_key(key, "ph")) {
    const auto phase = bare_token(value.raw_json_token());
    progress.phase = phase.size() == 1 ? phase.front() : '?';
    if (progress.phase == 'M') fields.category = KinetoCategory::metadata;
  }
  if (is_key(key, "cat") && progress.phase != 'M') {
    fields.category = kineto_category(bare_token(value.raw_json_token()));
    progress.has_category = true;
  }
  if (!is_key(key, "args") || fields.category == KinetoCategory::operation) return SUCCESS;
  progress.arguments_left = fields.category == KinetoCategory::none;
  return progress.arguments_left ? SUCCESS : read_arguments(value, fields);
}

/// The arguments of an event in which they stood before what says which of them are needed. Nothing
/// else is read again: simdjson has room for each string once.
error_code read_left_arguments(od::object& event, KinetoFields& fields) {
  if (const auto error = event.reset().error()) return error;
  for (auto each : event) {
    od::field field;
    if (const auto error = std::move(each).get(field)) return error;
    if (!is_key(field.key().raw(), "args")) continue;
    if (const auto error = read_arguments(field.value(), fields)) return error;
  }
  return SUCCESS;
}

}  // namespace

KinetoCategory kineto_category(std::string_view name) {
  using enum KinetoCategory;
  constexpr std::array<std::pair<std::string_view, KinetoCategory>, 17> names = {{
      {"cpu_op", operation},
      {"cuda_runtime", runtime_call},
      {"kernel", kernel},
      {"python_function", operation},
      {"cuda_driver", driver_call},
      {"gpu_memcpy", copy},
      {"gpu_memset", fill},
      {"user_annotation", annotation},
      {"gpu_user_annotation", gpu_annotation},
      {"cuda_sync", synchronization},
      {"overhead", overhead},
      {"Kernel", kernel},
      {"Memcpy", copy},
      {"Memset", fill},
      {"Runtime", runtime_call},
      {"Operator", operation},
      {"Overhead", overhead},
  }};
  for (const auto& [known, category] : names)
    if (name == known) return category;
  return none;
}

error_code read_fields(od::object& event, KinetoFields& fields) {
  Progress progress;
  for (auto each : event) {
    od::field field;
    if (const auto error = std::move(each).get(field)) return error;
    if (const auto error = read_field(field, fields, progress)) return error;
    const bool useless = progress.has_category && fields.category == KinetoCategory::none;
    if (progress.unwanted() || useless) {
      fields.category = KinetoCategory::none;
      return SUCCESS;
    }
  }
  if (progress.phase == '\0') fields.category = KinetoCategory::none;
  if (!progress.arguments_left || fields.category == KinetoCategory::none) return SUCCESS;
  return read_left_arguments(event, fields);
}

}  // namespace scaleworth::trace
