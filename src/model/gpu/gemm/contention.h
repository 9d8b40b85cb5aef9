// SPDX-License-Identifier: Apache-2.0
/// What a product keeps of its rate when a collective holds some multiprocessors.
#pragma once

#include "src/model/gpu/gpu_analysis.h"

#include <span>
#include <vector>

namespace scaleworth::model {

/// One entry per product of roofline.gpu.contention, most multiprocessors first; rates relative to
/// the first. Empty for fewer than two counts.
std::vector<ContentionPoint> contention_of(std::span<const GpuGemm> products);

}  // namespace scaleworth::model
