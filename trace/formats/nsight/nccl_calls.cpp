// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/nsight/contents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace::nsight {
namespace {
using attribution::CollectiveKind;

struct Function {
  std::string_view name;
  NcclRole role;
  CollectiveKind kind;
};

constexpr std::array functions = {
    Function{"ncclAllReduce", NcclRole::communication, CollectiveKind::all_reduce},
    Function{"ncclAllGather", NcclRole::communication, CollectiveKind::all_gather},
    Function{"ncclReduceScatter", NcclRole::communication, CollectiveKind::reduce_scatter},
    Function{"ncclAlltoAll", NcclRole::communication, CollectiveKind::all_to_all},
    Function{"ncclAllToAll", NcclRole::communication, CollectiveKind::all_to_all},
    Function{"ncclBroadcast", NcclRole::communication, CollectiveKind::broadcast},
    Function{"ncclBcast", NcclRole::communication, CollectiveKind::broadcast},
    Function{"ncclReduce", NcclRole::communication, CollectiveKind::reduce},
    Function{"ncclGather", NcclRole::communication, CollectiveKind::gather},
    Function{"ncclScatter", NcclRole::communication, CollectiveKind::scatter},
    Function{"ncclSend", NcclRole::communication, CollectiveKind::send},
    Function{"ncclRecv", NcclRole::communication, CollectiveKind::receive},
    Function{"ncclGroupStart", NcclRole::group_start, CollectiveKind::unknown},
    Function{"ncclGroupEnd", NcclRole::group_end, CollectiveKind::unknown},
};

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

CollectiveKind common_kind(const std::vector<NcclCall>& calls) {
  const auto point_to_point = [](CollectiveKind kind) {
    return kind == CollectiveKind::send || kind == CollectiveKind::receive;
  };
  CollectiveKind kind = calls.empty() ? CollectiveKind::unknown : calls.front().kind;
  for (const NcclCall& call : calls) {
    if (call.kind == kind) continue;
    if (!point_to_point(call.kind) ||
        (!point_to_point(kind) && kind != CollectiveKind::send_receive))
      return CollectiveKind::unknown;
    kind = CollectiveKind::send_receive;
  }
  return kind;
}

/// The value that all calls have; absent when one lacks it or they differ.
std::optional<std::int64_t> common_value(const std::vector<NcclCall>& calls,
                                         std::optional<std::int64_t> NcclPayload::*value) {
  if (calls.empty()) return std::nullopt;
  const auto first = calls.front().payload.*value;
  for (const NcclCall& call : calls)
    if (call.payload.*value != first) return std::nullopt;
  return first;
}

std::optional<std::int32_t> small(std::optional<std::int64_t> value) {
  if (!value) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

/// Bytes that the calls read and write on one device, as far as NCCL's size gives that: it is the
/// input of an all-gather and the output of a reduce-scatter.
void add_bytes(Communication& communication,
               const std::vector<NcclCall>& calls,
               std::size_t devices) {
  const auto count = static_cast<std::int64_t>(devices);
  if (calls.empty() || static_cast<std::int64_t>(calls.size()) % count != 0) return;
  std::int64_t input = 0;
  std::int64_t output = 0;
  for (const NcclCall& call : calls) {
    const std::int64_t bytes = call.payload.bytes.value_or(-1);
    if (bytes < 0 || bytes > most_bytes || std::max(input, output) > most_bytes) return;
    switch (call.kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::broadcast:
        input += bytes;
        output += bytes;
        break;
      case CollectiveKind::send:
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce:
      case CollectiveKind::gather:
        input += bytes;
        break;
      case CollectiveKind::receive:
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::scatter:
        output += bytes;
        break;
      default:
        return;
    }
  }
  if (input > 0) communication.input_bytes = input / count;
  if (output > 0) communication.output_bytes = output / count;
}

Communication describe(Recording& recording,
                       const std::vector<NcclCall>& calls,
                       std::size_t devices,
                       bool one_kernel) {
  Communication communication;
  communication.kind = common_kind(calls);
  if (const auto communicator = common_value(calls, &NcclPayload::communicator))
    communication.group = recording.names.intern(communicator_name(*communicator));
  if (!one_kernel) return communication;  // which call belongs to which kernel is not known
  communication.peer = small(common_value(calls, &NcclPayload::peer));
  communication.root = small(common_value(calls, &NcclPayload::root));
  add_bytes(communication, calls, devices);
  return communication;
}

/// Correlations of launches inside windows, with the window's index; by correlation.
using Launches = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

Launches launches_inside(const Recording& recording, const std::vector<Window>& windows) {
  Launches launches;
  for (const HostEvent& event : recording.host_events) {
    if (event.correlation == 0 || !is_call(event)) continue;
    const auto after =
        std::ranges::upper_bound(windows, std::pair(event.thread, event.start), {}, &Window::begin);
    if (after == windows.begin()) continue;
    const Window& window = *(after - 1);
    if (window.thread == event.thread && event.start <= window.time.end && !window.calls.empty())
      launches.emplace_back(event.correlation,
                            static_cast<std::uint32_t>(after - 1 - windows.begin()));
  }
  std::ranges::sort(launches);
  return launches;
}

std::uint32_t window_of(const Launches& launches, std::uint64_t correlation) {
  const auto found = std::ranges::lower_bound(launches, std::pair(correlation, std::uint32_t{0}));
  return found != launches.end() && found->first == correlation ? found->second : no_index;
}
}  // namespace

std::optional<NcclCall> nccl_call_named(std::string_view name) {
  for (const Function& function : functions)
    if (name == function.name) {
      NcclCall call;
      call.role = function.role;
      call.kind = function.kind;
      return call;
    }
  return std::nullopt;
}

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
  const Launches launches = launches_inside(recording, windows);
  if (launches.empty()) return;

  std::vector<signed char> communicates(recording.names.size(), -1);  // by name; -1: not asked yet
  std::vector<std::pair<std::uint32_t, std::uint32_t>> linked;        // window, device event
  std::vector<std::uint32_t> kernels(windows.size());
  for (std::uint32_t i = 0; i < recording.device_events.size(); ++i) {
    const DeviceEvent& event = recording.device_events[i];
    if (event.operation != DeviceOperation::kernel || event.correlation == 0) continue;
    const std::uint32_t window = window_of(launches, event.correlation);
    if (window == no_index) continue;
    signed char& known = communicates[static_cast<std::size_t>(event.name)];
    if (known < 0)
      known = rules.kernel(recording.names.at(event.name)).work_class ==
              attribution::WorkClass::communication;
    if (known == 0) continue;
    linked.emplace_back(window, i);
    ++kernels[window];
  }
  std::vector<std::uint32_t> described(windows.size(), no_index);
  for (const auto& [window, event] : linked) {
    if (described[window] == no_index) {
      described[window] = static_cast<std::uint32_t>(recording.communications.size());
      recording.communications.push_back(
          describe(recording, windows[window].calls, devices, kernels[window] == 1));
    }
    recording.device_events[event].communication = described[window];
  }
}

namespace {
static_assert(std::endian::native == std::endian::little, "payloads are little endian");

/// Before each payload: domain (4 bytes, 4 unused), schema (4, 4 unused), its size (8), size with
/// this header (8). Met in exports of Nsight Systems 2026.
constexpr std::size_t header_size = 32;
constexpr std::size_t schema_at = 8;
constexpr std::size_t largest_offset = 1 << 16;

struct Label {
  std::string_view name;
  std::optional<std::int64_t> NcclPayload::*value;
};

/// As NCCL names the entries of its schemas (nvtx_payload_schemas.h).
constexpr std::array labels = {Label{"NCCL communicator ID", &NcclPayload::communicator},
                               Label{"Message size [bytes]", &NcclPayload::bytes},
                               Label{"Root", &NcclPayload::root},
                               Label{"Peer rank", &NcclPayload::peer},
                               Label{"No. of ranks", &NcclPayload::ranks},
                               Label{"Rank", &NcclPayload::rank},
                               Label{"CUDA device", &NcclPayload::device}};

/// Bytes of NVTX's numeric entry types; 0 for those that no known entry has.
std::size_t width_of(std::int64_t type) {
  switch (type) {
    case 5:   // int
    case 6:   // unsigned
    case 15:  // int32
    case 16:  // uint32
      return 4;
    case 7:   // long
    case 8:   // unsigned long
    case 9:   // long long
    case 10:  // unsigned long long
    case 17:  // int64
    case 18:  // uint64
    case 22:  // size_t
      return 8;
    default:
      return 0;
  }
}

std::int64_t load(const unsigned char* from, std::size_t width) {
  if (width == 4) {
    std::int32_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::int64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}
}  // namespace

PayloadSchemas::PayloadSchemas(Database& database) {
  Rows row = database.select("NVTX_PAYLOAD_SCHEMA_ENTRIES",
                             {"domainId", "schemaId", "type", "name", "offset"});
  while (row.next()) {
    const auto name = row.text(3);
    const std::size_t width = width_of(row.integer(2).value_or(0));
    const std::int64_t offset = row.integer(4).value_or(0);  // the first one has none
    if (!name || width == 0 || offset < 0 || offset > static_cast<std::int64_t>(largest_offset))
      continue;
    for (const Label& label : labels)
      if (*name == label.name)
        fields_[{row.integer(0).value_or(0), row.integer(1).value_or(0)}].push_back(
            {label.value, static_cast<std::size_t>(offset), width});
  }
}

NcclPayload PayloadSchemas::parse(std::span<const unsigned char> data) const {
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
}  // namespace scaleworth::trace::nsight
