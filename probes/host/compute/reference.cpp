// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/reference.h"

#include "probes/host/compute/kernels.h"
#include "src/core/error.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace scaleworth::probes::host {
template <class T>
T start_value(std::int64_t index) {
  return T(0.5) + static_cast<T>(index % start_period) / static_cast<T>(start_period - 1);
}

template <class T>
T reference_value(std::int64_t index, std::int64_t steps, bool fused) {
  T x = start_value<T>(index);
  for (std::int64_t i = 0; i < steps; ++i) {
    x = fused ? std::fma(x, Recurrence<T>::a, Recurrence<T>::b)
              : x * Recurrence<T>::a + Recurrence<T>::b;
  }
  return x;
}

template <class T>
std::vector<T> reference_chains(std::int64_t count, std::int64_t steps, bool fused) {
  std::vector<T> result(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    result[static_cast<std::size_t>(i)] = i < start_period
                                              ? reference_value<T>(i, steps, fused)
                                              : result[static_cast<std::size_t>(i - start_period)];
  }
  return result;
}

template <class T>
void require_equal(std::span<const T> result, std::span<const T> reference, const char* what) {
  if (std::memcmp(result.data(), reference.data(), reference.size_bytes()) == 0) return;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (std::memcmp(&result[i], &reference[i], sizeof(T)) == 0) continue;
    throw ProbeFailure(
        fmt::format("{}: element {} is {} instead of {}: the kernel or the CPU computes wrongly",
                    what,
                    i,
                    result[i],
                    reference[i]));
  }
}

template float start_value<float>(std::int64_t);
template double start_value<double>(std::int64_t);
template float reference_value<float>(std::int64_t, std::int64_t, bool);
template double reference_value<double>(std::int64_t, std::int64_t, bool);
template std::vector<float> reference_chains<float>(std::int64_t, std::int64_t, bool);
template std::vector<double> reference_chains<double>(std::int64_t, std::int64_t, bool);
template void require_equal<float>(std::span<const float>, std::span<const float>, const char*);
template void require_equal<double>(std::span<const double>, std::span<const double>, const char*);

}  // namespace scaleworth::probes::host
