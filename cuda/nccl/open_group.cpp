// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/cuda_device.h"
#include "cuda/libraries/nccl.h"
#include "cuda/nccl/nccl_rank_group.h"
#include "cuda/nccl/plugins.h"
#include "cuda/training/device_trainer.h"
#include "cuda/training/train.h"
#include "probes/gpu/registry.h"
#include "probes/training/shape.h"
#include "src/core/error.h"
#include "src/core/lists.h"
#include "src/core/process.h"

#include <array>
#include <cstdlib>

namespace scaleworth::probes {
namespace {
constexpr int default_port = 29431;  // any that is seldom used; --rendezvous gives another
constexpr int highest_port = 65535;  // 16 bits

/// NCCL refuses two ranks of one host on one GPU, and distinguishes hosts by NCCL_HOSTID: each rank
/// becomes a host of its own, and what is left between them is the loopback network. What the user
/// has set stays.
void pretend_hosts(int rank) {
  const std::string host = fmt::format("scaleworth-rank-{}", rank);
  const std::array<std::pair<const char*, const char*>, 7> settings{{{"NCCL_HOSTID", host.c_str()},
                                                                     {"NCCL_NET", "Socket"},
                                                                     {"NCCL_IB_DISABLE", "1"},
                                                                     {"NCCL_SOCKET_IFNAME", "=lo"},
                                                                     {"NCCL_MNNVL_ENABLE", "0"},
                                                                     {"NCCL_MAX_CTAS", "4"},
                                                                     {"NCCL_RAS_ENABLE", "0"}}};
  for (const auto& [name, value] : settings) ::setenv(name, value, 0);
}

/// torchrun uses MASTER_PORT itself: this is the next one, unless flags give it.
int rendezvous_port(const LaunchEnvironment& launch) {
  if (!launch.rendezvous_port) return default_port;
  const int port = *launch.rendezvous_port;
  if (launch.launcher == Launcher::flags) return port;
  return port < highest_port ? port + 1 : port - 1;
}

Rendezvous join(const LaunchEnvironment& launch) {
  if (!launch.rank || !launch.world_size) {
    throw UserError("{} announces no world size: give --rank, --world-size and --rendezvous",
                    launcher_name(launch.launcher));
  }
  return Rendezvous({.host = launch.rendezvous_host.empty() ? "127.0.0.1" : launch.rendezvous_host,
                     .port = rendezvous_port(launch),
                     .rank = *launch.rank,
                     .size = *launch.world_size,
                     .token = job_token(launch, environment_variables()),
                     .on_one_host = launch.local_size == launch.world_size});
}

void refuse_blocking_launches() {
  if (const auto reason = gpu::launches_block()) throw UserError(*reason);
}

bool is_distributed(const LaunchEnvironment& launch) {
  return launch.launcher != Launcher::none && launch.world_size.value_or(2) > 1;
}

/// The GPU of this process: by its place among the ranks of its host. Where each process sees one
/// GPU only, that one.
int own_ordinal(Rendezvous& meeting, bool shared) {
  const int index = gpu::index_on_host(meeting.rank(), meeting.all_gather(host_identity()));
  int ordinal = 0;
  meeting.agree(rank_trouble([&] {
    const int count = required(gpu::count_gpus());
    if (count == 1 || shared) {
      ordinal = index % count;
    } else if (index < count) {
      ordinal = index;
    } else {
      throw UserError(
          "this is rank {} of its host, which shows {} GPUs: start at most one rank per GPU",
          index,
          count);
    }
  }));
  return ordinal;
}

std::unique_ptr<RankGroup> open_distributed(const VendorPaths& paths,
                                            const DeviceGroupRequest& request) {
  if (request.shared_gpu) pretend_hosts(request.launch.rank.value_or(0));
  // Before the rendezvous, which starts a thread: both set variables.
  gpu::NcclRankGroupOptions options{.shared_gpu = request.shared_gpu,
                                    .notes = gpu::offer_plugins(),
                                    .cublas_lt_path = paths.cublas_lt};
  Rendezvous meeting = join(request.launch);
  meeting.agree(rank_trouble([&] {
    refuse_blocking_launches();
    options.nccl = required(gpu::open_nccl(paths.nccl));
  }));
  options.ordinals = {own_ordinal(meeting, request.shared_gpu)};
  return std::make_unique<gpu::NcclRankGroup>(std::move(meeting), std::move(options));
}

std::unique_ptr<RankGroup> open_alone(const VendorPaths& paths, const DeviceGroupRequest& request) {
  if (request.shared_gpu) {
    throw UserError(
        "--shared-gpu needs several processes, for NCCL wants a host for each rank: start them "
        "with torchrun, srun or mpirun");
  }
  refuse_blocking_launches();
  gpu::NcclRankGroupOptions options{.cublas_lt_path = paths.cublas_lt};
  options.ordinals = numbers_below<int>(required(gpu::count_gpus()));
  try {
    options.nccl = required(gpu::open_nccl(paths.nccl));
  } catch (const NothingToMeasure&) {
    // One GPU trains without: there is no other rank to exchange gradients with.
    if (options.ordinals.size() > 1) throw;
  }
  options.notes = gpu::offer_plugins();
  return std::make_unique<gpu::NcclRankGroup>(Rendezvous(RendezvousOptions{}), std::move(options));
}
}  // namespace

Outcome<std::unique_ptr<RankGroup>> open_device_group(const VendorPaths& paths,
                                                      const DeviceGroupRequest& request) {
  try {
    return is_distributed(request.launch) ? open_distributed(paths, request)
                                          : open_alone(paths, request);
  } catch (const NothingToMeasure& nothing) {
    return Skipped{nothing.what()};
  } catch (const UserError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    return Failed{error.what()};
  }
}
}  // namespace scaleworth::probes

namespace scaleworth::gpu {
namespace {
/// Every process opens its own; without it on one of them there is no training on any.
std::shared_ptr<const CublasLt> open_library(Rendezvous& meeting, const std::string& path) {
  auto outcome = open_cublas_lt(path);
  for (const std::string& one : meeting.all_gather(reason_of(outcome))) {
    if (!one.empty()) throw NothingToMeasure(FindingId::no_training_on_gpus, one);
  }
  return std::get<std::shared_ptr<const CublasLt>>(outcome);
}
}  // namespace

TrainingMeasured NcclRankGroup::train(const TrainingWork& work) {
  check_training_work(work);
  if (work.ranks > size()) {
    throw UserError(
        "training on {} GPUs: this job has {}; use at most as many", work.ranks, size());
  }
  const auto watch = watchdog_.watch(fmt::format("the training step on {} GPUs", work.ranks));
  plugin_state().force(std::nullopt);  // of the question before
  const std::shared_ptr<const CublasLt> library = open_library(meeting_, options_.cublas_lt_path);
  std::vector<TrainingRank> local;
  std::vector<std::unique_ptr<NcclExchange>> exchanges;
  try {
    if (work.ranks > 1) {
      choose_team(numbers_below<int>(work.ranks));
      for (const Member& member : members_) {
        const int rank = member.communicator->rank();
        exchanges.push_back(std::make_unique<NcclExchange>(*member.communicator));
        local.push_back({member.place->ordinal(), Rank{rank}, exchanges.back().get()});
      }
    } else if (meeting_.rank() == 0) {
      local.push_back({local_.at(0)->ordinal(), Rank{0}, nullptr});
    }
    for (const auto& place : local_) place->release_memory();
    return train_on_gpus(local, meeting_, library, work);
  } catch (...) {
    // After a failure it is unknown what still runs on the GPUs.
    stop_ = true;
    dissolve_team();
    throw;
  }
}
}  // namespace scaleworth::gpu
