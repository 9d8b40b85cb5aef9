// SPDX-License-Identifier: Apache-2.0
/// A named range for tools that listen to NVTX; nothing where none does.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace scaleworth::gpu {

/// From construction to the end of the scope, on this thread.
class NvtxRange {
 public:
  explicit NvtxRange(const char* name) { nvtxRangePushA(name); }
  ~NvtxRange() { nvtxRangePop(); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace scaleworth::gpu
