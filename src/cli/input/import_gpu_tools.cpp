// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/imports.h"
#include "src/core/catalogue.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/run.h"
#include "src/core/whole_number.h"

#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

namespace scaleworth::cli {
namespace {
using nlohmann::json;
using std::string_view;

constexpr std::int64_t most_gpus = 256;
constexpr std::size_t most_points = 200'000;

[[noreturn]] void not_whole(const std::string& place, const std::string& what) {
  throw UserError("{}: {}; give the whole output, unchanged", place, what);
}

/// As printed, in GB/s, Gflops/s or TFLOPS; absent for what no machine reaches.
std::optional<double> printed_rate(string_view text) {
  const auto rate = parse_number<double>(text);
  return rate && *rate >= 1e-6 && *rate <= 1e9 ? rate : std::nullopt;
}

constexpr const char* one_direction = " (of one direction, before 0.6)";

/// GPUs and what the file says of them, as a run's environment has them.
class Facts {
 public:
  Facts(const char* tool, const std::string& file) : file_(file), sections_{{tool, {}}} {
    add("file", file, "the command line");
  }
  void add(const char* name, const std::string& text, const std::string& source = {}) {
    sections_.front().facts.push_back(
        {name, Value(text), source.empty() ? base_name(file_) : source});
  }
  /// Of a GPU's facts of one name the first is kept.
  void add_gpu(std::int64_t ordinal, const char* name, Value value) {
    if (ordinal < 0 || ordinal >= most_gpus) return;
    const std::string section = fmt::format("gpu {}", ordinal);
    FactSection* found = find_in(sections_, section, &FactSection::name);
    if (found == nullptr) {
      sections_.push_back({section, {}});
      found = &sections_.back();
    }
    if (find_in(found->facts, std::string_view(name), &Fact::name) == nullptr)
      found->facts.push_back({name, std::move(value), base_name(file_)});
  }
  /// With what the catalogue knows of a GPU by its name, where the file does not state it.
  std::vector<FactSection> take();

 private:
  std::string file_;
  std::vector<FactSection> sections_;
};

std::vector<FactSection> Facts::take() {
  for (FactSection& section : sections_) {
    const Fact* name = find_in(section.facts, "name", &Fact::name);
    const auto* text = name == nullptr ? nullptr : std::get_if<std::string>(&*name->value);
    const GpuDatasheet* sheet = nullptr;
    for (const GpuDatasheet& one : gpu_catalogue())
      if (text != nullptr && std::ranges::count(one.aliases, *text) > 0) sheet = &one;
    if (sheet == nullptr || sheet->pci_device_ids.empty() || !sheet->memory) continue;
    const std::array<std::pair<const char*, std::int64_t>, 3> known{
        {{"pci_device_id", sheet->pci_device_ids.front()},
         {"multiprocessors", sheet->multiprocessors},
         {"memory_bytes", static_cast<std::int64_t>(sheet->memory->value())}}};
    for (const auto& [fact, value] : known)
      if (find_in(section.facts, fact, &Fact::name) == nullptr)
        section.facts.push_back({fact, Value(value), "data/gpus.toml, by the GPU's name"});
  }
  return std::move(sections_);
}

/// `amount` of work or bytes at a printed rate: one sample, with the resolution of the digits.
Point rated_point(
    Setting setting, std::int64_t gpu, Metric metric, double amount, double rate, double digit) {
  Point point;
  point.setting = std::move(setting);
  point.setting.set(Parameter::gpu, gpu);
  point.amounts[metric] = amount;
  Series& times = point.samples[Metric::wall_s];
  times.push_back(amount / rate);
  times.sampling.resolution = times.front() * digit / rate;
  return point;
}

// ---- nvbandwidth: NVIDIA/nvbandwidth, v0.4 to v0.10; output.cpp, inline_common.h (operator<<) and
// json_output.cpp (addTestcaseResults) of v0.8.

/// What -b is by default (common.h); it is not printed.
constexpr double buffer_bytes = 512.0 * 1024 * 1024;

enum class End : std::uint8_t { host, row, column };

/// Data goes from `source` to `target`. Of two GPUs the row's own context copies: a read comes from
/// the column, a write goes there (testcases_ce.cpp, DeviceToDeviceReadCE and -WriteCE), whichever
/// way the arrow of the description points.
struct TransferTest {
  string_view stem;  // before "_ce", by the copy engine, or "_sm", by a kernel
  End source;
  End target;
  bool both_directions = false;  // of its matrices that of the total
  bool together = false;         // while all other GPUs do the same
};
constexpr std::array transfer_tests{
    TransferTest{"host_to_device_memcpy", End::host, End::column},
    TransferTest{"device_to_host_memcpy", End::column, End::host},
    TransferTest{"device_to_device_memcpy_read", End::column, End::row},
    TransferTest{"device_to_device_memcpy_write", End::row, End::column},
    TransferTest{"device_to_device_bidirectional_memcpy_read", End::column, End::row, true},
    TransferTest{"device_to_device_bidirectional_memcpy_write", End::row, End::column, true},
    TransferTest{"host_to_all_memcpy", End::host, End::column, false, true},
    TransferTest{"all_to_host_memcpy", End::column, End::host, false, true}};

const TransferTest* transfer_test(string_view name) {
  if (!name.ends_with("_ce") && !name.ends_with("_sm")) return nullptr;
  return find_in(transfer_tests, name.substr(0, name.size() - 3), &TransferTest::stem);
}

class Transfers {
 public:
  explicit Transfers(const std::string& file) : file_(file), facts_("nvbandwidth", file) {
    probe_.name = probe_name::gpu_transfer;
    probe_.status = ProbeStatus::measured;
  }
  /// As printed, "v0.8".
  void version(const std::string& text);
  Facts& facts() { return facts_; }
  void leave_out(const std::string& test) { left_out_.push_back(test); }
  void warn(const Finding& finding) { probe_.warnings.push_back(finding); }
  /// Throws UserError where the matrix is not whole.
  void add(const std::string& test,
           const std::vector<std::vector<std::string>>& matrix,
           std::optional<double> sum,
           const std::string& place);
  ImportedProbes finish();

 private:
  std::string file_;
  Facts facts_;
  ProbeRecord probe_;
  std::vector<std::string> left_out_;
};

void Transfers::version(const std::string& text) {
  facts_.add("program", "nvbandwidth " + text);
  const auto parts = split(string_view(text).substr(text.starts_with('v') ? 1 : 0), '.');
  const auto minor = parts.size() > 1 ? parse_number<int>(parts[1]) : std::nullopt;
  if (parts[0] != "0" || !minor || *minor > 10)
    warn({FindingId::version_not_known, text, "0.4", "0.10"});
}

void Transfers::add(const std::string& test,
                    const std::vector<std::vector<std::string>>& matrix,
                    std::optional<double> sum,
                    const std::string& place) {
  const TransferTest& kind = *transfer_test(test);
  const bool among_gpus = kind.source != End::host && kind.target != End::host;
  const std::size_t columns = matrix.empty() ? 0 : matrix.front().size();
  const std::size_t wanted = among_gpus ? columns : 1;
  if (columns == 0 || matrix.size() != wanted)
    not_whole(place, fmt::format("{} has {} rows of {} values", test, matrix.size(), columns));
  if (probe_.points.size() > most_points)
    throw UserError("{}: more than {} transfers; give the output of one job", place, most_points);
  double total = 0.0;
  double slack = 0.0;
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    if (matrix[row].size() != columns || columns > most_gpus)
      not_whole(place, fmt::format("row {} of {} is cut short", row, test));
    for (std::size_t column = 0; column < columns; ++column) {
      const std::string& cell = matrix[row][column];
      if (cell == "N/A" || parse_number<double>(cell) == 0.0) continue;
      const auto rate = printed_rate(cell);
      if (!rate) not_whole(place, fmt::format("'{}' is no rate", printable(cell)));
      total += *rate;
      const double digit = printed_resolution(cell);
      slack += digit + 1e-5 * *rate;
      const auto end = [&](End one) {
        if (one == End::host) return MemoryPlace{TransferEnd::host_pinned};
        return MemoryPlace{TransferEnd::gpu,
                           static_cast<std::int64_t>(one == End::row ? row : column)};
      };
      Setting setting{
          {Parameter::engine,
           test.ends_with("_ce") ? TransferEngine::copy_engine : TransferEngine::kernel},
          {Parameter::both_directions, kind.both_directions},
          {Parameter::pass, kind.together ? Pass::together : Pass::alone},
          {Parameter::transfer_bytes, static_cast<std::int64_t>(buffer_bytes)}};
      setting.set_place(Parameter::source, end(kind.source));
      setting.set_place(Parameter::target, end(kind.target));
      probe_.points.push_back(rated_point(std::move(setting),
                                          static_cast<std::int64_t>(among_gpus ? row : column),
                                          Metric::bytes,
                                          buffer_bytes * (kind.both_directions ? 2.0 : 1.0),
                                          *rate * 1e9,
                                          digit * 1e9));
    }
  }
  if (sum && std::abs(*sum - total) > slack)
    not_whole(place, fmt::format("{} adds up to {:.6g}, its SUM is {:.6g}", test, total, *sum));
}

ImportedProbes Transfers::finish() {
  if (probe_.points.empty())
    not_whole(file_,
              left_out_.empty() ? "no transfer of nvbandwidth in it"
                                : "no transfer of one path in it, only " + listed(left_out_));
  if (!left_out_.empty()) warn({FindingId::transfers_left_out, listed(left_out_)});
  return {facts_.take(), {std::move(probe_)}};
}

class TransferText {
 public:
  explicit TransferText(const std::string& file) : file_(file), transfers_(file) {}
  void take(const std::string& line, std::size_t number);
  ImportedProbes finish() {
    begin("");
    return transfers_.finish();
  }

 private:
  void begin(const std::string& test);
  /// Whether the line belongs to a matrix.
  bool matrix_line(const std::vector<string_view>& words);
  void end_matrix(const std::vector<string_view>& words);

  std::string file_;
  std::string place_;
  Transfers transfers_;
  std::string test_;  // empty: none that is kept
  bool answered_ = true;
  std::string description_;
  std::size_t columns_ = 0;  // of the open matrix
  std::vector<std::vector<std::string>> matrix_;
};

void TransferText::begin(const std::string& test) {
  if (!test_.empty() && (!answered_ || !description_.empty()))
    not_whole(file_, test_ + " has no whole result: cut short");
  const bool known = transfer_test(test) != nullptr;
  if (!known && !test.empty()) transfers_.leave_out(test);
  test_ = known ? test : "";
  answered_ = false;
}

bool TransferText::matrix_line(const std::vector<string_view>& words) {
  if (description_.empty() || words.empty()) return !description_.empty();
  if (columns_ == 0) {
    for (const string_view word : words)
      if (parse_number<std::size_t>(word) != columns_++) columns_ = most_gpus + 1;
  } else if (words[0] == "SUM" || words[0] == "&&&&") {
    end_matrix(words);
  } else {
    if (parse_number<std::size_t>(words[0]) != matrix_.size() || matrix_.size() == columns_ ||
        words.size() != columns_ + 1)
      not_whole(place_, fmt::format("no row {} of {} values", matrix_.size(), columns_));
    matrix_.emplace_back(words.begin() + 1, words.end());
  }
  if (columns_ > most_gpus) not_whole(place_, "no numbers of GPUs from 0 on");
  return true;
}

/// "SUM host_to_device_memcpy_ce 110.67", "&&&& PERF host_to_device_memcpy_ce 110.67 GB/s".
void TransferText::end_matrix(const std::vector<string_view>& words) {
  const std::size_t at = words[0] == "SUM" ? 2 : 3;
  const auto sum =
      words.size() > at
          ? parse_number<double>(words[at].substr(0, words[at].find_first_not_of("0123456789.e+-")))
          : std::nullopt;
  if (!sum) not_whole(place_, "SUM without a number");
  const auto says = [&](const char* word) { return description_.find(word) != std::string::npos; };
  const bool numbered = says(" Read1 ") || says(" Read2 ") || says(" Write1 ") || says(" Write2 ");
  if (transfer_test(test_)->both_directions && !says(" Total ")) {
    if (!numbered) transfers_.leave_out(test_ + one_direction);
    answered_ = answered_ || !numbered;
  } else {
    transfers_.add(test_, matrix_, sum, place_);
    answered_ = true;
  }
  description_.clear();
  matrix_.clear();
  columns_ = 0;
}

void TransferText::take(const std::string& line, std::size_t number) {
  place_ = fmt::format("{}:{}", file_, number);
  const std::vector<string_view> words = words_between(line);
  const auto rest = [&](string_view start) -> std::optional<std::string> {
    if (!string_view(line).starts_with(start)) return std::nullopt;
    return std::string(trimmed(string_view(line).substr(start.size())));
  };
  if (words.size() == 2 && words[0] == "Running" && words[1].ends_with('.')) {
    begin(std::string(words[1].substr(0, words[1].size() - 1)));
  } else if (matrix_line(words)) {
    return;
  } else if (!test_.empty() && line.find("(row)") != std::string::npos) {
    description_ = line;
  } else if (!test_.empty() && !answered_ && !words.empty() && words[0].ends_with(':')) {
    // "Waived:", "Error: ...".
    answered_ = true;
    transfers_.leave_out(fmt::format("{} ({})", test_, printable(line)));
  } else if (const auto version = rest("nvbandwidth Version:")) {
    transfers_.version(*version);
  } else if (const auto driver = rest("Driver Version:")) {
    transfers_.facts().add("driver", *driver);
  } else if (const auto device = rest("Device ")) {
    const std::size_t colon = device->find(": ");
    const auto ordinal = parse_number<std::int64_t>(string_view(*device).substr(0, colon));
    if (ordinal && colon != std::string::npos)
      transfers_.facts().add_gpu(
          *ordinal, "name", device->substr(colon + 2, device->rfind(" (") - colon - 2));
  }
}

/// Matrices of one test stand one below the other in JSON: of both directions the last is the
/// total's, and so is the sum (json_output.cpp appends rows). Before 0.6 there is one.
void add_test_case(const json& test, const std::string& place, Transfers& transfers) {
  const std::string name = text_in(member_of(test, "name"));
  const std::string status = text_in(member_of(test, "status"));
  const json* rows = member_of(test, "bandwidth_matrix");
  const TransferTest* kind = transfer_test(name);
  if (kind == nullptr || (rows == nullptr && status != "Passed")) {
    transfers.leave_out(status == "Passed" ? name : fmt::format("{} ({})", name, status));
    return;
  }
  std::vector<std::vector<std::string>> matrix;
  if (rows != nullptr && rows->is_array()) {
    for (const json& row : *rows) {
      matrix.emplace_back();
      if (!row.is_array()) continue;
      for (const json& cell : row) matrix.back().push_back(text_in(&cell));
    }
  }
  if (kind->both_directions && !matrix.empty() && matrix.size() == matrix.front().size())
    return transfers.leave_out(name + one_direction);
  if (kind->both_directions && !matrix.empty() && matrix.size() > matrix.front().size())
    matrix.erase(matrix.begin(), matrix.end() - static_cast<std::ptrdiff_t>(matrix.front().size()));
  transfers.add(name, matrix, number_in(member_of(test, "sum")), place);
}

// ---- Products.

Point product_point(NumberFormat format,
                    ProductFamily family,
                    Pass pass,
                    const std::array<std::int64_t, 3>& shape,
                    std::int64_t gpu,
                    double rate,
                    double digit) {
  const auto [m, n, k] = shape;
  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return rated_point({{Parameter::precision, format},
                      {Parameter::family, family},
                      {Parameter::pass, pass},
                      {Parameter::m, m},
                      {Parameter::n, n},
                      {Parameter::k, k}},
                     gpu,
                     Metric::flops,
                     flops,
                     rate,
                     digit);
}

constexpr std::array<std::int64_t, 3> cube{8192, 8192, 8192};

/// "4096x2048x8192".
std::optional<std::array<std::int64_t, 3>> shape_of(string_view text) {
  const auto parts = split(text, 'x');
  std::array<std::int64_t, 3> shape{};
  if (parts.size() != shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto side = whole_number<std::int64_t>(
        parse_number<std::int64_t>(parts[i]), std::int64_t{1}, std::int64_t{1} << 32);
    if (!side) return std::nullopt;
    shape[i] = *side;
  }
  return shape;
}

/// mamf-finder.py of stas00/ml-engineering, compute/accelerator/benchmarks:
/// print_benchmark_header() and finish(). Since 2026 its summary has a sustained (MSMF) and a burst
/// (MAMF) rate.
class Mamf {
 public:
  explicit Mamf(const std::string& file) : file_(file), facts_("mamf_finder", file) {
    probe_.name = probe_name::gpu_gemm;
    probe_.status = ProbeStatus::measured;
  }
  void take(const std::string& line, std::size_t number);
  ImportedProbes finish();

 private:
  void outcome(const std::vector<string_view>& words);
  /// Rows that end in a carriage return stand in one line.
  void rows(const std::vector<string_view>& words);
  void add(ProductFamily family, Pass pass, string_view rate, string_view shape);
  NumberFormat format() const;
  void device(const std::string& line);

  std::string file_;
  std::string place_;
  Facts facts_;
  ProbeRecord probe_;
  std::string type_;
  std::int64_t gpu_ = 0;
  bool summary_ = false;
};

NumberFormat Mamf::format() const {
  constexpr std::array<std::pair<string_view, NumberFormat>, 7> types{
      {{"bfloat16", NumberFormat::bf16},
       {"float16", NumberFormat::fp16},
       {"float32", NumberFormat::fp32},
       {"float8_e4m3fn", NumberFormat::fp8_e4m3},
       {"float8_e4m3fnuz", NumberFormat::fp8_e4m3},
       {"mxfp8", NumberFormat::mxfp8},
       {"nvfp4", NumberFormat::nvfp4}}};
  constexpr string_view prefix = "torch.";
  const auto name = string_view(type_).substr(type_.starts_with(prefix) ? prefix.size() : 0);
  const auto* found = find_in(types, name, &std::pair<string_view, NumberFormat>::first);
  if (found == nullptr)
    throw UserError(
        "{}: the number format {} is not known here; give a run in bf16, fp16, fp8 or fp32",
        place_,
        printable(type_));
  return found->second;
}

void Mamf::add(ProductFamily family, Pass pass, string_view rate, string_view shape) {
  string_view digits = rate;
  for (const string_view ending : {"TFLOPS", "(median)"})
    if (digits.ends_with(ending)) digits.remove_suffix(ending.size());
  const auto value = printed_rate(digits);
  const auto sides = shape_of(shape);
  if (!value || !sides) not_whole(place_, "no rate in TFLOPS with its shape");
  if (probe_.points.size() > most_points)
    throw UserError("{}: more than {} products; give the output of one run", place_, most_points);
  probe_.points.push_back(product_point(
      format(), family, pass, *sides, gpu_, *value * 1e12, printed_resolution(digits) * 1e12));
}

/// "median: 745.1 TFLOPS @ 4096x2048x8192 (MxNxK)", "MSMF (max sustainable, saturated):   722
/// TFLOPS
/// @ ..."; once "The best outcome was 792.1TFLOPS @ ...".
void Mamf::outcome(const std::vector<string_view>& words) {
  const auto at = std::ranges::find(words, "@");
  if (at == words.end() || at + 1 == words.end() || at == words.begin()) return;
  const bool apart = *(at - 1) == "TFLOPS" && at - words.begin() > 1;
  const string_view rate = apart ? *(at - 2) : *(at - 1);
  if (words[0] == "MAMF") {
    add(ProductFamily::search, Pass::burst, rate, at[1]);
  } else if (words[0] == "median:" || words[0] == "MSMF" || words[0] == "The") {
    add(ProductFamily::search, Pass::steady, rate, at[1]);
  }
}

/// "_CudaDeviceProperties(name='NVIDIA H100 80GB HBM3', ..., total_memory=81079MB,
/// multi_processor_count=132, ...)".
void Mamf::device(const std::string& line) {
  constexpr string_view key = "name='";
  const std::size_t at = line.find(key);
  if (at == std::string::npos) return;
  const std::string name = line.substr(at + key.size());
  facts_.add_gpu(gpu_, "name", name.substr(0, name.find('\'')));
}

void Mamf::take(const std::string& line, std::size_t number) {
  constexpr string_view gpu_flag = "--cuda_device";
  place_ = fmt::format("{}:{}", file_, number);
  const std::vector<string_view> words = words_between(line);
  if (words.empty()) return;
  if (words.size() > 2 && words[1] == "Dtype:") {
    type_ = words[2];
  } else if (line.find("_CudaDeviceProperties(") != std::string::npos) {
    device(line);
  } else if (const std::size_t flag = line.find(gpu_flag); flag != std::string::npos) {
    // "--cuda_device 3", "--cuda_device=3".
    const string_view behind = string_view(line).substr(flag + gpu_flag.size());
    const auto value = words_between(behind.substr(behind.starts_with('=') ? 1 : 0));
    const auto gpu = value.empty() ? std::nullopt : parse_number<std::int64_t>(value[0]);
    gpu_ = whole_number<std::int64_t>(gpu, std::int64_t{0}, most_gpus - 1).value_or(gpu_);
  } else if (words[0] == "Tried" || line.starts_with("The best outcome was ")) {
    summary_ = true;
    if (words[0] == "Tried" && words.size() > 1) facts_.add("shapes", std::string(words[1]));
    outcome(words);
  } else if (summary_) {
    outcome(words);
  } else {
    rows(words);
  }
}

/// "2 |  690.4(mean)  691.0(median)  705.0(max) @ 8192x8192x8192 | best: ...", and since its third
/// version "2  8192x8192x8192  690.4  691.0  705.0 ...": mean, median, largest.
void Mamf::rows(const std::vector<string_view>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (shape_of(words[i]) != cube) continue;
    if (i > 3 && words[i - 3].ends_with("(median)")) {
      add(ProductFamily::cube, Pass::steady, words[i - 3], words[i]);
    } else if (parse_number<std::int64_t>(words[i - 1]) && i + 2 < words.size()) {
      add(ProductFamily::cube, Pass::steady, words[i + 2], words[i]);
    }
  }
}

ImportedProbes Mamf::finish() {
  const bool found = std::ranges::any_of(probe_.points, [](const Point& point) {
    return point.setting.symbol<ProductFamily>(Parameter::family) == ProductFamily::search;
  });
  if (!found) not_whole(file_, "no best outcome at its end: cut short");
  return {facts_.take(), {std::move(probe_)}};
}

/// huggingface/gpu-fryer 1.0 and later, src/logging.rs: products of 8192^3 (SIZE in main.rs).
class Fryer {
 public:
  explicit Fryer(const std::string& file) : file_(file), facts_("gpu_fryer", file) {}
  void take(const std::string& line, std::size_t number);
  ImportedProbes finish();

 private:
  void result(const std::vector<string_view>& words);

  std::string file_;
  std::string place_;
  Facts facts_;
  std::vector<NumberFormat> formats_;
  std::vector<Point> points_;
  std::set<std::int64_t> gpus_;  // of them
  std::vector<Finding> warnings_;
  bool judged_ = false;
};

/// "GPU #7:  51494 Gflops/s (min: 50577.53, max: 51677.05, dev: 293.79)".
void Fryer::result(const std::vector<string_view>& words) {
  const auto gpu = whole_number<std::int64_t>(
      parse_number<std::int64_t>(words[1].substr(1, words[1].find(':') - 1)),
      std::int64_t{0},
      most_gpus - 1);
  if (gpu && parse_number<double>(words[2]) == 0.0)
    throw UserError(
        "{}: GPU {} did no work at all: repair it before its rates are compared", place_, *gpu);
  const auto rate = printed_rate(words[2]);
  if (!gpu || !rate) not_whole(place_, "no GPU with its Gflops/s");
  if (formats_.size() != 1)
    throw UserError(
        "{}: {} number formats; give a run of one, as --use-bf16", place_, formats_.size());
  if (judged_ || !gpus_.insert(*gpu).second)
    throw UserError("{}: a second run; give each as a file of its own", place_);
  points_.push_back(product_point(
      formats_[0], ProductFamily::cube, Pass::together, cube, *gpu, *rate * 1e9, 1e9));
}

void Fryer::take(const std::string& line, std::size_t number) {
  place_ = fmt::format("{}:{}", file_, number);
  const std::vector<string_view> words = words_between(line);
  if (words.size() < 2) return;
  if (words[0] == "Detected" && words.size() > 3 && words[2].starts_with('#')) {
    const auto gpu = parse_number<std::int64_t>(words[2].substr(1, words[2].size() - 2));
    const std::size_t open = line.find('"');
    const std::size_t end = line.find('"', open + 1);
    if (gpu && *gpu >= 0 && end != std::string::npos)
      facts_.add_gpu(*gpu, "name", line.substr(open + 1, end - open - 1));
  } else if (words[0] == "Using") {
    // FP32 operands are multiplied as TF32: an H100 reaches 373 TFLOPS in it (its README). Version
    // 1.0, which prints "Using FP32", called cublasSgemm: 51 TFLOPS.
    const bool first_version = words[1] == "FP32";
    for (const string_view word : words) {
      if (word == "BF16") formats_.push_back(NumberFormat::bf16);
      if (word == "FP8") formats_.push_back(NumberFormat::fp8_e4m3);
      if (word == "FP32")
        formats_.push_back(first_version ? NumberFormat::fp32 : NumberFormat::tf32);
    }
    if (judged_ && formats_.size() > 1)
      throw UserError("{}: a second run; give each as a file of its own", place_);
  } else if (words[0] == "GPU" && words.size() > 3 && words[3] == "Gflops/s") {
    result(words);
  } else if (line == "All GPUs seem healthy" || line.starts_with("Some GPUs are not healthy")) {
    judged_ = true;
  } else if (judged_ && words[0] == "-" && words[1] == "GPU") {
    warnings_.emplace_back(FindingId::tool_said, "gpu-fryer", printable(trimmed(line).substr(2)));
  }
}

ImportedProbes Fryer::finish() {
  if (!judged_ || points_.empty())
    not_whole(file_, "no judgement of all GPUs at its end: cut short");
  ProbeRecord together;
  together.name = probe_name::gpu_together;
  together.status = ProbeStatus::measured;
  together.warnings = std::move(warnings_);
  ProbeRecord products;
  products.name = probe_name::gpu_gemm;
  products.status = ProbeStatus::measured;
  // A minute at full load: what the GPU holds, so the reference product too.
  products.points = points_;
  for (Point& point : products.points) point.setting.set(Parameter::pass, Pass::steady);
  together.points = std::move(points_);
  return {facts_.take(), {std::move(together), std::move(products)}};
}

/// All rows of mamf-finder, where they end in carriage returns.
constexpr std::size_t longest_line = 4U << 20U;

template <class Reader>
ImportedProbes read_lines(std::istream& text, const std::string& file) {
  PlainLines lines(text, longest_line);
  Reader reader(file);
  std::string line;
  while (lines.next(line)) reader.take(line, lines.number());
  return reader.finish();
}
}  // namespace

ImportedProbes read_nvbandwidth_text(std::istream& text, const std::string& file) {
  return read_lines<TransferText>(text, file);
}

ImportedProbes read_nvbandwidth_json(std::string_view text, const std::string& file) {
  const json document = parse_bounded_json(text, file, std::size_t{1} << 30U);
  const json* whole = member_of(document, "nvbandwidth");
  const json* tests = whole == nullptr ? nullptr : member_of(*whole, "testcases");
  if (tests == nullptr || !tests->is_array())
    throw UserError("{}: no JSON of nvbandwidth ('testcases'); give what -j printed", file);
  Transfers transfers(file);
  const std::string version = text_in(member_of(*whole, "version"));
  if (!version.empty()) transfers.version(version);
  const std::string driver = text_in(member_of(*whole, "Driver Version"));
  if (!driver.empty()) transfers.facts().add("driver", driver);
  const json* devices = member_of(*whole, "GPU Device list");
  if (devices == nullptr) devices = member_of(*whole, "GPU Device info");
  if (devices != nullptr && devices->is_array()) {
    // "0: NVIDIA H100 80GB HBM3 (00000000:18:00): (host)".
    for (const json& device : *devices) {
      const std::string one = text_in(&device);
      const auto ordinal = parse_number<std::int64_t>(string_view(one).substr(0, one.find(':')));
      const std::size_t name = one.find(' ');
      if (ordinal && name != std::string::npos)
        transfers.facts().add_gpu(
            *ordinal, "name", one.substr(name + 1, one.find(" (", name) - name - 1));
    }
  }
  const std::string error = text_in(member_of(*whole, "error"));
  if (!error.empty()) transfers.warn({FindingId::tool_said, "nvbandwidth", printable(error)});
  for (std::size_t i = 0; i < tests->size(); ++i)
    add_test_case((*tests)[i], fmt::format("{}: testcases[{}]", file, i), transfers);
  return transfers.finish();
}

ImportedProbes read_mamf_finder(std::istream& text, const std::string& file) {
  return read_lines<Mamf>(text, file);
}

ImportedProbes read_gpu_fryer(std::istream& text, const std::string& file) {
  return read_lines<Fryer>(text, file);
}
}  // namespace scaleworth::cli
