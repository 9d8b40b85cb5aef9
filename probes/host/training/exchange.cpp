// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/exchange.h"

#include "probes/host/ranks/agreement.h"
#include "src/core/error.h"

#include <fmt/format.h>

namespace scaleworth::probes::host {

Exchange::Exchange(const MpiModule& mpi, MpiGroup group, std::size_t capacity)
    : mpi_(mpi), group_(group) {
  requests_.reserve(capacity);
  completed_.reserve(capacity);
}

void Exchange::restart() {
  requests_.clear();
  first_pending_ = 0;
}

void Exchange::post(const float* send, float* receive, std::size_t count) {
  MpiRequest request = nullptr;
  check(mpi_, mpi_.start_all_reduce_f32(group_, send, receive, count, &request));
  requests_.push_back(request);
}

void Exchange::test(std::size_t sequence) {
  MpiRequest& request = requests_[sequence];
  if (request == nullptr) return;
  int done = 0;
  check(mpi_, mpi_.test(&request, &done));
  if (done != 0) request = nullptr;
  while (first_pending_ < requests_.size() && requests_[first_pending_] == nullptr) {
    ++first_pending_;
  }
}

const std::vector<std::size_t>& Exchange::progress() {
  completed_.clear();
  for (std::size_t i = first_pending_; i < requests_.size(); ++i) {
    if (complete(i)) continue;
    test(i);
    if (complete(i)) completed_.push_back(i);
  }
  return completed_;
}

void Exchange::wait(std::size_t sequence) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!complete(sequence)) {
    test(sequence);
    if (std::chrono::steady_clock::now() < deadline) continue;
    throw ProbeFailure(fmt::format(
        "an all-reduce of the training step did not complete within {} s: a rank is stuck or gone",
        timeout.count()));
  }
}

}  // namespace scaleworth::probes::host
