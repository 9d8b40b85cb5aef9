// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/kineto.h"

#include "src/core/error.h"
#include "src/core/whole_number.h"
#include "trace/capture_settings.h"
#include "trace/formats/json_events.h"
#include "trace/formats/kineto_fields.h"

#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <simdjson.h>

namespace scaleworth::trace {
namespace {
using simdjson::SUCCESS;

std::optional<std::int64_t> product(std::optional<std::int64_t> count,
                                    std::optional<std::int64_t> bytes) {
  if (!count || !bytes || *count < 0) return std::nullopt;
  std::int64_t result = 0;
  if (__builtin_mul_overflow(*count, *bytes, &result)) return std::nullopt;
  return result;
}

/// The other rank of a send or receive.
std::optional<std::int32_t> peer_of(CollectiveKind kind, const KinetoFields& fields) {
  if (kind == CollectiveKind::send) return rank_number(parse_integer(fields["Dst Rank"]));
  if (kind == CollectiveKind::receive) return rank_number(parse_integer(fields["Src Rank"]));
  return std::nullopt;
}

/// Ranks of "[0, 1]"; none when the list is not complete ("[0, 1, ...]").
std::vector<std::int32_t> parse_rank_list(std::string_view list) {
  std::vector<std::int32_t> ranks;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return {};
  list = list.substr(1, list.size() - 2);
  while (!bare_token(list).empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const auto rank = rank_number(parse_integer(list.substr(0, comma)));
    if (!rank) return {};
    ranks.push_back(*rank);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return ranks;
}

void add_group(NameId id, const KinetoFields& fields, Recording& recording) {
  auto& group = recording.groups[id];
  if (group.description.empty())
    group.description = bare_token(fields["Process Group Description"]);
  if (!group.size) group.size = rank_count(parse_integer(fields["Group size"]));
  if (group.ranks.empty()) group.ranks = parse_rank_list(bare_token(fields["Process Group Ranks"]));
}

/// The communication that `fields` describe, with its group known to `recording`; absent when the
/// event has nothing of a collective.
std::optional<Communication> communication_in(const KinetoFields& fields, Recording& recording) {
  if (fields["Collective name"].empty() && fields["Process Group Name"].empty() &&
      fields["Seq"].empty())
    return std::nullopt;
  Communication communication;
  communication.kind = parse_collective_name(bare_token(fields["Collective name"]));
  communication.group = recording.names.intern(bare_token(fields["Process Group Name"]));
  communication.sequence = parse_integer(fields["Seq"]);
  const auto bytes = element_bytes(bare_token(fields["dtype"]));
  communication.input_bytes = product(parse_integer(fields["In msg nelems"]), bytes);
  communication.output_bytes = product(parse_integer(fields["Out msg nelems"]), bytes);
  communication.peer = peer_of(communication.kind, fields);
  communication.root = rank_number(parse_integer(fields["Root Rank"]));
  if (communication.group != NameId::none) add_group(communication.group, fields, recording);
  return communication;
}

/// Some launchers write what they found in the environment: text.
std::optional<std::int64_t> integer_of(const simdjson::dom::element& object, const char* key) {
  simdjson::dom::element value;
  std::int64_t number = 0;
  std::string_view text;
  if (object[key].get(value) != SUCCESS) return std::nullopt;
  if (value.get(text) == SUCCESS) return parse_integer(text);
  return value.get(number) == SUCCESS ? std::optional(number) : std::nullopt;
}

std::string_view text_of(const simdjson::dom::element& object, const char* key) {
  std::string_view text;
  if (object[key].get(text) != SUCCESS) return {};
  return text;
}

/// What the file says of a group as a whole goes before what its events say.
void read_group(const simdjson::dom::element& config, Recording& recording) {
  const auto name = text_of(config, "pg_name");
  if (name.empty()) return;
  auto& group = recording.groups[recording.names.intern(name)];
  if (const auto description = text_of(config, "pg_desc"); !description.empty())
    group.description = description;
  if (const auto size = rank_count(integer_of(config, "pg_size"))) group.size = size;
  simdjson::dom::array ranks;
  if (config["ranks"].get(ranks) != SUCCESS) return;
  std::vector<std::int32_t> members;
  for (const auto rank : ranks) {
    std::int64_t number = 0;
    const auto member = rank.get(number) == SUCCESS ? rank_number(number) : std::nullopt;
    if (!member) return;
    members.push_back(*member);
  }
  if (!members.empty()) group.ranks = std::move(members);
}

void read_distributed_info(std::string_view json, Recording& recording) {
  simdjson::dom::parser parser;
  simdjson::dom::element info;
  if (parser.parse(json.data(), json.size()).get(info) != SUCCESS) return;
  state_rank(
      recording, integer_of(info, "rank"), integer_of(info, "world_size"), "distributedInfo");
  simdjson::dom::array groups;
  if (info["pg_config"].get(groups) != SUCCESS) return;
  for (const auto config : groups) read_group(config, recording);
}

/// Events at the same time and place are put next to their doubles; without a correlation nothing
/// distinguishes duplicates, and those keep their order.
template <typename Events, typename Place, typename Details>
void drop_repeated(Events& events, Recording& recording, Place place, Details details) {
  const auto identity = [&](const auto& event) {
    using Known = decltype(details(event));
    return std::pair(event.correlation, event.correlation == 0 ? Known{} : details(event));
  };
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
  if (end != events.end()) recording.losses["duplicate_events"] += events.end() - end;
  events.erase(end, events.end());
}

/// Moves all times by `base`, and drops what that puts beyond +-2^61 ns ("events_out_of_range").
/// Each part is within that, so that the sum is within 64 bits.
void shift_times(Recording& recording, nanoseconds base) {
  const auto shift = [&](auto& events) {
    for (auto& event : events) {
      event.start += base;
      event.end += base;
    }
    const auto dropped = std::erase_if(events, [&](const auto& event) {
      return event.start < -farthest_time || event.end > farthest_time;
    });
    if (dropped > 0) recording.losses["events_out_of_range"] += static_cast<std::int64_t>(dropped);
  };
  shift(recording.device_events);
  shift(recording.host_events);
  shift(recording.step_marks);
}

/// Sorts the events and drops those that occur twice in all that is known of them
/// ("duplicate_events"). Events without a correlation are never taken for the same.
void sort_and_drop_duplicates(Recording& recording) {
  sort_events(recording);
  drop_repeated(
      recording.device_events,
      recording,
      [](const DeviceEvent& e) { return std::tuple(e.start, e.end, e.stream, e.device); },
      [](const DeviceEvent& e) { return std::pair(e.graph_node, e.name); });
  drop_repeated(
      recording.host_events,
      recording,
      [](const HostEvent& e) { return std::tuple(e.start, e.end, e.thread); },
      [](const HostEvent& e) { return std::pair(e.activity, e.name); });
  auto& marks = recording.step_marks;
  const auto same = [](const StepMark& a, const StepMark& b) {
    return std::tuple(a.number, a.start, a.end) == std::tuple(b.number, b.start, b.end);
  };
  marks.erase(std::unique(marks.begin(), marks.end(), same), marks.end());
}

/// 32 bits of a number that may be missing, negative or all ones for "none".
std::optional<std::uint32_t> index_number(std::string_view token) {
  const auto value = parse_integer(token);
  return whole_number<std::uint32_t>(value, 0, no_index - 1);
}

std::optional<std::int32_t> step_of(std::string_view name) {
  constexpr std::string_view marker = "ProfilerStep#";
  if (!name.starts_with(marker)) return std::nullopt;
  return step_number(parse_integer(name.substr(marker.size())));
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
    std::string& known = process_names_[std::string(bare_token(process))];
    if (known < name) known = name;  // of several names the same one in any order
  }

  /// Numbers the threads anew, by pid and tid. Returns the new number of each old one.
  std::vector<std::uint32_t> sort() {
    std::vector<std::uint32_t> moved(numbers_.size());
    std::uint32_t next = 0;
    for (const auto& [key, number] : std::map(numbers_.begin(), numbers_.end()))
      moved[number] = numbers_[key] = next++;
    return moved;
  }

  std::optional<std::int64_t> process(std::uint32_t thread) const {
    const auto known = std::ranges::find(
        numbers_, thread, &std::unordered_map<std::string, std::uint32_t>::value_type::second);
    return parse_integer(std::string_view(known->first).substr(0, known->first.find('/')));
  }

  /// "python 144/1" for each, by number.
  std::vector<std::string> labels() const {
    std::vector<std::string> labels(numbers_.size());
    for (const auto& [key, number] : numbers_) {
      const auto* process = value_at(process_names_, key.substr(0, key.find('/')));
      labels[number] = process ? *process + " " + key : key;
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

/// The events of one process.
class KinetoEvents {
 public:
  KinetoEvents(Recording& recording, const KeepOperation& keep)
      : recording_(recording), keep_(keep) {}

  void member(std::string_view key, std::string_view json) {
    if (key == "baseTimeNanoseconds") {
      base_ = nanoseconds(parse_integer(json).value_or(0));
    } else if (key == "distributedInfo") {
      distributed_info_ = json;
    } else if (key == "deviceProperties") {
      has_devices_ = json.find('{') != std::string_view::npos;
    } else if (key == "host_name" || (key == "hostname" && recording_.origin.host.empty())) {
      recording_.origin.host = bare_token(json);
    }
  }

  /// Also those that were not kept.
  bool saw_operations() const { return !kept_operations_.empty(); }

  /// After the last event. Nothing that follows depends on the order of events and members.
  void finish() {
    read_distributed_info(distributed_info_, recording_);
    if (recording_.step_marks.empty()) recording_.step_marks = std::move(operator_step_marks_);
    const bool on_host = !recording_.step_marks.empty();
    if (!on_host) recording_.step_marks = std::move(gpu_step_marks_);
    if (!recording_.step_marks.empty())
      recording_.step_marks_from = on_host ? "ProfilerStep" : "ProfilerStep on the GPU";
    const std::vector<std::uint32_t> threads = threads_.sort();
    for (HostEvent& event : recording_.host_events) event.thread = threads[event.thread];
    recording_.threads = threads_.labels();
    join_inputs();
    operators_.describe_kernels(recording_);
    if (recording_.device_events.empty() && (!has_devices_.value_or(true) || ran_on_processor()))
      operators_.become_work(recording_, threads, input_texts_);
    sort_names(recording_);
    shift_times(recording_, base_);
    place_synchronizations(recording_);
    sort_and_drop_duplicates(recording_);
    mark_ranges();
    describe_origin();
  }

  /// False when nothing is kept of it.
  bool add(const KinetoFields& fields) {
    if (is(fields.category, OtherEvent::metadata)) {
      if (fields.name == "process_name") threads_.name_process(fields.process, fields.label);
      return true;
    }
    // PyTorch of 2020 and 2021 marks steps as operators.
    const bool operation = is(fields.category, HostActivity::operation);
    const auto step = operation && !fields.in_python ? step_of(fields.name) : std::nullopt;
    NameId inputs = NameId::none;
    if (operation && !step) {
      if (!fields.in_python) inputs = note_inputs(fields);
      if (fields.name == "record_param_comms") note_call(fields);
      if (!fields.in_python) keep_as_work(fields, inputs);
      if (!is_kept_operation(fields.name) && !is_long(fields)) return false;
    }
    // MTIA records what its streams do with events among their work.
    if (fields.name == "event_wait" || fields.name == "event_record") return false;
    const auto span = parse_span(fields.start, fields.duration, recording_);
    if (!span) return true;
    const auto* activity = std::get_if<HostActivity>(&fields.category);
    const bool annotated = !activity || *activity == HostActivity::annotation;
    if (const auto* work = std::get_if<DeviceOperation>(&fields.category)) {
      add_device_event(fields, *work, *span);
      on_device_ = true;
      operators_.clear();
    } else if (const auto mark = annotated ? step_of(fields.name) : step) {
      auto& marks = operation  ? operator_step_marks_
                    : activity ? recording_.step_marks
                               : gpu_step_marks_;
      marks.push_back({*mark, span->start, span->end});
    } else if (activity) {
      if (*activity == HostActivity::annotation && fields.name.find(':') != std::string_view::npos)
        keep_as_work(fields, inputs);
      if (*activity == HostActivity::runtime_call || *activity == HostActivity::driver_call)
        on_device_ = true;
      add_host_event(fields, *activity, *span);
    } else if (const auto name = parse_step_name(fields.name); name && name->of_engine) {
      gpu_ranges_[fields.thread.empty() ? "" : std::string(fields.thread)].push_back(
          {0, span->start, span->end});
    }
    return true;
  }

  /// A process of which nothing shows a GPU.
  bool may_be_on_processor() const { return !on_device_ && !has_devices_.value_or(false); }
  /// It communicated without one.
  bool ran_on_processor() const { return !has_devices_ && operators_.saw_backend(); }

  void keep_as_work(const KinetoFields& fields, NameId inputs) {
    if (!may_be_on_processor()) return;
    const bool annotation = is(fields.category, HostActivity::annotation);
    if (annotation && parse_collective_name(fields.name) == CollectiveKind::unknown) return;
    if (const auto span = parse_span(fields.start, fields.duration, unused_))
      operators_.add(fields,
                     *span,
                     recording_.names.intern(fields.name),
                     threads_.index(fields.process, fields.thread),
                     inputs);
  }

  void note_call(const KinetoFields& fields) {
    auto communication = communication_in(fields, recording_);
    const auto span = parse_span(fields.start, fields.duration, unused_);
    if (communication && span) operators_.add_call(span->start, std::move(*communication));
  }

  /// Longer than a pause between launches: if the GPU has nothing to do meanwhile, this is why.
  bool is_long(const KinetoFields& fields) const {
    constexpr std::int64_t least = 500'000;  // ns
    return parse_decimal(fields.duration, 3).value_or(0) >= least;
  }

  /// Where nothing else marks steps: ranges that are named like iterations. Of serving engines
  /// those on the GPU go first, on the stream that has most of them: their hosts run ahead.
  void mark_ranges() {
    if (!recording_.step_marks.empty()) return;
    auto best = gpu_ranges_.begin();
    for (auto one = gpu_ranges_.begin(); one != gpu_ranges_.end(); ++one)
      if (one->second.size() > best->second.size()) best = one;
    if (best == gpu_ranges_.end()) {
      const bool of_engine = marks_from_ranges(recording_, "range");
      if (!of_engine && recording_.step_marks.size() < 2) recording_.step_marks.clear();
      return;
    }
    std::vector<StepMark>& marks = recording_.step_marks = std::move(best->second);
    std::ranges::sort(marks, {}, &StepMark::start);
    for (std::size_t i = 0; i < marks.size(); ++i) {
      marks[i].number = static_cast<std::int32_t>(i);
      marks[i].start += base_;
      marks[i].end += base_;
    }
    recording_.step_marks_from = "serving iteration";
  }

  void add_device_event(const KinetoFields& fields, DeviceOperation operation, TimeInterval span) {
    DeviceEvent event{span.start, span.end};
    event.correlation = parse_identifier(fields["correlation"]).value_or(0);
    event.graph_node = parse_identifier(fields["graph node id"]).value_or(0);
    event.name = recording_.names.intern(fields.name);
    event.operation = operation;
    // Rows lie on the process "device" and the thread "stream" where the arguments do not say it.
    auto stream = index_number(fields["stream"]);
    if (!stream) stream = index_number(fields.thread);
    event.stream = stream.value_or(0);
    auto device = index_number(fields["device"]);
    if (!device) device = index_number(fields.process);
    event.device = whole_number<std::uint16_t>(device.value_or(0)).value_or(0xffff);
    if (event.operation == DeviceOperation::kernel) {
      if (auto communication = communication_in(fields, recording_))
        event.communication = append(recording_.communications, std::move(*communication));
      note_launch(fields);
    } else {
      event.copy = add_copy(fields);
    }
    recording_.device_events.push_back(event);
  }

  void add_host_event(const KinetoFields& fields, HostActivity activity, TimeInterval span) {
    HostEvent event{span.start, span.end};
    event.correlation = parse_identifier(fields["correlation"]).value_or(0);
    event.name = recording_.names.intern(fields.name);
    event.thread = threads_.index(fields.process, fields.thread);
    event.activity = activity;
    if (event.activity == HostActivity::synchronization)
      event.synchronization = add_synchronization(fields);
    recording_.host_events.push_back(event);
  }

  /// Of the kernel that is added next: grid and block as the file spells them, and the operator.
  void note_launch(const KinetoFields& fields) {
    if (fields["grid"].empty()) return;
    text_ = bare_token(fields["grid"]);
    if (!fields["block"].empty()) (text_ += ' ') += bare_token(fields["block"]);
    launches_.push_back({static_cast<std::uint32_t>(recording_.device_events.size()),
                         launch_texts_.intern(text_),
                         parse_identifier(fields["External id"])});
  }

  /// Of an operator, for the kernels that it launched, wherever they stand.
  NameId note_inputs(const KinetoFields& fields) {
    std::string_view dimensions = fields["Input Dims"];
    if (dimensions.empty()) dimensions = fields["Input dims"];
    if (dimensions.empty()) return NameId::none;
    const NameId text = input_texts_.intern(dimensions);
    const auto id = parse_identifier(fields["External id"]);
    if (!id) return text;
    const auto [known, fresh] = inputs_.try_emplace(*id, text);
    // Where operators with other inputs have the same id, that says nothing.
    if (!fresh && list_text(input_texts_.at(known->second)) != list_text(dimensions))
      known->second = NameId::none;
    return text;
  }

  /// Gives kernels their shapes: launches and inputs by value, whatever their spelling.
  void join_inputs() {
    const auto spelled = [](std::string_view text) { return list_text(text); };
    auto launch_text = remembered(launch_texts_, spelled);
    auto input_text = remembered(input_texts_, spelled);
    std::map<std::pair<NameId, NameId>, std::string> texts;
    for (Launch& launch : launches_) {
      const auto* inputs = launch.external_id ? value_at(inputs_, *launch.external_id) : nullptr;
      launch.inputs = inputs ? *inputs : NameId::none;
      std::string& text = texts[{launch.text, launch.inputs}];
      if (!text.empty()) continue;
      text = launch_text(launch.text);
      // Operators without tensors have "[]".
      const std::string& dimensions = input_text(launch.inputs);
      if (dimensions.starts_with("[[")) (text += ' ') += dimensions;
    }
    std::set<std::string_view> sorted;
    for (const auto& [parts, text] : texts) sorted.insert(text);
    for (const std::string_view text : sorted) shape_number(recording_, text);
    for (const Launch& launch : launches_)
      recording_.device_events[launch.event].shape =
          shape_number(recording_, texts[{launch.text, launch.inputs}]);
  }

  /// By the first of the events.
  void describe_origin() {
    const auto& events = recording_.device_events;
    const auto kernel = std::ranges::find(events, DeviceOperation::kernel, &DeviceEvent::operation);
    if (kernel != events.end() && !recording_.origin.on_processor)
      recording_.origin.device = kernel->device;
    const auto call = std::ranges::find_if(recording_.host_events, [](const HostEvent& event) {
      return event.activity != HostActivity::synchronization;
    });
    if (call != recording_.host_events.end())
      recording_.origin.process = threads_.process(call->thread);
  }

  std::uint32_t add_copy(const KinetoFields& fields) {
    Copy copy;
    // Negative where a writer's 32 bits ran over.
    copy.bytes = whole_number<std::int64_t>(parse_integer(fields["bytes"]));
    constexpr std::array<std::string_view, 7> directions = {
        "HtoD", "DtoH", "DtoD", "PtoP", "HtoH", "HtoA", "AtoH"};
    for (const auto direction : directions)
      if (fields.name.find(direction) != std::string_view::npos)
        copy.direction = recording_.names.intern(direction);
    // "Memcpy M2D (MEMORY -> DEVICE)" of XPU: M, H and S are memory that the host has.
    const std::string_view type = fields.name.substr(std::min<std::size_t>(7, fields.name.size()));
    if (type.size() > 3 && type[1] == '2' && type[3] == ' ')
      copy.direction = recording_.names.intern(
          fmt::format("{}to{}", type[0] == 'D' ? 'D' : 'H', type[2] == 'D' ? 'D' : 'H'));
    return append(recording_.copies, copy);
  }

  std::uint32_t add_synchronization(const KinetoFields& fields) {
    Synchronization synchronization;
    const auto kind = bare_token(fields["cuda_sync_kind"]);
    synchronization.kind = synchronization_kind(kind.empty() ? fields.name : kind);
    synchronization.stream = index_number(fields["stream"]);
    synchronization.waits_on = index_number(fields["wait_on_stream"]);
    synchronization.event_record = index_number(fields["wait_on_cuda_event_record_corr_id"]);
    return append(recording_.synchronizations, synchronization);
  }

 private:
  bool is_kept_operation(std::string_view name) {
    operation_ = name;
    if (const auto* found = value_at(kept_operations_, operation_)) return *found;
    return kept_operations_.emplace(operation_, keep_(name)).first->second;
  }

  Recording& recording_;
  const KeepOperation& keep_;
  ThreadTable threads_;
  std::unordered_map<std::string, bool> kept_operations_;  // what keep_ said
  std::string operation_;
  NameTable input_texts_;                             // dimensions of operators' inputs
  std::unordered_map<std::uint64_t, NameId> inputs_;  // by "External id" of the operator
  struct Launch {
    std::uint32_t event = 0;  // into device_events
    NameId text = NameId::none;
    std::optional<std::uint64_t> external_id{};
    NameId inputs = NameId::none;
  };
  NameTable launch_texts_;
  std::vector<Launch> launches_;
  std::string text_;
  KinetoOperators operators_;
  bool on_device_ = false;                                   // something shows a GPU
  std::optional<bool> has_devices_{};                        // as the file states it
  Recording unused_;                                         // for what is counted elsewhere
  std::map<std::string, std::vector<StepMark>> gpu_ranges_;  // iterations of engines, by stream
  std::string distributed_info_;
  std::vector<StepMark> operator_step_marks_;  // taken when no annotation marks steps
  std::vector<StepMark> gpu_step_marks_;       // taken when the host has none
  nanoseconds base_{};                         // what all times of the file count from
};

/// A file of one process, or of several that a tool has merged: it writes a label before their
/// numbers ("[TP01] 4001", SGLang). Each label is a process with correlations of its own.
class KinetoReader final : public TraceReader {
 public:
  KinetoReader(const ByteSource& source, const KeepOperation& keep)
      : file_(source.name()), keep_(keep), current_(&part("")) {}

  Use event(simdjson::ondemand::object& event) override {
    KinetoFields fields;
    if (!read_fields(event, fields)) return Use::malformed;
    if (is(fields.category, OtherEvent::unused)) return Use::passed_over;
    take_label(fields);
    return current_->events.add(fields) ? Use::kept : Use::passed_over;
  }

  void member(std::string_view key, std::string_view json) override {
    if (std::ranges::count(read_members, key) > 0) members_.emplace_back(key, json);
    if (key == "deviceProperties") current_->events.member(key, json);
  }

  /// Where walks note what was damaged.
  Recording& first() { return parts_.begin()->second.recording; }

  bool saw_operations() const {
    return std::ranges::any_of(parts_,
                               [](const auto& one) { return one.second.events.saw_operations(); });
  }

  /// After the last event. Of merged processes ranks are the order of their labels: what the file
  /// says of itself is that of the first.
  std::vector<Recording> finish() {
    const bool merged = parts_.size() > 1;
    std::vector<Recording> recordings;
    std::map<std::string, std::int64_t> damage;  // of the file, noted with events without a label
    for (auto& [label, part] : parts_) {
      for (const auto& [key, json] : members_)
        if (!merged || key != "distributedInfo") part.events.member(key, json);
      part.events.finish();
      if (merged && label.empty() && part.recording.device_events.empty()) {
        damage = std::move(part.recording.losses);
        continue;
      }
      Origin& origin = part.recording.origin;
      if (merged) {
        origin.rank = static_cast<std::int32_t>(recordings.size());
        origin.rank_from = "labels of the merged processes";
        origin.rank_basis = RankBasis::counted;
      }
      for (const auto& [what, count] : std::exchange(damage, {}))
        part.recording.losses[what] += count;
      recordings.push_back(std::move(part.recording));
    }
    return recordings;
  }

 private:
  struct Part {
    Recording recording;
    KinetoEvents events;
    explicit Part(const KeepOperation& keep) : events(recording, keep) {}
  };

  Part& part(std::string_view label) {
    const auto known = parts_.find(label);
    if (known != parts_.end()) return known->second;
    Part& fresh = parts_.emplace(label, keep_).first->second;
    fresh.recording.origin.file = file_;
    fresh.recording.origin.tool = "Kineto";
    return fresh;
  }

  /// Takes the label off the process and makes its part the current one.
  void take_label(KinetoFields& fields) {
    std::string_view label;
    const std::string_view process = bare_token(fields.process);
    if (process.starts_with('[')) {
      const std::size_t end = process.find("] ");
      if (end != std::string_view::npos) {
        label = process.substr(1, end - 1);
        fields.process = process.substr(end + 2);
      }
    }
    if (label == label_) return;
    label_ = label;
    current_ = &part(label);
  }

  static constexpr std::array<std::string_view, 5> read_members{
      "baseTimeNanoseconds", "deviceProperties", "distributedInfo", "host_name", "hostname"};

  std::string file_;
  const KeepOperation& keep_;
  std::map<std::string, Part, std::less<>> parts_;  // by label; "" for none
  std::string label_;
  Part* current_;
  std::vector<std::pair<std::string, std::string>> members_;
};
}  // namespace

void place_synchronizations(Recording& recording) {
  std::vector<std::pair<std::uint64_t, HostEvent*>> waits;  // by correlation
  for (HostEvent& event : recording.host_events)
    if (event.activity == HostActivity::synchronization && event.correlation != 0)
      waits.emplace_back(event.correlation, &event);
  if (waits.empty()) return;
  std::ranges::sort(waits, {}, &decltype(waits)::value_type::first);
  for (const HostEvent& call : recording.host_events) {
    if (!is_call(call)) continue;
    auto wait =
        std::ranges::lower_bound(waits, call.correlation, {}, &decltype(waits)::value_type::first);
    for (; wait != waits.end() && wait->first == call.correlation; ++wait)
      wait->second->thread = call.thread;
  }
}

std::vector<Recording> read_kineto(ByteSource& source,
                                   const KeepOperation& keep,
                                   const WalkOptions* options) {
  KinetoReader reader(source, keep);
  walk_trace(source, reader, reader.first(), options ? *options : WalkOptions{});
  std::vector<Recording> recordings = reader.finish();
  const bool nothing = std::ranges::all_of(recordings, [](const Recording& recording) {
    return recording.device_events.empty() && recording.host_events.empty() &&
           recording.step_marks.empty() && !recording.losses.contains("events_without_time");
  });
  if (nothing && !reader.saw_operations())
    throw UserError(
        "{} holds no events of the PyTorch profiler{}: record with activities CPU and CUDA.",
        source.name(),
        source.damage().empty() ? "" : " (" + source.damage() + ")");
  return recordings;
}
}  // namespace scaleworth::trace
