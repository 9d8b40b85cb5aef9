// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/nccl_profiler.h"

#include <algorithm>
#include <array>
#include <exception>

namespace scaleworth::gpu {
namespace {
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

/// Runs `body`. Another result than success would cost the program its communicator.
template <class Body>
ncclResult_t always_successful(Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    print_problem(error.what());
    if (Session* session = Session::existing()) session->inbox().remark(error.what());
  }
  return ncclSuccess;
}

/// What NCCL keeps for a call while a graph is captured, and for what names it as its parent.
char captured_call = 0;

/// A graph that is captured launches nothing now; what it does later is reported again at every
/// replay where the network takes part, on CUDA's thread, or never.
bool is_captured(const NcclEvent& event) {
  if (event.kind == nccl_event_collective_api) return event.collective_api.captured;
  if (event.kind == nccl_event_point_to_point_api) return event.point_to_point_api.captured;
  return event.parent == &captured_call;
}

/// NCCL counts the calls of each function apart: a number that no two functions share.
std::uint64_t numbered(std::uint64_t of_function, std::string_view function) {
  constexpr std::string_view functions = "Reduce Broadcast AllGather ReduceScatter AllReduce";
  return of_function * (functions.size() + 1) + (functions.find(function) + 1);  // 0 for another
}
}  // namespace

template <int version>
ncclResult_t NcclCalls::begin_communicator(void** context,
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
    auto made = std::make_unique<NcclContext>();
    made->communicator = communicator;
    made->rank = static_cast<std::uint32_t>(rank);
    made->ranks = static_cast<std::uint32_t>(ranks);
    watch_exit_paths();
    ReportedCollective creation{
        row_of(*made, realtime_ns(), this_thread()), "ncclCommInit", {}, {}};
    creation.row.fields = collective_has_ranks;
    session->inbox().add(std::move(creation));
    *wanted_events = static_cast<int>(nccl_event_collective | nccl_event_point_to_point |
                                      (version >= 6 ? nccl_event_copy_engine : 0));
    *context = made.release();
  });
}

template decltype(NcclCalls::begin_communicator<4>) NcclCalls::begin_communicator<4>;
template decltype(NcclCalls::begin_communicator<5>) NcclCalls::begin_communicator<5>;
template decltype(NcclCalls::begin_communicator<6>) NcclCalls::begin_communicator<6>;

ncclResult_t NcclCalls::start_event(void* context, void** handle, NcclEvent* event) {
  *handle = nullptr;
  return always_successful([&] {
    const auto* own = static_cast<const NcclContext*>(context);
    Session* session = Session::existing();
    if (own == nullptr || session == nullptr) return;
    if (is_captured(*event)) {
      *handle = &captured_call;
      return;
    }
    auto report = report_of_event(*own, *event, realtime_ns(), this_thread());
    if (report && session->recording()) session->inbox().add(std::move(*report));
  });
}

ncclResult_t NcclCalls::stop_event(void* /*handle*/) {
  return ncclSuccess;
}

ncclResult_t NcclCalls::record_event_state(void* /*handle*/, int /*state*/, void* /*arguments*/) {
  return ncclSuccess;
}

ncclResult_t NcclCalls::end_communicator(void* context) {
  delete static_cast<NcclContext*>(context);
  return ncclSuccess;
}

std::optional<ReportedCollective> report_of_event(const NcclContext& context,
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
  report.row.fields = collective_has_peer;
  set_bytes(transfer.count, transfer.type, report.row);
  return report;
}
}  // namespace scaleworth::gpu
