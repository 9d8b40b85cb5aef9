// SPDX-License-Identifier: Apache-2.0
/// Results of nccl-tests and rccl-tests, text or JSON, as a run: what `scaleworth import` reads.
#pragma once

#include "src/core/run.h"

#include <array>
#include <istream>
#include <map>

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

/// The tables in a text of any length, in bounded memory; lines of other programs are read over.
/// Rows whose bandwidth is not size over time count as damaged. Throws UserError with file and line
/// for a column that is unknown and for what is no text.
std::vector<CollectiveTest> read_nccl_tests_text(std::istream& text, const std::string& file);

/// Of `-J FILE`; of the variables in it none is kept but those that may be recorded. Throws
/// UserError as `parse_bounded_json`, and for what is no result of nccl-tests.
std::vector<CollectiveTest> read_nccl_tests_json(std::string_view text, const std::string& file);

/// The tests as points of the probe comm.nccl: one per size and placement; a setting that several
/// tests have is a repeat, and so has the parameter `run`. Rows with wrong results stay, each as a
/// point of its own. Warnings say what is missing, left out or inferred. The ranks are those of the
/// list of devices, of the library's log or of the command, else the one number for which
/// busbw/algbw is the collective's factor (`bus_factor`).
/// Throws UserError with file and remedy where the collective or the ranks are not known.
Run imported_run(const std::vector<CollectiveTest>& tests, const ImportOptions& options);

/// The files, "-" or a pipe too, as `imported_run`. Throws UserError for what is no such result.
Run import_files(const std::vector<std::string>& files, const ImportOptions& options);

/// A run directory, a run.json or results that can be imported, as `read_run`.
Run read_any_run(const std::string& path);

// For the readers: the names in data/imports.toml.

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
/// Whether algbw is bytes over time, within the printed digits; true where it is not stated.
bool is_consistent(std::int64_t bytes, const TestTiming& timing);
}  // namespace scaleworth::cli
