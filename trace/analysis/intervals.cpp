// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/intervals.h"

#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

namespace scaleworth::trace {
using std::chrono::nanoseconds;

IntervalSet::IntervalSet(std::vector<TimeInterval> ranges) {
  std::erase_if(ranges, [](const TimeInterval& range) { return range.end <= range.start; });
  std::ranges::sort(ranges, {}, &TimeInterval::start);
  for (const TimeInterval& range : ranges) {
    if (!ranges_.empty() && range.start <= ranges_.back().end) {
      ranges_.back().end = std::max(ranges_.back().end, range.end);
    } else {
      ranges_.push_back(range);
    }
  }
}

nanoseconds IntervalSet::length() const {
  nanoseconds sum{};
  for (const TimeInterval& range : ranges_) sum += range.end - range.start;
  return sum;
}

IntervalSet IntervalSet::within(TimeInterval window) const {
  IntervalSet result;
  for_each_within(ranges_, window, [&](const TimeInterval&, nanoseconds start, nanoseconds end) {
    result.ranges_.push_back({start, end});
  });
  return result;
}

void for_each_index(std::size_t count,
                    const std::function<void(std::size_t)>& work,
                    std::size_t at_once) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto run = [&] {
    for (std::size_t index = next++; index < count && !failed; index = next++) {
      try {
        work(index);
      } catch (...) {
        failures[index] = std::current_exception();
        failed = true;
      }
    }
  };
  std::size_t threads =
      std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), count);
  if (at_once > 0) threads = std::min(threads, at_once);
  {
    std::vector<std::jthread> pool;
    pool.reserve(threads);
    try {
      while (pool.size() + 1 < threads) pool.emplace_back(run);
    } catch (const std::system_error&) {
      // A limit of processes is reached: those that run do the work.
    }
    run();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}
}  // namespace scaleworth::trace
