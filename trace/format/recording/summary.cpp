// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/summary.h"

#include "trace/format/recording/bytes/varint.h"
#include "trace/format/recording/rows/decode.h"

namespace scaleworth::trace {
namespace {

using recording::FrameKind;

std::uint64_t rows_of(std::string_view payload) {
  return recording::take_varint(payload).value_or(0);  // the first number of every frame of rows
}

void add_texts(const recording::Batch& batch, RecordingSummary& summary) {
  for (const auto& [key, value] : batch.facts) {
    if (key == "remark") {
      summary.remarks.push_back(value);
    } else {
      summary.facts[key] = value;
    }
  }
  for (const auto& [name, count] : batch.losses) {
    if (name.starts_with("dropped_")) summary.lost += count;
  }
}

}  // namespace

RecordingSummary summarise_recording(ByteSource& source) {
  RecordingSummary summary;
  recording::FrameReader frames(source);
  while (frames.next()) {
    switch (frames.kind()) {
      case FrameKind::facts:
      case FrameKind::losses: {
        recording::Batch batch;
        recording::decode_frame(frames.kind(), frames.payload(), batch);
        add_texts(batch, summary);
        break;
      }
      case FrameKind::kernels:
      case FrameKind::copies:
      case FrameKind::fills:
        summary.device_events += rows_of(frames.payload());
        break;
      case FrameKind::calls:
      case FrameKind::waits:
      case FrameKind::marks:
      case FrameKind::collectives:
        summary.other_events += rows_of(frames.payload());
        break;
      case FrameKind::end:
        summary.ended = true;
        break;
      default:
        break;
    }
  }
  return summary;
}

}  // namespace scaleworth::trace
