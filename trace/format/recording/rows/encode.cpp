// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/rows/encode.h"

#include "trace/format/recording/bytes/frame.h"
#include "trace/format/recording/bytes/texts.h"
#include "trace/format/recording/rows/row_columns.h"

#include <algorithm>
#include <span>

namespace scaleworth::trace::recording {
namespace {

template <class Row, class Columns>
void append_rows(FrameKind kind, const std::vector<Row>& rows, Columns columns, std::string& out) {
  std::span<const Row> left(rows);
  while (!left.empty()) {
    const auto part = left.first(std::min(left.size(), rows_per_frame));
    left = left.subspan(part.size());
    append_frame(kind, out, [&](std::string& to) { put_rows(part, columns, to); });
  }
}

void append_texts(const Batch& batch, std::string& out) {
  if (!batch.names.empty()) {
    append_frame(FrameKind::names, out, [&](std::string& to) {
      for (const std::string& name : batch.names) put_text(name, to);
    });
  }
  if (!batch.facts.empty()) {
    append_frame(FrameKind::facts, out, [&](std::string& to) {
      for (const auto& [key, value] : batch.facts) {
        put_text(key, to);
        put_text(value, to);
      }
    });
  }
  if (!batch.losses.empty()) {
    append_frame(FrameKind::losses, out, [&](std::string& to) {
      for (const auto& [name, count] : batch.losses) {
        put_text(name, to);
        put_number(count, to);
      }
    });
  }
}

}  // namespace

void append_batch(const Batch& batch, std::string& out) {
  append_texts(batch, out);
  append_rows(FrameKind::clocks, batch.clocks, ClockColumns{}, out);
  append_rows(FrameKind::windows, batch.windows, WindowColumns{}, out);
  append_rows(FrameKind::shapes, batch.shapes, ShapeColumns{}, out);
  append_rows(FrameKind::kernels, batch.kernels, KernelColumns{}, out);
  append_rows(FrameKind::copies, batch.copies, CopyColumns{}, out);
  append_rows(FrameKind::fills, batch.fills, FillColumns{}, out);
  append_rows(FrameKind::calls, batch.calls, CallColumns{}, out);
  append_rows(FrameKind::waits, batch.waits, WaitColumns{}, out);
  append_rows(FrameKind::events, batch.events, EventColumns{}, out);
  append_rows(FrameKind::overheads, batch.overheads, OverheadColumns{}, out);
  append_rows(FrameKind::marks, batch.marks, MarkColumns{}, out);
  append_rows(FrameKind::collectives, batch.collectives, CollectiveColumns{}, out);
  append_rows(FrameKind::networks, batch.networks, NetworkColumns{}, out);
  append_rows(FrameKind::channels, batch.channels, ChannelColumns{}, out);
}

void append_end(std::string& out) {
  append_frame(FrameKind::end, out, [](std::string&) {});
}

std::uint32_t NameIndex::intern(std::string_view name, Batch& batch) {
  if (name.empty()) return 0;
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(numbers_.size() + 1);
  numbers_.emplace(std::string(name), number);
  batch.names.emplace_back(name);
  return number;
}

}  // namespace scaleworth::trace::recording
