// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a catalogue: refused in one printable line, or read into rows with positive
/// numbers.
#include "src/core/catalogue.h"
#include "src/core/error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool one_printable_line(std::string_view message) {
  return message == scaleworth::printable(message);
}

void read_gpus(std::string_view text) {
  try {
    for (const auto& gpu : scaleworth::parse_gpu_catalogue(text, "gpus.toml")) {
      require(gpu.pci_device_ids.empty() || gpu.multiprocessors * gpu.compute_capability > 0);
      for (const auto& [format, peak] : gpu.tensor) require(peak.rate.value() > 0.0);
    }
  } catch (const scaleworth::UserError& error) {
    require(one_printable_line(error.what()));
  }
}

void read_models(std::string_view text) {
  try {
    for (const auto& model : scaleworth::parse_model_catalogue(text, "models.toml")) {
      require(model.head_size > 0 && model.heads % model.kv_heads == 0);
      require(model.active_experts > 0 && model.active_experts <= model.experts);
    }
  } catch (const scaleworth::UserError& error) {
    require(one_printable_line(error.what()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_gpus(text);
  read_models(text);
  return 0;
}
