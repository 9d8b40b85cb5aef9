// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/gpu/own_problems.h"

#include "src/cli/measure/gpu/shape_file.h"
#include "src/cli/measure/parse.h"
#include "src/core/catalogue/model_catalogue.h"
#include "src/core/error.h"
#include "src/model/transformer/layer_gemms.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

using probes::NumberFormat;

bool any_has(NumberFormat format, const std::vector<probes::DeviceDescription>& devices) {
  return std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
    return probes::has_format(format, device.compute_capability);
  });
}

/// As --number-format says; by default what training runs in: bf16, fp16 where there is none.
std::vector<NumberFormat> formats_of(const MeasureOptions& options,
                                     const std::vector<probes::DeviceDescription>& devices) {
  if (options.number_formats.empty()) {
    return {any_has(NumberFormat::bf16, devices) ? NumberFormat::bf16 : NumberFormat::fp16};
  }
  std::vector<NumberFormat> formats;
  for (const std::string& name : options.number_formats) {
    const auto format = probes::parse_number_format(name);
    if (!format)
      throw UserError("--number-format " + name +
                      ": no such format; see `scaleworth roofline --help`");
    if (!any_has(*format, devices)) {
      throw UserError("--number-format " + name + ": no GPU here multiplies in it");
    }
    formats.push_back(*format);
  }
  return formats;
}

/// The products of one forward pass at several batches, so that the ridge shows.
std::vector<NamedShape> shapes_of_model(const std::string& id) {
  const TransformerModel& model = find_model(model_catalogue(), id);
  std::vector<NamedShape> shapes;
  for (const std::int64_t tokens : {16, 256, 4096}) {
    for (const model::LayerGemm& layer : model::layer_gemms(model, tokens)) {
      shapes.push_back(
          {model.id + " " + layer.name, layer.m, layer.n, layer.k, layer.batch, std::nullopt});
    }
  }
  return shapes;
}

std::vector<NamedShape> shapes_of(const MeasureOptions& options) {
  std::vector<NamedShape> shapes;
  for (const std::string& text : options.shapes) {
    const probes::GemmWork work = parse_shape(text);
    shapes.push_back({text, work.m, work.n, work.k, work.batch, std::nullopt});
  }
  if (!options.shape_file.empty()) {
    for (NamedShape& shape : read_shape_file(options.shape_file)) {
      shapes.push_back(std::move(shape));
    }
  }
  if (!options.model.empty()) {
    for (NamedShape& shape : shapes_of_model(options.model)) shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace

std::vector<probes::DeviceSetting::NamedProblem> own_problems(
    const MeasureOptions& options, const std::vector<probes::DeviceDescription>& devices) {
  const std::vector<NumberFormat> formats = formats_of(options, devices);
  std::vector<probes::DeviceSetting::NamedProblem> problems;
  for (const NamedShape& shape : shapes_of(options)) {
    for (const NumberFormat format : shape.format ? std::vector{*shape.format} : formats) {
      probes::GemmProblem problem;
      problem.input = format;
      problem.m = shape.m;
      problem.n = shape.n;
      problem.k = shape.k;
      problem.batch = shape.batch;
      problems.push_back({shape.name, problem});
    }
  }
  return problems;
}

}  // namespace scaleworth::cli
