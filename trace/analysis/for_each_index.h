// SPDX-License-Identifier: Apache-2.0
/// The same work for every one of many, such as the ranks of a job, on all processors.
#pragma once

#include <cstddef>
#include <functional>

namespace scaleworth::trace {

/// Calls work(0) to work(count - 1), each once, in any order and several at a time: as many as
/// there are processors, but not more than `at_once` unless that is 0. Rethrows the exception of
/// the lowest index that failed, after all running calls have ended; those not begun by then are
/// left out. Where the system gives no more threads it goes on with fewer.
void for_each_index(std::size_t count,
                    const std::function<void(std::size_t)>& work,
                    std::size_t at_once = 0);

}  // namespace scaleworth::trace
