// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/imports.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/files/toml_table.h"
#include "src/core/process.h"
#include "src/core/whole_number.h"

#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

// Defined by an assembler file that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_imports[];
extern const char scaleworth_asset_imports_end[];
}

namespace scaleworth::cli {
namespace {
/// data/imports.toml, by plain names.
struct ForeignNames {
  std::map<std::string, ForeignValue> text;
  std::map<std::string, ForeignValue> json;
  std::map<std::string, std::string> header;
  std::map<std::string, Collective> collectives;
  std::string headings;  // as they are written, for messages
};

ForeignValue foreign_value(toml_file::Table& row) {
  const std::string name = row.text("name");
  ForeignValue value;
  value.parameter = parameter_of_key(name);
  value.metric = metric_of_key(name);
  value.largest_difference = name == "largest_difference";
  value.unit = row.optional_positive("unit").value_or(1.0);
  const bool known = value.parameter || value.metric || value.largest_difference;
  if (!known && name != "not_kept") row.refuse("no parameter and no metric of this name", "name");
  return value;
}

ForeignNames parse_foreign_names(std::string_view text) {
  toml_file::Table root = toml_file::Table::parse(text, "data/imports.toml");
  ForeignNames names;
  for (toml_file::Table& row : root.tables("collective")) {
    const auto collective = from_key<Collective>(row.text("name"));
    if (!collective) row.refuse("no collective of this name", "name");
    for (const std::string& one : row.texts("foreign"))
      names.collectives[plain_name(one)] = *collective;
  }
  for (toml_file::Table& row : root.tables("value")) {
    const ForeignValue value = foreign_value(row);
    for (const std::string& one : row.texts("text")) {
      names.text[plain_name(one)] = value;
      names.headings += (names.headings.empty() ? "" : ", ") + one;
    }
    for (const std::string& one : row.texts("json")) names.json[plain_name(one)] = value;
  }
  for (toml_file::Table& row : root.tables("header")) {
    const std::string name = row.text("name");
    for (const std::string& one : row.texts("foreign")) names.header[plain_name(one)] = name;
  }
  return names;
}

const ForeignNames& foreign_names() {
  static const ForeignNames names = parse_foreign_names(
      {scaleworth_asset_imports,
       static_cast<std::size_t>(scaleworth_asset_imports_end - scaleworth_asset_imports)});
  return names;
}

using nlohmann::json;

constexpr std::size_t most_json_rows = 100'000;

class JsonReader {
 public:
  JsonReader(const json& document, const std::string& file) : document_(document) {
    test_.file = file;
    test_.place = file;
  }
  CollectiveTest read();

 private:
  SourcedText sourced(std::string text, const char* where) const {
    return {std::move(text), fmt::format("{}: {}", test_.file, where)};
  }
  void arguments();
  void environment();
  void configuration();
  void row(const json& result);
  std::optional<TestTiming> timing(const json& result,
                                   const std::string& which,
                                   std::int64_t bytes);

  const json& document_;
  CollectiveTest test_;
};

void JsonReader::arguments() {
  const json* arguments = member_of(document_, "args");
  if (arguments == nullptr) return;
  std::vector<std::string> words;
  if (arguments->is_array()) {
    for (const json& one : *arguments) words.push_back(text_in(&one));
  } else {
    for (const std::string_view one : split(text_in(arguments), ' ')) words.emplace_back(one);
  }
  if (words.empty()) return;
  const std::string program = words[0].substr(words[0].rfind('/') + 1);
  test_.program = sourced(program, "args[0]");
  test_.command = sourced(listed(words, {}, " "), "args");
}

/// The whole environment of the job stands there, secrets too.
void JsonReader::environment() {
  const json* variables = member_of(document_, "env");
  if (variables == nullptr || !variables->is_structured()) return;
  for (const auto& [key, value] : variables->items()) {
    std::string name = key;
    std::string text = text_in(&value);
    if (variables->is_array()) {
      name = text.substr(0, text.find('='));
      text.erase(0, std::min(text.size(), name.size() + 1));
    }
    if (may_record_variable(name)) test_.variables[name] = sourced(text, "env");
  }
}

void JsonReader::configuration() {
  const json* configuration = member_of(document_, "config");
  if (configuration == nullptr || !configuration->is_object()) return;
  for (const auto& [key, value] : configuration->items()) {
    const std::string ours = header_name(key);
    const auto number = whole_in(&value);
    if (!ours.empty() && number) test_.header[ours] = *number;
  }
  const json* devices = member_of(*configuration, "devices");
  if (devices == nullptr || !devices->is_array()) return;
  for (const json& device : *devices) {
    const auto rank = rank_number(whole_in(member_of(device, "rank")));
    if (!rank) continue;
    TestDevice& one = test_.devices.emplace_back();
    one.rank = *rank;
    one.group = whole_number<int>(whole_in(member_of(device, "group"))).value_or(0);
    one.process = whole_in(member_of(device, "pid")).value_or(0);
    one.host = text_in(member_of(device, "hostname"));
    one.device = whole_number<int>(whole_in(member_of(device, "device"))).value_or(0);
    one.bus = text_in(member_of(device, "device_hex"));
    one.name = text_in(member_of(device, "device_info"));
  }
}

/// Of `which`, "out_of_place" or "in_place"; samples of the single iterations where they are there.
std::optional<TestTiming> JsonReader::timing(const json& result,
                                             const std::string& which,
                                             std::int64_t bytes) {
  const json* half = member_of(result, which.c_str());
  if (half == nullptr || !half->is_object()) return std::nullopt;
  if (member_of(*half, "time") == nullptr && member_of(*half, "cpu_time") != nullptr) {
    throw UserError("{}: has the processor's time (-C), not the operation's; run it without -C",
                    test_.file);
  }
  TestTiming timing;
  for (const auto& [key, value] : half->items()) {
    const ForeignValue* ours = json_member(key);
    if (ours != nullptr) set_value(timing, *ours, number_in(&value));
  }
  // As with the two decimals of the table, in case they are rounded.
  timing.bandwidth_resolution = 1e7;
  if (!timing.time.empty()) timing.time.sampling.resolution = 0.0;
  if (timing.time.empty() || !is_consistent(bytes, timing)) return std::nullopt;
  const json* iterations = member_of(result, (which + "_per_iter").c_str());
  const json* times = iterations == nullptr ? nullptr : member_of(*iterations, "times_us");
  if (times == nullptr || !times->is_array()) return timing;
  Series single;
  for (const json& one : *times) {
    const auto time = number_in(&one);
    if (time && *time > 0.0) single.push_back(*time / 1e6);
  }
  if (!single.empty()) timing.time = std::move(single);
  return timing;
}

void JsonReader::row(const json& result) {
  TestRow row;
  row.place = fmt::format(
      "{}: results[{}]", test_.file, test_.rows.size() + test_.rows_of_size_0 + test_.damaged_rows);
  const auto bytes = whole_in(member_of(result, "size"));
  if (bytes && *bytes == 0) {
    ++test_.rows_of_size_0;
    return;
  }
  if (bytes && *bytes > 0) {
    row.bytes = *bytes;
    row.data_type = text_in(member_of(result, "type"));
    const std::string reduction = text_in(member_of(result, "redop"));
    if (reduction != "none") row.reduction = reduction;
    row.timings = {timing(result, "out_of_place", *bytes), timing(result, "in_place", *bytes)};
  }
  if (!row.timings[0] && !row.timings[1]) {
    if (test_.damaged_rows++ == 0) test_.first_damaged = row.place;
    return;
  }
  const auto counted = whole_in(member_of(result, "actual_iterations"));
  if (counted && *counted > 0) test_.header["iterations"] = *counted;
  test_.rows.push_back(std::move(row));
}

CollectiveTest JsonReader::read() {
  const json* results = member_of(document_, "results");
  if (results == nullptr || !results->is_array() || member_of(document_, "config") == nullptr) {
    throw UserError("{}: no JSON of nccl-tests ('config' and 'results'); give what -J FILE wrote",
                    test_.file);
  }
  test_.version = sourced("nccl-tests", "config");
  const std::string version = text_in(member_of(document_, "version"));
  if (!version.empty()) test_.version = sourced("nccl-tests, JSON version " + version, "version");
  std::string library = text_in(member_of(document_, "nccl_version"));
  const auto code = parse_number<std::int64_t>(library);
  if (code && *code >= 1000) library = library_version(*code);
  if (!library.empty()) test_.library = sourced(library, "nccl_version");
  const std::string start = text_in(member_of(document_, "start_time"));
  if (!start.empty()) test_.started_at = sourced(start, "start_time");
  arguments();
  environment();
  configuration();
  if (results->size() > most_json_rows)
    throw UserError(
        "{}: more than {} results; give the output of one job", test_.file, most_json_rows);
  for (const json& result : *results) row(result);
  const json* bounds = member_of(document_, "out_of_bounds");
  if (bounds != nullptr && bounds->is_object()) bounds = member_of(*bounds, "count");
  test_.out_of_bounds = whole_in(bounds);
  return std::move(test_);
}
}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

const ForeignValue* text_column(std::string_view name) {
  return value_at(foreign_names().text, plain_name(name));
}

const ForeignValue* json_member(std::string_view name) {
  return value_at(foreign_names().json, plain_name(name));
}

std::string header_name(std::string_view foreign) {
  const auto* name = value_at(foreign_names().header, plain_name(foreign));
  return name == nullptr ? "" : *name;
}

std::optional<Collective> collective_of_program(std::string_view program) {
  for (const std::string_view ending : {"_mpi", "_perf"})
    if (program.ends_with(ending)) program.remove_suffix(ending.size());
  const auto* found = value_at(foreign_names().collectives, plain_name(program));
  if (found != nullptr) return *found;
  return from_key<Collective>(program);
}

std::string known_columns_of_tests() {
  return foreign_names().headings;
}

std::string base_name(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

std::string library_word(const std::string& foreign) {
  constexpr std::string_view names =
      "Tree Ring CollNetDirect CollNetChain NVLS NVLSTree PAT LL LL128 Simple";
  for (const std::string_view known : split(names, ' '))
    if (plain_name(known) == plain_name(foreign)) return std::string(known);
  return foreign;
}

bool set_value(TestTiming& timing, const ForeignValue& value, std::optional<double> number) {
  const bool sound = number && std::isfinite(*number) && *number >= 0.0;
  // 100 us divided by a million is the nearest number to 1e-4 s; times 1e-6 it is not.
  const auto in_base_unit = [&](double printed) {
    return value.unit < 1.0 ? printed / (1.0 / value.unit) : printed * value.unit;
  };
  const std::optional<double> scaled = sound ? std::optional(in_base_unit(*number)) : std::nullopt;
  if (value.largest_difference) {
    timing.largest_difference = scaled;
  } else if (value.metric == Metric::time_s) {
    if (scaled && *scaled > 0.0) timing.time.assign(1, *scaled);
  } else if (value.metric == Metric::algorithm_bandwidth) {
    timing.algorithm_bandwidth = scaled;
  } else if (value.metric == Metric::bus_bandwidth) {
    timing.bus_bandwidth = scaled;
  } else if (value.metric == Metric::wrong_elements) {
    timing.wrong_elements = scaled;
  } else {
    return false;
  }
  return true;
}

bool is_consistent(std::int64_t bytes, const TestTiming& timing) {
  if (!timing.algorithm_bandwidth || timing.time.empty()) return true;
  const double time = timing.time.front();
  const double half = 0.51 * timing.time.sampling.resolution;
  const auto size = static_cast<double>(bytes);
  const double slack = 0.51 * timing.bandwidth_resolution + 1e-4 * *timing.algorithm_bandwidth;
  const double low = size / (time + half) - slack;
  const bool below = time <= half || *timing.algorithm_bandwidth <= size / (time - half) + slack;
  return *timing.algorithm_bandwidth >= low && below;
}

std::string library_version(std::int64_t code) {
  // 22809 is 2.28.9; before 2.9 the minor version had one digit: 2708 is 2.7.8.
  const std::int64_t scale = code < 10'000 ? 1000 : 10'000;
  return fmt::format("{}.{}.{}", code / scale, code % scale / 100, code % 100);
}

std::optional<Collective> collective_of_file(const std::string& file) {
  std::string name = plain_name(std::filesystem::path(file).filename().string());
  std::vector<std::pair<std::string, Collective>> known(foreign_names().collectives.begin(),
                                                        foreign_names().collectives.end());
  std::ranges::stable_sort(
      known, std::ranges::greater{}, [](const auto& one) { return one.first.size(); });
  std::set<Collective> found;
  for (const auto& [foreign, collective] : known) {
    for (auto at = name.find(foreign); at != std::string::npos; at = name.find(foreign)) {
      found.insert(collective);
      name.replace(at, foreign.size(), "|");
    }
  }
  return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
}

const json* member_of(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<double> number_in(const json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  if (value->is_boolean()) return value->get<bool>() ? 1.0 : 0.0;
  if (!value->is_string()) return std::nullopt;
  const auto& text = value->get_ref<const std::string&>();
  if (text == "true") return 1.0;
  return parse_number<double>(text);
}

std::optional<std::int64_t> whole_in(const json* value) {
  const auto number = number_in(value);
  if (!number || !(std::abs(*number) < 9e18)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::string text_in(const json* value) {
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  return value->is_primitive() && !value->is_null() ? value->dump() : std::string();
}

std::vector<CollectiveTest> read_nccl_tests_json(std::string_view text, const std::string& file) {
  const json document = parse_bounded_json(text, file, std::size_t{1} << 30U);
  return {JsonReader(document, file).read()};
}
}  // namespace scaleworth::cli
