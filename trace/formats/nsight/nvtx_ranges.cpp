// SPDX-License-Identifier: Apache-2.0
#include "src/core/whole_number.h"
#include "trace/formats/kineto.h"
#include "trace/formats/nsight/contents.h"

#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace::nsight {
namespace {
constexpr std::int64_t most_bytes = std::int64_t{1} << 50;  // of one call: more is damage

/// Where on a thread the kernels of some calls are launched.
struct Window {
  std::uint32_t thread = 0;
  TimeInterval time;
  std::vector<NcclCall> calls;

  std::pair<std::uint32_t, nanoseconds> begin() const { return {thread, time.start}; }
};

/// Windows by (thread, start). `calls` are in that order too.
std::vector<Window> launch_windows(std::span<const NcclCall> calls) {
  std::vector<Window> windows;
  std::vector<NcclCall> waiting;  // for the end of their group
  int depth = 0;
  std::uint32_t thread = no_index;
  nanoseconds outer_end{};
  for (const NcclCall& call : calls) {
    if (call.thread != thread) {
      thread = call.thread;
      depth = 0;
      waiting.clear();
      outer_end = nanoseconds::min();
    }
    if (call.role == NcclRole::group_start) {
      ++depth;
    } else if (call.role == NcclRole::group_end) {
      depth = std::max(0, depth - 1);  // the recording may begin inside a group
      if (depth == 0) windows.push_back({thread, call.time, std::exchange(waiting, {})});
    } else if (depth > 0) {
      if (call.time.start >= outer_end) waiting.push_back(call);
    } else if (call.time.start >= outer_end) {  // else it is how the outer call does its work
      windows.push_back({thread, call.time, {call}});
    }
    if (call.role == NcclRole::communication) outer_end = std::max(outer_end, call.time.end);
  }
  return windows;
}

/// The value that all calls have; absent when one lacks it or they differ.
std::optional<std::int64_t> common_value(const std::vector<NcclCall>& calls,
                                         std::optional<std::int64_t> NcclPayload::*value) {
  const auto first = calls.front().payload.*value;
  const auto same = [&](const NcclCall& call) { return call.payload.*value == first; };
  return std::ranges::all_of(calls, same) ? first : std::nullopt;
}

/// Bytes that the calls read and write on one device, as far as NCCL's size gives that: it is the
/// input of an all-gather and the output of a reduce-scatter.
void add_bytes(Communication& communication,
               const std::vector<NcclCall>& calls,
               std::size_t devices) {
  using enum CollectiveKind;
  constexpr std::array readers = {all_reduce, broadcast, send, all_gather, reduce, gather};
  constexpr std::array writers = {all_reduce, broadcast, receive, reduce_scatter, scatter};
  const auto count = static_cast<std::int64_t>(devices);
  if (static_cast<std::int64_t>(calls.size()) % count != 0) return;
  std::int64_t input = 0;
  std::int64_t output = 0;
  for (const NcclCall& call : calls) {
    const std::int64_t bytes = call.payload.bytes.value_or(-1);
    if (bytes < 0 || bytes > most_bytes || std::max(input, output) > most_bytes) return;
    const bool reads = std::ranges::find(readers, call.kind) != readers.end();
    const bool writes = std::ranges::find(writers, call.kind) != writers.end();
    if (!reads && !writes) return;
    if (reads) input += bytes;
    if (writes) output += bytes;
  }
  if (input > 0) communication.input_bytes = input / count;
  if (output > 0) communication.output_bytes = output / count;
}

Communication describe(Recording& recording,
                       const std::vector<NcclCall>& calls,
                       std::size_t devices,
                       bool one_kernel) {
  Communication communication;
  communication.kind = calls.front().kind;
  for (const NcclCall& call : calls)
    communication.kind = kind_of_both(communication.kind, call.kind);
  if (const auto communicator = common_value(calls, &NcclPayload::communicator))
    communication.group = recording.names.intern(communicator_name(*communicator));
  if (!one_kernel) return communication;  // which call belongs to which kernel is not known
  if (const auto peer = common_value(calls, &NcclPayload::peer))
    communication.peer = rank_number(*peer);
  if (const auto root = common_value(calls, &NcclPayload::root))
    communication.root = rank_number(*root);
  add_bytes(communication, calls, devices);
  return communication;
}

/// Windows in which work was launched, by the launch's correlation.
std::unordered_map<std::uint64_t, std::uint32_t> launches_inside(
    const Recording& recording, const std::vector<Window>& windows) {
  std::unordered_map<std::uint64_t, std::uint32_t> launches;
  for (const HostEvent& event : recording.host_events) {
    if (event.correlation == 0 || !is_call(event)) continue;
    const auto after =
        std::ranges::upper_bound(windows, std::pair(event.thread, event.start), {}, &Window::begin);
    if (after == windows.begin()) continue;
    const Window& window = *(after - 1);
    if (window.thread != event.thread || event.start > window.time.end || window.calls.empty())
      continue;
    const auto index = static_cast<std::uint32_t>(after - 1 - windows.begin());
    std::uint32_t& first = launches.try_emplace(event.correlation, index).first->second;
    first = std::min(first, index);
  }
  return launches;
}

static_assert(std::endian::native == std::endian::little, "payloads are little endian");

/// Before each payload: domain (4 bytes, 4 unused), schema (4, 4 unused), its size (8), size with
/// this header (8). Met in exports of Nsight Systems 2026.
constexpr std::size_t header_size = 32;
constexpr std::size_t schema_at = 8;
constexpr std::size_t largest_offset = 1 << 16;

/// As NCCL names the entries of its schemas (nvtx_payload_schemas.h).
constexpr std::array<std::pair<std::string_view, std::optional<std::int64_t> NcclPayload::*>, 7>
    labels = {{
        {"NCCL communicator ID", &NcclPayload::communicator},
        {"Message size [bytes]", &NcclPayload::bytes},
        {"Root", &NcclPayload::root},
        {"Peer rank", &NcclPayload::peer},
        {"No. of ranks", &NcclPayload::ranks},
        {"Rank", &NcclPayload::rank},
        {"CUDA device", &NcclPayload::device},
    }};

std::int64_t load(const unsigned char* from, std::size_t width) {
  std::int64_t wide = 0;
  std::memcpy(&wide, from, width);
  return width == 4 ? static_cast<std::int32_t>(wide) : wide;
}

/// The binary payloads of NCCL's NVTX ranges, by the schemas that the file holds.
class PayloadSchemas {
 public:
  explicit PayloadSchemas(Database& database) {
    Rows row = database.select("NVTX_PAYLOAD_SCHEMA_ENTRIES",
                               {"domainId", "schemaId", "type", "name", "offset"});
    while (row.next()) {
      const auto name = row.text(3);
      const std::size_t width =
          nvtx_integer_bytes(static_cast<std::uint64_t>(row.integer(2).value_or(0)));
      const std::int64_t offset = row.integer(4).value_or(0);  // the first one has none
      if (!name || width == 0 || offset < 0 || offset > static_cast<std::int64_t>(largest_offset))
        continue;
      for (const auto& [label, value] : labels)
        if (*name == label)
          fields_[{row.integer(0).value_or(0), row.integer(1).value_or(0)}].push_back(
              {value, static_cast<std::size_t>(offset), width});
    }
  }

  /// Empty when `data` is too short for what it announces or of a schema that the file lacks.
  NcclPayload parse(std::span<const unsigned char> data) const {
    NcclPayload payload;
    if (data.size() < header_size) return payload;
    const auto found = fields_.find({load(data.data(), 4), load(data.data() + schema_at, 4)});
    if (found == fields_.end()) return payload;
    const auto body = data.subspan(header_size);
    for (const Field& field : found->second)
      if (field.offset + field.width <= body.size())
        payload.*field.value = load(body.data() + field.offset, field.width);
    return payload;
  }

 private:
  struct Field {
    std::optional<std::int64_t> NcclPayload::*value;
    std::size_t offset;
    std::size_t width;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Field>> fields_;  // domain, schema
};

/// Role and kind of "ncclAllReduce", "ncclGroupEnd", ...; absent for calls that launch nothing.
std::optional<NcclCall> nccl_call_named(std::string_view name) {
  NcclCall call;
  if (name == "ncclGroupStart") {
    call.role = NcclRole::group_start;
  } else if (name == "ncclGroupEnd") {
    call.role = NcclRole::group_end;
  } else if (const auto kind = nccl_function_kind(name)) {
    call.kind = *kind;
  } else {
    return std::nullopt;
  }
  return call;
}

/// NVTX_EVENTS.eventType: push/pop and start/end ranges, the latter two from imported text.
constexpr std::array<std::int64_t, 4> range_types = {59, 60, 70, 71};
constexpr std::int64_t domain_created = 75;

constexpr std::initializer_list<const char*> columns = {
    "start", "end", "globalTid", "eventType", "text", "textId", "domainId", "binaryData"};

enum RangeColumn : int { range_start, range_end, thread, type, text, text_id, domain, payload };

/// The text of a row, from the row itself or from the table of strings.
std::string text_of(Database& database, const Rows& row) {
  if (const auto own = row.text(text)) return std::string(*own);
  const auto id = row.integer(text_id);
  return id ? database.string(*id).value_or("") : std::string();
}

/// Domains that are certainly not NCCL's; trimmed files do not state which one is NCCL's.
std::set<std::pair<std::int64_t, std::int64_t>> other_domains(Database& database) {
  std::set<std::pair<std::int64_t, std::int64_t>> domains;  // process, domain
  Rows row = database.select("NVTX_EVENTS", columns, "eventType", domain_created);
  while (row.next()) {
    if (text_of(database, row) == "NCCL") continue;
    domains.emplace(row.integer(thread).value_or(0) >> 24, row.integer(domain).value_or(0));
  }
  return domains;
}

/// emit_nvtx writes "aten::add, seq = 5, op_id = 7": its operators, each with a name of its own.
std::string_view without_numbers(std::string_view name) {
  for (const std::string_view mark : {", seq = ", ", op_id = ", ", sizes = "})
    name = name.substr(0, name.find(mark));
  return name;
}

class RangeReader {
 public:
  explicit RangeReader(Contents& contents) : contents_(contents) {}

  void read(const Rows& row) {
    const std::int64_t kind = row.integer(type).value_or(range_types.front());
    if (std::ranges::find(range_types, kind) == range_types.end()) return;
    const std::int64_t global_id = row.integer(thread).value_or(0);
    Process* process = contents_.process(global_id);
    if (!process) return;
    const auto time = contents_.interval(row, process->host.recording);
    if (!time) return;
    const std::string full = text_of(contents_.database, row);
    const std::string_view name = without_numbers(full);
    const std::uint32_t on = contents_.thread(*process, global_id);
    const bool foreign = others_.contains({global_id >> 24, row.integer(domain).value_or(0)});
    if (name.starts_with("nccl") && !foreign) read_nccl(*process, *time, on, name, row);
    const bool operation = name.size() < full.size() || name.starts_with("aten::");
    if (operation && !contents_.rules.host(name)) return;
    HostEvent event{time->start, time->end};
    event.thread = on;
    event.name = process->host.recording.names.intern(name);
    event.activity = operation ? HostActivity::operation : HostActivity::annotation;
    process->host.recording.host_events.push_back(event);
  }

 private:
  void read_nccl(Process& process,
                 TimeInterval time,
                 std::uint32_t on,
                 std::string_view name,
                 const Rows& row) {
    const NcclPayload values = schemas_.parse(row.bytes(payload));
    if (auto call = nccl_call_named(name)) {
      call->time = time;
      call->thread = on;
      call->payload = values;
      process.nccl_calls.push_back(*call);
    } else if (values.communicator && values.ranks && values.rank) {
      const auto ranks = rank_count(*values.ranks);
      const auto rank = rank_number(*values.rank);
      if (!ranks || !rank || *rank >= *ranks) return;
      process.communicators.push_back({time.start,
                                       *values.communicator,
                                       *ranks,
                                       *rank,
                                       whole_number<std::int32_t>(values.device)});
    }
  }

  Contents& contents_;
  PayloadSchemas schemas_{contents_.database};
  std::set<std::pair<std::int64_t, std::int64_t>> others_ = other_domains(contents_.database);
};
}  // namespace

std::string communicator_name(std::int64_t communicator) {
  return fmt::format("communicator {:#x}", static_cast<std::uint64_t>(communicator));
}

void link_nccl_calls(Recording& recording,
                     std::vector<NcclCall> calls,
                     std::size_t devices,
                     const RuleTable& rules) {
  std::ranges::stable_sort(calls, [](const NcclCall& a, const NcclCall& b) {
    return std::tie(a.thread, a.time.start, b.time.end) <
           std::tie(b.thread, b.time.start, a.time.end);
  });
  const std::vector<Window> windows = launch_windows(calls);
  const auto launches = launches_inside(recording, windows);
  if (launches.empty()) return;

  auto communicates = remembered(recording.names, [&](auto name) {
    return rules.kernel(name).work_class == WorkClass::communication;
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> linked;  // window, device event
  std::vector<std::uint32_t> kernels(windows.size());
  for (std::uint32_t i = 0; i < recording.device_events.size(); ++i) {
    const DeviceEvent& event = recording.device_events[i];
    if (event.operation != DeviceOperation::kernel || event.correlation == 0) continue;
    const auto launch = launches.find(event.correlation);
    if (launch == launches.end() || !communicates(event.name)) continue;
    linked.emplace_back(launch->second, i);
    ++kernels[launch->second];
  }
  std::vector<std::uint32_t> described(windows.size(), no_index);
  for (const auto& [window, event] : linked) {
    if (described[window] == no_index)
      described[window] =
          append(recording.communications,
                 describe(recording, windows[window].calls, devices, kernels[window] == 1));
    recording.device_events[event].communication = described[window];
  }
}

void read_ranges(Contents& contents) {
  if (!contents.database.has("NVTX_EVENTS")) return;
  RangeReader reader(contents);
  Rows row = contents.database.select("NVTX_EVENTS", columns);
  while (row.next()) reader.read(row);
}
}  // namespace scaleworth::trace::nsight
