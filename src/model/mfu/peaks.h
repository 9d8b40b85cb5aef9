// SPDX-License-Identifier: Apache-2.0
/// What a utilisation is taken of: a dense peak with its number format and clock, and what else
/// people divide by.
#pragma once

#include "src/core/catalogue/gpu_catalogue.h"
#include "src/core/units.h"
#include "src/model/gpu/gpu_analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

/// A rate of one GPU to hold a run against.
struct Denominator {
  FlopPerSecond rate;
  std::string basis;  // "datasheet bf16, dense, at 1410 MHz"; "--peak"; "measured: ..."
};

struct PeakRequest {
  const GpuDatasheet* gpu = nullptr;  // null: unknown
  std::string number_format;          // empty: bf16, fp16 where there is none
  std::optional<FlopPerSecond> given;
};

struct PeakChoice {
  std::string number_format;
  std::vector<Denominator> peaks;  // the first is the one to quote
  std::vector<std::string> remarks;
};

/// The given peak first, then the datasheet's dense one of the number format, for 8 and 4 bits also
/// that of bf16 (such runs have no agreed denominator). Remarks say when a given peak is the one
/// with 2:4 sparsity, which is twice the dense one. Throws UserError when nothing is known: no GPU
/// and no given peak, or a number format that the datasheet has no peak of.
PeakChoice choose_peaks(const PeakRequest& request);

/// The steady rate of products in `number_format` of the slowest GPU that measured them (the
/// slowest sets the pace); absent where none did.
std::optional<FlopPerSecond> slowest_steady_rate(const std::vector<GpuResult>& gpus,
                                                 const std::string& number_format);

}  // namespace scaleworth::model
