// SPDX-License-Identifier: Apache-2.0
/// The ways by which a process ends, and how the recording ends with it.
#pragma once

namespace scaleworth::gpu {

/// At exit and on SIGTERM and SIGINT the recording is ended, a forked child lets
/// go of it. Handlers that the program has installed before are called as they would have been;
/// ignored signals stay ignored. What no handler sees (SIGKILL, _exit, abort) loses at most one
/// period.
void watch_exit_paths();

}  // namespace scaleworth::gpu
