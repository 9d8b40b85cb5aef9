// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/placement.h"

#include "src/model/gpu/ceilings/compute.h"
#include "src/model/gpu/gemm/products.h"
#include "src/model/roofline/memory.h"
#include "src/model/roofline/placement.h"

#include <algorithm>
#include <utility>

namespace scaleworth::model {
namespace {

bool same_work(const GpuGemm& a, const GpuGemm& b) {
  return a.precision == b.precision && a.fast_accumulation == b.fast_accumulation &&
         a.family == b.family && a.name == b.name && a.shape == b.shape;
}

/// One product per work; of two passes the steady one.
std::vector<GpuGemm> told_products(std::span<const GpuGemm> products) {
  std::vector<GpuGemm> told;
  for (const char* pass : {pass_steady, pass_duty_cycled}) {
    for (const GpuGemm& gemm : products) {
      if (gemm.pass != pass) continue;
      const bool known = std::any_of(
          told.begin(), told.end(), [&](const GpuGemm& other) { return same_work(gemm, other); });
      if (!known) told.push_back(gemm);
    }
  }
  return told;
}

PlacedGemm placed(const GpuGemm& gemm) {
  PlacedGemm result;
  result.family = gemm.family;
  result.precision = format_text(gemm.precision, gemm.fast_accumulation);
  result.library = gemm.library;
  result.m = gemm.shape.m;
  result.n = gemm.shape.n;
  result.k = gemm.shape.k;
  result.batch = gemm.shape.batch;
  result.intensity = gemm.flops / gemm.bytes;
  result.rate = gemm.rate;
  return result;
}

std::optional<BytesPerSecond> read_rate(const GpuResult& result) {
  for (const GpuMemoryLevel& found : result.memory_levels) {
    if (found.level.label == "memory" && found.level.kernel == "read") {
      return found.level.rate.value;
    }
  }
  return std::nullopt;
}

void add_own_ridges(const std::string& precision,
                    const std::vector<GpuGemm>& layers,
                    FlopPerByte ridge,
                    GpuResult& result) {
  const auto element = element_bytes(precision);
  if (!element) return;
  std::vector<WeightShape> all;
  const auto add = [&](const std::string& layer, std::span<const WeightShape> weights) {
    result.ridge_batches.push_back(
        {precision, layer, ridge, ridge_tokens(weights, element->input, element->output, ridge)});
  };
  for (const GpuGemm& layer : layers) {
    const WeightShape weight{layer.shape.n, layer.shape.k, layer.shape.batch};
    all.push_back(weight);
    add(layer.name, std::span(&weight, 1));
  }
  if (layers.size() > 1) add("all layers", all);
  if (layers.empty()) {
    const WeightShape usual{8192, 8192, 1};
    add("weights of 8192 x 8192", std::span(&usual, 1));
  }
}

}  // namespace

std::optional<FlopPerSecond> measured_ceiling(std::span<const GpuGemm> products,
                                              std::span<const GpuCeiling> ceilings,
                                              const std::string& precision) {
  std::optional<FlopPerSecond> best;
  const auto take = [&](FlopPerSecond rate) { best = best ? std::max(*best, rate) : rate; };
  bool searched = false;
  for (const GpuGemm& gemm : products) {
    const bool sustained = gemm.pass == pass_steady || gemm.pass == pass_duty_cycled;
    if (gemm.precision != precision || !sustained) continue;
    take(gemm.rate.value);
    searched = searched || gemm.family != family_own;
  }
  const bool by_cuda_cores = precision == "fp32" || precision == "fp64";
  for (const GpuCeiling& found : ceilings) {
    const bool unit = found.ceiling.isa == cuda_cores ? by_cuda_cores : !searched;
    if (found.ceiling.precision == precision && unit) take(found.ceiling.wall_rate.value);
  }
  return best;
}

void place_products(std::span<const GpuGemm> products, GpuResult& result) {
  const Bytes beyond_l2 = result.identity.l2_cache.value_or(Bytes(0.0)) * 2.0;
  for (const GpuGemm& gemm : told_products(products)) {
    const auto ceiling = measured_ceiling(products, result.ceilings, gemm.precision);
    if (!ceiling || !(gemm.bytes.value() > 0.0)) continue;
    GpuPlacement placement{placed(gemm), gemm.name, std::nullopt};
    const auto bandwidth = bandwidth_at(result.roofline.memory, 1, std::max(gemm.bytes, beyond_l2));
    if (bandwidth) placement.gemm.bandwidth = bandwidth->likely;
    hold_against(*ceiling, placement.gemm);
    if (gemm.against) placement.of_datasheet = gemm.against->fraction.value;
    result.roofline.gemms.push_back(placement.gemm);
    result.placements.push_back(std::move(placement));
  }
}

std::optional<double> ridge_tokens(std::span<const WeightShape> weights,
                                   double input_bytes,
                                   double output_bytes,
                                   FlopPerByte ridge) {
  double weight_bytes = 0.0;
  double flops_per_token = 0.0;
  double bytes_per_token = 0.0;
  for (const WeightShape& weight : weights) {
    const auto n = static_cast<double>(weight.n);
    const auto k = static_cast<double>(weight.k);
    const auto batch = static_cast<double>(weight.batch);
    weight_bytes += batch * input_bytes * n * k;
    flops_per_token += batch * 2.0 * n * k;
    bytes_per_token += batch * (input_bytes * k + output_bytes * n);
  }
  const double gained = flops_per_token - ridge.value() * bytes_per_token;
  if (!(gained > 0.0)) return std::nullopt;
  return ridge.value() * weight_bytes / gained;
}

void add_ridge_batches(std::span<const GpuGemm> products, GpuResult& result) {
  const std::optional<BytesPerSecond> memory = read_rate(result);
  if (!memory) return;
  std::vector<std::string> precisions;
  for (const GpuGemm& gemm : products) {
    if (std::find(precisions.begin(), precisions.end(), gemm.precision) == precisions.end()) {
      precisions.push_back(gemm.precision);
    }
  }
  for (const std::string& precision : precisions) {
    const auto ceiling = measured_ceiling(products, result.ceilings, precision);
    if (!ceiling) continue;
    std::vector<GpuGemm> layers;
    for (const GpuGemm& gemm : told_products(products)) {
      // A batch of products (attention) multiplies no weights that all tokens share.
      const bool weights = gemm.family == family_own && gemm.shape.batch == 1;
      // The same weights at several token counts are one layer.
      const bool known = std::any_of(layers.begin(), layers.end(), [&](const GpuGemm& layer) {
        return layer.name == gemm.name && layer.shape.n == gemm.shape.n &&
               layer.shape.k == gemm.shape.k;
      });
      if (weights && !known && gemm.precision == precision) layers.push_back(gemm);
    }
    add_own_ridges(precision, layers, *ceiling / *memory, result);
  }
}

}  // namespace scaleworth::model
