// SPDX-License-Identifier: Apache-2.0
/// The scalar truth that compute kernels are held against.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace scaleworth::probes::host {

/// Start values repeat after this many elements: a prime, so that no register repeats another.
inline constexpr std::int64_t start_period = 61;

/// Start value of element `index`: one of `start_period` values spread over [0.5, 1.5].
template <class T>
T start_value(std::int64_t index);

/// `count` elements after `steps` applications of the recurrence to start_value(0 ... count - 1),
/// with one rounding per step if `fused`, else two. Exact: kernels must agree bit by bit.
template <class T>
std::vector<T> reference_chains(std::int64_t count, std::int64_t steps, bool fused);

/// start_value(index) after `steps` applications.
template <class T>
T reference_value(std::int64_t index, std::int64_t steps, bool fused);

/// Throws ProbeFailure naming the first element that differs in any bit (a NaN never agrees).
/// `what` names the kernel.
template <class T>
void require_equal(std::span<const T> result, std::span<const T> reference, const char* what);

}  // namespace scaleworth::probes::host
