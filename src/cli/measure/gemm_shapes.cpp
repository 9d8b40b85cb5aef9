// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/plan.h"
#include "src/core/catalogue.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/model/transformer/transformer.h"

#include <array>
#include <iterator>
#include <limits>
#include <map>

namespace scaleworth::cli {
GemmWork parse_shape(const std::string& text) {
  GemmWork work;
  const std::array sizes{&work.m, &work.n, &work.k, &work.batch};
  const std::vector<std::string_view> parts =
      split(text, text.find(',') == std::string::npos ? 'x' : ',');
  bool right = parts.size() == sizes.size() || parts.size() + 1 == sizes.size();
  for (std::size_t i = 0; right && i < parts.size(); ++i) {
    *sizes[i] = parse_number<std::int64_t>(parts[i]).value_or(0);
    right = *sizes[i] >= 1;
  }
  if (right) return work;
  throw UserError(
      "--shape '" + text +
      "' is not M,N,K or M,N,K,BATCH with positive integers, for example 4096,4096,4096");
}

std::string number_format_names() {
  return listed(every<NumberFormat>, key_of<NumberFormat>);
}

namespace {
constexpr std::size_t most_shapes = 1000;  // hours of measuring; more is another kind of file
constexpr std::uintmax_t most_shape_bytes = 1 << 20;  // a thousand lines have less than 0.1 MB
constexpr std::array<std::string_view, 6> columns{"name", "m", "n", "k", "batch", "format"};
constexpr std::array<std::string_view, 4> required{"name", "m", "n", "k"};

using Header = std::map<std::string, std::size_t, std::less<>>;

Header header_of(const std::vector<std::string>& cells, const CsvReader& reader) {
  Header header;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool format = cells[i] == "number_format" || cells[i] == "dtype";
    const std::string name = format ? "format" : cells[i];
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
      throw reader.error(
          fmt::format("unknown column '{}'; known: {}", name, fmt::join(columns, ", ")));
    }
    if (!header.emplace(name, i).second) {
      throw reader.error(fmt::format("column '{}' stands twice", name));
    }
  }
  for (const std::string_view column : required) {
    if (!header.contains(column)) {
      throw reader.error(
          fmt::format("the header lacks '{}'; it needs {}", column, fmt::join(required, ", ")));
    }
  }
  return header;
}

NamedShape shape_of(const std::vector<std::string>& cells,
                    const Header& header,
                    const CsvReader& reader) {
  if (cells.size() != header.size()) {
    throw reader.error(fmt::format("{} cells under a header of {}", cells.size(), header.size()));
  }
  const auto cell = [&](std::string_view column) {
    const auto found = header.find(column);
    return found == header.end() ? std::string() : cells[found->second];
  };
  constexpr std::array<std::pair<std::string_view, std::int64_t NamedShape::*>, 4> sizes{
      {{"m", &NamedShape::m},
       {"n", &NamedShape::n},
       {"k", &NamedShape::k},
       {"batch", &NamedShape::batch}}};
  NamedShape shape;
  shape.name = cell("name");
  for (const auto& [column, member] : sizes) {
    const std::string text = cell(column);
    if (column == "batch" && text.empty()) continue;
    const auto value = parse_number<std::int64_t>(text);
    if (!value || *value < 1 || *value > std::numeric_limits<std::int32_t>::max()) {
      throw reader.error(
          fmt::format("{} is '{}', not an integer from 1 to 2147483647", column, text));
    }
    shape.*member = *value;
  }
  if (const std::string name = cell("format"); !name.empty()) {
    shape.format = from_key<NumberFormat>(name);
    if (!shape.format) {
      throw reader.error(
          fmt::format("unknown format '{}'; known: {}", name, number_format_names()));
    }
  }
  return shape;
}

bool any_has(NumberFormat format, const std::vector<DeviceDescription>& devices) {
  return std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
    return has_format(format, device.compute_capability);
  });
}

/// As --number-format says; by default what training runs in: bf16, fp16 where there is none.
std::vector<NumberFormat> formats_of(const MeasureOptions& options,
                                     const std::vector<DeviceDescription>& devices) {
  if (options.number_formats.empty()) {
    return {any_has(NumberFormat::bf16, devices) ? NumberFormat::bf16 : NumberFormat::fp16};
  }
  std::vector<NumberFormat> formats;
  for (const std::string& name : options.number_formats) {
    const auto format = from_key<NumberFormat>(name);
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
  // Decoding of small batches, of large ones, and prefill or training.
  for (const std::int64_t tokens : {16, 256, 4096}) {
    for (const LayerGemm& layer : layer_gemms(model, tokens)) {
      shapes.push_back(
          {model.id + " " + layer.name, layer.m, layer.n, layer.k, layer.batch, std::nullopt});
    }
  }
  return shapes;
}

NumberFormat host_format(const std::string& name) {
  const auto format = from_key<NumberFormat>(name);
  if (format == NumberFormat::fp32 || format == NumberFormat::fp64) return *format;
  throw UserError("--number-format " + name +
                  ": products of cores are measured in fp32 and fp64, the others need a GPU");
}
}  // namespace

std::vector<NamedShape> shapes_of(const MeasureOptions& options) {
  std::vector<NamedShape> shapes;
  for (const std::string& text : options.shapes) {
    const GemmWork work = parse_shape(text);
    shapes.push_back({"", work.m, work.n, work.k, work.batch, std::nullopt});
  }
  if (const std::string& path = options.shape_file; !path.empty()) {
    const std::string limit = fmt::format("; a list of shapes has at most {}", most_shape_bytes);
    const std::string text = read_whole(path, "--shape-file " + path, most_shape_bytes, limit);
    std::ranges::move(parse_shape_file(text, path), std::back_inserter(shapes));
  }
  if (!options.model.empty())
    std::ranges::move(shapes_of_model(options.model), std::back_inserter(shapes));
  return shapes;
}

std::vector<NamedShape> parse_shape_file(std::string_view text, const std::string& file) {
  std::vector<NamedShape> shapes;
  Header header;
  CsvReader reader(text, file);
  while (const auto cells = reader.next()) {
    if (header.empty()) {
      header = header_of(*cells, reader);
      continue;
    }
    if (shapes.size() == most_shapes) {
      throw reader.error(fmt::format("more than {} shapes; measure them in parts", most_shapes));
    }
    shapes.push_back(shape_of(*cells, header, reader));
  }
  if (shapes.empty()) {
    throw UserError(file + ": no shapes; write a header name,m,n,k and one shape per line");
  }
  return shapes;
}

std::vector<DeviceSetting::NamedProblem> own_problems(
    const MeasureOptions& options, const std::vector<DeviceDescription>& devices) {
  const std::vector<NumberFormat> formats = formats_of(options, devices);
  std::vector<DeviceSetting::NamedProblem> problems;
  for (const NamedShape& shape : shapes_of(options)) {
    for (const NumberFormat format : shape.format ? std::vector{*shape.format} : formats) {
      const std::string name =
          shape.name.empty() ? fmt::format("{},{},{}", shape.m, shape.n, shape.k) : shape.name;
      problems.push_back({name, {format, shape.m, shape.n, shape.k, shape.batch}});
    }
  }
  return problems;
}

std::vector<probes::GemmShape> own_host_products(const MeasureOptions& options, int workers) {
  std::vector<NumberFormat> formats{NumberFormat::fp32, NumberFormat::fp64};
  if (!options.number_formats.empty()) formats = mapped(options.number_formats, host_format);
  std::vector<probes::GemmShape> products;
  for (const NamedShape& shape : shapes_of(options)) {
    const auto own =
        shape.format ? std::vector{host_format(std::string(key_of(*shape.format)))} : formats;
    for (const NumberFormat format : own)
      for (const int count : workers > 1 ? std::vector{1, workers} : std::vector{1})
        products.push_back({ProductFamily::free,
                            {format, shape.m, shape.n, shape.k, shape.batch, count},
                            shape.name});
  }
  return products;
}
}  // namespace scaleworth::cli
