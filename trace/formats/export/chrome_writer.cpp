// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export_writer.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleworth::trace {
namespace {
/// With quotes. Bytes that are no UTF-8 are passed on as they are.
void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20U) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Microseconds with all of their nanoseconds.
void append_time(std::string& out, nanoseconds time) {
  const std::int64_t count = time.count();
  const std::uint64_t size =
      count < 0 ? -static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
  fmt::format_to(
      std::back_inserter(out), "{}{}.{:03}", count < 0 ? "-" : "", size / 1000, size % 1000);
}

void append_arguments(std::string& out, std::span<const Argument> arguments) {
  out += R"(,"args":{)";
  bool first = true;
  for (const Argument& argument : arguments) {
    if (!first) out += ',';
    first = false;
    append_text(out, argument.name);
    out += ':';
    if (const auto* integer = std::get_if<std::int64_t>(&argument.value))
      fmt::format_to(std::back_inserter(out), "{}", *integer);
    else if (const auto* real = std::get_if<double>(&argument.value))
      out += std::isfinite(*real) ? fmt::format("{}", *real) : "null";
    else
      append_text(out, std::get<std::string_view>(argument.value));
  }
  out += '}';
}

/// Rank, size and groups as Kineto's distributedInfo holds them, and what it has no words for.
std::string distributed_info(const ExportProcess& process) {
  const Recording& recording = *process.recording;
  const Origin& origin = recording.origin;
  nlohmann::ordered_json info = {{"backend", "nccl"},
                                 {"rank", origin.rank.value_or(process.number - 1)},
                                 {"world_size", process.world_size},
                                 {"pg_config", nlohmann::ordered_json::array()}};
  for (const auto& [name, group] : recording.groups) {
    nlohmann::ordered_json config = {{"pg_name", recording.names.at(name)},
                                     {"pg_desc", group.description},
                                     {"ranks", group.ranks}};
    if (group.size) config["pg_size"] = *group.size;
    info["pg_config"].push_back(std::move(config));
  }
  nlohmann::ordered_json& own = info["scaleworth"];
  own = {{"tool", origin.tool},
         {"host", origin.host},
         {"run", origin.run},
         {"rank_from", origin.rank_from},
         {"step_marks_from", recording.step_marks_from}};
  const auto add = [&](const char* name, const auto& value) {
    if (value) own[name] = *value;
  };
  add("process", origin.process);
  add("device", origin.device);
  add("pipeline_stage", origin.pipeline_stage);
  add("data_parallel_rank", origin.data_parallel_rank);
  if (origin.framework_timeline) own["framework_timeline"] = true;
  return info.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
}  // namespace

ChromeWriter::ChromeWriter(OutputFile& file, nanoseconds origin) : file_(file), origin_(origin) {
  file_.write(fmt::format(
      R"({}"schemaVersion":1,"displayTimeUnit":"ns","baseTimeNanoseconds":{},"traceEvents":[)",
      chrome_export_begin,
      origin.count()));
}

void ChromeWriter::begin_line(std::int32_t process) {
  line_ = first_line_ ? "\n" : ",\n";
  first_line_ = false;
  fmt::format_to(std::back_inserter(line_), R"({{"pid":{})", process);
}

void ChromeWriter::end_line() {
  line_ += '}';
  file_.write(line_);
}

void ChromeWriter::metadata(std::int32_t process,
                            std::string_view what,
                            std::string_view arguments) {
  begin_line(process);
  fmt::format_to(std::back_inserter(line_), R"(,"ph":"M","name":"{}"{})", what, arguments);
  end_line();
}

void ChromeWriter::add_process(const ExportProcess& process) {
  std::string name = R"(,"args":{"name":)";
  append_text(name, process.name);
  metadata(process.number, "process_name", name + "}");
  metadata(process.number,
           "process_sort_index",
           fmt::format(R"(,"args":{{"sort_index":{}}})", process.number));
  if (!process.recording) return;
  begin_line(process.number);
  line_ += chrome_rank_line;
  line_ += distributed_info(process);
  line_ += '}';
  end_line();
}

TrackId ChromeWriter::add_track(std::int32_t process, std::string_view name) {
  const auto track = static_cast<TrackId>(tracks_.size());
  tracks_.push_back({process, std::string(name)});
  std::string named = fmt::format(R"(,"tid":{},"args":{{"name":)", track);
  append_text(named, name);
  metadata(process, "thread_name", named + "}");
  metadata(process,
           "thread_sort_index",
           fmt::format(R"(,"tid":{0},"args":{{"sort_index":{0}}})", track));
  return track;
}

TrackId ChromeWriter::add_counter(std::int32_t process,
                                  std::string_view name,
                                  std::string_view unit) {
  tracks_.push_back({process, fmt::format("{} ({})", name, unit)});
  return static_cast<TrackId>(tracks_.size() - 1);
}

void ChromeWriter::arrow(char phase, TrackId track, nanoseconds time, std::uint64_t id) {
  begin_line(tracks_.at(track).process);
  fmt::format_to(std::back_inserter(line_),
                 R"(,"tid":{},"ph":"{}","cat":"waits for","name":"waits for","id":{},"ts":)",
                 track,
                 phase,
                 id);
  append_time(line_, time - origin_);
  if (phase == 'f') line_ += R"(,"bp":"e")";
  end_line();
}

void ChromeWriter::write_begin(TrackId track, const ExportSlice& slice) {
  begin_line(tracks_.at(track).process);
  fmt::format_to(std::back_inserter(line_), R"(,"tid":{},"ph":"X","cat":)", track);
  append_text(line_, slice.category);
  line_ += R"(,"name":)";
  append_text(line_, slice.name);
  line_ += R"(,"ts":)";
  append_time(line_, slice.start - origin_);
  line_ += R"(,"dur":)";
  append_time(line_, slice.end - slice.start);
  if (!slice.arguments.empty()) append_arguments(line_, slice.arguments);
  end_line();
  for (const std::uint64_t id : slice.arrows_out) arrow('s', track, slice.start, id);
  if (slice.arrow_in) arrow('f', track, slice.start, *slice.arrow_in);
}

void ChromeWriter::write_count(TrackId counter, nanoseconds time, std::int64_t value) {
  const Track& track = tracks_.at(counter);
  begin_line(track.process);
  line_ += R"(,"ph":"C","name":)";
  append_text(line_, track.name);
  line_ += R"(,"ts":)";
  append_time(line_, time - origin_);
  fmt::format_to(std::back_inserter(line_), R"(,"args":{{"value":{}}})", value);
  end_line();
}

void ChromeWriter::finish() {
  file_.write("\n]}\n");
}

namespace {
using attribution::CollectiveKind;

/// As PyTorch spells it where that differs from our names.
std::string_view collective_name(CollectiveKind kind) {
  if (kind == CollectiveKind::send_receive) return "sendrecv";
  return attribution::collective_kind_name(kind);
}

std::string_view sync_kind(Synchronization::Kind kind) {
  switch (kind) {
    case Synchronization::Kind::event:
      return "Event Sync";
    case Synchronization::Kind::stream_wait_event:
      return "Stream Wait Event";
    case Synchronization::Kind::stream:
      return "Stream Sync";
    case Synchronization::Kind::context:
      return "Context Sync";
  }
  return "";
}
}  // namespace

std::string_view category_of(const DeviceEvent& event) {
  if (event.operation == DeviceOperation::copy) return "gpu_memcpy";
  if (event.operation == DeviceOperation::fill) return "gpu_memset";
  return "kernel";
}

std::string_view category_of(const HostEvent& event) {
  switch (event.activity) {
    case HostActivity::runtime_call:
      return "cuda_runtime";
    case HostActivity::driver_call:
      return "cuda_driver";
    case HostActivity::synchronization:
      return "cuda_sync";
    case HostActivity::operation:
      return "cpu_op";
    case HostActivity::annotation:
      return "user_annotation";
    case HostActivity::overhead:
      return "overhead";
  }
  return "";
}

const std::vector<Argument>& EventArguments::of(const DeviceEvent& event) {
  all_.clear();
  number("device", event.device);
  number("stream", event.stream);
  if (event.correlation != 0) number("correlation", static_cast<std::int64_t>(event.correlation));
  if (event.graph_node != 0) number("graph node id", static_cast<std::int64_t>(event.graph_node));
  if (event.operation == DeviceOperation::kernel)
    text("class", attribution::work_class_name(event.work_class));
  if (event.communication != no_index)
    add_communication(recording_.communications.at(event.communication));
  if (event.copy != no_index)
    if (const auto bytes = recording_.copies.at(event.copy).bytes) number("bytes", *bytes);
  return all_;
}

void EventArguments::add_communication(const Communication& communication) {
  if (communication.kind != CollectiveKind::unknown)
    text("Collective name", collective_name(communication.kind));
  if (communication.input_bytes) number("In msg nelems", *communication.input_bytes);
  if (communication.output_bytes) number("Out msg nelems", *communication.output_bytes);
  if (communication.input_bytes || communication.output_bytes) text("dtype", "Byte");
  if (communication.group != NameId::none) add_group(communication.group);
  if (communication.sequence) number("Seq", *communication.sequence);
  if (communication.algorithm != NameId::none)
    text("Algorithm", recording_.names.at(communication.algorithm));
  if (communication.protocol != NameId::none)
    text("Protocol", recording_.names.at(communication.protocol));
  if (communication.root) number("Root Rank", *communication.root);
  if (!communication.peer) return;
  number(communication.kind == CollectiveKind::receive ? "Src Rank" : "Dst Rank",
         *communication.peer);
}

void EventArguments::add_group(NameId group) {
  text("Process Group Name", recording_.names.at(group));
  const auto known = recording_.groups.find(group);
  if (known == recording_.groups.end()) return;
  if (known->second.size) number("Group size", *known->second.size);
}

void EventArguments::add_synchronization(const Synchronization& synchronization) {
  text("cuda_sync_kind", sync_kind(synchronization.kind));
  if (synchronization.stream) number("stream", *synchronization.stream);
  if (synchronization.waits_on) number("wait_on_stream", *synchronization.waits_on);
  if (synchronization.event_record)
    number("wait_on_cuda_event_record_corr_id",
           static_cast<std::int64_t>(*synchronization.event_record));
}

const std::vector<Argument>& EventArguments::of(const HostEvent& event) {
  all_.clear();
  if (event.correlation != 0) number("correlation", static_cast<std::int64_t>(event.correlation));
  if (event.synchronization != no_index)
    add_synchronization(recording_.synchronizations.at(event.synchronization));
  if (event.cause) text("idle because", attribution::host_cause_name(*event.cause));
  return all_;
}
}  // namespace scaleworth::trace
