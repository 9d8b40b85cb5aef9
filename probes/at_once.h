// SPDX-License-Identifier: Apache-2.0
/// The same action for several GPUs or ranks of one process at the same time.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <vector>

namespace scaleworth::probes {

struct AtOnce {
  std::vector<std::exception_ptr> failures;  // by index, null where the action returned
  /// The earliest in time: what came after may be its consequence. Null for none.
  std::exception_ptr first;
};

/// Runs `action(i)` for each i below `count`, the first on this thread and the others on one of
/// their own, released together. Returns when all have ended.
AtOnce run_at_once(std::size_t count, const std::function<void(std::size_t)>& action);

}  // namespace scaleworth::probes
