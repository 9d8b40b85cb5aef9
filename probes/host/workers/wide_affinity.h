// SPDX-License-Identifier: Apache-2.0
/// All CPUs that the kernel allows, for a while, although a launcher bound this process to few.
#pragma once

#include <sched.h>

namespace scaleworth::probes::host {

/// Widens the calling thread's affinity mask to every CPU of its cpuset (threads created meanwhile
/// inherit that) and restores the former mask at the end. Where the kernel refuses, nothing
/// changes.
class WideAffinity {
 public:
  WideAffinity();
  ~WideAffinity();
  WideAffinity(const WideAffinity&) = delete;
  WideAffinity& operator=(const WideAffinity&) = delete;

 private:
  cpu_set_t former_{};
  bool widened_ = false;
};

}  // namespace scaleworth::probes::host
