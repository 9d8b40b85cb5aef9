// SPDX-License-Identifier: Apache-2.0
#include "trace/format/nsight/contents.h"

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

void read_kernels(Contents& contents) {
  Rows row = contents.database.select("CUPTI_ACTIVITY_KIND_KERNEL",
                                      {"start",
                                       "end",
                                       "globalPid",
                                       "deviceId",
                                       "streamId",
                                       "correlationId",
                                       "demangledName",
                                       "shortName",
                                       "mangledName",
                                       "graphNodeId"});
  while (row.next()) {
    auto kernel = device_row(contents, row);
    if (!kernel) continue;
    for (int column = first_own; column < first_own + 3; ++column) {
      kernel->event.name = contents.name(*kernel->side, row.integer(column));
      if (kernel->event.name != NameId::none) break;
    }
    kernel->event.graph_node = static_cast<std::uint64_t>(row.integer(first_own + 3).value_or(0));
    kernel->side->recording.device_events.push_back(kernel->event);
  }
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
  Rows row = contents.database.select("CUPTI_ACTIVITY_KIND_MEMCPY",
                                      {"start",
                                       "end",
                                       "globalPid",
                                       "deviceId",
                                       "streamId",
                                       "correlationId",
                                       "copyKind",
                                       "bytes",
                                       "graphNodeId"});
  while (row.next()) {
    auto copy = device_row(contents, row);
    if (!copy) continue;
    Recording& recording = copy->side->recording;
    const std::string direction = copy_direction(row.integer(first_own).value_or(0));
    copy->event.operation = DeviceOperation::copy;
    copy->event.name = recording.names.intern(direction.empty() ? "Memcpy" : "Memcpy " + direction);
    copy->event.graph_node = static_cast<std::uint64_t>(row.integer(first_own + 2).value_or(0));
    copy->event.copy = static_cast<std::uint32_t>(recording.copies.size());
    recording.copies.push_back({row.integer(first_own + 1), recording.names.intern(direction)});
    recording.device_events.push_back(copy->event);
  }
}

void read_fills(Contents& contents) {
  Rows row = contents.database.select(
      "CUPTI_ACTIVITY_KIND_MEMSET",
      {"start", "end", "globalPid", "deviceId", "streamId", "correlationId", "graphNodeId"});
  while (row.next()) {
    auto fill = device_row(contents, row);
    if (!fill) continue;
    fill->event.operation = DeviceOperation::fill;
    fill->event.name = fill->side->recording.names.intern("Memset");
    fill->event.graph_node = static_cast<std::uint64_t>(row.integer(first_own).value_or(0));
    fill->side->recording.device_events.push_back(fill->event);
  }
}

/// Graphs that were recorded as a whole: what ran inside is not known.
void read_graphs(Contents& contents) {
  Rows row = contents.database.select(
      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
      {"start", "end", "globalPid", "deviceId", "streamId", "correlationId", "graphId"});
  while (row.next()) {
    auto graph = device_row(contents, row);
    if (!graph) continue;
    graph->event.name = graph->side->recording.names.intern(
        fmt::format("CUDA graph {}", row.integer(first_own).value_or(0)));
    graph->side->recording.device_events.push_back(graph->event);
    ++graph->side->recording.losses["graphs_recorded_without_their_kernels"];
  }
}

}  // namespace

void read_device_tables(Contents& contents) {
  read_kernels(contents);
  read_copies(contents);
  read_fills(contents);
  read_graphs(contents);
}

}  // namespace scaleworth::trace::nsight
