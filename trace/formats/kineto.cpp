// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/kineto.h"

#include "src/core/error.h"
#include "trace/formats/json_events.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

namespace scaleworth::trace {
namespace {
using attribution::CollectiveKind;

// The fields of one Kineto event as their text, without a copy.

/// What an event is, by its category; unused ones are `none`.
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

/// The category of today's and older names: "kernel", "Kernel", ...
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

/// Reads `event` as far as its category needs; `fields.category` is `none` for unused events.
/// The views are valid as long as the text that `event` is of.
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

std::optional<std::int64_t> product(std::optional<std::int64_t> count,
                                    std::optional<std::int64_t> bytes) {
  if (!count || !bytes || *count < 0) return std::nullopt;
  std::int64_t result = 0;
  if (__builtin_mul_overflow(*count, *bytes, &result)) return std::nullopt;
  return result;
}

/// The other rank of a send or receive.
std::optional<std::int32_t> peer_of(CollectiveKind kind, const KinetoFields& fields) {
  if (kind == CollectiveKind::send) return parse_small_number(fields.destination_rank);
  if (kind == CollectiveKind::receive) return parse_small_number(fields.source_rank);
  return std::nullopt;
}

/// Ranks of "[0, 1]"; none when the list is not complete ("[0, 1, ...]").
std::vector<std::int32_t> parse_rank_list(std::string_view list) {
  std::vector<std::int32_t> ranks;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return {};
  list = list.substr(1, list.size() - 2);
  while (!bare_token(list).empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const auto rank = parse_small_number(list.substr(0, comma));
    if (!rank) return {};
    ranks.push_back(*rank);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return ranks;
}

void add_group(NameId id, const KinetoFields& fields, Recording& recording) {
  auto& group = recording.groups[id];
  if (group.description.empty()) group.description = bare_token(fields.group_description);
  if (!group.size) group.size = parse_small_number(fields.group_size);
  if (group.ranks.empty()) group.ranks = parse_rank_list(bare_token(fields.group_ranks));
}

/// Adds the communication that `fields` describe, and its group, to `recording`. Returns its
/// index; no_index when the event has nothing of a collective.
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
  communication.root = parse_small_number(fields.root_rank);
  if (communication.group != NameId::none) add_group(communication.group, fields, recording);
  recording.communications.push_back(communication);
  return static_cast<std::uint32_t>(recording.communications.size() - 1);
}

std::optional<std::int32_t> small_number(const simdjson::dom::element& object, const char* key) {
  simdjson::dom::element value;
  if (object[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  std::int64_t number = 0;
  std::string_view text;
  // Some launchers write what they found in the environment: text.
  if (value.get(text) == simdjson::SUCCESS) return parse_small_number(text);
  if (value.get(number) != simdjson::SUCCESS || number < 0 ||
      number > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
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

/// What the file says around its events; `base` is what all times of the file count from.
void read_member(std::string_view key,
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

/// Drops what `unwanted` says of the events in order, and counts it.
template <typename Events, typename Unwanted>
void drop(Events& events, Recording& recording, const char* loss, Unwanted unwanted) {
  const auto end = std::remove_if(events.begin(), events.end(), unwanted);
  const auto dropped = events.end() - end;
  if (dropped > 0) recording.losses[loss] += dropped;
  events.erase(end, events.end());
}

/// Events at the same time and place are put next to their doubles; without a correlation nothing
/// distinguishes duplicates, and those keep their order.
template <typename Events, typename Place, typename Identity>
void drop_repeated(Events& events, Recording& recording, Place place, Identity identity) {
  for (auto run = events.begin(); run != events.end();) {
    const auto end = std::find_if(
        run, events.end(), [&](const auto& event) { return place(event) != place(*run); });
    if (end - run > 1)
      std::stable_sort(
          run, end, [&](const auto& a, const auto& b) { return identity(a) < identity(b); });
    run = end;
  }
  const auto same = [&](const auto& a, const auto& b) {
    return a.correlation != 0 && place(a) == place(b) && identity(a) == identity(b);
  };
  const auto end = std::unique(events.begin(), events.end(), same);
  const auto dropped = events.end() - end;
  if (dropped > 0) recording.losses["duplicate_events"] += dropped;
  events.erase(end, events.end());
}

/// Each part is within +-2^61, so that the sum is within 64 bits.
template <typename Event>
bool shifted_out_of_range(Event& event, std::chrono::nanoseconds base) {
  event.start += base;
  event.end += base;
  const auto farthest = std::chrono::nanoseconds(farthest_nanosecond);
  return event.start < -farthest || event.end > farthest;
}

/// Moves all times by `base`, and drops what that puts beyond +-2^61 ns ("events_out_of_range").
void shift_times(Recording& recording, std::chrono::nanoseconds base) {
  const auto out = [&](auto& event) { return shifted_out_of_range(event, base); };
  drop(recording.device_events, recording, "events_out_of_range", out);
  drop(recording.host_events, recording, "events_out_of_range", out);
  drop(recording.step_marks, recording, "events_out_of_range", out);
}

/// Puts each of the tool's records of waiting on the thread whose call it belongs to, by
/// correlation; those without a call stay where they are.
void place_synchronizations(Recording& recording) {
  if (recording.synchronizations.empty()) return;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> calls;
  for (const auto& event : recording.host_events)
    if (is_call(event)) calls.emplace_back(event.correlation, event.thread);
  std::ranges::sort(calls);
  for (auto& event : recording.host_events) {
    if (event.activity != HostActivity::synchronization) continue;
    const auto call = std::ranges::lower_bound(calls, std::pair(event.correlation, 0U));
    if (call != calls.end() && call->first == event.correlation) event.thread = call->second;
  }
}

/// Sorts the events and drops those that occur twice in all that is known of them
/// ("duplicate_events"). Events without a correlation are never taken for the same.
void sort_and_drop_duplicates(Recording& recording) {
  sort_events(recording);
  using DeviceIdentity = std::tuple<std::uint64_t, std::uint64_t, NameId>;
  using HostIdentity = std::tuple<std::uint64_t, HostActivity, NameId>;
  drop_repeated(
      recording.device_events,
      recording,
      [](const DeviceEvent& e) { return std::tuple(e.start, e.end, e.stream, e.device); },
      [](const DeviceEvent& e) {
        return e.correlation == 0 ? DeviceIdentity{}
                                  : DeviceIdentity(e.correlation, e.graph_node, e.name);
      });
  drop_repeated(
      recording.host_events,
      recording,
      [](const HostEvent& e) { return std::tuple(e.start, e.end, e.thread); },
      [](const HostEvent& e) {
        return e.correlation == 0 ? HostIdentity{}
                                  : HostIdentity(e.correlation, e.activity, e.name);
      });
  auto& marks = recording.step_marks;
  const auto same = [](const StepMark& a, const StepMark& b) {
    return std::tuple(a.number, a.start, a.end) == std::tuple(b.number, b.start, b.end);
  };
  marks.erase(std::unique(marks.begin(), marks.end(), same), marks.end());
}

/// 32 bits of a number that may be missing, negative or all ones for "none".
std::optional<std::uint32_t> index_number(std::string_view token) {
  const auto value = parse_integer(token);
  if (!value || *value < 0 || *value >= no_index) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<std::int32_t> step_number(std::string_view name) {
  constexpr std::string_view marker = "ProfilerStep#";
  if (!name.starts_with(marker)) return std::nullopt;
  return parse_small_number(name.substr(marker.size()));
}

DeviceOperation operation_of(KinetoCategory category) {
  if (category == KinetoCategory::copy) return DeviceOperation::copy;
  if (category == KinetoCategory::fill) return DeviceOperation::fill;
  return DeviceOperation::kernel;
}

HostActivity activity_of(KinetoCategory category) {
  if (category == KinetoCategory::driver_call) return HostActivity::driver_call;
  if (category == KinetoCategory::synchronization) return HostActivity::synchronization;
  if (category == KinetoCategory::overhead) return HostActivity::overhead;
  if (category == KinetoCategory::operation) return HostActivity::operation;
  if (category == KinetoCategory::annotation) return HostActivity::annotation;
  return HostActivity::runtime_call;
}

Synchronization::Kind synchronization_kind(std::string_view name) {
  using enum Synchronization::Kind;
  for (const Synchronization::Kind kind : {event, stream_wait_event, context})
    if (name == synchronization_name(kind)) return kind;
  return stream;
}

// The threads of a Chrome trace: numbered as they occur, named at the end.
class ThreadTable {
 public:
  /// The number of the thread that the texts of pid and tid name.
  std::uint32_t index(std::string_view process, std::string_view thread) {
    key_ = bare_token(process);
    key_ += '/';
    key_ += bare_token(thread);
    if (!numbers_.empty() && key_ == last_) return last_index_;
    last_index_ =
        numbers_.try_emplace(key_, static_cast<std::uint32_t>(numbers_.size())).first->second;
    last_ = key_;
    return last_index_;
  }

  void name_process(std::string_view process, std::string_view name) {
    process_names_.insert_or_assign(std::string(bare_token(process)), std::string(name));
  }

  /// "python 144/1" for each, by number.
  std::vector<std::string> labels() const {
    std::vector<std::string> labels(numbers_.size());
    for (const auto& [key, number] : numbers_) {
      const auto process = process_names_.find(key.substr(0, key.find('/')));
      labels[number] = process == process_names_.end() ? key : process->second + " " + key;
    }
    return labels;
  }

 private:
  std::string last_;  // most events are on the thread of the one before
  std::uint32_t last_index_ = 0;
  std::string key_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by "pid/tid"
  std::map<std::string, std::string, std::less<>> process_names_;
};

class KinetoReader final : public TraceReader {
 public:
  KinetoReader(Recording& recording, const KeepOperation& keep)
      : recording_(recording), keep_(keep) {}

  Use event(simdjson::ondemand::object& event) override {
    KinetoFields fields;
    if (read_fields(event, fields) != simdjson::SUCCESS) return Use::malformed;
    if (fields.category == KinetoCategory::none) return Use::passed_over;
    return add(fields) ? Use::kept : Use::passed_over;
  }

  void member(std::string_view key, std::string_view json) override {
    read_member(key, json, recording_, base_);
  }

  /// After the last event.
  void finish() {
    const bool on_host = !recording_.step_marks.empty();
    if (!on_host) recording_.step_marks = std::move(gpu_step_marks_);
    if (!recording_.step_marks.empty())
      recording_.step_marks_from = on_host ? "ProfilerStep" : "ProfilerStep on the GPU";
    recording_.threads = threads_.labels();
    shift_times(recording_, base_);
    place_synchronizations(recording_);
    sort_and_drop_duplicates(recording_);
  }

 private:
  /// False when nothing is kept of it.
  bool add(const KinetoFields& fields) {
    using enum KinetoCategory;
    if (fields.category == metadata) {
      if (fields.name == "process_name") threads_.name_process(fields.process, fields.label);
      return true;
    }
    if (fields.category == operation && !is_kept_operation(fields.name)) return false;
    const auto span = parse_span(fields.start, fields.duration, recording_);
    if (!span) return true;
    if (fields.category == kernel || fields.category == copy || fields.category == fill) {
      add_device_event(fields, *span);
    } else if (fields.category == annotation || fields.category == gpu_annotation) {
      add_annotation(fields, *span);
    } else {
      add_host_event(fields, *span);
    }
    return true;
  }

  void add_device_event(const KinetoFields& fields, TimeInterval span) {
    DeviceEvent event{span.start, span.end};
    event.correlation = parse_identifier(fields.correlation).value_or(0);
    event.graph_node = parse_identifier(fields.graph_node).value_or(0);
    event.name = recording_.names.intern(fields.name);
    event.operation = operation_of(fields.category);
    // Rows lie on the process "device" and the thread "stream" where the arguments do not say it.
    auto stream = index_number(fields.stream);
    if (!stream) stream = index_number(fields.thread);
    event.stream = stream.value_or(0);
    auto device = index_number(fields.device);
    if (!device) device = index_number(fields.process);
    event.device = static_cast<std::uint16_t>(
        std::min<std::uint32_t>(device.value_or(0), std::numeric_limits<std::uint16_t>::max()));
    if (event.operation == DeviceOperation::kernel) {
      event.communication = add_communication(fields, recording_);
      if (!recording_.origin.device) recording_.origin.device = event.device;
    } else {
      event.copy = add_copy(fields);
    }
    recording_.device_events.push_back(event);
  }

  void add_host_event(const KinetoFields& fields, TimeInterval span) {
    HostEvent event{span.start, span.end};
    event.correlation = parse_identifier(fields.correlation).value_or(0);
    event.name = recording_.names.intern(fields.name);
    event.thread = threads_.index(fields.process, fields.thread);
    event.activity = activity_of(fields.category);
    if (event.activity == HostActivity::synchronization) {
      event.synchronization = add_synchronization(fields);
    } else if (!recording_.origin.process) {
      recording_.origin.process = parse_integer(fields.process);
    }
    recording_.host_events.push_back(event);
  }

  void add_annotation(const KinetoFields& fields, TimeInterval span) {
    const bool on_host = fields.category == KinetoCategory::annotation;
    if (const auto step = step_number(fields.name)) {
      auto& marks = on_host ? recording_.step_marks : gpu_step_marks_;
      marks.push_back({*step, span.start, span.end});
    } else if (on_host) {
      add_host_event(fields, span);
    }
  }

  std::uint32_t add_copy(const KinetoFields& fields) {
    Copy copy;
    copy.bytes = parse_integer(fields.bytes);
    if (copy.bytes && *copy.bytes < 0) copy.bytes.reset();  // a writer's 32 bits ran over
    constexpr std::array<std::string_view, 7> directions = {
        "HtoD", "DtoH", "DtoD", "PtoP", "HtoH", "HtoA", "AtoH"};
    for (const auto direction : directions)
      if (fields.name.find(direction) != std::string_view::npos)
        copy.direction = recording_.names.intern(direction);
    recording_.copies.push_back(copy);
    return static_cast<std::uint32_t>(recording_.copies.size() - 1);
  }

  std::uint32_t add_synchronization(const KinetoFields& fields) {
    Synchronization synchronization;
    const auto kind = bare_token(fields.sync_kind);
    synchronization.kind = synchronization_kind(kind.empty() ? fields.name : kind);
    synchronization.stream = index_number(fields.stream);
    synchronization.waits_on = index_number(fields.waits_on);
    if (const auto record = index_number(fields.event_record))
      synchronization.event_record = *record;
    recording_.synchronizations.push_back(synchronization);
    return static_cast<std::uint32_t>(recording_.synchronizations.size() - 1);
  }

  bool is_kept_operation(std::string_view name) {
    operation_ = name;
    const auto found = kept_operations_.find(operation_);
    if (found != kept_operations_.end()) return found->second;
    return kept_operations_.emplace(operation_, keep_(name)).first->second;
  }

  Recording& recording_;
  const KeepOperation& keep_;
  ThreadTable threads_;
  std::unordered_map<std::string, bool> kept_operations_;  // what keep_ said
  std::string operation_;
  std::vector<StepMark> gpu_step_marks_;  // taken when the host has none
  nanoseconds base_{};
};
}  // namespace

std::vector<Recording> read_kineto(ByteSource& source,
                                   const KeepOperation& keep,
                                   const WalkOptions& options) {
  Recording recording;
  recording.origin.file = source.name();
  recording.origin.tool = "Kineto";
  KinetoReader reader(recording, keep);
  walk_trace(source, reader, recording, options);
  reader.finish();
  if (recording.device_events.empty() && recording.host_events.empty() &&
      recording.step_marks.empty())
    throw UserError(fmt::format(
        "{} holds no events of the PyTorch profiler{}: record with activities CPU and CUDA.",
        source.name(),
        source.damage().empty() ? "" : " (" + source.damage() + ")"));
  std::vector<Recording> recordings;
  recordings.push_back(std::move(recording));
  return recordings;
}

std::vector<Recording> read_kineto(ByteSource& source, const KeepOperation& keep) {
  return read_kineto(source, keep, WalkOptions{});
}
}  // namespace scaleworth::trace
