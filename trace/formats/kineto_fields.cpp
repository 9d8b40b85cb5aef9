// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/kineto_fields.h"

#include "src/core/files/csv.h"
#include "trace/formats/kineto.h"

#include <array>
#include <cctype>

#include <simdjson.h>

namespace scaleworth::trace {
namespace {
/// Today's names before older ones, those that occur most in front.
constexpr std::array<std::pair<std::string_view, KinetoCategory>, 17> categories = {{
    {"cpu_op", HostActivity::operation},
    {"cuda_runtime", HostActivity::runtime_call},
    {"kernel", DeviceOperation::kernel},
    {"python_function", HostActivity::operation},
    {"cuda_driver", HostActivity::driver_call},
    {"gpu_memcpy", DeviceOperation::copy},
    {"gpu_memset", DeviceOperation::fill},
    {"user_annotation", HostActivity::annotation},
    {"gpu_user_annotation", OtherEvent::gpu_annotation},
    {"cuda_sync", HostActivity::synchronization},
    {"overhead", HostActivity::overhead},
    {"Kernel", DeviceOperation::kernel},
    {"Memcpy", DeviceOperation::copy},
    {"Memset", DeviceOperation::fill},
    {"Runtime", HostActivity::runtime_call},
    {"Operator", HostActivity::operation},
    {"Overhead", HostActivity::overhead},
}};

KinetoCategory kineto_category(std::string_view name) {
  for (const auto& [known, category] : categories)
    if (name == known) return category;
  // Other devices, as libkineto/include/ActivityType.h of pytorch/kineto names their rows:
  // xpu_runtime, mtia_runtime, privateuse1_driver, ... ROCm's rows bear the names of CUDA's.
  if (name.ends_with("_runtime") || name == "hpu_op") return HostActivity::runtime_call;
  if (name.ends_with("_driver") || name == "xpu_sync") return HostActivity::driver_call;
  if (name == "mtia_ccp_events") return DeviceOperation::kernel;
  return OtherEvent::unused;
}

namespace od = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;

/// Those of the first `keys` of argument_keys.
template <std::size_t keys>
error_code read_keys(od::value& arguments, KinetoFields& fields) {
  return each_member(arguments, [&](const char* key, od::value& value) {
    for (std::size_t i = 0; i < keys; ++i) {
      if (!is_key(key, argument_keys[i])) continue;
      fields.arguments[i] = value.raw_json_token();
      od::array list;
      if (fields.arguments[i].front() == '[' && value.get_array().get(list) == SUCCESS)
        return list.raw_json().get(fields.arguments[i]);
      break;
    }
    return SUCCESS;
  });
}

error_code read_arguments(od::value& arguments, KinetoFields& fields) {
  const bool communicates =
      fields.name == "record_param_comms" || fields.name.starts_with("c10d::");
  if (is(fields.category, HostActivity::operation) && !communicates)
    return fields.in_python ? SUCCESS : read_keys<operator_keys>(arguments, fields);
  if (!is(fields.category, OtherEvent::metadata))
    return read_keys<argument_keys.size()>(arguments, fields);
  return each_member(arguments, [&](const char* key, od::value& value) {
    return is_key(key, "name") ? read_text(value, fields.label) : SUCCESS;
  });
}

error_code read_field(od::field& field, KinetoFields& fields) {
  const char* key = field.key().raw();
  auto& value = field.value();
  if (is_key(key, "name")) return read_text(value, fields.name);
  if (is_key(key, "pid")) fields.process = value.raw_json_token();
  if (is_key(key, "tid")) fields.thread = value.raw_json_token();
  if (is_key(key, "ts")) fields.start = value.raw_json_token();
  if (is_key(key, "dur")) fields.duration = value.raw_json_token();
  if (is_key(key, "ph")) {
    const auto phase = bare_token(value.raw_json_token());
    fields.phase = phase.size() == 1 ? phase.front() : '?';
    if (fields.phase == 'M') fields.category = OtherEvent::metadata;
  }
  if (is_key(key, "cat") && fields.phase != 'M') {
    const std::string_view category = bare_token(value.raw_json_token());
    fields.category = kineto_category(category);
    fields.has_category = true;
    fields.in_python = category.starts_with("python");
  }
  if (!is_key(key, "args")) return SUCCESS;
  const bool unnamed = is(fields.category, HostActivity::operation) && fields.name.empty();
  fields.arguments_left = is(fields.category, OtherEvent::unused) || unnamed;
  return fields.arguments_left ? SUCCESS : read_arguments(value, fields);
}

/// The arguments of an event in which they stood before what says which of them are needed. Nothing
/// else is read again: simdjson has room for each string once.
error_code read_left_arguments(od::object& event, KinetoFields& fields) {
  if (const auto error = event.reset().error()) return error;
  return each_member(event, [&](const char* key, od::value& value) {
    return is_key(key, "args") ? read_arguments(value, fields) : SUCCESS;
  });
}

error_code read_all(od::object& event, KinetoFields& fields) {
  for (auto each : event) {
    od::field field;
    if (const auto error = std::move(each).get(field)) return error;
    if (const auto error = read_field(field, fields)) return error;
    const bool unwanted = fields.phase != '\0' && fields.phase != 'X' && fields.phase != 'M';
    if (unwanted) fields.category = OtherEvent::unused;
    const bool known = fields.has_category && fields.phase != '\0';
    if (unwanted || (known && is(fields.category, OtherEvent::unused))) return SUCCESS;
  }
  if (fields.phase == '\0') fields.category = OtherEvent::unused;
  if (!fields.arguments_left || is(fields.category, OtherEvent::unused)) return SUCCESS;
  return read_left_arguments(event, fields);
}
}  // namespace

bool read_fields(od::object& event, KinetoFields& fields) {
  return read_all(event, fields) == SUCCESS;
}

std::string_view kineto_category_name(KinetoCategory category) {
  return std::ranges::find(categories, category, &decltype(categories)::value_type::second)->first;
}

CollectiveKind parse_collective_name(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // In this order: "reducescatter" holds "reduce", "alltoall" nothing of the others.
  using enum CollectiveKind;
  constexpr std::array<std::pair<std::string_view, CollectiveKind>, 13> words = {{
      {"reducescatter", reduce_scatter},
      {"allreduce", all_reduce},
      {"allgather", all_gather},
      {"alltoall", all_to_all},
      {"broadcast", broadcast},
      {"barrier", barrier},
      {"sendrecv", send_receive},
      {"send", send},
      {"recv", receive},
      {"receive", receive},
      {"reduce", reduce},
      {"gather", gather},
      {"scatter", scatter},
  }};
  for (const auto& [word, kind] : words)
    if (letters.find(word) != std::string::npos) return kind;
  return unknown;
}

std::optional<CollectiveKind> nccl_function_kind(std::string_view function) {
  using enum CollectiveKind;
  constexpr std::array<std::pair<std::string_view, CollectiveKind>, 12> functions = {{
      {"AllReduce", all_reduce},
      {"AllGather", all_gather},
      {"ReduceScatter", reduce_scatter},
      {"AlltoAll", all_to_all},
      {"AllToAll", all_to_all},
      {"Broadcast", broadcast},
      {"Bcast", broadcast},
      {"Reduce", reduce},
      {"Gather", gather},
      {"Scatter", scatter},
      {"Send", send},
      {"Recv", receive},
  }};
  if (function.starts_with("nccl")) function.remove_prefix(4);
  for (const auto& [name, kind] : functions)
    if (function == name) return kind;
  return std::nullopt;
}

CollectiveKind kind_of_both(CollectiveKind a, CollectiveKind b) {
  using enum CollectiveKind;
  const auto point_to_point = [](CollectiveKind kind) {
    return kind == send || kind == receive || kind == send_receive;
  };
  if (a == b) return a;
  return point_to_point(a) && point_to_point(b) ? send_receive : unknown;
}

std::optional<std::int64_t> element_bytes(std::string_view types) {
  // In this order: "bfloat16" holds "float", "long int" and "uint16" hold "int".
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 18> known = {{
      {"complexhalf", 4},
      {"complexfloat", 8},
      {"complexdouble", 16},
      {"float8", 1},
      {"bfloat16", 2},
      {"half", 2},
      {"double", 8},
      {"float", 4},
      {"long", 8},
      {"short", 2},
      {"byte", 1},
      {"char", 1},
      {"bool", 1},
      {"int8", 1},
      {"int16", 2},
      {"int32", 4},
      {"int64", 8},
      {"int", 4},
  }};
  const std::string letters = lower_case(types);
  for (const auto& [name, bytes] : known)
    if (letters.find(name) != std::string::npos) return bytes;
  return std::nullopt;
}
}  // namespace scaleworth::trace
