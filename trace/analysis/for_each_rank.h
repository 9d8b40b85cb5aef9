// SPDX-License-Identifier: Apache-2.0
/// The same work for every rank of a job, on all processors.
#pragma once

#include <cstddef>
#include <functional>

namespace scaleworth::trace {

/// Calls work(0) to work(ranks - 1), each once, in any order and several at a time. Rethrows the
/// exception of the lowest rank that failed, after all running calls have ended; ranks not begun by
/// then are left out.
void for_each_rank(std::size_t ranks, const std::function<void(std::size_t)>& work);

}  // namespace scaleworth::trace
