// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/mpi_rank_group.h"

#include "probes/collectives/message.h"
#include "probes/host/ranks/agreement.h"
#include "probes/host/ranks/collective_measurement.h"
#include "probes/host/ranks/sleeping_barrier.h"
#include "probes/host/training/gather.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

// The working ranks have their own, much shorter limit and end the job when it passes.
constexpr std::chrono::hours sleeping_limit{2};
// A training reports no progress until it ends.
constexpr std::chrono::minutes training_limit{15};

/// "4 ranks on 2 nodes (2 per node), network chosen by MPI".
std::string describe_placement(const MpiModule& mpi, MpiGroup world) {
  const int size = mpi.size(world);
  const int on_node = mpi.node_size(world);
  const float share = 1.0F / static_cast<float>(on_node);
  float nodes = 0.0F;
  check(mpi, mpi.all_reduce_f32(world, &share, &nodes, 1));
  const double own = on_node;
  double most = 0.0;
  check(mpi, mpi.all_reduce_max_f64(world, &own, &most, 1));
  const int node_count = static_cast<int>(std::lround(nodes));
  const char* plural = size == 1 ? "" : "s";
  if (node_count == 1) return fmt::format("{} rank{} on 1 node, shared memory", size, plural);
  return fmt::format("{} rank{} on {} nodes ({}{} per node), network chosen by MPI",
                     size,
                     plural,
                     node_count,
                     node_count * on_node == size ? "" : "at most ",
                     most);
}

void refuse_what_mpi_lacks(const CollectiveWork& work) {
  const bool known = std::find(all_collectives.begin(), all_collectives.end(), work.collective) !=
                     all_collectives.end();
  if (!known || work.mode == CollectiveMode::graph || work.in_place || work.registered ||
      !work.members.empty() || !work.algorithm.empty()) {
    throw NothingToMeasure(
        "MPI ranks measure six collectives among the first ranks, isolated and back to back, out "
        "of place, with the library's own algorithm");
  }
}

}  // namespace

MpiRankGroup::MpiRankGroup(const MpiModule& mpi, MpiRankGroupOptions options)
    : mpi_(mpi),
      options_(std::move(options)),
      world_(mpi.world()),
      rank_(mpi.rank(world_)),
      size_(mpi.size(world_)),
      watchdog_(options_.stall_limit, end_this_rank(rank_)) {
  const auto watch = watchdog_.watch("counting the nodes");
  placement_ = describe_placement(mpi_, world_);
  const double own = -options_.available_memory_per_rank.value();
  double least = 0.0;
  check(mpi_, mpi_.all_reduce_max_f64(world_, &own, &least, 1));
  memory_per_rank_ = Bytes(-least);
}

MpiRankGroup::~MpiRankGroup() {
  for (const auto& [ranks, group] : parts_) mpi_.release(group);
}

CollectiveMeasured MpiRankGroup::time_collective(const CollectiveWork& work,
                                                 const StoppingTarget& target) {
  refuse_what_mpi_lacks(work);
  CollectiveMeasured measured;
  const std::string what = fmt::format(
      "{} of {} B on {} ranks", collective_name(work.collective), work.message.value(), work.ranks);
  on_first_ranks(work.ranks, what, options_.stall_limit, [&](MpiGroup group) {
    const Operation operation = make_operation(work, group);
    const CommonClock clock = measure_common_clock(mpi_, group);
    measured = measure_collective(operation, work.mode, target, clock.own, watchdog_);
  });
  return measured;
}

TrainingMeasured MpiRankGroup::train(const TrainingWork& work) {
  if (!options_.train) throw ProbeFailure("this group of ranks has no training step");
  send_.release();
  receive_.release();
  TrainingMeasured measured;
  const std::string what = fmt::format("training on {} ranks", work.ranks);
  on_first_ranks(work.ranks, what, training_limit, [&](MpiGroup group) {
    measured = options_.train(group, work);
  });
  return measured;
}

void MpiRankGroup::together(const std::function<void()>& action) {
  const auto watch = watchdog_.watch("waiting for what another rank does alone", sleeping_limit);
  std::exception_ptr own;
  const Trouble trouble = trouble_of(rank_, [&] {
    try {
      action();
    } catch (...) {
      own = std::current_exception();
      throw;
    }
  });
  try {
    agree(mpi_, world_, trouble);
  } catch (const ProbeFailure&) {
    if (own) std::rethrow_exception(own);
    throw;
  }
}

void MpiRankGroup::on_first_ranks(int ranks,
                                  const std::string& what,
                                  std::chrono::seconds limit,
                                  const std::function<void(MpiGroup)>& action) {
  if (ranks < 1 || ranks > size_) {
    throw ProbeFailure(fmt::format("{}: this job has {}", what, size_));
  }
  const MpiGroup group = first_ranks(ranks);
  Trouble trouble;
  if (group != nullptr) {
    const auto watch = watchdog_.watch(what, limit);
    trouble = trouble_of(rank_, [&] { action(group); });
  }
  const auto watch = watchdog_.watch("waiting for the end of " + what, sleeping_limit);
  if (ranks < size_) sleep_until_all_arrive(mpi_, world_);
  agree(mpi_, world_, trouble);
}

MpiGroup MpiRankGroup::first_ranks(int ranks) {
  if (ranks == size_) return world_;
  const auto known = parts_.find(ranks);
  if (known != parts_.end()) return known->second;
  const MpiGroup group = mpi_.prefix(world_, ranks);
  if (group == nullptr && rank_ < ranks) throw ProbeFailure(mpi_.last_error());
  parts_[ranks] = group;
  return group;
}

Operation MpiRankGroup::make_operation(const CollectiveWork& work, MpiGroup group) {
  const MessageShape shape = message_shape(work.collective, work.message, work.ranks);
  Operation operation{mpi_, group, work.collective, shape, rank_, work.ranks, {}, {}};
  agree(mpi_, group, trouble_of(rank_, [&] {
          if (shape.buffers() > memory_per_rank_) {
            throw ProbeFailure(
                fmt::format("{} B of buffers do not fit into the {} B that a rank may use",
                            shape.buffers().value(),
                            memory_per_rank_.value()));
          }
          operation.send = send_.reserve(shape.send);
          operation.receive = receive_.reserve(shape.receive);
          prepare(operation);
        }));
  return operation;
}

}  // namespace scaleworth::probes::host
