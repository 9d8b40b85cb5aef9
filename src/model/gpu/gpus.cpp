// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gpus.h"

#include "src/core/run/fields.h"
#include "src/model/gpu/compute.h"
#include "src/model/gpu/identity.h"
#include "src/model/gpu/memory.h"
#include "src/model/gpu/point_reading.h"
#include "src/model/roofline/ladder.h"

namespace scaleworth::model {
namespace {

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
