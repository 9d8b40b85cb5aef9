// SPDX-License-Identifier: Apache-2.0
// The training step on the ranks of a NcclRankGroup.
#include "cuda/nccl/nccl_rank_group.h"
#include "cuda/training/step/nccl_exchange.h"
#include "cuda/training/train.h"
#include "probes/training/training_work.h"
#include "src/core/error.h"

#include <numeric>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

/// Every process opens its own; without it on one of them there is no training on any.
TrainingLibraries open_libraries(probes::Rendezvous& meeting,
                                 const NcclRankGroupOptions& options,
                                 bool trace) {
  TrainingLibraries libraries{nullptr, Skipped{"tracing was not asked for"}};
  if (trace) libraries.cupti = open_cupti(options.cupti_path);
  auto outcome = open_cublas_lt(options.cublas_lt_path);
  std::string obstacle;
  if (auto* library = std::get_if<std::shared_ptr<const CublasLt>>(&outcome)) {
    libraries.cublas_lt = *library;
  } else if (const auto* skipped = std::get_if<Skipped>(&outcome)) {
    obstacle = skipped->reason;
  } else {
    obstacle = std::get<Failed>(outcome).reason;
  }
  for (const std::string& one : meeting.all_gather(obstacle)) {
    if (!one.empty()) throw NothingToMeasure("no training step on GPUs: " + one);
  }
  return libraries;
}

}  // namespace

probes::TrainingMeasured NcclRankGroup::train(const probes::TrainingWork& work) {
  probes::check_training_work(work);
  if (work.ranks > size()) {
    throw UserError(fmt::format(
        "training on {} GPUs: this job has {}; use at most as many", work.ranks, size()));
  }
  const auto watch = watchdog_.watch(fmt::format("the training step on {} GPUs", work.ranks));
  const TrainingLibraries libraries = open_libraries(meeting_, options_, work.trace);
  std::vector<TrainingRank> local;
  std::vector<std::unique_ptr<NcclExchange>> exchanges;
  try {
    if (work.ranks > 1) {
      std::vector<int> team(static_cast<std::size_t>(work.ranks));
      std::iota(team.begin(), team.end(), 0);
      choose_team(team);
      for (const Member& member : members_) {
        const int rank = member.communicator->rank();
        exchanges.push_back(
            std::make_unique<NcclExchange>(options_.nccl, member.communicator->handle(), rank));
        local.push_back({member.place->ordinal(), Rank{rank}, exchanges.back().get()});
      }
    } else if (meeting_.rank() == 0) {
      local.push_back({local_.at(0)->ordinal(), Rank{0}, nullptr});
    }
    for (const auto& place : local_) place->release_memory();
    return train_on_gpus(local, meeting_, libraries, work);
  } catch (...) {
    // After a failure nobody knows what still runs on the GPUs.
    stop_ = true;
    dissolve_team();
    throw;
  }
}

}  // namespace scaleworth::gpu
