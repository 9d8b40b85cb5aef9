// SPDX-License-Identifier: Apache-2.0
#include "probes/training/training_work.h"

#include "src/core/error.h"

#include <utility>

#include <fmt/format.h>

namespace scaleworth::probes {

void check_training_work(const TrainingWork& work) {
  const TransformerShape& shape = work.shape;
  const std::pair<const char*, std::int64_t> counts[] = {{"layers", shape.layers},
                                                         {"width", shape.width},
                                                         {"heads", shape.heads},
                                                         {"sequence", shape.sequence},
                                                         {"vocabulary", shape.vocabulary},
                                                         {"global batch", work.global_batch},
                                                         {"ranks", work.ranks},
                                                         {"steps", work.steps}};
  for (const auto& [name, value] : counts) {
    if (value < 1) throw UserError(fmt::format("training: {} is {}: use 1 or more", name, value));
  }
  if (work.warmup_steps < 0) throw UserError("training: warm-up steps are negative: use 0 or more");
  if (shape.width % shape.heads != 0) {
    throw UserError(fmt::format(
        "training: {} heads do not divide the width {}: use a divisor", shape.heads, shape.width));
  }
  if (work.global_batch % work.ranks != 0) {
    throw UserError(fmt::format("training: {} ranks do not divide the batch of {}: use a divisor",
                                work.ranks,
                                work.global_batch));
  }
  if (work.straggler && (work.straggler->rank.index < 0 || !(work.straggler->factor >= 1.0))) {
    throw UserError(fmt::format("straggler {}:{}: use RANK:FACTOR with a factor of 1 or more",
                                work.straggler->rank.index,
                                work.straggler->factor));
  }
}

}  // namespace scaleworth::probes
