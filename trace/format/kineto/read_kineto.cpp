// SPDX-License-Identifier: Apache-2.0
#include "trace/format/kineto/read_kineto.h"

#include "trace/format/kineto/kineto_reader.h"

#include <utility>

namespace scaleworth::trace {

std::vector<Recording> read_kineto(ByteSource& source, const KeepOperation& keep) {
  Recording recording;
  recording.origin.file = source.name();
  recording.origin.tool = "Kineto";
  KinetoReader reader(recording, keep);
  walk_trace(source, reader, recording);
  reader.finish();
  std::vector<Recording> recordings;
  recordings.push_back(std::move(recording));
  return recordings;
}

}  // namespace scaleworth::trace
