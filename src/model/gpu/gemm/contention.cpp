// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/contention.h"

#include "src/core/statistics/ratio.h"

#include <algorithm>

namespace scaleworth::model {

std::vector<ContentionPoint> contention_of(std::span<const GpuGemm> products) {
  std::vector<GpuGemm> sorted(products.begin(), products.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const GpuGemm& a, const GpuGemm& b) {
    return a.multiprocessors > b.multiprocessors;
  });
  std::vector<ContentionPoint> points;
  if (sorted.size() < 2 || sorted.front().multiprocessors <= 0) return points;
  const GpuGemm& whole = sorted.front();
  for (const GpuGemm& gemm : sorted) {
    ContentionPoint point{gemm.precision, gemm.multiprocessors, gemm.rate, {1.0, {}, 0}, 1.0};
    if (&gemm != &whole) point.of_all = ratio(gemm.rate, whole.rate);
    point.of_multiprocessors = static_cast<double>(gemm.multiprocessors) / whole.multiprocessors;
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace scaleworth::model
