// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/nccl_profiler.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace scaleworth::gpu {
namespace {
using namespace trace::recording;
using Kind = NcclHandle::Kind;

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
  const auto found =
      std::ranges::find(types, type == nullptr ? std::string_view() : type, &Type::name);
  if (found == types.end()) return;
  row.bytes = count * found->bytes;
  row.fields |= collective_has_bytes;
}

CollectiveRow row_of(const NcclContext& context, std::uint64_t time_ns, std::uint32_t thread) {
  return {.time_ns = time_ns,
          .communicator = context.communicator,
          .rank = context.rank,
          .ranks = context.ranks,
          .thread = thread,
          .source = CollectiveSource::plugin};
}

std::uint64_t steady_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// Runs `body`. Another result than success would cost the program its communicator.
template <class Body>
ncclResult_t always_successful(Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    print_problem(error.what());
  }
  return ncclSuccess;
}

/// `further`: events beyond those of version 4.
template <std::uint64_t further>
ncclResult_t begin_communicator(void** context,
                                std::uint64_t communicator,
                                int* wanted_events,
                                const char* /*communicator_name*/,
                                int /*nodes*/,
                                int ranks,
                                int rank,
                                NcclLogger /*logger*/) {
  *context = nullptr;
  return always_successful([&] {
    Session* session = Session::of_process();
    if (session == nullptr) return;
    watch_exit_paths();
    auto made = std::make_unique<NcclContext>();
    made->communicator = communicator;
    made->rank = static_cast<std::uint32_t>(rank);
    made->ranks = static_cast<std::uint32_t>(ranks);
    made->calls = std::uint64_t{session->next_communicator()} << 32U;
    ReportedCollective creation{
        row_of(*made, realtime_ns(), this_thread()), "ncclCommInit", {}, {}};
    creation.row.fields = collective_has_ranks;
    session->inbox().add(std::move(creation));
    std::uint64_t events = nccl_event_collective | nccl_event_point_to_point |
                           nccl_event_network_operation | nccl_event_network_step | further;
    // These cost a round of NCCL's network thread for each collective, even inside of a node.
    if (session->settings().nccl_channels) events |= nccl_event_kernel_channel;
    // One mask for all communicators of the process: one that fails must not end the others'
    // events.
    *wanted_events = static_cast<int>(events);
    *context = made.release();
  });
}

/// A graph that is captured launches nothing now; what it does later is reported again at every
/// replay where the network takes part, on CUDA's thread, or never.
bool is_captured(const NcclEvent& event) {
  if (event.kind == nccl_event_collective_api) return event.collective_api.captured;
  if (event.kind == nccl_event_point_to_point_api) return event.point_to_point_api.captured;
  return NcclHandle(event.parent).kind() == Kind::captured;
}

void* begin_call(Session& session, NcclContext& context, const NcclEvent& event) {
  if (is_captured(event)) return NcclHandle::of_captured();
  auto report = report_of_event(context, event, realtime_ns(), this_thread());
  if (!report || !session.recording()) return nullptr;
  const std::uint64_t call = report->row.call;
  session.inbox().add(std::move(*report));
  return NcclHandle::of_call(call);
}

/// Context and parent are addresses of the process that enqueued the operation: where that is
/// another one, they must not be looked at.
void* begin_operation(Session& session, const NcclContext* context, const NcclEvent& event) {
  if (event.network_operation.process != ::getpid()) {
    session.inbox().remark(
        "NCCL relays traffic of other processes of this node here (PXN): what it waited for is "
        "not recorded");
    return nullptr;
  }
  const NcclHandle parent(event.parent);
  if (context == nullptr || parent.kind() != Kind::call) return nullptr;
  const NcclNetworkOperationEvent& begun = event.network_operation;
  const NetworkRow row{.time_ns = realtime_ns(),
                       .communicator = context->communicator,
                       .call = parent.call(),
                       .rank = context->rank,
                       .channel = begun.channel,
                       .peer = static_cast<std::uint32_t>(begun.peer),
                       .sends = begun.is_send != 0 ? 1U : 0U};
  return NcclHandle::of(new NetworkOperation(row, steady_ns()), Kind::operation);
}

void* begin_step(const NcclEvent& event) {
  const NcclHandle parent(event.parent);
  if (parent.kind() != Kind::operation) return nullptr;
  return NcclHandle::of(parent.object<NetworkOperation>()->begin_step(steady_ns()), Kind::step);
}

void* begin_channel(const NcclContext* context, const NcclEvent& event) {
  const NcclHandle parent(event.parent);
  if (context == nullptr || parent.kind() != Kind::call) return nullptr;
  return NcclHandle::of(new ChannelRow{.gpu_start_ns = event.kernel_channel.gpu_time_ns,
                                       .time_ns = realtime_ns(),
                                       .communicator = context->communicator,
                                       .call = parent.call(),
                                       .rank = context->rank,
                                       .channel = event.kernel_channel.channel},
                        Kind::channel);
}

ncclResult_t start_event(void* context, void** handle, NcclEvent* event) {
  *handle = nullptr;
  return always_successful([&] {
    Session* session = Session::existing();
    if (session == nullptr) return;
    auto* own = static_cast<NcclContext*>(context);
    if (event->kind == nccl_event_network_operation) {
      *handle = begin_operation(*session, own, *event);
    } else if (event->kind == nccl_event_network_step) {
      *handle = begin_step(*event);
    } else if (event->kind == nccl_event_kernel_channel) {
      *handle = begin_channel(own, *event);
    } else if (own != nullptr) {
      *handle = begin_call(*session, *own, *event);
    }
  });
}

ncclResult_t stop_event(void* kept) {
  return always_successful([&] {
    const NcclHandle handle(kept);
    if (handle.kind() == Kind::step) {
      auto* step = handle.object<NetworkOperation::Step>();
      step->operation->end_step(*step, steady_ns());
    } else if (handle.kind() == Kind::operation) {
      const std::unique_ptr<NetworkOperation> operation(handle.object<NetworkOperation>());
      Session* session = Session::existing();
      if (session != nullptr) session->inbox().add(operation->end(steady_ns()));
    } else if (handle.kind() == Kind::channel) {
      delete handle.object<ChannelRow>();
    }
  });
}

ncclResult_t record_event_state(void* kept, int state, void* arguments) {
  return always_successful([&] {
    const NcclHandle handle(kept);
    const auto* values = static_cast<const NcclStateArguments*>(arguments);
    if (handle.kind() == Kind::step) {
      const NetworkWait wait = network_wait(state);
      if (wait == nullptr) return;
      // NCCL sets the size of a transfer just before these, and repeats it with the others.
      const bool sized = state == nccl_state_send_network || state == nccl_state_receive_flush;
      auto* step = handle.object<NetworkOperation::Step>();
      step->operation->enter(
          *step, wait, sized && values != nullptr ? values->step_bytes : 0, steady_ns());
    } else if (handle.kind() == Kind::channel && state == nccl_state_kernel_channel_end &&
               values != nullptr) {
      ChannelRow row = *handle.object<ChannelRow>();
      Session* session = Session::existing();
      if (session == nullptr || values->gpu_time_ns < row.gpu_start_ns) return;
      row.gpu_duration_ns = values->gpu_time_ns - row.gpu_start_ns;
      session->inbox().add(row);
    }
  });
}

ncclResult_t end_communicator(void* context) {
  delete static_cast<NcclContext*>(context);
  return ncclSuccess;
}

/// NCCL counts the calls of each function apart: a number that no two functions share.
std::uint64_t numbered(std::uint64_t of_function, std::string_view function) {
  constexpr std::string_view functions = "Reduce Broadcast AllGather ReduceScatter AllReduce";
  return of_function * (functions.size() + 1) + (functions.find(function) + 1);  // 0 for another
}
}  // namespace

NcclProfilerV4 nccl_profiler_v4() {
  return as_version_4<&begin_communicator<0>, &start_event>(nccl_profiler_v5());
}

NcclProfilerV5 nccl_profiler_v5(bool copies) {
  return {"scaleworth",
          copies ? &begin_communicator<nccl_event_copy_engine> : &begin_communicator<0>,
          &start_event,
          &stop_event,
          &record_event_state,
          &end_communicator};
}

std::optional<ReportedCollective> report_of_event(NcclContext& context,
                                                  const NcclEvent& event,
                                                  std::uint64_t time_ns,
                                                  std::uint32_t thread) {
  ReportedCollective report{row_of(context, time_ns, thread), {}, {}, {}};
  const bool copies = event.kind == nccl_event_copy_engine;
  if (event.kind == nccl_event_collective || copies) {
    const NcclCollectiveEvent& collective = event.collective;
    report.function = text(collective.function);
    report.algorithm = copies ? copy_engine_word : text(collective.algorithm);
    report.protocol = copies ? std::string() : text(collective.protocol);
    report.row.channels = copies ? 0 : collective.channels;
    report.row.root = static_cast<std::uint32_t>(collective.root);
    report.row.sequence = numbered(collective.sequence, report.function);
    report.row.call = ++context.calls;
    report.row.fields = collective_has_sequence;
    const bool rooted = report.function == "Broadcast" || report.function == "Reduce";
    if (rooted) report.row.fields |= collective_has_root;
    set_bytes(collective.count, collective.type, report.row);
    return report;
  }
  if (event.kind != nccl_event_point_to_point) return std::nullopt;
  const NcclPointToPointEvent& transfer = event.point_to_point;
  report.function = text(transfer.function);
  report.row.channels = transfer.channels;
  report.row.peer = static_cast<std::uint32_t>(transfer.peer);
  report.row.call = ++context.calls;
  report.row.fields = collective_has_peer;
  set_bytes(transfer.count, transfer.type, report.row);
  return report;
}
}  // namespace scaleworth::gpu
