// SPDX-License-Identifier: Apache-2.0
#include "trace/format/nsight/contents.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace scaleworth::trace::nsight {
namespace {

constexpr std::int64_t driver_class = 1;        // of RUNTIME.eventClass
constexpr std::int64_t no_stream = 0xFFFFFFFF;  // of SYNCHRONIZATION.streamId
constexpr std::size_t shortest_version = 6;     // "_v3020", the oldest runtime call there is

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel": the rules know functions, not their versions.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || name.size() - at < shortest_version) return name;
  const bool digits = name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return digits ? name.substr(0, at) : name;
}

/// A wait whose thread is told by the call with the same correlation.
struct PendingThread {
  std::int64_t process = 0;
  std::uint64_t correlation = 0;
  std::size_t event = 0;  // in the process' host events
  auto operator<=>(const PendingThread&) const = default;
};

/// Which stream an event was recorded on, by the number that joins it with the waits for it.
struct EventRecord {
  std::int64_t process = 0;
  std::int64_t sync_id = 0;
  std::optional<std::uint32_t> stream;
  std::uint64_t correlation = 0;
};

bool before(const EventRecord& a, const EventRecord& b) {
  return std::tie(a.process, a.sync_id) < std::tie(b.process, b.sync_id);
}

std::vector<EventRecord> read_event_records(Contents& contents) {
  std::vector<EventRecord> records;
  Rows row = contents.database.select("CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                      {"globalPid", "eventSyncId", "streamId", "correlationId"});
  while (row.next()) {
    const std::int64_t id = row.integer(1).value_or(0);
    if (id == 0) continue;
    EventRecord record{row.integer(0).value_or(0), id, std::nullopt, 0};
    if (const auto stream = row.integer(2)) record.stream = static_cast<std::uint32_t>(*stream);
    record.correlation = static_cast<std::uint64_t>(row.integer(3).value_or(0));
    records.push_back(record);
  }
  std::sort(records.begin(), records.end(), before);
  return records;
}

struct SyncType {
  Synchronization::Kind kind;
  const char* name;
};

/// By the numbers of CUPTI, from 1 on.
constexpr std::array sync_types = {
    SyncType{Synchronization::Kind::event, "Event Sync"},
    SyncType{Synchronization::Kind::stream_wait_event, "Stream Wait Event"},
    SyncType{Synchronization::Kind::stream, "Stream Sync"},
    SyncType{Synchronization::Kind::context, "Context Sync"}};

std::vector<PendingThread> read_synchronizations(Contents& contents) {
  const std::vector<EventRecord> records = read_event_records(contents);
  std::vector<PendingThread> pending;
  Rows row = contents.database.select(
      "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
      {"start", "end", "globalPid", "correlationId", "syncType", "streamId", "eventSyncId"});
  while (row.next()) {
    const std::int64_t global_id = row.integer(2).value_or(0);
    Process* process = contents.process(global_id);
    if (!process) continue;
    Recording& host = process->host.recording;
    const std::int64_t type = row.integer(4).value_or(0);
    if (type < 1 || type > static_cast<std::int64_t>(sync_types.size())) {
      ++host.losses["synchronizations_of_unknown_type"];
      continue;
    }
    const auto time = contents.interval(row, host);
    if (!time) continue;
    const SyncType& known = sync_types[static_cast<std::size_t>(type - 1)];
    Synchronization synchronization{known.kind, std::nullopt, std::nullopt, std::nullopt};
    if (const auto stream = row.integer(5); stream && *stream >= 0 && *stream != no_stream)
      synchronization.stream = static_cast<std::uint32_t>(*stream);
    const EventRecord wanted{global_id, row.integer(6).value_or(0), std::nullopt, 0};
    const auto record = std::lower_bound(records.begin(), records.end(), wanted, before);
    if (record != records.end() && !before(wanted, *record)) {
      synchronization.waits_on = record->stream;
      synchronization.event_record = record->correlation;
    }
    HostEvent event;
    event.start = time->start;
    event.end = time->end;
    event.correlation = static_cast<std::uint64_t>(row.integer(3).value_or(0));
    event.name = host.names.intern(known.name);
    event.activity = HostActivity::synchronization;
    event.synchronization = static_cast<std::uint32_t>(host.synchronizations.size());
    host.synchronizations.push_back(synchronization);
    pending.push_back(
        {global_id & ~std::int64_t{0xFFFFFF}, event.correlation, host.host_events.size()});
    host.host_events.push_back(event);
  }
  std::sort(pending.begin(), pending.end());
  return pending;
}

void read_calls(Contents& contents, const std::vector<PendingThread>& pending) {
  Rows row = contents.database.select(
      "CUPTI_ACTIVITY_KIND_RUNTIME",
      {"start", "end", "globalTid", "correlationId", "eventClass", "nameId"});
  while (row.next()) {
    const std::int64_t global_id = row.integer(2).value_or(0);
    Process* process = contents.process(global_id);
    if (!process) continue;
    Side& side = process->host;
    const auto time = contents.interval(row, side.recording);
    if (!time) continue;
    HostEvent event;
    event.start = time->start;
    event.end = time->end;
    event.correlation = static_cast<std::uint64_t>(row.integer(3).value_or(0));
    event.thread = contents.thread(*process, global_id);
    event.name = contents.name(side, row.integer(5), without_version);
    event.activity = row.integer(4).value_or(0) == driver_class ? HostActivity::driver_call
                                                                : HostActivity::runtime_call;
    const PendingThread wanted{global_id & ~std::int64_t{0xFFFFFF}, event.correlation, 0};
    for (auto wait = std::lower_bound(pending.begin(), pending.end(), wanted);
         event.correlation != 0 && wait != pending.end() && wait->process == wanted.process &&
         wait->correlation == wanted.correlation;
         ++wait)
      side.recording.host_events[wait->event].thread = event.thread;
    side.recording.host_events.push_back(event);
  }
}

/// Work that CUDA does of itself, by the names that the host rules know; everything else in the
/// tables of overhead is the profiler's.
const char* driver_work(std::int64_t type) {
  switch (type) {
    case 2:
      return "Driver Compiler";
    case 6:
      return "Runtime Triggered Module Loading";
    case 7:
      return "Lazy Function Loading";
    case 8:
      return "Command Buffer Full";
    default:
      return nullptr;
  }
}

void read_overhead(Contents& contents, const char* table) {
  Rows row =
      contents.database.select(table, {"start", "end", "globalTid", "overheadType", "nameId"});
  while (row.next()) {
    const std::int64_t global_id = row.integer(2).value_or(0);
    Process* process = contents.process(global_id);
    if (!process) continue;
    Side& side = process->host;
    const auto time = contents.interval(row, side.recording);
    if (!time) continue;
    const char* driver = driver_work(row.integer(3).value_or(0));
    HostEvent event;
    event.start = time->start;
    event.end = time->end;
    event.thread = contents.thread(*process, global_id);
    event.activity = driver ? HostActivity::operation : HostActivity::overhead;
    event.name = driver ? side.recording.names.intern(driver) : contents.name(side, row.integer(4));
    side.recording.host_events.push_back(event);
  }
}

}  // namespace

void read_host_tables(Contents& contents) {
  for (auto& [id, process] : contents.processes) contents.thread(process, id);
  read_calls(contents, read_synchronizations(contents));
  for (const char* table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"})
    read_overhead(contents, table);
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
