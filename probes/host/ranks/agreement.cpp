// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/agreement.h"

#include "src/core/interrupt.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>

#include <fmt/format.h>

namespace scaleworth::probes::host {

Trouble trouble_of(int rank, const std::function<void()>& action) {
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

void agree(const MpiModule& mpi, MpiGroup group, const Trouble& own) {
  const int rank = mpi.rank(group);
  const int size = mpi.size(group);
  // The largest value belongs to the lowest failed rank; 0 means that none failed.
  const std::array<double, 2> send{own.failure.empty() ? 0.0 : static_cast<double>(size - rank),
                                   static_cast<double>(own.signal)};
  std::array<double, 2> receive{};
  check(mpi, mpi.all_reduce_max_f64(group, send.data(), receive.data(), send.size()));
  if (receive[1] > 0.0) throw Interrupted(static_cast<int>(receive[1]));
  if (receive[0] == 0.0) return;

  std::array<char, 512> text{};
  std::copy_n(own.failure.begin(), std::min(own.failure.size(), text.size() - 1), text.begin());
  check(mpi,
        mpi.broadcast_bytes(group, text.data(), text.size(), size - static_cast<int>(receive[0])));
  throw AgreedFailure(text.data());
}

void check(const MpiModule& mpi, int status) {
  if (status != 0) throw ProbeFailure(mpi.last_error());
}

}  // namespace scaleworth::probes::host
