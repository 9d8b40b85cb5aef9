// SPDX-License-Identifier: Apache-2.0
#include "trace/format/nsight/contents.h"

#include <initializer_list>
#include <limits>

#include <fmt/format.h>

namespace scaleworth::trace::nsight {
namespace {

/// The columns that all tables of device work begin with, in this order.
enum DeviceColumn : int { start, end, process, device, stream, correlation, first_own };

/// The event of a row and the side it belongs to; absent when the row cannot be used.
struct DeviceRow {
  Side* side = nullptr;
  DeviceEvent event;
};

std::optional<DeviceRow> device_row(Contents& contents, const Rows& row) {
  const std::int64_t on = row.integer(device).value_or(-1);
  const bool valid = on >= 0 && on <= std::numeric_limits<std::uint16_t>::max();
  Side& side =
      contents.device(row.integer(process).value_or(0), valid ? static_cast<std::int32_t>(on) : 0);
  if (!valid) {
    ++side.recording.losses["events_without_device"];
    return std::nullopt;
  }
  const auto time = contents.interval(row, side.recording);
  if (!time) return std::nullopt;
  DeviceEvent event;
  event.start = time->start;
  event.end = time->end;
  event.device = static_cast<std::uint16_t>(on);
  event.stream = static_cast<std::uint32_t>(row.integer(stream).value_or(0));
  event.correlation = static_cast<std::uint64_t>(row.integer(correlation).value_or(0));
  return DeviceRow{&side, event};
}

/// Columns of a table: DeviceColumn's and its own.
std::vector<const char*> columns_of(std::initializer_list<const char*> own) {
  std::vector<const char*> columns{
      "start", "end", "globalPid", "deviceId", "streamId", "correlationId"};
  columns.insert(columns.end(), own);
  return columns;
}

/// Adds an event for each usable row of a table with these columns of its own; `finish(row, side,
/// event)` gives it what they hold.
template <typename Finish>
void read_table(Contents& contents,
                std::string_view table,
                std::initializer_list<const char*> own,
                Finish finish) {
  Rows row = contents.database.select(table, columns_of(own));
  while (row.next()) {
    auto work = device_row(contents, row);
    if (!work) continue;
    finish(row, *work->side, work->event);
    work->side->recording.device_events.push_back(work->event);
  }
}

std::uint64_t graph_node(const Rows& row, int column) {
  return static_cast<std::uint64_t>(row.integer(column).value_or(0));
}

void read_kernels(Contents& contents) {
  read_table(contents,
             "CUPTI_ACTIVITY_KIND_KERNEL",
             {"demangledName", "shortName", "mangledName", "graphNodeId"},
             [&](const Rows& row, Side& side, DeviceEvent& event) {
               for (int column = first_own; column < first_own + 3; ++column) {
                 event.name = contents.name(side, row.integer(column));
                 if (event.name != NameId::none) break;
               }
               event.graph_node = graph_node(row, first_own + 3);
             });
}

/// As in the enumeration that CUPTI and the table ENUM_CUDA_MEMCPY_OPER share.
const char* copy_direction(std::int64_t kind) {
  switch (kind) {
    case 1:
    case 3:
    case 11:
      return "HtoD";
    case 2:
    case 4:
    case 12:
      return "DtoH";
    case 5:
    case 6:
    case 7:
    case 8:
    case 13:
      return "DtoD";
    case 9:
      return "HtoH";
    case 10:
      return "PtoP";
    default:
      return "";
  }
}

void read_copies(Contents& contents) {
  read_table(
      contents,
      "CUPTI_ACTIVITY_KIND_MEMCPY",
      {"graphNodeId", "copyKind", "bytes"},
      [](const Rows& row, Side& side, DeviceEvent& event) {
        Recording& recording = side.recording;
        const std::string direction = copy_direction(row.integer(first_own + 1).value_or(0));
        event.operation = DeviceOperation::copy;
        event.graph_node = graph_node(row, first_own);
        event.name = recording.names.intern(direction.empty() ? "Memcpy" : "Memcpy " + direction);
        event.copy = static_cast<std::uint32_t>(recording.copies.size());
        recording.copies.push_back({row.integer(first_own + 2), recording.names.intern(direction)});
      });
}

void read_fills(Contents& contents) {
  read_table(contents,
             "CUPTI_ACTIVITY_KIND_MEMSET",
             {"graphNodeId"},
             [](const Rows& row, Side& side, DeviceEvent& event) {
               event.operation = DeviceOperation::fill;
               event.graph_node = graph_node(row, first_own);
               event.name = side.recording.names.intern("Memset");
             });
}

/// Graphs that were recorded as a whole: what ran inside is not known.
void read_graphs(Contents& contents) {
  read_table(contents,
             "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
             {"graphId"},
             [](const Rows& row, Side& side, DeviceEvent& event) {
               event.name = side.recording.names.intern(
                   fmt::format("CUDA graph {}", row.integer(first_own).value_or(0)));
               ++side.recording.losses["graphs_recorded_without_their_kernels"];
             });
}

}  // namespace

void read_device_tables(Contents& contents) {
  read_kernels(contents);
  read_copies(contents);
  read_fills(contents);
  read_graphs(contents);
}

}  // namespace scaleworth::trace::nsight
