// SPDX-License-Identifier: Apache-2.0
/// Small trainings on the ranks of the running test.
#pragma once

#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/host/training/training.h"
#include "tests/mpi/ranks.h"

#include <memory>
#include <variant>

namespace scaleworth::testing {

inline int ranks() {
  return probes::host::mpi().size(probes::host::mpi().world());
}

inline bool root() {
  return probes::host::mpi().rank(probes::host::mpi().world()) == 0;
}

inline const probes::host::Blas& blas() {
  static const auto library =
      std::get<std::shared_ptr<const probes::host::Blas>>(probes::host::open_blas());
  return *library;
}

inline probes::TrainingWork small_work(int active) {
  probes::TrainingWork work;
  work.shape = {.layers = 2, .width = 64, .heads = 4, .sequence = 32, .vocabulary = 128};
  work.global_batch = 12;
  work.ranks = active;
  work.steps = 12;
  work.bucket = Bytes(64 << 10);
  return work;
}

inline probes::TrainingMeasured train(const probes::TrainingWork& work,
                                      const probes::host::Blas& library = blas()) {
  const probes::host::MpiRankGroupOptions options{
      .available_memory_per_rank = Bytes(1e9),
      .train = [&library](probes::host::MpiGroup group, const probes::TrainingWork& one) {
        return train_on_ranks(probes::host::mpi(), group, library, one);
      }};
  return probes::host::MpiRankGroup(probes::host::mpi(), options).train(work);
}

}  // namespace scaleworth::testing
