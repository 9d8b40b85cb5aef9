// SPDX-License-Identifier: Apache-2.0
/// Reader of what `nsys export --type sqlite` writes.
#pragma once

#include "trace/classify.h"
#include "trace/recording.h"

namespace scaleworth::trace {
/// One recording per process and device with kernels, in that order; a device on which a process
/// only copies belongs to its busiest one. Times are on the wall clock where the file states when
/// the capture began. Tables and columns may be missing; rows may be in any order; a damaged file
/// gives what could be read, with losses and remarks. Throws UserError when `path` is no database
/// or holds no work on a GPU.
std::vector<Recording> read_nsight(const std::string& path, const RuleTable& rules);
}  // namespace scaleworth::trace
