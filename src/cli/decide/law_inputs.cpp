// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/law_inputs.h"

#include "src/core/error.h"

namespace scaleworth::cli {
namespace {

constexpr double seconds_per_hour = 3600.0;

std::optional<model::RingCost> ring_of(const DecideOptions& options) {
  if (!options.messages) return std::nullopt;
  if (!options.alpha_us || !options.beta_gbs || !options.message_mb) {
    throw UserError(
        "--messages counts collectives whose time is known: give --alpha-us, --beta-gbs and "
        "--message-mb with it");
  }
  return model::RingCost{Seconds(*options.alpha_us * 1e-6),
                         1.0 / (*options.beta_gbs * 1e9),
                         Bytes(*options.message_mb * 1e6),
                         *options.messages};
}

std::optional<model::WorkDepth> work_depth_of(const DecideOptions& options) {
  if (!options.work_rank_hours && !options.depth_hours) return std::nullopt;
  if (!options.work_rank_hours || !options.depth_hours) {
    throw UserError("the bounds of work and depth need both --work-rank-hours and --depth-hours");
  }
  return model::WorkDepth{Seconds(*options.work_rank_hours * seconds_per_hour),
                          Seconds(*options.depth_hours * seconds_per_hour)};
}

}  // namespace

decide::LawInputs law_inputs(const DecideOptions& options) {
  return {ring_of(options), work_depth_of(options)};
}

}  // namespace scaleworth::cli
