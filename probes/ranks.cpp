// SPDX-License-Identifier: Apache-2.0
#include "probes/ranks.h"

#include <barrier>
#include <mutex>
#include <thread>

namespace scaleworth::probes {
AtOnce run_at_once(std::size_t count, const std::function<void(std::size_t)>& action) {
  AtOnce result;
  result.failures.resize(count);
  if (count == 0) return result;
  std::mutex mutex;
  std::barrier start(static_cast<std::ptrdiff_t>(count));
  const auto guarded = [&](std::size_t i) {
    start.arrive_and_wait();
    try {
      action(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      result.failures[i] = std::current_exception();
      if (!result.first) result.first = result.failures[i];
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(guarded, i);
  guarded(0);
  threads.clear();
  return result;
}
}  // namespace scaleworth::probes
