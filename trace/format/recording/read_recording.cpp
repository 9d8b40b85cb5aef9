// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/read_recording.h"

#include "src/core/error.h"
#include "trace/format/recording/assemble/assemble.h"
#include "trace/format/recording/bytes/frame.h"
#include "trace/format/recording/rows/decode.h"

#include <fmt/format.h>

namespace scaleworth::trace {

std::vector<Recording> read_recording(ByteSource& source) {
  recording::FrameReader frames(source);
  recording::Assembler assembler;
  recording::Batch batch;
  bool ended = false;
  std::int64_t frames_read = 0;
  std::int64_t unknown = 0;
  std::int64_t malformed = 0;
  while (frames.next()) {
    batch.clear();
    const auto decoded = recording::decode_frame(frames.kind(), frames.payload(), batch);
    assembler.add(batch);
    ++frames_read;
    if (decoded == recording::Decoded::unknown_kind) ++unknown;
    if (decoded == recording::Decoded::malformed) ++malformed;
    ended = frames.kind() == recording::FrameKind::end;
  }
  if (frames_read == 0) {
    throw UserError(fmt::format(
        "{}: {}; nothing of it can be read, record again",
        source.name(),
        frames.damage().empty() ? "byte 16: the file ends after its header" : frames.damage()));
  }
  Recording recording = assembler.finish(source.name());
  if (unknown > 0) recording.losses["frames_of_a_later_version"] += unknown;
  if (malformed > 0) recording.losses["malformed_frames"] += malformed;
  if (frames.lost_bytes() > 0) recording.losses["truncated_bytes"] += frames.lost_bytes();
  if (!frames.damage().empty())
    recording.remarks.push_back(fmt::format("{}; what is before it was read", frames.damage()));
  if (!ended) {
    recording.remarks.emplace_back(
        "the process did not end its recording (killed, _exit, or still running): up to about its "
        "last second is missing");
  }
  return recording::split_by_device(std::move(recording), assembler.device_ranks());
}

}  // namespace scaleworth::trace
