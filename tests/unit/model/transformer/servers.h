// SPDX-License-Identifier: Apache-2.0
/// Servers whose figures can be worked out by hand.
#pragma once

#include "src/model/transformer/serving.h"

#include <string>

namespace scaleworth::model::example {

/// H100 SXM: 989.4 TFLOP/s dense bf16 (fp8 twice), 3.35 TB/s, 80 GiB, all of it for the server.
inline ServingGroup h100(int gpus = 1, double peak = 989.4e12) {
  ServingGroup group;
  group.gpus = gpus;
  group.peak = FlopPerSecond(peak);
  group.bandwidth = BytesPerSecond(3.35e12);
  group.memory = Bytes(80.0 * 1024 * 1024 * 1024);
  group.memory_part = 1.0;
  return group;
}

inline Server server(const std::string& model, const ServingGroup& group = h100()) {
  return {served_model(find_model(model_catalogue(), model)), Formats{}, group};
}

inline Server fp8_server(const std::string& model, ServingGroup group) {
  return {served_model(find_model(model_catalogue(), model)), Formats{"fp8", "fp8"}, group};
}

}  // namespace scaleworth::model::example
