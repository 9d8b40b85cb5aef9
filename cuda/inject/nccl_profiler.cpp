// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/nccl_profiler.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <unordered_map>

#include <dlfcn.h>

namespace scaleworth::gpu {
/// NCCL keeps this plugin's handles where it has some, so that it gets its own ones back, parents
/// included; ours are found by them.
struct OtherPlugin {
  int version = 0;
  NcclProfilerV5 table{};     // of version 4 too, but for `init`: others have the same arguments
  NcclProfilerV4 older{};     // the same bytes
  std::uint64_t kinds = 0;    // of events that its version has
  int wanted = 0;             // of these; it may change it at any time
  int* all_wanted = nullptr;  // what NCCL reads
  std::mutex mutex;
  std::unordered_map<void*, void*> ours;
};

namespace {
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
    if (Session* session = Session::existing()) session->inbox().remark(error.what());
  }
  return ncclSuccess;
}

std::atomic<OtherPlugin*> other_of_process{nullptr};

/// Opens the user's plugin as NCCL does (src/plugin/plugin_open.cc, 2.27 to 2.30).
void load_other_plugin(int version) {
  std::vector<std::string> problems;
  const std::string name = from_variables(&std::getenv, problems).next_profiler;
  if (name.empty()) return;
  constexpr int flags = RTLD_NOW | RTLD_LOCAL;
  void* library = ::dlopen(name == "STATIC_PLUGIN" ? nullptr : name.c_str(), flags);
  if (library == nullptr) library = ::dlopen(("libnccl-profiler-" + name + ".so").c_str(), flags);
  const auto table = [&](int of) {
    return ::dlsym(library, ("ncclProfiler_v" + std::to_string(of)).c_str());
  };
  // Version 6 is version 5 with further kinds of events.
  const bool fewer = library != nullptr && version == 6 && table(6) == nullptr;
  const void* found = library == nullptr ? nullptr : table(fewer ? 5 : version);
  if (found == nullptr)
    throw std::runtime_error("NCCL's profiler plugin " + name + " is not called: it " +
                             (library == nullptr ? "cannot be opened"
                                                 : "lacks version " + std::to_string(version) +
                                                       ", which this NCCL calls"));
  auto* other = new OtherPlugin;
  other->version = version;
  std::memcpy(&other->table, found, sizeof(other->table));
  std::memcpy(&other->older, found, sizeof(other->older));
  other->kinds = fewer ? nccl_event_copy_engine - 1 : ~std::uint64_t{0};
  other_of_process = other;
}

/// Null where there is none for this version, which is that of the first communicator.
OtherPlugin* other_plugin(int version) {
  static std::once_flag loaded;
  std::call_once(loaded, [=] { always_successful([=] { load_other_plugin(version); }); });
  OtherPlugin* other = other_of_process;
  return other != nullptr && other->version == version ? other : nullptr;
}

int wanted_by(OtherPlugin& other) {
  return std::atomic_ref<int>(other.wanted).load(std::memory_order_relaxed);
}

/// Whether NCCL would report the event to the other plugin: it does so also for kinds of which
/// others are parts (src/plugin/profiler.cc, 2.30). Calls are taken for parts of all kinds.
bool is_for(OtherPlugin& other, std::uint64_t kind) {
  constexpr std::uint64_t wholes =
      nccl_event_group | nccl_event_collective | nccl_event_point_to_point | nccl_event_group_api |
      nccl_event_collective_api | nccl_event_point_to_point_api | nccl_event_copy_engine;
  constexpr std::uint64_t step = nccl_event_network_step | nccl_event_network_plugin;
  std::uint64_t by = (kind & wholes) != 0 ? ~std::uint64_t{0} : kind;
  if (kind == nccl_event_network_step || kind == nccl_event_network_operation) by |= step;
  return (kind & other.kinds) != 0 && (by & static_cast<std::uint64_t>(wanted_by(other))) != 0;
}

/// Our handle by what NCCL kept; `ended`: it is not needed again.
void* own_handle(void* kept, bool ended = false) {
  OtherPlugin* other = other_of_process;
  if (other == nullptr || NcclHandle(kept).ours()) return kept;
  const std::scoped_lock lock(other->mutex);
  const auto found = other->ours.find(kept);
  if (found == other->ours.end()) return nullptr;
  const NcclHandle own(found->second);
  // Calls are named as parents after their end: until the other plugin uses the handle again.
  if (!ended || own.kind() == Kind::call || own.kind() == Kind::captured) return found->second;
  return std::exchange(found->second, nullptr);
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

void* start_own_event(NcclContext* own, const NcclEvent& event) {
  Session* session = Session::existing();
  if (session == nullptr) return nullptr;
  if (event.kind == nccl_event_network_operation) return begin_operation(*session, own, event);
  if (event.kind == nccl_event_network_step) return begin_step(event);
  return own == nullptr ? nullptr : begin_call(*session, *own, event);
}

/// The other plugin where it gets the event. A relayed operation (PXN) and its children come with
/// addresses of another process.
OtherPlugin* other_for(const NcclContext* own, const NcclEvent& event) {
  const bool relayed =
      event.kind == nccl_event_network_operation
          ? event.network_operation.process != ::getpid()
          : (event.kind == nccl_event_network_step || event.kind == nccl_event_network_plugin) &&
                event.parent == nullptr;
  if (own == nullptr || relayed || own->other == nullptr) return nullptr;
  OtherPlugin& other = *own->other;
  const std::atomic_ref<int> all(*other.all_wanted);
  all.store(static_cast<int>(own->events) | wanted_by(other), std::memory_order_relaxed);
  return is_for(other, event.kind) ? &other : nullptr;
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
                                           const char* communicator_name,
                                           int nodes,
                                           int ranks,
                                           int rank,
                                           NcclLogger logger) {
  *context = nullptr;
  return always_successful([&] {
    Session* session = Session::of_process();
    auto made = std::make_unique<NcclContext>();
    made->communicator = communicator;
    made->rank = static_cast<std::uint32_t>(rank);
    made->ranks = static_cast<std::uint32_t>(ranks);
    if (session != nullptr) {
      watch_exit_paths();
      made->calls = std::uint64_t{session->next_communicator()} << 32U;
      ReportedCollective creation{
          row_of(*made, realtime_ns(), this_thread()), "ncclCommInit", {}, {}};
      creation.row.fields = collective_has_ranks;
      session->inbox().add(std::move(creation));
      made->events = nccl_event_collective | nccl_event_point_to_point |
                     nccl_event_network_operation | nccl_event_network_step;
      if (version >= 6) made->events |= nccl_event_copy_engine;
    }
    OtherPlugin* const other = other_plugin(version);
    if (other != nullptr) {
      const auto begin = [&](auto function, auto... first) {
        return function(&made->others, first..., nodes, ranks, rank, logger);
      };
      const ncclResult_t begun =
          version == 4 ? begin(other->older.init, &other->wanted, communicator_name, communicator)
                       : begin(other->table.init, communicator, &other->wanted, communicator_name);
      if (begun == ncclSuccess) made->other = other;
      other->all_wanted = wanted_events;
    }
    if (session == nullptr && made->other == nullptr) return;
    // One mask for all communicators of the process: one that fails must not end the others'
    // events.
    *wanted_events = static_cast<int>(made->events) | (other == nullptr ? 0 : wanted_by(*other));
    *context = made.release();
  });
}

template decltype(NcclCalls::begin_communicator<4>) NcclCalls::begin_communicator<4>;
template decltype(NcclCalls::begin_communicator<5>) NcclCalls::begin_communicator<5>;
template decltype(NcclCalls::begin_communicator<6>) NcclCalls::begin_communicator<6>;

ncclResult_t NcclCalls::start_event(void* context, void** handle, NcclEvent* event) {
  *handle = nullptr;
  return always_successful([&] {
    auto* own = static_cast<NcclContext*>(context);
    OtherPlugin* other = other_for(own, *event);
    void* const parent = event->parent;
    event->parent = own_handle(parent);
    void* const ours = start_own_event(own, *event);
    if (other != nullptr) {
      event->parent = NcclHandle(parent).ours() ? nullptr : parent;
      static_cast<void>(other->table.start_event(own->others, handle, event));
    }
    if (*handle == nullptr) {
      *handle = ours;
      return;
    }
    const std::scoped_lock lock(other->mutex);
    constexpr std::size_t most = 1U << 20U;  // of a plugin that never uses a handle again
    if (other->ours.size() > most) other->ours.clear();
    other->ours[*handle] = ours;
  });
}

ncclResult_t NcclCalls::stop_event(void* kept) {
  return always_successful([&] {
    const NcclHandle handle(own_handle(kept, true));
    if (handle.kind() == Kind::step) {
      auto* step = handle.object<NetworkOperation::Step>();
      step->operation->end_step(*step, steady_ns());
    } else if (handle.kind() == Kind::operation) {
      const std::unique_ptr<NetworkOperation> operation(handle.object<NetworkOperation>());
      Session* session = Session::existing();
      if (session != nullptr) session->inbox().add(operation->end(steady_ns()));
    }
    OtherPlugin* other = other_of_process;
    if (other != nullptr && kept != nullptr && !NcclHandle(kept).ours())
      static_cast<void>(other->table.stop_event(kept));
  });
}

ncclResult_t NcclCalls::record_event_state(void* kept, int state, void* arguments) {
  return always_successful([&] {
    OtherPlugin* other = other_of_process;
    if (other != nullptr && kept != nullptr && !NcclHandle(kept).ours())
      static_cast<void>(other->table.record_event_state(kept, state, arguments));
    const NcclHandle handle(own_handle(kept));
    const auto* values = static_cast<const NcclStateArguments*>(arguments);
    if (handle.kind() != Kind::step) return;
    const NetworkWait wait = network_wait(state);
    if (wait == nullptr) return;
    // NCCL sets the size of a transfer just before these, and repeats it with the others.
    const bool sized = state == nccl_state_send_network || state == nccl_state_receive_flush;
    auto* step = handle.object<NetworkOperation::Step>();
    step->operation->enter(
        *step, wait, sized && values != nullptr ? values->step_bytes : 0, steady_ns());
  });
}

ncclResult_t NcclCalls::end_communicator(void* context) {
  const std::unique_ptr<NcclContext> own(static_cast<NcclContext*>(context));
  if (own != nullptr && own->other != nullptr) own->other->table.finalize(own->others);
  return ncclSuccess;
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

NetworkWait network_wait(int state) {
  switch (state) {
    case nccl_state_send_gpu:
    case nccl_state_receive_gpu:
      return &NetworkRow::gpu_wait_ns;
    case nccl_state_send_peer:
      return &NetworkRow::peer_wait_ns;
    case nccl_state_send_network:
    case nccl_state_receive_network:
      return &NetworkRow::network_wait_ns;
    case nccl_state_receive_flush:
      return &NetworkRow::flush_wait_ns;
    default:
      return nullptr;
  }
}

void NetworkOperation::account(std::uint64_t now_ns) {
  const std::uint64_t passed = now_ns > accounted_ns_ ? now_ns - accounted_ns_ : 0;
  accounted_ns_ = std::max(accounted_ns_, now_ns);
  if (oldest_ == begun_) return;
  if (const NetworkWait wait = step(oldest_).wait) row_.*wait += passed;
}

NetworkOperation::Step* NetworkOperation::begin_step(std::uint64_t now_ns) {
  if (begun_ - oldest_ == steps_.size()) return nullptr;
  account(now_ns);
  Step& begun = step(begun_++);
  begun = {this, nullptr, true};
  ++row_.steps;
  return &begun;
}

void NetworkOperation::end_lead(const Step& step) {
  if (!leads_ || &step != &steps_.front() || step.wait == nullptr) return;
  leads_ = false;
  row_.lead_ns = accounted_ns_ - began_ns_;
}

void NetworkOperation::enter(Step& step,
                             NetworkWait wait,
                             std::uint64_t bytes,
                             std::uint64_t now_ns) {
  account(now_ns);
  if (step.wait != wait) end_lead(step);
  step.wait = wait;
  row_.bytes += bytes;
}

void NetworkOperation::end_step(Step& ended, std::uint64_t now_ns) {
  account(now_ns);
  end_lead(ended);
  leads_ = leads_ && &ended != &steps_.front();  // its place is used again
  ended.under_way = false;
  while (oldest_ < begun_ && !step(oldest_).under_way) ++oldest_;
}

NetworkRow NetworkOperation::end(std::uint64_t now_ns) {
  account(now_ns);
  row_.duration_ns = accounted_ns_ - began_ns_;
  return row_;
}
}  // namespace scaleworth::gpu
