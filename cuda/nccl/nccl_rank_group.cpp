// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/nccl_rank_group.h"

#include "src/core/error.h"
#include "src/core/lists.h"
#include "src/core/process.h"
#include "src/core/statistics/sampling.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <set>

namespace scaleworth::gpu {
namespace {

// NCCL's own buffers come out of the same memory when communicators are made.
constexpr Bytes kept_for_nccl{1.5 * gibibyte};
constexpr double usable_share = 0.95;  // presumed, for what else comes meanwhile
// Rank 0 alone writes down results meanwhile.
constexpr std::chrono::hours waiting_limit{2};
// Thousands of ranks take tens of seconds.
constexpr std::chrono::seconds joining_limit{120};

std::vector<int> members_of(const CollectiveWork& work, int size) {
  std::vector<int> members = work.members;
  if (members.empty()) members = numbers_below<int>(std::max(0, work.ranks));
  const std::set<int> distinct(members.begin(), members.end());
  if (members.size() < 2 || distinct.size() != members.size() || *distinct.begin() < 0 ||
      *distinct.rbegin() >= size) {
    throw ProbeFailure("a collective of {} of {} ranks: at least 2 different ranks are needed",
                       members.size(),
                       size);
  }
  return members;
}

std::exception_ptr root_cause(const AtOnce& done) {
  std::exception_ptr own;
  for (const std::exception_ptr& failure : done.failures) {
    if (!failure) continue;
    try {
      std::rethrow_exception(failure);
    } catch (const OutOfMemory&) {
      return failure;
    } catch (const RanksMissing&) {
      continue;
    } catch (...) {
      own = own ? own : failure;
    }
  }
  return own ? own : done.first;
}
}  // namespace

NcclRankGroup::NcclRankGroup(Rendezvous meeting, NcclRankGroupOptions options)
    : meeting_(std::move(meeting)),
      options_(std::move(options)),
      watchdog_(options_.stall_limit, host::end_this_rank(meeting_.rank())) {
  exchange_places();
  if (!options_.shared_gpu) refuse_shared_gpus(places_);
  placement_ = describe_placement(places_, meeting_.size() > 1, options_.shared_gpu);
}

std::optional<RankPlacement> NcclRankGroup::located() const {
  // Ranks that share a GPU stand on no nodes of their own.
  if (options_.shared_gpu) return std::nullopt;
  std::set<std::string> hosts;
  for (const RankPlace& place : places_) hosts.insert(place.host);
  return RankPlacement{size(), static_cast<int>(hosts.size()), true};
}

void NcclRankGroup::exchange_places() {
  Bytes least{1e300};
  std::vector<RankPlace> own;
  meeting_.agree(rank_trouble([&] {
    int rank = meeting_.rank();
    for (const int ordinal : options_.ordinals) {
      local_.push_back(std::make_unique<LocalRank>(ordinal, rank++));
      least = std::min(least, local_.back()->free_memory());
      own.push_back(place_of_gpu(ordinal));
    }
  }));
  std::vector<std::vector<RankLink>> rows;
  if (meeting_.size() == 1) {
    places_ = own;
    for (int rank = 0; rank < size(); ++rank) rows.push_back(links_from(rank, places_));
  } else {
    places_ = tell_all(meeting_, own.at(0));
    rows = tell_all(meeting_, links_from(meeting_.rank(), places_));
  }
  links_ = assemble_links(places_, rows);
  least = std::ranges::min(tell_all(meeting_, least));
  const double sharing = options_.shared_gpu ? size() : 1.0;
  memory_per_rank_ = Bytes(std::max(0.0, usable_share * (least - kept_for_nccl).value() / sharing));
}

void NcclRankGroup::on_all_ranks(const Action& action) {
  meeting_.agree(rank_trouble([&] {
    stop_ = false;
    const AtOnce done = run_at_once(members_.size(), [&](std::size_t i) {
      try {
        members_[i].place->use();
        name_lack_of_memory(members_[i].place->name(), [&] { action(members_[i]); });
      } catch (...) {
        stop_ = true;
        throw;
      }
    });
    if (done.first) std::rethrow_exception(root_cause(done));
  }));
  watchdog_.progress();
}

void NcclRankGroup::dissolve_team() {
  for (Member& member : members_) member.run.reset();
  for (Member& member : members_) member.communicator.reset();
  members_.clear();
  team_.clear();
}

void NcclRankGroup::choose_team(const std::vector<int>& members) {
  if (members == team_) return;
  dissolve_team();
  std::array<ncclUniqueId, 2> ids{};  // each serves once: to try, and to stay
  std::string id_text(sizeof(ids), '\0');
  meeting_.agree(rank_trouble([&] {
    if (meeting_.rank() != 0) return;
    for (ncclUniqueId& id : ids) options_.nccl->check(options_.nccl->get_unique_id(&id));
    std::memcpy(id_text.data(), ids.data(), id_text.size());
  }));
  id_text = meeting_.broadcast(id_text);
  if (id_text.size() != sizeof(ids)) throw ProbeFailure("rank 0 sent no NCCL ids");
  std::memcpy(ids.data(), id_text.data(), id_text.size());
  for (const auto& place : local_) {
    if (std::find(members.begin(), members.end(), place->rank()) == members.end()) continue;
    members_.push_back({place.get(), {}, nullptr, nullptr});
  }
  const int ranks = static_cast<int>(members.size());
  const auto number_of = [&](const Member& member) {
    return static_cast<int>(std::ranges::find(members, member.place->rank()) - members.begin());
  };
  on_all_ranks([&](Member& member) {
    member.trial =
        try_to_join(options_.nccl, ids[0], ranks, number_of(member), stop_, joining_limit);
  });
  on_all_ranks([](Member& member) { member.trial.reset(); });
  on_all_ranks([&](Member& member) {
    member.communicator =
        std::make_unique<Communicator>(options_.nccl, ids[1], ranks, number_of(member));
  });
  team_ = members;
}

void NcclRankGroup::release_all_memory() {
  meeting_.agree(rank_trouble([this] {
    if (communicating_) {
      // Ranks may be stuck in an operation that one of them could not begin.
      stop_ = true;
      dissolve_team();
    }
    for (Member& member : members_) member.run.reset();
    for (const auto& place : local_) {
      place->use();
      place->release_memory();
    }
  }));
}

void NcclRankGroup::release_memory() {
  const auto watch = watchdog_.watch("giving back memory between probes");
  meeting_.agree(rank_trouble([&] {
    dissolve_team();  // communicators hold buffers of NCCL's own
    for (const auto& place : local_) {
      try {
        place->use();
        place->release_memory();
      } catch (const gpu::Error&) {
        // A GPU that is lost keeps nothing, and the probes that ask it say so.
      }
    }
  }));
}

NcclReport NcclRankGroup::prepare(const CollectiveWork& work) {
  communicating_ = false;
  on_all_ranks([&](Member& member) {
    member.run = std::make_unique<CollectiveRun>(*member.place, *member.communicator, work, stop_);
  });
  communicating_ = true;
  Seconds slowest_last;
  std::mutex mutex;
  plugin_state().start_watching();
  on_all_ranks([&](Member& member) {
    const Seconds last = member.run->warm_up();
    const std::scoped_lock lock(mutex);
    slowest_last = std::max(slowest_last, last);
  });
  NcclReport own = plugin_state().stop_watching();
  own.operation = slowest_last;
  on_all_ranks([](Member& member) { member.run->verify(); });
  NcclReport result;
  for (const NcclReport& one : tell_all(meeting_, own)) {
    if (one.operation <= Seconds(0.0)) continue;
    if (result.operation <= Seconds(0.0)) result = one;
    result.refused = result.refused || one.refused;
    result.operation = std::max(result.operation, one.operation);
  }
  return result;
}

std::vector<double> NcclRankGroup::slowest(const CollectiveBatch& batch) {
  std::vector<double> own;
  std::mutex mutex;
  on_all_ranks([&](Member& member) {
    const std::vector<double> times = member.run->time(batch);
    const std::scoped_lock lock(mutex);
    take_slowest(own, times);
    check_interrupt();
  });
  std::vector<double> all;
  for (const std::vector<double>& times : tell_all(meeting_, own)) take_slowest(all, times);
  return all;
}

CollectiveMeasured NcclRankGroup::measure(const CollectiveWork& work,
                                          const StoppingTarget& target) {
  const NcclReport report = prepare(work);
  const bool forced = !work.algorithm.empty();
  if (forced && !report.tuner_called)
    throw NothingToMeasure(FindingId::tuner_not_asked, describe(work));
  if (forced && report.refused)
    throw NothingToMeasure(
        FindingId::way_not_usable, work.algorithm, work.protocol, describe(work));
  CollectivePacer pacer(work.mode, target, report.operation);
  if (work.mode == CollectiveMode::graph) {
    on_all_ranks([&](Member& member) { member.run->capture(pacer.operations()); });
  }
  // Every process holds the same samples, but one of them decides.
  CollectiveBatch batch = CollectiveBatch::of(meeting_.broadcast(pacer.next().text()));
  while (batch.repetitions > 0) {
    pacer.add(slowest(batch));
    batch = CollectiveBatch::of(meeting_.broadcast(pacer.next().text()));
  }
  CollectiveMeasured measured;
  measured.message = message_shape(work.collective, work.message, work.ranks).message;
  measured.offered = report.offered;
  if (meeting_.rank() != 0) return measured;
  measured.time_s = pacer.rule().samples();
  measured.stop_reason = {pacer.rule().explanation()};
  measured.warnings = sample_warnings(measured.time_s);
  measured.operations_per_timing = pacer.operations();
  measured.ran = report.ran;
  if (forced && report.ran &&
      report.ran->way != CollectiveAlgorithm{work.algorithm, work.protocol}) {
    measured.warnings.emplace_back(FindingId::other_way_ran,
                                   work.algorithm,
                                   work.protocol,
                                   report.ran->way.algorithm,
                                   report.ran->way.protocol);
  }
  return measured;
}

CollectiveMeasured NcclRankGroup::time_collective(const CollectiveWork& work,
                                                  const StoppingTarget& target) {
  CollectiveWork asked = work;
  asked.members = members_of(work, size());
  asked.ranks = static_cast<int>(asked.members.size());
  if (asked.in_place) {
    // Every rank refuses alike before any of them has begun.
    const auto shape = message_shape(asked.collective, asked.message, asked.ranks);
    static_cast<void>(in_place_buffers(asked.collective, shape, nullptr, 0));
  }
  const auto watch = watchdog_.watch(fmt::format("{} on {} ranks", describe(asked), asked.ranks));
  std::optional<CollectiveAlgorithm> forced;
  if (!asked.algorithm.empty()) forced = CollectiveAlgorithm{asked.algorithm, asked.protocol};
  plugin_state().force(forced);
  communicating_ = true;
  try {
    choose_team(asked.members);
    CollectiveMeasured measured = measure(asked, target);
    for (Member& member : members_) member.run.reset();
    return measured;
  } catch (const NothingToMeasure&) {
    for (Member& member : members_) member.run.reset();
    throw;
  } catch (const OutOfMemory&) {
    release_all_memory();
    throw;
  } catch (...) {
    // After a failure it is unknown what still runs on the GPUs.
    stop_ = true;
    dissolve_team();
    throw;
  }
}

void NcclRankGroup::together(const std::function<void()>& action) {
  const auto watch = watchdog_.watch("waiting for what another rank does alone", waiting_limit);
  act_and_agree(action, [&](const auto& watched) { meeting_.agree(rank_trouble(watched)); });
}
}  // namespace scaleworth::gpu
