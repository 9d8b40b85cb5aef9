// SPDX-License-Identifier: Apache-2.0
/// What a capture writes down, one plain struct per kind of row, and a batch of them.
#pragma once

#include "trace/formats/swtrace/bytes.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace scaleworth::trace::recording {
/// Times are ns of the capture's clock (CLOCK_REALTIME unless a fact says otherwise), names numbers
/// that NameIndex gave, `correlation` joins work on a GPU with the call that launched it.
struct KernelRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t correlation = 0;
  std::uint32_t name = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t device = 0;
  std::uint32_t graph = 0;
  std::uint32_t shape = 0;  // the how-manieth ShapeRow of the file, from 1; 0 for unknown
};

/// How a kernel was launched; each combination once per file.
struct ShapeRow {
  std::uint32_t grid_x = 0;
  std::uint32_t grid_y = 0;
  std::uint32_t grid_z = 0;
  std::uint32_t block_x = 0;
  std::uint32_t block_y = 0;
  std::uint32_t block_z = 0;
  std::uint32_t registers = 0;      // per thread
  std::uint32_t shared_memory = 0;  // bytes per block
  friend bool operator==(const ShapeRow&, const ShapeRow&) = default;
};

enum class CopyDirection : std::uint32_t { other, to_device, to_host, on_device, between_devices };

struct CopyRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t device = 0;
  CopyDirection direction = CopyDirection::other;
};

struct FillRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t device = 0;
};

enum class CallLayer : std::uint32_t { runtime, driver };

struct CallRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint32_t correlation = 0;
  std::uint32_t name = 0;
  std::uint32_t thread = 0;
  std::uint32_t result = 0;
  CallLayer layer = CallLayer::runtime;
};

enum class WaitKind : std::uint32_t { other, event, stream_wait_event, stream, context };

struct WaitRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t event_use = 0;  // equal in the EventRow that it waits for; 0 for none
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;  // 0xffffffff: none in particular
  WaitKind kind = WaitKind::other;
};

/// A CUDA event was recorded on a stream.
struct EventRow {
  std::uint64_t event_use = 0;
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t device = 0;
};

/// The tracer's own work.
struct OverheadRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint32_t name = 0;
  std::uint32_t thread = 0;
};

enum class MarkPhase : std::uint32_t { instant, opened, closed };

/// One end of a named range; both ends carry the same id.
struct MarkRow {
  std::uint64_t time_ns = 0;
  std::uint32_t id = 0;
  std::uint32_t name = 0;    // 0 where it closes
  std::uint32_t domain = 0;  // a name too; 0 for the default one
  std::uint32_t thread = 0;
  MarkPhase phase = MarkPhase::instant;
};

/// Which fields of a CollectiveRow its source reported.
enum CollectiveField : std::uint32_t {
  collective_has_bytes = 1U,
  collective_has_root = 2U,
  collective_has_peer = 4U,
  collective_has_sequence = 8U,
  collective_has_ranks = 16U,  // rank, ranks and device: of a communicator's creation
};

enum class CollectiveSource : std::uint32_t { range, plugin };

/// What NCCL said of a collective, or of a communicator, as it was enqueued.
struct CollectiveRow {
  std::uint64_t time_ns = 0;
  std::uint64_t communicator = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;  // the how-manieth collective of its communicator, from 0
  std::uint32_t fields = 0;    // CollectiveField
  std::uint32_t function = 0;  // names: "AllReduce", "ncclAllReduce"
  std::uint32_t algorithm = 0;
  std::uint32_t protocol = 0;
  std::uint32_t channels = 0;
  std::uint32_t root = 0;
  std::uint32_t peer = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t device = 0;
  std::uint32_t thread = 0;
  std::uint32_t range = 0;  // MarkRow::id, of CollectiveSource::range
  CollectiveSource source = CollectiveSource::range;
  /// Its number, by which rows of its traffic name it; 0 where none do.
  std::uint64_t call = 0;
};

/// One channel's sends or receives of a call over the network, and what the oldest transfer under
/// way waited for: the four times are parts of the duration.
struct NetworkRow {
  std::uint64_t time_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t communicator = 0;
  std::uint64_t call = 0;  // CollectiveRow::call
  std::uint64_t bytes = 0;
  std::uint64_t gpu_wait_ns = 0;      // for data from the GPU, or for the GPU to take it
  std::uint64_t peer_wait_ns = 0;     // for the receiver's credit
  std::uint64_t network_wait_ns = 0;  // for the network, or for what the peer had not sent
  std::uint64_t flush_wait_ns = 0;    // for received data to be visible to the GPU
  std::uint32_t rank = 0;
  std::uint32_t channel = 0;
  std::uint32_t peer = 0;
  std::uint32_t steps = 0;
  std::uint32_t sends = 0;  // 1: sends, 0: receives
  /// From the start, until the first transfer no longer waited for what it waited for first (sends:
  /// the GPU, receives: the network). NCCL begins operations when it launches the kernel, which may
  /// be long before that runs.
  std::uint64_t lead_ns = 0;
};

/// One channel of a call's kernel, by the GPU's own timer.
struct ChannelRow {
  std::uint64_t gpu_start_ns = 0;
  std::uint64_t gpu_duration_ns = 0;
  std::uint64_t time_ns = 0;  // when NCCL saw the start
  std::uint64_t communicator = 0;
  std::uint64_t call = 0;  // CollectiveRow::call
  std::uint32_t rank = 0;
  std::uint32_t channel = 0;
};

/// The clocks of the process, read together.
struct ClockRow {
  std::uint64_t realtime_ns = 0;
  std::uint64_t monotonic_raw_ns = 0;
  std::uint64_t uncertainty_ns = 0;  // between the first and the last reading
};

/// Recording was switched on or off.
struct WindowRow {
  std::uint64_t time_ns = 0;
  std::uint32_t on = 0;
  std::uint32_t why = 0;  // a name
};

/// A fact ("host", "gpu-17") or a remark for people ("remark", "...").
using Fact = std::pair<std::string, std::string>;

/// Rows in any order; what is lost is counted since the batch before.
struct Batch {
  std::vector<KernelRow> kernels;
  std::vector<ShapeRow> shapes;
  std::vector<CopyRow> copies;
  std::vector<FillRow> fills;
  std::vector<CallRow> calls;
  std::vector<WaitRow> waits;
  std::vector<EventRow> events;
  std::vector<OverheadRow> overheads;
  std::vector<MarkRow> marks;
  std::vector<CollectiveRow> collectives;
  std::vector<NetworkRow> networks;
  std::vector<ChannelRow> channels;
  std::vector<ClockRow> clocks;
  std::vector<WindowRow> windows;
  std::vector<std::string> names;  // that follow those of the batches before
  std::vector<Fact> facts;
  std::vector<std::pair<std::string, std::uint64_t>> losses;

  /// Empties it and keeps its memory.
  void clear();
};

// The columns of each kind of row, in the order of the file. New ones go to the end, and none is
// ever removed.

template <auto Member>
using Plain = Column<Member, Coding::plain>;
template <auto Member>
using Delta = Column<Member, Coding::difference>;

using KernelColumns = ColumnList<Delta<&KernelRow::start_ns>,
                                 Plain<&KernelRow::duration_ns>,
                                 Delta<&KernelRow::correlation>,
                                 Plain<&KernelRow::name>,
                                 Plain<&KernelRow::stream>,
                                 Plain<&KernelRow::device>,
                                 Plain<&KernelRow::context>,
                                 Plain<&KernelRow::shape>,
                                 Delta<&KernelRow::graph_node>,
                                 Plain<&KernelRow::graph>>;
using ShapeColumns = ColumnList<Plain<&ShapeRow::grid_x>,
                                Plain<&ShapeRow::grid_y>,
                                Plain<&ShapeRow::grid_z>,
                                Plain<&ShapeRow::block_x>,
                                Plain<&ShapeRow::block_y>,
                                Plain<&ShapeRow::block_z>,
                                Plain<&ShapeRow::registers>,
                                Plain<&ShapeRow::shared_memory>>;
using CopyColumns = ColumnList<Delta<&CopyRow::start_ns>,
                               Plain<&CopyRow::duration_ns>,
                               Delta<&CopyRow::correlation>,
                               Plain<&CopyRow::bytes>,
                               Plain<&CopyRow::direction>,
                               Plain<&CopyRow::stream>,
                               Plain<&CopyRow::device>,
                               Plain<&CopyRow::context>,
                               Delta<&CopyRow::graph_node>>;
using FillColumns = ColumnList<Delta<&FillRow::start_ns>,
                               Plain<&FillRow::duration_ns>,
                               Delta<&FillRow::correlation>,
                               Plain<&FillRow::bytes>,
                               Plain<&FillRow::stream>,
                               Plain<&FillRow::device>,
                               Plain<&FillRow::context>,
                               Delta<&FillRow::graph_node>>;
using CallColumns = ColumnList<Delta<&CallRow::start_ns>,
                               Plain<&CallRow::duration_ns>,
                               Delta<&CallRow::correlation>,
                               Plain<&CallRow::name>,
                               Delta<&CallRow::thread>,
                               Plain<&CallRow::layer>,
                               Plain<&CallRow::result>>;
using WaitColumns = ColumnList<Delta<&WaitRow::start_ns>,
                               Plain<&WaitRow::duration_ns>,
                               Delta<&WaitRow::correlation>,
                               Plain<&WaitRow::kind>,
                               Delta<&WaitRow::stream>,
                               Plain<&WaitRow::context>,
                               Delta<&WaitRow::event_use>>;
using EventColumns = ColumnList<Delta<&EventRow::event_use>,
                                Delta<&EventRow::correlation>,
                                Plain<&EventRow::stream>,
                                Plain<&EventRow::device>,
                                Plain<&EventRow::context>>;
using OverheadColumns = ColumnList<Delta<&OverheadRow::start_ns>,
                                   Plain<&OverheadRow::duration_ns>,
                                   Plain<&OverheadRow::name>,
                                   Delta<&OverheadRow::thread>>;
using MarkColumns = ColumnList<Delta<&MarkRow::time_ns>,
                               Delta<&MarkRow::id>,
                               Plain<&MarkRow::phase>,
                               Plain<&MarkRow::name>,
                               Plain<&MarkRow::domain>,
                               Delta<&MarkRow::thread>>;
using CollectiveColumns = ColumnList<Delta<&CollectiveRow::time_ns>,
                                     Delta<&CollectiveRow::communicator>,
                                     Plain<&CollectiveRow::fields>,
                                     Plain<&CollectiveRow::function>,
                                     Plain<&CollectiveRow::bytes>,
                                     Plain<&CollectiveRow::sequence>,
                                     Plain<&CollectiveRow::algorithm>,
                                     Plain<&CollectiveRow::protocol>,
                                     Plain<&CollectiveRow::channels>,
                                     Plain<&CollectiveRow::root>,
                                     Plain<&CollectiveRow::peer>,
                                     Plain<&CollectiveRow::rank>,
                                     Plain<&CollectiveRow::ranks>,
                                     Plain<&CollectiveRow::device>,
                                     Delta<&CollectiveRow::thread>,
                                     Delta<&CollectiveRow::range>,
                                     Plain<&CollectiveRow::source>,
                                     Delta<&CollectiveRow::call>>;
using NetworkColumns = ColumnList<Delta<&NetworkRow::time_ns>,
                                  Plain<&NetworkRow::duration_ns>,
                                  Delta<&NetworkRow::communicator>,
                                  Delta<&NetworkRow::call>,
                                  Plain<&NetworkRow::rank>,
                                  Plain<&NetworkRow::channel>,
                                  Plain<&NetworkRow::peer>,
                                  Plain<&NetworkRow::sends>,
                                  Plain<&NetworkRow::steps>,
                                  Plain<&NetworkRow::bytes>,
                                  Plain<&NetworkRow::gpu_wait_ns>,
                                  Plain<&NetworkRow::peer_wait_ns>,
                                  Plain<&NetworkRow::network_wait_ns>,
                                  Plain<&NetworkRow::flush_wait_ns>,
                                  Plain<&NetworkRow::lead_ns>>;
using ChannelColumns = ColumnList<Delta<&ChannelRow::gpu_start_ns>,
                                  Plain<&ChannelRow::gpu_duration_ns>,
                                  Delta<&ChannelRow::time_ns>,
                                  Delta<&ChannelRow::communicator>,
                                  Delta<&ChannelRow::call>,
                                  Plain<&ChannelRow::rank>,
                                  Plain<&ChannelRow::channel>>;
using ClockColumns = ColumnList<Delta<&ClockRow::realtime_ns>,
                                Delta<&ClockRow::monotonic_raw_ns>,
                                Plain<&ClockRow::uncertainty_ns>>;
using WindowColumns =
    ColumnList<Delta<&WindowRow::time_ns>, Plain<&WindowRow::on>, Plain<&WindowRow::why>>;

/// Rows of one kind: the frames that hold them, their place in a batch, their columns.
template <FrameKind frame, auto Rows, class Columns>
struct RowKind {
  static constexpr FrameKind kind = frame;
  static constexpr auto rows = Rows;
  static constexpr Columns columns{};
};

/// All kinds, in the order in which a batch is written: what rows refer to comes first.
using RowKinds = std::tuple<RowKind<FrameKind::clocks, &Batch::clocks, ClockColumns>,
                            RowKind<FrameKind::windows, &Batch::windows, WindowColumns>,
                            RowKind<FrameKind::shapes, &Batch::shapes, ShapeColumns>,
                            RowKind<FrameKind::kernels, &Batch::kernels, KernelColumns>,
                            RowKind<FrameKind::copies, &Batch::copies, CopyColumns>,
                            RowKind<FrameKind::fills, &Batch::fills, FillColumns>,
                            RowKind<FrameKind::calls, &Batch::calls, CallColumns>,
                            RowKind<FrameKind::waits, &Batch::waits, WaitColumns>,
                            RowKind<FrameKind::events, &Batch::events, EventColumns>,
                            RowKind<FrameKind::overheads, &Batch::overheads, OverheadColumns>,
                            RowKind<FrameKind::marks, &Batch::marks, MarkColumns>,
                            RowKind<FrameKind::collectives, &Batch::collectives, CollectiveColumns>,
                            RowKind<FrameKind::networks, &Batch::networks, NetworkColumns>,
                            RowKind<FrameKind::channels, &Batch::channels, ChannelColumns>>;
}  // namespace scaleworth::trace::recording
