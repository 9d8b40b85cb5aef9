// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/json_events.h"
#include "trace/formats/kineto.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include <simdjson.h>

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

namespace {
using attribution::CollectiveKind;

std::optional<std::int64_t> product(std::optional<std::int64_t> count,
                                    std::optional<std::int64_t> bytes) {
  if (!count || !bytes || *count < 0) return std::nullopt;
  std::int64_t result = 0;
  if (__builtin_mul_overflow(*count, *bytes, &result)) return std::nullopt;
  return result;
}

std::optional<std::int32_t> small_number(std::string_view token) {
  const auto value = parse_integer(token);
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

/// The other rank of a send or receive.
std::optional<std::int32_t> peer_of(CollectiveKind kind, const KinetoFields& fields) {
  if (kind == CollectiveKind::send) return small_number(fields.destination_rank);
  if (kind == CollectiveKind::receive) return small_number(fields.source_rank);
  return std::nullopt;
}

void add_group(NameId id, const KinetoFields& fields, Recording& recording) {
  auto& group = recording.groups[id];
  if (group.description.empty()) group.description = bare_token(fields.group_description);
  if (!group.size) group.size = small_number(fields.group_size);
  if (group.ranks.empty()) group.ranks = parse_rank_list(bare_token(fields.group_ranks));
}
}  // namespace

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

std::optional<std::int64_t> element_bytes(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 17> types = {{
      {"Float", 4},
      {"BFloat16", 2},
      {"Half", 2},
      {"Double", 8},
      {"Long", 8},
      {"Int", 4},
      {"Short", 2},
      {"Byte", 1},
      {"Char", 1},
      {"Bool", 1},
      {"UInt16", 2},
      {"UInt32", 4},
      {"UInt64", 8},
      {"ComplexHalf", 4},
      {"ComplexFloat", 8},
      {"ComplexDouble", 16},
      {"Float8", 1},
  }};
  if (type.starts_with("Float8_")) type = "Float8";
  for (const auto& [name, bytes] : types)
    if (type == name) return bytes;
  return std::nullopt;
}

std::vector<std::int32_t> parse_rank_list(std::string_view list) {
  std::vector<std::int32_t> ranks;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return {};
  list = list.substr(1, list.size() - 2);
  while (!bare_token(list).empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const auto rank = small_number(list.substr(0, comma));
    if (!rank) return {};
    ranks.push_back(*rank);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return ranks;
}

std::uint32_t add_communication(const KinetoFields& fields, Recording& recording) {
  if (fields.collective.empty() && fields.group.empty() && fields.sequence.empty()) return no_index;
  Communication communication;
  communication.kind = parse_collective_name(bare_token(fields.collective));
  communication.group = recording.names.intern(bare_token(fields.group));
  communication.sequence = parse_integer(fields.sequence);
  const auto bytes = element_bytes(bare_token(fields.element_type));
  communication.input_bytes = product(parse_integer(fields.elements_in), bytes);
  communication.output_bytes = product(parse_integer(fields.elements_out), bytes);
  communication.peer = peer_of(communication.kind, fields);
  communication.root = small_number(fields.root_rank);
  if (communication.group != NameId::none) add_group(communication.group, fields, recording);
  recording.communications.push_back(communication);
  return static_cast<std::uint32_t>(recording.communications.size() - 1);
}

namespace {
std::optional<std::int32_t> small_number(const simdjson::dom::element& object, const char* key) {
  simdjson::dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  std::int64_t number = 0;
  std::string_view text;
  // Some launchers write what they found in the environment: text.
  if (value.get(text) == simdjson::SUCCESS) {
    const auto parsed = parse_integer(text);
    if (!parsed) return std::nullopt;
    number = *parsed;
  } else if (value.get(number) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int32_t>(number);
}

std::string_view text_of(const simdjson::dom::element& object, const char* key) {
  std::string_view text;
  if (object[key].get(text) != simdjson::SUCCESS) return {};
  return text;
}

void read_group(const simdjson::dom::element& config, Recording& recording) {
  const auto name = text_of(config, "pg_name");
  if (name.empty()) return;
  auto& group = recording.groups[recording.names.intern(name)];
  group.description = text_of(config, "pg_desc");
  group.size = small_number(config, "pg_size");
  group.ranks.clear();
  simdjson::dom::array ranks;
  if (config["ranks"].get(ranks) != simdjson::SUCCESS) return;
  for (const auto rank : ranks) {
    std::int64_t number = 0;
    if (rank.get(number) == simdjson::SUCCESS)
      group.ranks.push_back(static_cast<std::int32_t>(number));
  }
}

void read_distributed_info(const simdjson::dom::element& info, Recording& recording) {
  recording.origin.rank = small_number(info, "rank");
  recording.origin.world_size = small_number(info, "world_size");
  if (recording.origin.rank) recording.origin.rank_from = "distributedInfo";
  simdjson::dom::array groups;
  if (info["pg_config"].get(groups) != simdjson::SUCCESS) return;
  for (const auto config : groups) read_group(config, recording);
}
}  // namespace

void read_kineto_member(std::string_view key,
                        std::string_view json,
                        Recording& recording,
                        std::chrono::nanoseconds& base) {
  if (key == "baseTimeNanoseconds") {
    base = std::chrono::nanoseconds(parse_integer(json).value_or(0));
  } else if (key == "distributedInfo") {
    simdjson::dom::parser parser;
    simdjson::dom::element info;
    if (parser.parse(json.data(), json.size()).get(info) == simdjson::SUCCESS)
      read_distributed_info(info, recording);
  } else if (key == "host_name" || key == "hostname") {
    recording.origin.host = bare_token(json);
  }
}
}  // namespace scaleworth::trace
