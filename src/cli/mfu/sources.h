// SPDX-License-Identifier: Apache-2.0
/// What the flags of `scaleworth mfu` name: models, GPUs, measured ceilings.
#pragma once

#include "src/cli/mfu/mfu.h"
#include "src/core/catalogue/gpu_catalogue.h"
#include "src/core/catalogue/model_catalogue.h"
#include "src/model/mfu/peaks.h"

#include <optional>
#include <string>

namespace scaleworth::cli {

/// Throws UserError for no model, or one that is not known.
TransformerModel model_of(const MfuOptions& options);

/// Absent for none, and for a GPU that is not known, which --peak makes up for. Throws UserError.
std::optional<GpuDatasheet> datasheet_of(const MfuOptions& options);

/// What --measured-peak says: a number in TFLOP/s, or a run, whose slowest GPU's steady products
/// count. Absent for an empty text. Throws UserError for a run without them.
std::optional<model::Denominator> measured_peak(const std::string& text,
                                                const std::string& number_format);

struct MeasuredBandwidth {
  BytesPerSecond rate;
  std::string basis;
};

/// The streaming rate of memory of the slowest GPU in the run that --measured-peak names; absent
/// for a number or an empty text. Throws UserError for a run without it.
std::optional<MeasuredBandwidth> measured_bandwidth(const std::string& text);

}  // namespace scaleworth::cli
