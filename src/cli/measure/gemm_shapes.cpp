// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/plan.h"
#include "src/core/catalogue.h"
#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/model/transformer/transformer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::cli {
probes::GemmWork parse_shape(const std::string& text) {
  std::array<std::int64_t, 4> numbers{0, 0, 0, 1};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (count < numbers.size()) {
    const auto [rest, error] = std::from_chars(at, end, numbers[count]);
    if (error != std::errc{} || numbers[count] < 1) break;
    ++count;
    at = rest;
    if (at == end || *at != ',') break;
    ++at;
  }
  if (count < 3 || at != end || text.ends_with(',')) {
    throw UserError(
        "--shape '" + text +
        "' is not M,N,K or M,N,K,BATCH with positive integers, for example 4096,4096,4096");
  }
  probes::GemmWork work;
  work.m = numbers[0];
  work.n = numbers[1];
  work.k = numbers[2];
  work.batch = numbers[3];
  return work;
}

namespace {
constexpr std::size_t most_shapes = 1000;
constexpr std::uintmax_t most_bytes = 1 << 20;
constexpr std::array<std::string_view, 6> columns{"name", "m", "n", "k", "batch", "format"};
constexpr std::array<std::string_view, 4> required{"name", "m", "n", "k"};

/// A line of the file, for complaints.
struct Place {
  std::string line;
  UserError error(const std::string& what) const { return UserError(line + ": " + what); }
};

std::int64_t dimension(const std::string& cell, std::string_view column, const Place& place) {
  std::int64_t value = 0;
  const char* end = cell.data() + cell.size();
  const auto [rest, error] = std::from_chars(cell.data(), end, value);
  if (error != std::errc{} || rest != end || value < 1 ||
      value > std::numeric_limits<std::int32_t>::max()) {
    throw place.error(fmt::format("{} is '{}', not an integer from 1 to 2147483647", column, cell));
  }
  return value;
}

using Header = std::map<std::string, std::size_t, std::less<>>;

Header header_of(const std::vector<std::string>& cells, const Place& place) {
  Header header;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (std::find(columns.begin(), columns.end(), cells[i]) == columns.end()) {
      throw place.error(
          fmt::format("unknown column '{}'; known: {}", cells[i], fmt::join(columns, ", ")));
    }
    if (!header.emplace(cells[i], i).second) {
      throw place.error(fmt::format("column '{}' stands twice", cells[i]));
    }
  }
  for (const std::string_view column : required) {
    if (!header.contains(column)) {
      throw place.error(
          fmt::format("the header lacks '{}'; it needs {}", column, fmt::join(required, ", ")));
    }
  }
  return header;
}

NamedShape shape_of(const std::vector<std::string>& cells,
                    const Header& header,
                    const Place& place) {
  if (cells.size() != header.size()) {
    throw place.error(fmt::format("{} cells under a header of {}", cells.size(), header.size()));
  }
  const auto cell = [&](std::string_view column) -> const std::string& {
    return cells[header.find(column)->second];
  };
  NamedShape shape;
  shape.name = cell("name");
  shape.m = dimension(cell("m"), "m", place);
  shape.n = dimension(cell("n"), "n", place);
  shape.k = dimension(cell("k"), "k", place);
  if (header.contains("batch") && !cell("batch").empty()) {
    shape.batch = dimension(cell("batch"), "batch", place);
  }
  if (header.contains("format") && !cell("format").empty()) {
    shape.format = probes::parse_number_format(cell("format"));
    if (!shape.format) {
      std::string known;
      for (const probes::NumberFormat format : probes::all_number_formats) {
        known += known.empty() ? "" : ", ";
        known += probes::number_format_name(format);
      }
      throw place.error(fmt::format("unknown format '{}'; known: {}", cell("format"), known));
    }
  }
  return shape;
}
}  // namespace

std::vector<NamedShape> parse_shape_file(std::string_view text, const std::string& file) {
  std::vector<NamedShape> shapes;
  Header header;
  CsvReader reader(text, file);
  while (const auto cells = reader.next()) {
    const Place place{reader.place()};
    if (header.empty()) {
      header = header_of(*cells, place);
      continue;
    }
    if (shapes.size() == most_shapes) {
      throw place.error(fmt::format("more than {} shapes; measure them in parts", most_shapes));
    }
    shapes.push_back(shape_of(*cells, header, place));
  }
  if (shapes.empty()) {
    throw UserError(file + ": no shapes; write a header name,m,n,k and one shape per line");
  }
  return shapes;
}

std::vector<NamedShape> read_shape_file(const std::string& path) {
  std::error_code trouble;
  const std::uintmax_t size = std::filesystem::file_size(path, trouble);
  if (trouble) throw UserError(fmt::format("--shape-file {}: {}", path, trouble.message()));
  if (size > most_bytes) {
    throw UserError(fmt::format(
        "--shape-file {}: {} bytes; a list of shapes has at most {}", path, size, most_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw UserError(fmt::format("--shape-file {}: cannot be read", path));
  return parse_shape_file(text, path);
}

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
