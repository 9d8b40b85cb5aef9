// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gpus.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/interval.h"
#include "src/model/gpu/ceilings/compute.h"
#include "src/model/gpu/ceilings/impossible.h"
#include "src/model/gpu/ceilings/memory.h"
#include "src/model/gpu/gemm/contention.h"
#include "src/model/gpu/gemm/formats.h"
#include "src/model/gpu/gemm/placement.h"
#include "src/model/gpu/gemm/products.h"
#include "src/model/gpu/node/gpu_cost.h"
#include "src/model/gpu/node/transfers.h"
#include "src/model/gpu/reading/identity.h"
#include "src/model/gpu/reading/point_reading.h"
#include "src/model/roofline/ladder.h"
#include "src/model/roofline/samples.h"

namespace scaleworth::model {
namespace {

std::vector<GpuLaunch> launches_of(const ProbeRecord& probe) {
  std::vector<GpuLaunch> launches;
  for (const Point& point : probe.points) {
    const std::vector<double> times = usable_times(point, fields::wall_s);
    if (times.empty()) continue;
    launches.push_back(
        {text_parameter(point, fields::launch),
         transform(median_estimate(times), [](double time) { return Seconds(time); })});
  }
  return launches;
}

/// Needs memory, ceilings and launches of the same result.
void analyse_products(const Run& run, const AnalysisOptions& options, GpuResult& result) {
  const auto products = [&](const char* probe) {
    return products_of(points_of_gpu(run, probe, result.identity.ordinal),
                       result.identity,
                       options.peak_per_rank,
                       result.warnings);
  };
  const std::vector<GpuGemm> all = products(fields::gpu_gemm);
  result.formats = formats_of(all, {result.ceilings, result.launches}, result.identity);
  place_products(all, result);
  add_ridge_batches(all, result);
  result.contention = contention_of(products(fields::gpu_contention));
}

GpuResult analyse_gpu(const Run& run,
                      int ordinal,
                      const std::vector<GpuDatasheet>& catalogue,
                      const AnalysisOptions& options) {
  GpuResult result;
  result.identity = identify_gpu(run, ordinal, catalogue);
  analyse_gpu_memory(points_of_gpu(run, fields::gpu_memory, ordinal), result);
  analyse_gpu_latency(points_of_gpu(run, fields::gpu_latency, ordinal), result);
  analyse_gpu_compute(
      points_of_gpu(run, fields::gpu_compute, ordinal), options.peak_per_rank, result);
  fit_ladders(points_of_gpu(run, fields::gpu_intensity, ordinal), result.roofline);
  result.launches = launches_of(points_of_gpu(run, fields::gpu_launch, ordinal));
  analyse_products(run, options, result);
  const ProbeRecord transfers = points_of_gpu(run, fields::gpu_transfer, ordinal);
  result.transfers = transfers_of(run, transfers, result.identity);
  if (auto lowered = lowered_pcie_link(run, transfers, ordinal)) {
    result.warnings.push_back(std::move(*lowered));
  }
  warn_of_impossible_rates(result);
  if (options.price_per_rank) result.cost = gpu_cost(*options.price_per_rank, result);
  return result;
}

}  // namespace

std::vector<GpuResult> analyse_gpus(const Run& run,
                                    const std::vector<GpuDatasheet>& catalogue,
                                    const AnalysisOptions& options) {
  std::vector<GpuResult> results;
  for (const int ordinal : measured_gpus(run)) {
    results.push_back(analyse_gpu(run, ordinal, catalogue, options));
  }
  return results;
}

}  // namespace scaleworth::model
