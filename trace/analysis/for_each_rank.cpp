// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/for_each_rank.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace scaleworth::trace {

void for_each_rank(std::size_t ranks, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> failures(ranks);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto run = [&] {
    for (std::size_t rank = next++; rank < ranks && !failed; rank = next++) {
      try {
        work(rank);
      } catch (...) {
        failures[rank] = std::current_exception();
        failed = true;
      }
    }
  };
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < std::min(processors, ranks); ++i) pool.emplace_back(run);
    run();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace scaleworth::trace
