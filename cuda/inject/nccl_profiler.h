// SPDX-License-Identifier: Apache-2.0
/// NCCL's profiler plugin in the capture library: collectives as they are enqueued, with the way
/// that NCCL chose, and what of them went over the network.
#pragma once

#include "cuda/inject/session.h"
#include "cuda/nccl/plugin_interfaces.h"
#include "src/core/non_copyable.h"
#include "trace/formats/swtrace/rows.h"

#include <array>

namespace scaleworth::gpu {
/// What NCCL calls. Each succeeds whatever happens, and then calls the user's own plugin.
struct NcclCalls {
  /// `version` of the interface: 4 is NCCL 2.27, 5 is 2.28, 6 is 2.29 and later.
  template <int version>
  static ncclResult_t begin_communicator(void** context,
                                         std::uint64_t communicator,
                                         int* wanted_events,
                                         const char* communicator_name,
                                         int nodes,
                                         int ranks,
                                         int rank,
                                         NcclLogger logger);
  static ncclResult_t start_event(void* context, void** handle, NcclEvent* event);
  static ncclResult_t stop_event(void* kept);
  static ncclResult_t record_event_state(void* kept, int state, void* arguments);
  static ncclResult_t end_communicator(void* context);
};

/// The table of functions that NCCL looks for. Constant, so that what is exported is whole before
/// any code of the library runs: an initialiser that runs writes to the symbol by its name, which
/// is the program's own one where the program exports the same name.
template <int version>
constexpr NcclProfilerV5 nccl_profiler() {
  return {"scaleworth",
          &NcclCalls::begin_communicator<version>,
          &NcclCalls::start_event,
          &NcclCalls::stop_event,
          &NcclCalls::record_event_state,
          &NcclCalls::end_communicator};
}

struct OtherPlugin;  // the user's own profiler of NCCL, which has one place for them

struct NcclContext {
  std::uint64_t communicator = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  /// Number of the last collective, send or receive, by which network operations name theirs; no
  /// other communicator of the process has the same.
  std::atomic<std::uint64_t> calls{0};
  std::uint64_t events = 0;  // that are asked for here; others are the other plugin's
  OtherPlugin* other = nullptr;
  void* others = nullptr;  // its own context
};

/// A collective or a send or receive is enqueued; absent for other events. Counts them.
std::optional<ReportedCollective> report_of_event(NcclContext& context,
                                                  const NcclEvent& event,
                                                  std::uint64_t time_ns,
                                                  std::uint32_t thread);

/// What the plugin gives NCCL to keep for an event: a number or an address, distinguished by the
/// lowest bits, because NCCL gives it back without the kind of the event. The highest bit, which no
/// address has, tells it from another plugin's.
class NcclHandle {
 public:
  /// A call is a number and no address: network operations name it as their parent long after
  /// NCCL has ended the event.
  enum class Kind : std::uintptr_t { none, call, operation, step, captured };

  explicit NcclHandle(void* kept) : bits_(reinterpret_cast<std::uintptr_t>(kept)) {}
  static void* of_call(std::uint64_t number) {
    return marked(static_cast<std::uintptr_t>(number) << 3U, Kind::call);
  }
  /// Of a call while a graph is captured, and of all that names it as its parent.
  static void* of_captured() { return marked(0, Kind::captured); }
  template <class Object>
  static void* of(Object* object, Kind kind) {
    static_assert(alignof(Object) >= 8);
    return object == nullptr ? nullptr : marked(reinterpret_cast<std::uintptr_t>(object), kind);
  }

  bool ours() const { return (bits_ & mark) != 0; }
  Kind kind() const { return ours() ? static_cast<Kind>(bits_ & 7U) : Kind::none; }
  std::uint64_t call() const { return (bits_ & ~mark) >> 3U; }
  template <class Object>
  Object* object() const {
    return reinterpret_cast<Object*>(bits_ & ~mark & ~std::uintptr_t{7});
  }

 private:
  static constexpr std::uintptr_t mark = std::uintptr_t{1} << 63U;
  static void* marked(std::uintptr_t bits, Kind kind) {
    return reinterpret_cast<void*>(bits | static_cast<std::uintptr_t>(kind) | mark);
  }
  std::uintptr_t bits_;
};

/// What a transfer waits for, as the member that sums such waits; null before NCCL reports it.
using NetworkWait = std::uint64_t NetworkRow::*;

/// What a state of NCCL's network steps means; null for states of other events.
NetworkWait network_wait(int state);

/// One channel's sends or receives of one collective over the network: where its time went.
/// Transfers begin and end in their order, several at a time. At each moment the operation waits
/// for what its oldest transfer under way waits for: younger ones are posted ahead and wait behind
/// it. So the waits are parts of the duration and sum to it with the time in which nothing was
/// under way. Not to be used by two threads at a time; NCCL's network thread is one.
class NetworkOperation : NonCopyable {
 public:
  struct Step {
    NetworkOperation* operation = nullptr;
    NetworkWait wait = nullptr;
    bool under_way = false;
  };

  /// `row` says whose operation it is and when it began; times are of any steady clock.
  NetworkOperation(const NetworkRow& row, std::uint64_t now_ns)
      : row_(row), began_ns_(now_ns), accounted_ns_(now_ns) {}

  /// A transfer begins; null when more are under way than are followed. Valid until it has ended.
  Step* begin_step(std::uint64_t now_ns);
  /// The transfer goes on to another wait; `bytes` are those that it moves, where that is known.
  void enter(Step& step, NetworkWait wait, std::uint64_t bytes, std::uint64_t now_ns);
  void end_step(Step& step, std::uint64_t now_ns);
  /// The row with its times, when all is over.
  NetworkRow end(std::uint64_t now_ns);

 private:
  void account(std::uint64_t now_ns);
  /// The first transfer waits for something else now, or has ended.
  void end_lead(const Step& step);
  Step& step(std::uint64_t number) { return steps_[number % steps_.size()]; }

  NetworkRow row_;
  std::uint64_t began_ns_;
  std::uint64_t accounted_ns_;  // up to then
  std::array<Step, 16> steps_;  // NCCL has 8 under way at most (NCCL_STEPS of 2.28)
  std::uint64_t begun_ = 0;     // transfers, since the beginning
  std::uint64_t oldest_ = 0;    // under way
  bool leads_ = true;           // the first transfer waits for what it waited for first
};
}  // namespace scaleworth::gpu
