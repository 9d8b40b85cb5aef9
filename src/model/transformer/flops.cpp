// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/flops.h"

#include "src/model/transformer/weights.h"

namespace scaleworth::model {

ForwardFlops forward_flops(const TransformerModel& model,
                           std::int64_t sequence,
                           AttentionSpan span) {
  const double head = head_weight_count(model);
  return {2.0 * (product_weight_count(model) - head),
          attention_flops(model, sequence, span),
          2.0 * head};
}

const char* recomputation_name(Recomputation recomputation) {
  switch (recomputation) {
    case Recomputation::none:
      return "none";
    case Recomputation::selective:
      return "selective";
    case Recomputation::full:
      break;
  }
  return "full";
}

double training_flops(const ForwardFlops& forward) {
  return 3.0 * forward.total();
}

double recomputed_flops(const ForwardFlops& forward, Recomputation recomputation) {
  switch (recomputation) {
    case Recomputation::none:
      return 0.0;
    case Recomputation::selective:
      return forward.attention;
    case Recomputation::full:
      break;
  }
  return forward.layers + forward.attention;
}

}  // namespace scaleworth::model
