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

/// Called by each of the `work.ranks` ranks of `group`, one core each; all other ranks of the job
/// should sleep. Steps are measured after a common barrier. The result is complete on rank 0;
/// elsewhere the timeline is empty.
/// What train_alone throws, all ranks throw alike. A rank whose MPI reports an error throws
/// ProbeFailure alone; the others do when its all-reduce has not come after Exchange::timeout.
TrainingMeasured train_on_ranks(const MpiModule& mpi,
                                MpiGroup group,
                                const Blas& blas,
                                const TrainingWork& work);

}  // namespace scaleworth::probes::host
