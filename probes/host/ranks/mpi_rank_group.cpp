// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/mpi_rank_group.h"

#include "probes/host/ranks/collective_timing.h"
#include "src/core/files/atomic_file.h"
#include "src/core/process.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include <dlfcn.h>

namespace scaleworth::probes::host {
namespace {
// The working ranks have their own, much shorter limit and end the job when it passes.
constexpr std::chrono::hours sleeping_limit{2};
// A training reports no progress until it ends.
constexpr std::chrono::minutes training_limit{15};

/// "4 ranks on 2 nodes (2 per node), network chosen by MPI".
std::string describe_placement(const std::vector<int>& node, int nodes) {
  const std::string ranks = counted(std::ssize(node), "rank");
  if (nodes == 1) return ranks + " on 1 node, shared memory";
  std::ptrdiff_t most = 0;
  for (int one = 0; one < nodes; ++one) most = std::max(most, std::ranges::count(node, one));
  return fmt::format("{} on {} nodes ({}{} per node), network chosen by MPI",
                     ranks,
                     nodes,
                     nodes * most == std::ssize(node) ? "" : "at most ",
                     most);
}

void refuse_what_mpi_lacks(const CollectiveWork& work) {
  const bool known = std::find(all_collectives.begin(), all_collectives.end(), work.collective) !=
                     all_collectives.end();
  if (!known || work.mode == CollectiveMode::graph || work.in_place || !work.members.empty() ||
      !work.algorithm.empty()) {
    throw NothingToMeasure(FindingId::mpi_measures_less);
  }
}

constexpr const char* file_name = "libscaleworth_mpi.so";

Outcome<const MpiModule*> open_file(const std::filesystem::path& file) {
  // Open MPI opens its own plug-ins, which look for its symbols in the global scope.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* text = dlerror();
    const std::string error = text == nullptr ? "unknown error" : text;
    if (error.starts_with("libmpi") || error.starts_with("libopen-")) {
      return Skipped{
          fmt::format("MPI is not installed ({}): apt install openmpi-bin libopenmpi3", error)};
    }
    return Failed{fmt::format(
        "cannot open the MPI module ({}): install it again or name another with --mpi-module",
        error)};
  }
  const auto table = reinterpret_cast<const MpiModule* (*)()>(dlsym(library, mpi_module_symbol));
  if (table == nullptr) {
    return Failed{fmt::format(
        "{} is no MPI module of this program (no symbol {}): name another with --mpi-module",
        file.string(),
        mpi_module_symbol)};
  }
  const MpiModule* module = table();
  if (module->abi != mpi_module_abi) {
    return Failed{fmt::format(
        "{} has interface version {}, this program needs {}: install both from the same build",
        file.string(),
        module->abi,
        mpi_module_abi)};
  }
  return module;
}
}  // namespace

MpiRankGroup::MpiRankGroup(const MpiModule& mpi, MpiRankGroupOptions options)
    : mpi_(mpi),
      options_(std::move(options)),
      world_(mpi.world()),
      rank_(mpi.rank(world_)),
      size_(mpi.size(world_)),
      watchdog_(options_.stall_limit, end_this_rank(rank_)) {
  node_ = node_numbers(exchange(host_identity()));
  nodes_ = 1 + std::ranges::max(node_);
  placement_ = describe_placement(node_, nodes_);
  const auto watch = watchdog_.watch("comparing memory");
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
      "{} of {} B on {} ranks", key_of(work.collective), work.message.value(), work.ranks);
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

std::vector<std::string> MpiRankGroup::exchange(const std::string& own) {
  const auto watch = watchdog_.watch("exchanging texts");
  const auto size = static_cast<double>(own.size());
  double longest = 0.0;
  check(mpi_, mpi_.all_reduce_max_f64(world_, &size, &longest, 1));
  const std::size_t room = static_cast<std::size_t>(longest) + 1;
  std::string padded = own;
  padded.resize(room, '\0');
  std::string all(room * static_cast<std::size_t>(size_), '\0');
  check(mpi_, mpi_.all_gather_bytes(world_, padded.data(), all.data(), room));
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += room) texts.emplace_back(all.data() + at);
  return texts;
}

void MpiRankGroup::together(const std::function<void()>& action) {
  const auto watch = watchdog_.watch("waiting for what another rank does alone", sleeping_limit);
  act_and_agree(action,
                [&](const auto& watched) { agree(mpi_, world_, trouble_of(rank_, watched)); });
}

void MpiRankGroup::on_first_ranks(int ranks,
                                  const std::string& what,
                                  std::chrono::seconds limit,
                                  const std::function<void(MpiGroup)>& action) {
  if (ranks < 1 || ranks > size_) {
    throw ProbeFailure("{}: this job has {}", what, size_);
  }
  const MpiGroup group = first_ranks(ranks);
  RankTrouble trouble;
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
            throw ProbeFailure("{} B of buffers do not fit into the {} B that a rank may use",
                               shape.buffers().value(),
                               memory_per_rank_.value());
          }
          operation.send = send_.reserve(shape.send);
          operation.receive = receive_.reserve(shape.receive);
          prepare(operation);
        }));
  return operation;
}

RankTrouble trouble_of(int rank, const std::function<void()>& action) {
  try {
    action();
  } catch (const Interrupted& interrupted) {
    return {.failure = {}, .signal = interrupted.signal()};
  } catch (const std::bad_alloc&) {
    return {.failure = fmt::format("rank {}: out of memory", rank)};
  } catch (const AgreedFailure& failure) {
    return {.failure = failure.what()};
  } catch (const std::exception& failure) {
    return {.failure = fmt::format("rank {}: {}", rank, failure.what())};
  }
  return {};
}

void agree(const MpiModule& mpi, MpiGroup group, const RankTrouble& own) {
  const int rank = mpi.rank(group);
  const int size = mpi.size(group);
  // The largest value belongs to the lowest failed rank; 0 means that none failed.
  const std::array<double, 2> send{own.failure.empty() ? 0.0 : static_cast<double>(size - rank),
                                   static_cast<double>(own.signal)};
  std::array<double, 2> receive{};
  check(mpi, mpi.all_reduce_max_f64(group, send.data(), receive.data(), send.size()));
  if (receive[1] > 0.0) throw Interrupted(static_cast<int>(receive[1]));
  if (receive[0] == 0.0) return;

  std::array<char, 512> text{};  // a sentence; a longer one is cut
  std::copy_n(own.failure.begin(), std::min(own.failure.size(), text.size() - 1), text.begin());
  check(mpi,
        mpi.broadcast_bytes(group, text.data(), text.size(), size - static_cast<int>(receive[0])));
  throw AgreedFailure(text.data());
}

void check(const MpiModule& mpi, int status) {
  if (status != 0) throw ProbeFailure(mpi.last_error());
}

Watchdog::Watchdog(std::chrono::nanoseconds limit, OnStall on_stall)
    : usual_limit_(limit), on_stall_(std::move(on_stall)), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Watchdog::Watch Watchdog::watch(const std::string& what,
                                std::optional<std::chrono::nanoseconds> limit) {
  {
    const std::lock_guard lock(mutex_);
    what_ = what;
    limit_ = limit.value_or(usual_limit_);
    deadline_ = std::chrono::steady_clock::now() + limit_;
  }
  changed_.notify_one();
  return Watch(*this);
}

void Watchdog::progress() {
  // No notice: the thread finds the later deadline when the earlier one has passed.
  const std::lock_guard lock(mutex_);
  if (deadline_) deadline_ = std::chrono::steady_clock::now() + limit_;
}

void Watchdog::end() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!deadline_) {
      changed_.wait(lock);
    } else if (const auto deadline = *deadline_; std::chrono::steady_clock::now() < deadline) {
      changed_.wait_until(lock, deadline);
    } else {
      deadline_.reset();
      const std::string what = fmt::format(
          "{} made no progress for {:.3g} s", what_, std::chrono::duration<double>(limit_).count());
      lock.unlock();
      on_stall_(what);
      lock.lock();
    }
  }
}

Watchdog::OnStall end_this_rank(int rank) {
  return [rank](const std::string& what) {
    print_error("scaleworth: rank {}: {}, a rank is lost or stuck: ending the job\n", rank, what);
    std::_Exit(1);
  };
}

Outcome<const MpiModule*> open_mpi(const std::string& path) {
  if (!path.empty()) {
    // A bare name would send dlopen to the library path instead of the file that was meant.
    return open_file(std::filesystem::absolute(path));
  }
  if (const auto file = find_installed(file_name); !file.empty()) return open_file(file);
  return Skipped{
      fmt::format("the MPI module {} lies neither beside the program nor in ../lib/scaleworth: "
                  "build with -DSCALEWORTH_MPI=ON or name it with --mpi-module",
                  file_name)};
}
}  // namespace scaleworth::probes::host
