// SPDX-License-Identifier: Apache-2.0
#include "trace/format/kineto/read_kineto.h"

#include "src/core/error.h"
#include "trace/format/kineto/kineto_reader.h"

#include <utility>

#include <fmt/format.h>

namespace scaleworth::trace {

std::vector<Recording> read_kineto(ByteSource& source, const KeepOperation& keep) {
  Recording recording;
  recording.origin.file = source.name();
  recording.origin.tool = "Kineto";
  KinetoReader reader(recording, keep);
  walk_trace(source, reader, recording);
  reader.finish();
  if (recording.device_events.empty() && recording.host_events.empty() &&
      recording.step_marks.empty())
    throw UserError(fmt::format(
        "{} holds no events of the PyTorch profiler{}: record with activities CPU and CUDA.",
        source.name(),
        source.damage().empty() ? "" : " (" + source.damage() + ")"));
  std::vector<Recording> recordings;
  recordings.push_back(std::move(recording));
  return recordings;
}

}  // namespace scaleworth::trace
