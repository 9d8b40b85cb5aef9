// SPDX-License-Identifier: Apache-2.0
/// A GPU's products under its measured roof, and the batch at which a model reaches the ridge.
#pragma once

#include "src/model/gpu/gpu_analysis.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::model {

/// The highest measured rate of a format: of its products, bursts left out; for fp32 and fp64 also
/// of the CUDA cores on registers. Where the user's own products alone were measured the tensor
/// cores on registers count too, else no product could be short of its roof. Absent when there is
/// none.
std::optional<FlopPerSecond> measured_ceiling(std::span<const GpuGemm> products,
                                              std::span<const GpuCeiling> ceilings,
                                              const std::string& precision);

/// Fills `placements`, and the products of the roofline, with one entry per format, family, name
/// and shape of the steady and duty-cycled passes (steady before duty-cycled). The bandwidth is
/// that of the device's streams over as many bytes as the operands, at least twice L2: products use
/// sets of operands in turn that L2 does not hold.
void place_products(std::span<const GpuGemm> products, GpuResult& result);

/// One weight matrix that a batch of tokens is multiplied with: n columns, k rows, `batch` of them.
struct WeightShape {
  std::int64_t n = 0, k = 0, batch = 1;
};

/// Tokens m at which the products of `weights` together have the intensity `ridge`:
///   I(m) = sum 2 m n k / sum (in (m k + k n) + out m n)
///   m* = ridge in sum k n / (sum 2 n k - ridge sum (in k + out n))
/// Absent when the intensity stays below the ridge however many tokens there are.
std::optional<double> ridge_tokens(std::span<const WeightShape> weights,
                                   double input_bytes,
                                   double output_bytes,
                                   FlopPerByte ridge);

/// Fills `ridge_batches`: for each format with a measured ceiling and a memory read rate, the
/// user's own products one by one and together, batches of products left out; without any, weights
/// of 8192 x 8192.
void add_ridge_batches(std::span<const GpuGemm> products, GpuResult& result);

}  // namespace scaleworth::model
