// SPDX-License-Identifier: Apache-2.0
/// Which recording is which rank, when everything is read.
#pragma once

#include "trace/timeline/recording.h"

namespace scaleworth::trace {

/// Sorts the job's recordings by rank and says in Job::ranks_from how the ranks were found: from
/// metadata; where it lacks or contradicts itself, from the file names; else from the order of the
/// files. A remark names the missing ranks. Throws UserError when two recordings claim one rank and
/// their names do not help.
void assign_ranks(Job& job);

/// Throws UserError, naming two files, when recordings are certainly of different runs: other sizes
/// of the job, other communicators of all ranks, or times on the wall clock that do not meet.
void refuse_mixed_runs(const Job& job);

}  // namespace scaleworth::trace
