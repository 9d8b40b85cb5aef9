// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/whole_number.h"
#include "trace/formats/kineto.h"
#include "trace/formats/nsight/contents.h"

#include <array>
#include <initializer_list>

namespace scaleworth::trace::nsight {
namespace {
constexpr std::size_t most_processes = 1024;
constexpr std::size_t most_devices = 64;  // of one process

/// Thread and process numbers are 24 bits each of what the file calls a global id.
constexpr std::int64_t number_mask = 0xFFFFFF;

std::int64_t process_of(std::int64_t global_id) {
  return global_id & ~number_mask;
}

bool in_range(std::int64_t time) {
  return time > -farthest_time.count() && time < farthest_time.count();
}

/// The columns that all tables of device work begin with, in this order.
enum DeviceColumn : int { start, end, process, device, stream, correlation, first_own };

/// Adds an event for each usable row of a table that has DeviceColumn's columns and these of its
/// own; `finish(row, side, event)` gives it what they hold.
template <typename Finish>
void read_table(Contents& contents,
                std::string_view table,
                std::initializer_list<const char*> own,
                Finish finish) {
  std::vector<const char*> columns{
      "start", "end", "globalPid", "deviceId", "streamId", "correlationId"};
  columns.insert(columns.end(), own);
  Rows row = contents.database.select(table, columns);
  while (row.next()) {
    const auto on = whole_number<std::uint16_t>(row.integer(device));
    Side& side = contents.device(row.integer(process).value_or(0), on.value_or(0));
    if (!on) {
      ++side.recording.losses["events_without_device"];
      continue;
    }
    const auto time = contents.interval(row, side.recording);
    if (!time) continue;
    DeviceEvent event{time->start, time->end};
    event.device = *on;
    event.stream = whole_number<std::uint32_t>(row.integer(stream)).value_or(0);
    event.correlation = static_cast<std::uint64_t>(row.integer(correlation).value_or(0));
    finish(row, side, event);
    side.recording.device_events.push_back(event);
  }
}

std::uint64_t graph_node(const Rows& row, int column) {
  return static_cast<std::uint64_t>(row.integer(column).value_or(0));
}

/// As in the enumeration that CUPTI and the table ENUM_CUDA_MEMCPY_OPER share.
std::string_view copy_direction(std::int64_t kind) {
  constexpr std::string_view directions =  // four letters each, from kind 1 on
      "HtoDDtoHHtoDDtoHDtoDDtoDDtoDDtoDHtoHPtoPHtoDDtoHDtoD";
  constexpr auto kinds = static_cast<std::int64_t>(directions.size() / 4);
  if (kind < 1 || kind > kinds) return "";
  return directions.substr(4 * static_cast<std::size_t>(kind - 1), 4);
}

constexpr std::int64_t driver_class = 1;         // of RUNTIME.eventClass
constexpr std::uint32_t no_stream = 0xFFFFFFFF;  // of SYNCHRONIZATION.streamId

/// The stream that an event was recorded on, and the call that did it.
struct EventRecord {
  std::optional<std::uint32_t> stream;
  std::uint64_t correlation = 0;
};

/// By process and the number that joins it with the waits for it.
using EventRecords = std::map<std::pair<std::int64_t, std::int64_t>, EventRecord>;

EventRecords read_event_records(Contents& contents) {
  EventRecords records;
  Rows row = contents.database.select("CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                      {"globalPid", "eventSyncId", "streamId", "correlationId"});
  while (row.next()) {
    const std::int64_t id = row.integer(1).value_or(0);
    if (id == 0) continue;
    EventRecord record;
    record.stream = whole_number<std::uint32_t>(row.integer(2));
    record.correlation = static_cast<std::uint64_t>(row.integer(3).value_or(0));
    records.try_emplace({row.integer(0).value_or(0), id}, record);
  }
  return records;
}

void read_synchronizations(Contents& contents) {
  const EventRecords records = read_event_records(contents);
  Rows row = contents.database.select(
      "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
      {"start", "end", "globalPid", "correlationId", "syncType", "streamId", "eventSyncId"});
  while (row.next()) {
    const std::int64_t global_id = row.integer(2).value_or(0);
    Process* process = contents.process(global_id);
    if (!process) continue;
    Recording& host = process->host.recording;
    const std::int64_t type = row.integer(4).value_or(0);
    if (type < 1 || type > 4) {  // CUPTI numbers them in the order of Synchronization::Kind
      ++host.losses["synchronizations_of_unknown_type"];
      continue;
    }
    const auto time = contents.interval(row, host);
    if (!time) continue;
    Synchronization synchronization;
    synchronization.kind = static_cast<Synchronization::Kind>(type - 1);
    synchronization.stream = whole_number<std::uint32_t>(row.integer(5), 0, no_stream - 1);
    if (const auto* record = value_at(records, {global_id, row.integer(6).value_or(0)})) {
      synchronization.waits_on = record->stream;
      synchronization.event_record = record->correlation;
    }
    HostEvent event{time->start, time->end};
    event.correlation = static_cast<std::uint64_t>(row.integer(3).value_or(0));
    event.name = host.names.intern(synchronization_name(synchronization.kind));
    event.activity = HostActivity::synchronization;
    event.synchronization = append(host.synchronizations, synchronization);
    host.host_events.push_back(event);
  }
}

/// Adds an event for each usable row of a table whose columns begin with start, end and thread;
/// `finish(row, side, event)` gives it what the others hold.
template <typename Finish>
void read_host_table(Contents& contents,
                     std::string_view table,
                     const std::vector<const char*>& columns,
                     Finish finish) {
  Rows row = contents.database.select(table, columns);
  while (row.next()) {
    const std::int64_t global_id = row.integer(2).value_or(0);
    Process* process = contents.process(global_id);
    if (!process) continue;
    Side& side = process->host;
    const auto time = contents.interval(row, side.recording);
    if (!time) continue;
    HostEvent event{time->start, time->end};
    event.thread = contents.thread(*process, global_id);
    finish(row, side, event);
    side.recording.host_events.push_back(event);
  }
}

/// Work that CUDA does of itself, by the names that the host rules know; everything else in the
/// tables of overhead is the profiler's.
const char* driver_work(std::int64_t type) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> names{
      {{2, "Driver Compiler"},
       {6, "Runtime Triggered Module Loading"},
       {7, "Lazy Function Loading"},
       {8, "Command Buffer Full"}}};
  for (const auto& [known, name] : names)
    if (known == type) return name;
  return nullptr;
}
}  // namespace

Side& Contents::device(std::int64_t global_id, std::int32_t device) {
  Process& process = processes[process_of(global_id)];
  Side& side = process.devices[device];
  if (processes.size() > most_processes || process.devices.size() > most_devices)
    throw UserError(
        "the file names more than {} processes, or more than {} devices of one process: "
        "it is damaged; export the report again",
        most_processes,
        most_devices);
  return side;
}

Process* Contents::process(std::int64_t global_id) {
  return value_at(processes, process_of(global_id));
}

std::uint32_t Contents::thread(Process& process, std::int64_t global_id) {
  std::vector<std::string>& names = process.host.recording.threads;
  const auto [entry, added] =
      process.threads.emplace(global_id, static_cast<std::uint32_t>(names.size()));
  if (added)
    names.push_back(fmt::format("{}/{}", (global_id >> 24) & number_mask, global_id & number_mask));
  return entry->second;
}

std::optional<TimeInterval> Contents::interval(const Rows& row, Recording& recording) const {
  const auto start = row.integer(0);
  const auto end = row.integer(1);
  const auto lost = [&](const char* why) {
    ++recording.losses[why];
    return std::nullopt;
  };
  if (!start || !end || (*start == 0 && *end == 0)) return lost("events_without_times");
  if (!in_range(*start) || !in_range(*end) || !in_range(*start + epoch.count()) ||
      !in_range(*end + epoch.count()))
    return lost("times_out_of_range");
  if (*end < *start) return lost("events_ending_before_their_start");
  return TimeInterval{nanoseconds(*start) + epoch, nanoseconds(*end) + epoch};
}

NameId Contents::name(Side& side, std::optional<std::int64_t> id, Shorten* shorten) {
  if (!id) return NameId::none;
  if (const NameId* found = value_at(side.names, *id)) return *found;
  const std::string text = database.string(*id).value_or("");
  const NameId name = side.recording.names.intern(shorten ? shorten(text) : text);
  side.names.emplace(*id, name);
  return name;
}

void read_device_tables(Contents& contents) {
  read_table(contents,
             "CUPTI_ACTIVITY_KIND_KERNEL",
             {"demangledName",
              "shortName",
              "mangledName",
              "graphNodeId",
              "gridX",
              "gridY",
              "gridZ",
              "blockX",
              "blockY",
              "blockZ"},
             [&](const Rows& row, Side& side, DeviceEvent& event) {
               for (int column = first_own; column < first_own + 3; ++column) {
                 event.name = contents.name(side, row.integer(column));
                 if (event.name != NameId::none) break;
               }
               event.graph_node = graph_node(row, first_own + 3);
               std::array<std::int64_t, 6> launch{};
               for (std::size_t i = 0; i < launch.size(); ++i)
                 launch[i] = row.integer(first_own + 4 + static_cast<int>(i)).value_or(0);
               if (launch[0] > 0) event.shape = shape_number(side.recording, launch);
             });
  read_table(contents,
             "CUPTI_ACTIVITY_KIND_MEMCPY",
             {"graphNodeId", "copyKind", "bytes"},
             [](const Rows& row, Side& side, DeviceEvent& event) {
               Recording& recording = side.recording;
               const std::string direction(copy_direction(row.integer(first_own + 1).value_or(0)));
               event.operation = DeviceOperation::copy;
               event.graph_node = graph_node(row, first_own);
               event.name =
                   recording.names.intern(direction.empty() ? "Memcpy" : "Memcpy " + direction);
               event.copy = append(recording.copies,
                                   {whole_number<std::int64_t>(row.integer(first_own + 2)),
                                    recording.names.intern(direction)});
             });
  read_table(contents,
             "CUPTI_ACTIVITY_KIND_MEMSET",
             {"graphNodeId"},
             [](const Rows& row, Side& side, DeviceEvent& event) {
               event.operation = DeviceOperation::fill;
               event.graph_node = graph_node(row, first_own);
               event.name = side.recording.names.intern("Memset");
             });
  // Graphs that were recorded as a whole: what ran inside is not known.
  read_table(contents,
             "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
             {"graphId"},
             [](const Rows& row, Side& side, DeviceEvent& event) {
               event.unknown = UnknownWork::whole_graph;
               event.name = side.recording.names.intern(
                   fmt::format("CUDA graph {}", row.integer(first_own).value_or(0)));
               ++side.recording.losses["graphs_recorded_without_their_kernels"];
             });
}

void read_host_tables(Contents& contents) {
  for (auto& [id, process] : contents.processes) contents.thread(process, id);
  read_synchronizations(contents);
  read_host_table(contents,
                  "CUPTI_ACTIVITY_KIND_RUNTIME",
                  {"start", "end", "globalTid", "correlationId", "eventClass", "nameId"},
                  [&](const Rows& row, Side& side, HostEvent& event) {
                    event.correlation = static_cast<std::uint64_t>(row.integer(3).value_or(0));
                    event.name = contents.name(side, row.integer(5), without_release);
                    event.activity = row.integer(4).value_or(0) == driver_class
                                         ? HostActivity::driver_call
                                         : HostActivity::runtime_call;
                  });
  for (auto& [id, process] : contents.processes) place_synchronizations(process.host.recording);
  for (const char* table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"})
    read_host_table(contents,
                    table,
                    {"start", "end", "globalTid", "overheadType", "nameId"},
                    [&](const Rows& row, Side& side, HostEvent& event) {
                      const char* driver = driver_work(row.integer(3).value_or(0));
                      event.activity = driver ? HostActivity::operation : HostActivity::overhead;
                      event.name = driver ? side.recording.names.intern(driver)
                                          : contents.name(side, row.integer(4));
                    });
}

void read_thread_names(Contents& contents) {
  Rows row = contents.database.select("ThreadNames", {"globalTid", "nameId"});
  while (row.next()) {
    const std::int64_t global_id = row.integer(0).value_or(0);
    Process* process = contents.process(global_id);
    const auto id = row.integer(1);
    if (!process || !id) continue;
    const auto thread = process->threads.find(global_id);
    if (thread == process->threads.end()) continue;
    const auto name = contents.database.string(*id);
    if (!name || name->empty()) continue;
    // "python 144/1"
    std::string& known = process->host.recording.threads[thread->second];
    if (known.find(' ') == std::string::npos) known = *name + " " + known;
  }
}
}  // namespace scaleworth::trace::nsight
