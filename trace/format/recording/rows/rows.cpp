// SPDX-License-Identifier: Apache-2.0
#include "trace/format/recording/rows/rows.h"

namespace scaleworth::trace::recording {

void Batch::clear() {
  kernels.clear();
  shapes.clear();
  copies.clear();
  fills.clear();
  calls.clear();
  waits.clear();
  events.clear();
  overheads.clear();
  marks.clear();
  collectives.clear();
  networks.clear();
  channels.clear();
  clocks.clear();
  windows.clear();
  names.clear();
  facts.clear();
  losses.clear();
}

}  // namespace scaleworth::trace::recording
