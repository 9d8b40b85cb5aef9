// SPDX-License-Identifier: Apache-2.0
/// Names pieces of work for tools that record.
#pragma once

#include "src/core/non_copyable.h"

#include <nvtx3/nvToolsExt.h>

namespace scaleworth::gpu {
/// A named range for tools that listen to NVTX; nothing where none does. From construction to the
/// end of the scope, on this thread.
class NvtxRange : NonCopyable {
 public:
  explicit NvtxRange(const char* name) { nvtxRangePushA(name); }
  ~NvtxRange() { nvtxRangePop(); }
};
}  // namespace scaleworth::gpu
