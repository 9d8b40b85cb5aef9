// SPDX-License-Identifier: Apache-2.0
/// Runs the reference training on the ranks of a group, or on this process alone.
#pragma once

#include "probes/host/blas/blas.h"
#include "probes/host/mpi/module.h"
#include "probes/ranks.h"

namespace scaleworth::probes::host {

/// The training of one rank without MPI: `work.ranks` must be 1.
/// Throws UserError for impossible work, ProbeFailure when the memory cannot be had or the loss is
/// no longer finite, Interrupted between steps.
TrainingMeasured train_alone(const Blas& blas, const TrainingWork& work);

/// Called by every rank of `group` with the same `work`. Ranks 0 .. work.ranks - 1 train, one core
/// each, after a common barrier; the others sleep until they are done. The result is complete on
/// rank 0; elsewhere the timeline is empty.
/// Throws on every rank of the group alike what train_alone throws. A rank that cannot agree any
/// more (MPI reports an error, an all-reduce does not end within Exchange::timeout) says so on
/// stderr and ends the job.
TrainingMeasured train_on_ranks(const MpiModule& mpi,
                                MpiGroup group,
                                const Blas& blas,
                                const TrainingWork& work);

}  // namespace scaleworth::probes::host
