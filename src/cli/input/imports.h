// SPDX-License-Identifier: Apache-2.0
/// Results of other tools as a run: what `scaleworth import` reads. nccl-tests and rccl-tests, NCCL
/// Inspector, nvbandwidth, mamf-finder, gpu-fryer. What load generators measured, for `demand`.
#pragma once

#include "src/core/finding.h"
#include "src/core/run.h"
#include "src/model/transformer/demand.h"

#include <array>
#include <istream>
#include <map>
#include <memory>

#include <nlohmann/json_fwd.hpp>

namespace scaleworth::cli {
/// What the user says of files that do not say it themselves.
struct ImportOptions {
  std::string collective;  // empty: as the program, its command or the file's name says
  std::optional<int> ranks;
  std::optional<int> nodes;
};

/// A line of the list of devices: one rank.
struct TestDevice {
  int rank = 0;
  int group = 0;
  std::int64_t process = 0;
  std::string host;
  int device = 0;
  std::string bus;
  std::string name;
};

/// One size, out of place or in place.
struct TestTiming {
  Series time;                                // s
  std::optional<double> algorithm_bandwidth;  // B/s
  std::optional<double> bus_bandwidth;        // B/s
  double bandwidth_resolution = 0.0;          // B/s, of the printed digits
  std::optional<double> wrong_elements;       // absent: not checked
  std::optional<double> largest_difference;   // of older programs, which count nothing
};

struct TestRow {
  std::string place;  // "file:12"
  std::int64_t bytes = 0;
  std::string data_type;
  std::string reduction;                             // empty for none
  std::array<std::optional<TestTiming>, 2> timings;  // out of place, in place
};

/// A text and where it stands.
struct SourcedText {
  std::string text;  // empty: not stated
  std::string source;
};

/// What one invocation of a test program printed.
struct CollectiveTest {
  std::string file;
  std::string place;    // of its table
  SourcedText program;  // "all_reduce_perf_mpi": where it is stated, the collective
  SourcedText version;  // "nccl-tests 2.17.1"
  SourcedText library;  // "2.21.5+cuda12.4"
  SourcedText command;  // from the program's name on
  SourcedText started_at;
  std::map<std::string, SourcedText> variables;  // those that may be recorded
  std::map<std::string, std::int64_t> header;    // by the names of [[header]] in data/imports.toml
  std::vector<TestDevice> devices;
  std::optional<int> processes;     // that a launcher in the command starts
  std::optional<int> logged_ranks;  // of the communicator, in the library's log
  std::optional<int> logged_nodes;
  std::vector<TestRow> rows;
  std::optional<std::int64_t> out_of_bounds;  // values in all, from the last lines
  // What is not in `rows`.
  std::size_t rows_of_size_0 = 0;
  std::size_t damaged_rows = 0;
  std::string first_damaged;  // place
};

/// What a file of another tool gives a run: points under the probes that measure the same.
struct ImportedProbes {
  std::vector<FactSection> facts;  // the first is of the file; "gpu 0": what is known of it
  std::vector<ProbeRecord> probes;
  std::optional<RankPlacement> placement{};
};

/// The tables in a text of any length, in bounded memory; lines of other programs are read over.
/// Rows whose bandwidth is not size over time count as damaged. Throws UserError with file and line
/// for a column that is unknown and for what is no text.
std::vector<CollectiveTest> read_nccl_tests_text(std::istream& text, const std::string& file);

/// Of `-J FILE`; of the variables in it none is kept but those that may be recorded. Throws
/// UserError as `parse_bounded_json`, and for what is no result of nccl-tests.
std::vector<CollectiveTest> read_nccl_tests_json(std::string_view text, const std::string& file);

/// The test as points of the probe comm.nccl: one per size and placement. Rows with wrong results
/// stay, each as a point of its own. Warnings say what is missing, left out or inferred. The ranks
/// are those of the list of devices, of the library's log or of the command, else the one number
/// for which busbw/algbw is the collective's factor (`bus_factor`). Throws UserError with file and
/// remedy where the collective or the ranks are not known.
ImportedProbes imported_probes(const CollectiveTest& test, const ImportOptions& options);

/// What several files gave as one run; settings that several have are repeats, with the parameter
/// `run`. `tests`: of which the variables are kept.
Run imported_run(std::vector<ImportedProbes> files, const std::vector<CollectiveTest>& tests = {});

/// nvbandwidth's text and the JSON of -j, as transfers. A matrix that is cut short or does not add
/// up to its SUM is a UserError; tests that measure no transfer of one path, such as latencies, are
/// left out and named.
ImportedProbes read_nvbandwidth_text(std::istream& text, const std::string& file);
ImportedProbes read_nvbandwidth_json(std::string_view text, const std::string& file);
/// The best shape that mamf-finder found, and the reference cube if it was tried, as products.
/// UserError without the closing summary.
ImportedProbes read_mamf_finder(std::istream& text, const std::string& file);
/// Each GPU's products of 8192^3 while all GPUs work. UserError without the closing judgement.
ImportedProbes read_gpu_fryer(std::istream& text, const std::string& file);

/// Records of NCCL Inspector, v4.0 to v4.4, from the files of all processes, in any order of files.
/// A collective is one communicator, kind and number; its time is the shortest over the ranks, the
/// late rank's, which waited for nobody. Records below 8 KiB, of the CPU's clock, of point-to-point
/// operations and of proxies are counted and left out; so are collectives that not all ranks
/// recorded, where there are whole ones.
class InspectorReader {
 public:
  InspectorReader();
  ~InspectorReader();
  /// In bounded memory. Throws UserError with file and line for a line that is cut short, and for
  /// a record whose header is not known (lines sorted or split).
  void take(std::istream& lines, const std::string& file);
  ImportedProbes finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether the beginning of JSON is of NCCL Inspector.
bool has_inspector_records(std::string_view json);

/// Throws UserError for two files of the same bytes: one measurement given twice would pass for
/// repeats that agree.
void refuse_copies(const std::vector<std::string>& files);
/// The runs, or results of tests, directly inside of a folder that is no run itself: repeats of one
/// measurement, or what the processes of one job wrote.
std::vector<std::string> repeats_in(const std::string& path);
/// All repeats as one run. Throws UserError for a measurement that is given twice.
Run read_repeats(const std::vector<std::string>& paths, std::string_view command);
/// The files, "-" or a pipe too, as `imported_run`. Throws UserError for what is no such result.
Run import_files(const std::vector<std::string>& files, const ImportOptions& options);

/// Of each measurement its files: those that the processes of one job wrote (NCCL Inspector), given
/// as their folder or by name, belong together; anything else is one of its own.
std::vector<std::vector<std::string>> measurements_of(const std::vector<std::string>& inputs);

/// The run.json of an archive that `pack` wrote, whose first file it is; absent for anything else.
std::optional<std::string> packed_run(const std::string& path);

/// A run directory, a run.json, a packed run or results that can be imported, as `read_run`.
Run read_any_run(const std::string& path);
/// Of one of `measurements_of`.
Run read_any_run(const std::vector<std::string>& measurement);

// For the readers: the names in data/imports.toml.

/// Lines of any text in bounded memory, without their ends, colours and control characters.
class PlainLines {
 public:
  /// What is longer than `longest` is cut.
  explicit PlainLines(std::istream& text, std::size_t longest = 64 * 1024);
  bool next(std::string& line);
  /// Of the line that `next` gave last, from 1.
  std::size_t number() const { return number_; }

 private:
  bool fill();

  std::istream& text_;
  std::size_t longest_;
  std::string piece_;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
  std::size_t number_ = 0;
};

/// Of "12.90" 0.01.
double printed_resolution(std::string_view number);
/// "run3/all_reduce.txt": "all_reduce.txt".
std::string base_name(const std::string& file);
/// "NVLSTree" of "NVLS_TREE": as the library writes it; other texts as they are.
std::string library_word(const std::string& foreign);

/// Null where `object` is none or has no such member.
const nlohmann::json* member_of(const nlohmann::json& object, const char* key);
/// Numbers and truth values may be texts.
std::optional<double> number_in(const nlohmann::json* value);
std::optional<std::int64_t> whole_in(const nlohmann::json* value);
std::string text_in(const nlohmann::json* value);

/// For comparison: without case, blanks, '_' and '-'.
std::string plain_name(std::string_view name);
/// "h100x8_allreduce.txt": the one collective that a file is named after; longer names hide what
/// they contain, as reduce_scatter does reduce.
std::optional<Collective> collective_of_file(const std::string& file);
/// What a column or a member is of ours.
struct ForeignValue {
  std::optional<Parameter> parameter;
  std::optional<Metric> metric;
  bool largest_difference = false;
  double unit = 1.0;  // seconds, bytes or bytes per second
};
/// Null for a name that is unknown.
const ForeignValue* text_column(std::string_view name);
const ForeignValue* json_member(std::string_view name);
/// The name of ours of a word in a header; empty for an unknown one.
std::string header_name(std::string_view foreign);
/// Of "all_reduce_perf_mpi"; absent for a program of another operation.
std::optional<Collective> collective_of_program(std::string_view program);
/// "2.28.9" of 22809.
std::string library_version(std::int64_t code);
/// Every heading, for messages.
std::string known_columns_of_tests();

/// Puts what a column or a member holds where it belongs; false where it is no value of a timing.
bool set_value(TestTiming& timing, const ForeignValue& value, std::optional<double> number);
/// Whether the size behind the last one, by the steps of the rows (nccl-tests' -f and -i), was
/// asked for, too. Of two rows the step is taken for a factor, of one for 2.
bool ends_early(const CollectiveTest& test);
/// Whether algbw is bytes over time, within the printed digits; true where it is not stated.
bool is_consistent(std::int64_t bytes, const TestTiming& timing);

/// The points of a service curve, single latencies, and what is to be said of both.
struct ServiceFile {
  std::vector<model::ServicePoint> points;
  std::vector<model::LatencySamples> samples{};
  std::vector<Finding> warnings{};  // why the figures may be wrong
  std::vector<Finding> remarks{};
  bool requests_of_gpu = false;  // rates of one GPU, not of the replica
  bool tokens_of_gpu = false;
  std::optional<int> gpus{};  // of the server that the curve is of
  std::string server{};       // as the load generator names it, with the model; empty: not said
};

/// One of these, told by its content:
/// - a table with a row per load: concurrency, a rate of requests or tokens, latencies;
/// - a table or JSON lines with a latency per request;
/// - JSON of vLLM's `bench serve` and JSON lines of SGLang's bench_serving (one point a line), JSON
///   of guidellm (report version 1 and 2) and of aiperf (schema 1.0 to 1.4), our own of `mfu
///   --inference`.
/// Percentiles are computed again from single latencies where these are there; one that is printed
/// more than 0.01 ms off is a warning. Throws UserError, with file and place, for anything else.
ServiceFile parse_service_file(std::string_view text, const std::string& file);
/// Adds what a load generator wrote of one run or several; false for another document.
bool read_load_generator(const nlohmann::json& run, ServiceFile& file, const std::string& place);
/// Of at most 512 MiB.
ServiceFile read_service_file(const std::string& path);

/// A table with a row per hour and its count of requests, or its requests per second.
std::vector<model::DemandHour> parse_demand_hours(std::string_view text, const std::string& file);
std::vector<model::DemandHour> read_demand_hours(const std::string& path);
}  // namespace scaleworth::cli
