// SPDX-License-Identifier: Apache-2.0
#include "src/cli/mfu/sources.h"

#include "src/core/error.h"
#include "src/core/run/run_directory.h"
#include "src/model/analyse.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

constexpr double tera = 1e12;

std::optional<double> whole_number(const std::string& text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return value;
}

std::optional<BytesPerSecond> memory_rate(const model::GpuResult& gpu) {
  for (const model::GpuMemoryLevel& level : gpu.memory_levels) {
    if (level.scope == "device" && level.level.label == "memory") return level.level.rate.value;
  }
  return std::nullopt;
}

}  // namespace

TransformerModel model_of(const MfuOptions& options) {
  if (options.model.empty()) {
    throw UserError("no model: give --model ID; those known here: scaleworth list --known");
  }
  return options.model_file.empty()
             ? find_model(model_catalogue(), options.model)
             : find_model(load_model_catalogue(options.model_file), options.model);
}

std::optional<GpuDatasheet> datasheet_of(const MfuOptions& options) {
  if (options.gpu.empty()) return std::nullopt;
  const std::vector<GpuDatasheet> known =
      options.datasheets.empty() ? gpu_catalogue() : load_gpu_catalogue(options.datasheets);
  try {
    return find_gpu(known, options.gpu);
  } catch (const UserError& error) {
    if (options.peak_tflops) return std::nullopt;
    throw UserError(fmt::format("{}; or give its dense --peak in TFLOP/s", error.what()));
  }
}

std::optional<model::Denominator> measured_peak(const std::string& text,
                                                const std::string& number_format) {
  if (text.empty()) return std::nullopt;
  if (const auto number = whole_number(text)) {
    return model::Denominator{FlopPerSecond(*number * tera), "measured, as given"};
  }
  const model::Analysis analysis = model::analyse(read_run(text), {});
  const auto rate = model::slowest_steady_rate(analysis.gpus, number_format);
  if (!rate) {
    throw UserError(fmt::format(
        "--measured-peak {}: no steady {} products of a GPU in this run", text, number_format));
  }
  return model::Denominator{*rate,
                            fmt::format("measured: steady {} products in {}", number_format, text)};
}

std::optional<MeasuredBandwidth> measured_bandwidth(const std::string& text) {
  if (text.empty() || whole_number(text)) return std::nullopt;
  const model::Analysis analysis = model::analyse(read_run(text), {});
  std::optional<BytesPerSecond> slowest;
  for (const model::GpuResult& gpu : analysis.gpus) {
    const auto rate = memory_rate(gpu);
    if (rate) slowest = slowest ? std::min(*slowest, *rate) : *rate;
  }
  if (!slowest) {
    throw UserError(
        fmt::format("--measured-peak {}: no memory bandwidth of a GPU in this run; give "
                    "--memory-gb-per-s",
                    text));
  }
  return MeasuredBandwidth{*slowest, fmt::format("measured: streams in {}", text)};
}

}  // namespace scaleworth::cli
