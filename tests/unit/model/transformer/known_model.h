// SPDX-License-Identifier: Apache-2.0
/// Models of the catalogue by their id.
#pragma once

#include "src/model/transformer/transformer.h"

namespace scaleworth::model {
inline const TransformerModel& known(const char* id) {
  return find_model(model_catalogue(), id);
}
}  // namespace scaleworth::model
