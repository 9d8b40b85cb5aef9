// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/run_directory.h"
#include "src/core/run.h"
#include "trace/formats/byte_source.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace scaleworth::cli {
namespace {
/// Results of one test; with the times of all iterations of many ranks some megabytes.
constexpr std::uintmax_t most_json_bytes = 256U << 20U;
/// By these bytes it is known whose results they are; a job's log may have much before them.
constexpr std::size_t sniffed_bytes = 1U << 20U;
/// A binary file shows itself before.
constexpr std::size_t first_bytes = 64 * 1024;

/// A source's bytes as a stream.
class ByteStream : public std::streambuf {
 public:
  explicit ByteStream(trace::ByteSource& source) : source_(source) {}

 private:
  int_type underflow() override {
    piece_.resize(first_bytes);
    piece_.resize(source_.read(piece_));
    setg(piece_.data(), piece_.data(), piece_.data() + piece_.size());
    if (!piece_.empty()) return traits_type::to_int_type(piece_.front());
    if (!source_.damage().empty()) throw UserError("{}: {}", source_.name(), source_.damage());
    return traits_type::eof();
  }

  std::string piece_;
  trace::ByteSource& source_;
};

/// A file or pipe of results, decompressed, without a byte order mark. Throws UserError.
class ResultText {
 public:
  explicit ResultText(const std::string& path)
      : source_(trace::open_byte_source(path), sniffed_bytes), bytes_(source_), stream_(&bytes_) {
    // A stream passes on what its buffer throws.
    stream_.exceptions(std::ios::badbit);
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    std::array<char, byte_order_mark.size()> mark{};
    if (source_.front().starts_with(byte_order_mark)) source_.read(mark);
  }
  const std::string& name() const { return source_.name(); }
  /// For as long as nothing was read.
  std::string_view front() const { return source_.front(); }
  std::istream& stream() { return stream_; }
  std::string whole_json() {
    std::string text;
    std::string piece(sniffed_bytes, '\0');
    while (stream_.read(piece.data(), std::ssize(piece)), stream_.gcount() > 0) {
      text.append(piece, 0, static_cast<std::size_t>(stream_.gcount()));
      if (text.size() > most_json_bytes)
        throw UserError(
            "{}: more than {} bytes of JSON; give the output of one job", name(), most_json_bytes);
    }
    return text;
  }

 private:
  trace::PeekedSource source_;
  ByteStream bytes_;
  std::istream stream_;
};

bool is_json(std::string_view front) {
  return trimmed(front).starts_with('{');
}

/// A folder's files where all are of NCCL Inspector, a file that is; empty for anything else.
std::vector<std::string> inspector_files(const std::string& input) {
  std::error_code trouble;
  std::vector<std::string> files{input};
  if (std::filesystem::is_directory(input, trouble)) {
    files.clear();
    for (const auto& entry : std::filesystem::directory_iterator(input, trouble))
      files.push_back(entry.path().string());
    std::ranges::sort(files);
  }
  const auto one = [](const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return false;
    const ResultText file(path);
    return is_json(file.front()) && has_inspector_records(file.front());
  };
  return std::ranges::all_of(files, one) ? files : std::vector<std::string>{};
}

/// Throws UserError where there is no result.
void require_rows(const std::vector<CollectiveTest>& tests, const std::string& path) {
  if (std::ranges::any_of(tests, [](const auto& test) { return !test.rows.empty(); })) return;
  if (!tests.empty())
    throw UserError("{}: no row could be read (first at {}); give the whole output, unchanged",
                    path,
                    tests.front().first_damaged.empty() ? path : tests.front().first_damaged);
  throw UserError(
      "{}: no table of nccl-tests in it; give the text that all_reduce_perf and its like print, or "
      "what -J wrote; or what NCCL Inspector, nvbandwidth, mamf-finder or gpu-fryer gave",
      path);
}

/// The results of several files, each of any tool.
class Imports {
 public:
  explicit Imports(ImportOptions options = {}) : options_(std::move(options)) {}
  /// By its front is known whose it is. Text and records come piece by piece, one JSON document as
  /// a whole.
  void take(ResultText& text);
  Run finish();

 private:
  void take_tests(std::vector<CollectiveTest> tests, const std::string& file);

  ImportOptions options_;
  std::vector<CollectiveTest> tests_;
  std::vector<ImportedProbes> found_;
  std::optional<InspectorReader> inspector_;
};

void Imports::take_tests(std::vector<CollectiveTest> tests, const std::string& file) {
  require_rows(tests, file);
  for (CollectiveTest& test : tests) {
    if (!test.rows.empty()) found_.push_back(imported_probes(test, options_));
    tests_.push_back(std::move(test));
  }
}

void Imports::take(ResultText& text) {
  const std::string& file = text.name();
  const std::string_view front = text.front();
  if (front.substr(0, first_bytes).find('\0') != std::string_view::npos)
    throw UserError("{}: no text in UTF-8 (binary, or saved as UTF-16); save it in UTF-8", file);
  const auto has = [&](std::string_view word) { return front.find(word) != std::string::npos; };
  const bool json = is_json(front);
  const bool table = !json && has("algbw") && has("busbw");
  const bool sums = !json && has("\nSUM ");
  const bool transfers = has(json ? R"("nvbandwidth")" : "nvbandwidth Version:")
                             ? !table || sums
                             : sums && has("memcpy CE ");
  const bool records = json && has_inspector_records(front);
  const bool fryer = !json && has("Gflops/s");
  const bool mamf = !json && (has("** Dtype:") || has("shapes => the best outcomes"));
  if (table + transfers + fryer + mamf > 1)
    throw UserError(
        "{}: results of several tools in one text; give those of each as a file of its own", file);
  if (json && has(R"("detected_gpus")"))
    throw UserError("{}: JSON of gpu-fryer is not read; give the text that it prints", file);
  if (json && !records) {
    const std::string whole = text.whole_json();
    if (transfers) return found_.push_back(read_nvbandwidth_json(whole, file));
    return take_tests(read_nccl_tests_json(whole, file), file);
  }
  std::istream& whole = text.stream();
  if (records) {
    if (!inspector_) inspector_.emplace();
    inspector_->take(whole, file);
  } else if (transfers) {
    found_.push_back(read_nvbandwidth_text(whole, file));
  } else if (fryer) {
    found_.push_back(read_gpu_fryer(whole, file));
  } else if (mamf) {
    found_.push_back(read_mamf_finder(whole, file));
  } else {
    take_tests(read_nccl_tests_text(whole, file), file);
  }
}

Run Imports::finish() {
  if (inspector_) found_.push_back(inspector_->finish());
  return imported_run(std::move(found_), tests_);
}
}  // namespace

bool has_inspector_records(std::string_view json) {
  return std::ranges::any_of(
      std::array{R"("coll_perf")", R"("p2p_perf")", R"("dump_stats")"},
      [&](const char* word) { return json.find(word) != std::string_view::npos; });
}

void refuse_copies(const std::vector<std::string>& files) {
  constexpr std::uintmax_t most_compared = 64 << 20;
  std::map<std::uintmax_t, std::vector<std::string>> by_size;
  for (const std::string& file : files) {
    std::error_code trouble;
    const std::uintmax_t size = std::filesystem::file_size(file, trouble);
    if (trouble || size == 0 || size > most_compared) continue;
    const auto bytes = [](const std::string& name) {
      std::ifstream input(name, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(input), {});
    };
    for (const std::string& other : by_size[size])
      if (bytes(other) == bytes(file))
        throw UserError(
            "{} and {} hold the same bytes: one measurement, not two repeats; leave one out",
            other,
            file);
    by_size[size].push_back(file);
  }
}

Run import_files(const std::vector<std::string>& files, const ImportOptions& options) {
  if (!options.collective.empty() && !collective_of_program(options.collective))
    throw UserError("--collective {} is none of {}",
                    options.collective,
                    listed(every<Collective>, [](Collective one) { return key_of(one); }));
  Imports imports(options);
  std::vector<std::string> all;
  for (const std::string& file : files) {
    const std::vector<std::string> inside = inspector_files(file);
    all.insert(all.end(), inside.begin(), inside.end());
    if (inside.empty()) all.push_back(file);
  }
  refuse_copies(all);
  for (const std::string& file : all) {
    std::error_code trouble;
    if (std::filesystem::is_directory(file, trouble))
      throw UserError("{}: is a folder; give its files", file);
    ResultText text(file);
    imports.take(text);
  }
  return imports.finish();
}

std::vector<std::vector<std::string>> measurements_of(const std::vector<std::string>& inputs) {
  std::vector<std::vector<std::string>> measurements;
  std::vector<std::string> by_name;
  for (const std::string& input : inputs) {
    const std::vector<std::string> files = inspector_files(input);
    if (files.size() == 1 && files.front() == input) {
      by_name.push_back(input);
    } else {
      measurements.push_back(files.empty() ? std::vector{input} : files);
    }
  }
  if (!by_name.empty()) measurements.push_back(std::move(by_name));
  return measurements;
}

std::optional<std::string> packed_run(const std::string& path) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  if (!path.ends_with(".tgz")) return std::nullopt;
  const auto archive = trace::open_byte_source(path);
  trace::TarReader members(*archive);
  const auto first = members.next();
  if (!first || !first->name().ends_with(std::string("/") + run_file_name)) return std::nullopt;
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  while (const std::size_t bytes = first->read(piece)) {
    text.append(piece.data(), bytes);
    if (text.size() > most_bytes) throw UserError("{}: its run.json is above 1 GiB", path);
  }
  return text;
}

Run read_any_run(const std::string& path) {
  if (const auto packed = packed_run(path)) return join_runs(run_from_json(*packed, path));
  std::error_code trouble;
  const std::filesystem::path file(path);
  if (!std::filesystem::exists(file, trouble) || std::filesystem::is_directory(file, trouble) ||
      file.filename() == run_file_name)
    return read_run(path);
  ResultText text(path);
  if (is_json(text.front()) && text.front().find(R"("schema_version")") != std::string::npos)
    return join_runs(run_from_json(text.whole_json(), path));
  Imports imports;
  imports.take(text);
  return join_runs(imports.finish());
}

Run read_any_run(const std::vector<std::string>& measurement) {
  return measurement.size() == 1 ? read_any_run(measurement.front())
                                 : join_runs(import_files(measurement, {}));
}

std::vector<std::string> repeats_in(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder(path);
  std::vector<std::string> found;
  std::error_code error;
  if (!fs::is_directory(folder, error) || fs::exists(folder / run_file_name, error)) return found;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (fs::exists(entry.path() / run_file_name, error) ||
        (fs::is_regular_file(entry.path(), error) &&
         input_kind(entry.path().string()) == InputKind::results))
      found.push_back(entry.path().string());
  std::ranges::sort(found);
  return found;
}

Run read_repeats(const std::vector<std::string>& paths, std::string_view command) {
  namespace fs = std::filesystem;
  std::vector<Run> runs;
  std::vector<std::string> read;
  for (const std::vector<std::string>& files : measurements_of(paths)) {
    std::vector<std::string> inside = files.size() == 1 ? repeats_in(files.front()) : files;
    if (inside.empty()) inside = files;
    for (const std::string& one : inside)
      read.push_back(fs::is_directory(one) ? (fs::path(one) / run_file_name).string() : one);
    for (const std::vector<std::string>& one : measurements_of(inside))
      runs.push_back(read_for(command, files, [&] { return read_any_run(one); }));
  }
  refuse_copies(read);
  return runs.size() == 1 ? std::move(runs.front()) : pool_runs(std::move(runs));
}
}  // namespace scaleworth::cli
