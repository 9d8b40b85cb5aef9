// SPDX-License-Identifier: Apache-2.0
/// What our timing path adds to an operation: an all-reduce of 8 B in our loops beside the same
/// loops of plain MPI calls, in turns. Run under mpirun -n 2.
#include "probes/host/ranks/collective_timing.h"
#include "probes/host/ranks/mpi_rank_group.h"
#include "src/core/statistics/sample_statistics.h"

#include <array>
#include <optional>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

namespace {

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;

constexpr int turns = 20;
constexpr int repetitions = 500;
constexpr int block = 1000;

using Samples = std::vector<double>;

void plain_loop(int count, int operations, Samples& samples) {
  std::array<float, 2> send{1.0F, 2.0F};
  std::array<float, 2> receive{};
  for (int i = 0; i < count; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int k = 0; k < operations; ++k) {
      MPI_Allreduce(send.data(), receive.data(), 2, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    samples.push_back((MPI_Wtime() - start) / operations);
  }
}

void our_loop(const Operation& operation, int count, int operations, Samples& samples) {
  for (const Stamp& stamp : time_repetitions(operation, count, operations, std::nullopt)) {
    samples.push_back(1e-9 * static_cast<double>(stamp.end_ns - stamp.start_ns) / operations);
  }
}

void compare(const Operation& operation, const char* mode, int count, int operations) {
  Samples plain;
  Samples ours;
  for (int turn = 0; turn < turns; ++turn) {
    plain_loop(count, operations, plain);
    our_loop(operation, count, operations, ours);
  }
  if (operation.rank != 0) return;
  const double plain_us = 1e6 * *median(plain);
  const double ours_us = 1e6 * *median(ours);
  fmt::print("all_reduce 8 B, {:13}: plain MPI {:.3f} us, ours {:.3f} us, difference {:+.3f} us\n",
             mode,
             plain_us,
             ours_us,
             ours_us - plain_us);
}

}  // namespace

int main() {
  const auto opened = open_mpi();
  if (!std::holds_alternative<const MpiModule*>(opened)) {
    fmt::print(stderr, "skipped: no MPI module\n");
    return 77;
  }
  const MpiModule& mpi = *std::get<const MpiModule*>(opened);
  if (mpi.init() != 0) return 1;
  const int ranks = mpi.size(mpi.world());
  const MessageShape shape = message_shape(Collective::all_reduce, Bytes(8.0), ranks);
  Buffer send;
  Buffer receive;
  const Operation operation{mpi,
                            mpi.world(),
                            Collective::all_reduce,
                            shape,
                            mpi.rank(mpi.world()),
                            ranks,
                            send.reserve(shape.send),
                            receive.reserve(shape.receive)};
  prepare(operation);
  compare(operation, "isolated", repetitions, 1);
  compare(operation, "back to back", 5, block);
  return mpi.finalize();
}
