// SPDX-License-Identifier: Apache-2.0
/// A rank that gets into trouble in the middle of a measurement: fault_program die|stall|measure.
#include "probes/host/ranks/mpi_rank_group.h"
#include "src/core/error.h"
#include "src/core/process.h"

#include <csignal>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include <unistd.h>

namespace {

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;

constexpr int operations_before_the_fault = 50;

// The table of functions has no room for a closure.
const MpiModule* genuine = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
int operations = 0;                  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

bool due() {
  ++operations;
  return operations == operations_before_the_fault && genuine->rank(genuine->world()) == 1;
}

int dying_all_reduce(MpiGroup group, const float* send, float* receive, std::size_t count) {
  if (due()) kill(getpid(), SIGKILL);
  return genuine->all_reduce_f32(group, send, receive, count);
}

int stalling_all_reduce(MpiGroup group, const float* send, float* receive, std::size_t count) {
  if (due()) std::this_thread::sleep_for(std::chrono::hours(1));
  return genuine->all_reduce_f32(group, send, receive, count);
}

int measure(const MpiModule& mpi) {
  constexpr StoppingTarget endless{.relative_half_width = 0.0,
                                   .minimum_samples = 1'000'000'000,
                                   .maximum_samples = 1'000'000'000,
                                   .time_budget = Seconds(1e6)};
  MpiRankGroup group(mpi,
                     {.available_memory_per_rank = Bytes(1e6),
                      .train = {},
                      .stall_limit = std::chrono::seconds(2)});
  std::cerr << "measuring\n";
  try {
    group.time_collective(
        {Collective::all_reduce, CollectiveMode::isolated, Bytes(8.0), group.size()}, endless);
  } catch (const Interrupted& interrupted) {
    std::cerr << "rank " + std::to_string(group.rank().index) + " " + interrupted.what() + "\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view fault = argc > 1 ? argv[1] : "measure";
  install_interrupt_handlers();
  genuine = std::get<const MpiModule*>(open_mpi());
  if (genuine->init() != 0) return 1;
  MpiModule mpi = *genuine;
  if (fault == "die") mpi.all_reduce_f32 = dying_all_reduce;
  if (fault == "stall") mpi.all_reduce_f32 = stalling_all_reduce;
  measure(mpi);
  return genuine->finalize();
}
