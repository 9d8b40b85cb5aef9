// SPDX-License-Identifier: Apache-2.0
/// What a capture writes down, one plain struct per kind of row, and a batch of them; from batches
/// to the bytes of a recording file, and back.
#pragma once

#include "trace/formats/swtrace/bytes.h"
#include "trace/recording.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace scaleworth::trace::recording {
// Each row has its columns in the order of the file. New ones go to the end; nullptr stands for one
// of earlier versions that nothing used: it is written as zeros, which take no bytes.

/// Times are ns of the capture's clock (CLOCK_REALTIME unless a fact says otherwise), names numbers
/// that NameIndex gave, `correlation` joins work on a GPU with the call that launched it.
struct KernelRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t correlation = 0;
  std::uint32_t name = 0;
  std::uint32_t stream = 0;
  std::uint32_t device = 0;
  std::uint32_t shape = 0;  // the how-manieth ShapeRow of the file, from 1; 0 for unknown

  using R = KernelRow;
  using Columns = ColumnList<Delta<&R::start_ns>,
                             Plain<&R::duration_ns>,
                             Delta<&R::correlation>,
                             Plain<&R::name, &R::stream, &R::device, nullptr, &R::shape>,
                             Delta<&R::graph_node>,
                             Plain<nullptr>>;
};

/// How a kernel was launched; each combination once per file.
struct ShapeRow {
  std::uint32_t grid_x = 0;
  std::uint32_t grid_y = 0;
  std::uint32_t grid_z = 0;
  std::uint32_t block_x = 0;
  std::uint32_t block_y = 0;
  std::uint32_t block_z = 0;
  friend bool operator==(const ShapeRow&, const ShapeRow&) = default;

  using R = ShapeRow;
  using Columns = ColumnList<Plain<&R::grid_x, &R::grid_y, &R::grid_z, &R::block_x, &R::block_y>,
                             Plain<&R::block_z, nullptr, nullptr>>;
};

enum class CopyDirection : std::uint32_t { other, to_device, to_host, on_device, between_devices };

struct FillRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t correlation = 0;
  std::uint32_t stream = 0;
  std::uint32_t device = 0;

  using R = FillRow;
  template <auto... Own>
  using ColumnsWith = ColumnList<Delta<&R::start_ns>,
                                 Plain<&R::duration_ns>,
                                 Delta<&R::correlation>,
                                 Plain<&R::bytes, Own..., &R::stream, &R::device, nullptr>,
                                 Delta<&R::graph_node>>;
  using Columns = ColumnsWith<>;
};

struct CopyRow : FillRow {
  CopyDirection direction = CopyDirection::other;

  using Columns = ColumnsWith<&CopyRow::direction>;
};

enum class CallLayer : std::uint32_t { runtime, driver };

struct CallRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint32_t correlation = 0;
  std::uint32_t name = 0;
  std::uint32_t thread = 0;
  CallLayer layer = CallLayer::runtime;

  using R = CallRow;
  using Columns = ColumnList<Delta<&R::start_ns>,
                             Plain<&R::duration_ns>,
                             Delta<&R::correlation>,
                             Plain<&R::name>,
                             Delta<&R::thread>,
                             Plain<&R::layer, nullptr>>;
};

enum class WaitKind : std::uint32_t { other, event, stream_wait_event, stream, context };

struct WaitRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t event_use = 0;  // equal in the EventRow that it waits for; 0 for none
  std::uint32_t correlation = 0;
  std::uint32_t stream = 0;  // 0xffffffff: none in particular
  WaitKind kind = WaitKind::other;

  using R = WaitRow;
  using Columns = ColumnList<Delta<&R::start_ns>,
                             Plain<&R::duration_ns>,
                             Delta<&R::correlation>,
                             Plain<&R::kind>,
                             Delta<&R::stream>,
                             Plain<nullptr>,
                             Delta<&R::event_use>>;
};

/// A CUDA event was recorded on a stream.
struct EventRow {
  std::uint64_t event_use = 0;
  std::uint32_t correlation = 0;
  std::uint32_t stream = 0;

  using R = EventRow;
  using Columns =
      ColumnList<Delta<&R::event_use, &R::correlation>, Plain<&R::stream, nullptr, nullptr>>;
};

/// The tracer's own work.
struct OverheadRow {
  std::uint64_t start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint32_t name = 0;
  std::uint32_t thread = 0;

  using R = OverheadRow;
  using Columns =
      ColumnList<Delta<&R::start_ns>, Plain<&R::duration_ns, &R::name>, Delta<&R::thread>>;
};

enum class MarkPhase : std::uint32_t { instant, opened, closed };

/// One end of a named range; both ends carry the same id.
struct MarkRow {
  std::uint64_t time_ns = 0;
  std::uint32_t id = 0;
  std::uint32_t name = 0;  // 0 where it closes
  std::uint32_t thread = 0;
  MarkPhase phase = MarkPhase::instant;

  using R = MarkRow;
  using Columns = ColumnList<Delta<&R::time_ns, &R::id>,
                             Plain<&R::phase, &R::name, nullptr>,
                             Delta<&R::thread>>;
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

/// CollectiveRow::algorithm of a collective that runs as copies, without a kernel.
inline constexpr const char* copy_engine_word = "CE";

/// What NCCL said of a collective, or of a communicator, as it was enqueued.
struct CollectiveRow {
  std::uint64_t time_ns = 0;
  std::uint64_t communicator = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;  // equal on all ranks of the communicator, for this call only
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

  using R = CollectiveRow;
  using Columns = ColumnList<Delta<&R::time_ns, &R::communicator>,
                             Plain<&R::fields, &R::function, &R::bytes, &R::sequence>,
                             Plain<&R::algorithm, &R::protocol, &R::channels, &R::root, &R::peer>,
                             Plain<&R::rank, &R::ranks, &R::device>,
                             Delta<&R::thread, &R::range>,
                             Plain<&R::source>>;
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
  std::vector<std::string> names;  // that follow those of the batches before
  std::vector<Fact> facts;
  std::vector<std::pair<std::string, std::uint64_t>> losses;

  /// Empties it and keeps its memory.
  void clear();
};

/// Rows of one kind: the frames that hold them, their place in a batch, their columns.
template <FrameKind frame, class Row, std::vector<Row> Batch::*Rows>
struct RowKind {
  static constexpr FrameKind kind = frame;
  static constexpr auto rows = Rows;
  static constexpr typename Row::Columns columns{};
};

/// All kinds, in the order in which a batch is written: what rows refer to comes first.
using RowKinds = std::tuple<RowKind<FrameKind::shapes, ShapeRow, &Batch::shapes>,
                            RowKind<FrameKind::kernels, KernelRow, &Batch::kernels>,
                            RowKind<FrameKind::copies, CopyRow, &Batch::copies>,
                            RowKind<FrameKind::fills, FillRow, &Batch::fills>,
                            RowKind<FrameKind::calls, CallRow, &Batch::calls>,
                            RowKind<FrameKind::waits, WaitRow, &Batch::waits>,
                            RowKind<FrameKind::events, EventRow, &Batch::events>,
                            RowKind<FrameKind::overheads, OverheadRow, &Batch::overheads>,
                            RowKind<FrameKind::marks, MarkRow, &Batch::marks>,
                            RowKind<FrameKind::collectives, CollectiveRow, &Batch::collectives>>;

/// Rows in one frame: few enough that a torn frame loses little.
inline constexpr std::size_t rows_per_frame = 65536;

/// Appends the frames of `batch` to `out`: names and shapes before the rows that use them.
void append_batch(const Batch& batch, std::string& out);

/// Appends the frame that says that the process ended its recording itself.
void append_end(std::string& out);

/// Numbers the names of a file in the order of their first use; 0 is the empty name.
class NameIndex {
 public:
  /// The number of `name`; a new name goes to `batch` as well.
  std::uint32_t intern(std::string_view name, Batch& batch) {
    const std::size_t known = names_.size();
    const NameId id = names_.intern(name);
    if (names_.size() > known) batch.names.emplace_back(name);
    return static_cast<std::uint32_t>(id);
  }

 private:
  NameTable names_;
};

/// Appends to `batch` what the frame says. False for a malformed one, which adds nothing; absent
/// for kinds that this program does not know.
std::optional<bool> decode_frame(FrameKind kind, std::string_view payload, Batch& batch);
}  // namespace scaleworth::trace::recording
