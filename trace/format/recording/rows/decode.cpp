// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/rows/decode.h"

#include "trace/format/recording/bytes/texts.h"
#include "trace/format/recording/rows/row_columns.h"

namespace scaleworth::trace::recording {
namespace {

bool take_names(std::string_view bytes, std::vector<std::string>& names) {
  const std::size_t before = names.size();
  while (!bytes.empty()) {
    const auto name = take_text(bytes);
    if (!name) {
      names.resize(before);
      return false;
    }
    names.emplace_back(*name);
  }
  return true;
}

bool take_facts(std::string_view bytes, std::vector<Fact>& facts) {
  const std::size_t before = facts.size();
  while (!bytes.empty()) {
    const auto key = take_text(bytes);
    const auto value = key ? take_text(bytes) : key;
    if (!value) {
      facts.resize(before);
      return false;
    }
    facts.emplace_back(*key, *value);
  }
  return true;
}

bool take_losses(std::string_view bytes, std::vector<std::pair<std::string, std::uint64_t>>& all) {
  const std::size_t before = all.size();
  while (!bytes.empty()) {
    const auto name = take_text(bytes);
    const auto count = name ? take_varint(bytes) : std::nullopt;
    if (!count) {
      all.resize(before);
      return false;
    }
    all.emplace_back(*name, *count);
  }
  return true;
}

std::optional<bool> take_work(FrameKind kind, std::string_view bytes, Batch& batch) {
  switch (kind) {
    case FrameKind::shapes:
      return take_rows(bytes, ShapeColumns{}, batch.shapes);
    case FrameKind::kernels:
      return take_rows(bytes, KernelColumns{}, batch.kernels);
    case FrameKind::copies:
      return take_rows(bytes, CopyColumns{}, batch.copies);
    case FrameKind::fills:
      return take_rows(bytes, FillColumns{}, batch.fills);
    case FrameKind::calls:
      return take_rows(bytes, CallColumns{}, batch.calls);
    case FrameKind::waits:
      return take_rows(bytes, WaitColumns{}, batch.waits);
    case FrameKind::events:
      return take_rows(bytes, EventColumns{}, batch.events);
    default:
      return std::nullopt;
  }
}

std::optional<bool> take_context(FrameKind kind, std::string_view bytes, Batch& batch) {
  switch (kind) {
    case FrameKind::facts:
      return take_facts(bytes, batch.facts);
    case FrameKind::names:
      return take_names(bytes, batch.names);
    case FrameKind::losses:
      return take_losses(bytes, batch.losses);
    case FrameKind::clocks:
      return take_rows(bytes, ClockColumns{}, batch.clocks);
    case FrameKind::windows:
      return take_rows(bytes, WindowColumns{}, batch.windows);
    case FrameKind::overheads:
      return take_rows(bytes, OverheadColumns{}, batch.overheads);
    case FrameKind::marks:
      return take_rows(bytes, MarkColumns{}, batch.marks);
    case FrameKind::collectives:
      return take_rows(bytes, CollectiveColumns{}, batch.collectives);
    case FrameKind::networks:
      return take_rows(bytes, NetworkColumns{}, batch.networks);
    case FrameKind::channels:
      return take_rows(bytes, ChannelColumns{}, batch.channels);
    case FrameKind::end:
      return bytes.empty();
    default:
      return std::nullopt;
  }
}

}  // namespace

Decoded decode_frame(FrameKind kind, std::string_view payload, Batch& batch) {
  std::optional<bool> whole = take_work(kind, payload, batch);
  if (!whole) whole = take_context(kind, payload, batch);
  if (!whole) return Decoded::unknown_kind;
  return *whole ? Decoded::whole : Decoded::malformed;
}

}  // namespace scaleworth::trace::recording
