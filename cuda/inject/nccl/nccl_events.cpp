// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/nccl/nccl_events.h"

#include <algorithm>
#include <array>

namespace scaleworth::gpu {
namespace {

using namespace trace::recording;

struct Type {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<Type, 12> types{{{"ncclInt8", 1},
                                      {"ncclUint8", 1},
                                      {"ncclFloat8e4m3", 1},
                                      {"ncclFloat8e5m2", 1},
                                      {"ncclFloat16", 2},
                                      {"ncclBfloat16", 2},
                                      {"ncclInt32", 4},
                                      {"ncclUint32", 4},
                                      {"ncclFloat32", 4},
                                      {"ncclInt64", 8},
                                      {"ncclUint64", 8},
                                      {"ncclFloat64", 8}}};

std::string text(const char* word) {
  return word == nullptr ? std::string() : std::string(word);
}

void set_bytes(std::uint64_t count, const char* type, CollectiveRow& row) {
  const auto size = element_bytes(type == nullptr ? std::string_view() : type);
  if (!size) return;
  row.bytes = count * *size;
  row.fields |= collective_has_bytes;
}

CollectiveRow row_of(const NcclContext& context, std::uint64_t time_ns, std::uint32_t thread) {
  CollectiveRow row;
  row.time_ns = time_ns;
  row.communicator = context.communicator;
  row.rank = context.rank;
  row.ranks = context.ranks;
  row.thread = thread;
  row.source = CollectiveSource::plugin;
  return row;
}

}  // namespace

std::optional<std::uint64_t> element_bytes(std::string_view type) {
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const Type& t) { return t.name == type; });
  if (found == types.end()) return std::nullopt;
  return found->bytes;
}

SaidCollective said_of_creation(const NcclContext& context,
                                std::uint64_t time_ns,
                                std::uint32_t thread) {
  SaidCollective said{row_of(context, time_ns, thread), "ncclCommInit", {}, {}};
  said.row.fields = collective_has_ranks;
  return said;
}

std::optional<SaidCollective> said_of_event(NcclContext& context,
                                            const NcclEvent& event,
                                            std::uint64_t time_ns,
                                            std::uint32_t thread) {
  SaidCollective said{row_of(context, time_ns, thread), {}, {}, {}};
  if (event.kind == nccl_event_collective) {
    const NcclCollectiveEvent& collective = event.collective;
    said.function = text(collective.function);
    said.algorithm = text(collective.algorithm);
    said.protocol = text(collective.protocol);
    said.row.channels = collective.channels;
    said.row.root = static_cast<std::uint32_t>(collective.root);
    said.row.sequence = context.collectives++;
    said.row.call = ++context.calls;
    said.row.fields = collective_has_sequence;
    const bool rooted = said.function == "Broadcast" || said.function == "Reduce";
    if (rooted) said.row.fields |= collective_has_root;
    set_bytes(collective.count, collective.type, said.row);
    return said;
  }
  if (event.kind != nccl_event_point_to_point) return std::nullopt;
  const NcclPointToPointEvent& transfer = event.point_to_point;
  said.function = text(transfer.function);
  said.row.channels = transfer.channels;
  said.row.peer = static_cast<std::uint32_t>(transfer.peer);
  said.row.call = ++context.calls;
  said.row.fields = collective_has_peer;
  set_bytes(transfer.count, transfer.type, said.row);
  return said;
}

int wanted_nccl_events(bool channels) {
  std::uint64_t events = nccl_event_collective | nccl_event_point_to_point |
                         nccl_event_network_operation | nccl_event_network_step;
  if (channels) events |= nccl_event_kernel_channel;
  return static_cast<int>(events);
}

NetworkRow row_of_operation(const NcclContext& context,
                            const NcclEvent& event,
                            std::uint64_t call,
                            std::uint64_t time_ns) {
  NetworkRow row;
  row.time_ns = time_ns;
  row.communicator = context.communicator;
  row.call = call;
  row.rank = context.rank;
  row.channel = event.network_operation.channel;
  row.peer = static_cast<std::uint32_t>(event.network_operation.peer);
  row.sends = event.network_operation.is_send != 0 ? 1 : 0;
  return row;
}

ChannelRow row_of_channel(const NcclContext& context,
                          const NcclEvent& event,
                          std::uint64_t call,
                          std::uint64_t time_ns) {
  ChannelRow row;
  row.gpu_start_ns = event.kernel_channel.gpu_time_ns;
  row.time_ns = time_ns;
  row.communicator = context.communicator;
  row.call = call;
  row.rank = context.rank;
  row.channel = event.kernel_channel.channel;
  return row;
}

}  // namespace scaleworth::gpu
