// SPDX-License-Identifier: Apache-2.0
/// Table, run, recordings, attribution JSON, regimes -> table, request; cells as read, the column
/// table, selection.
#pragma once

#include "src/core/attribution.h"
#include "src/core/error.h"
#include "src/model/decision/offers.h"
#include "src/model/decision/regimes.h"
#include "src/model/decision/scaling_table.h"

#include <cstddef>
#include <optional>
#include <variant>

namespace scaleworth::cli {
using namespace model;

/// Nothing, a number (of a format that has them), or text.
using RawCell = std::variant<std::monostate, double, std::string>;

struct RawRow {
  std::string place;           // "table.csv:3", for messages
  std::vector<RawCell> cells;  // one per column
};

/// What a comma in a number is. Beside decimal commas points group thousands; mixed: unless the
/// table has decimal points, too.
enum class Comma { unstated, decimal, thousands, mixed };

/// A table as it stands in a file, before its columns mean anything.
struct RawTable {
  std::string file;
  std::string place;  // of the header
  std::vector<std::string> columns;
  std::vector<RawRow> rows;
  char separator = ',';
  Comma comma = Comma::unstated;
  std::vector<std::string> left_out{};   // rows, as "total", that are no count
  std::vector<std::string> stated_as{};  // of a renamed column, its own header; else empty
  std::string title{};                   // the line above the header
  std::string
      kinds{};  // the column that says what a row counts, CPUs or GPUs, or of which table it is
};

/// As it would be written: "0.5", "16B"; empty for nothing.
std::string cell_text(const RawCell& cell);

/// What of a file is the table.
struct TableSelection {
  std::vector<std::string> where;  // "params=16B": only rows with this cell; "params!=16B": without
  std::vector<std::string> rename;  // "load=p": a column under another header
  Comma comma = Comma::unstated;
  std::optional<double> gpus_per_instance{};  // of a price of instances
};

struct TableFile {
  ScalingTable table;
  std::vector<std::string> ignored;   // columns that mean nothing here
  std::vector<std::string> unread{};  // those of them that may say what work was done
  /// What to ask where seconds are needed and the time states no unit.
  std::optional<Question> unit{};

  /// The table, whose times are seconds. Throws `unit`.
  const ScalingTable& with_unit() const {
    if (unit) throw Question(*unit);
    return table;
  }
};

/// The table in `text`, by the name of `file` or its beginning TOML or JSON, else text in which
/// commas, semicolons, tabs, bars or blanks divide cells, as Markdown, org and reports have it:
/// with titles, rules, ragged bars and counts in the header; at most 100000 rows and 1000 columns.
/// How the work of the rows grows is settled, by `scaling` where it is declared. Throws Question
/// for what the table leaves open, UserError with file, row and column for anything else, and for
/// what `assemble` refuses.
TableFile parse_table(std::string_view text,
                      const std::string& file,
                      const TableSelection& selection = {},
                      std::optional<Scaling> scaling = {});

/// The rows of TOML ([[row]]), and those that JSON holds, however they are nested: objects, columns
/// of one length, objects by count. Throw UserError for what holds none.
RawTable parse_toml(std::string_view text, const std::string& file);
RawTable parse_json(std::string_view text, const std::string& file);

/// What code and YAML assign: "threads = [1, 2, 4]", "results = [{'gpus': 1, ...}]", "c(1, 2)". No
/// columns where it is no table with a count.
RawTable assigned_rows(std::string_view text, const std::string& file);

/// Adds the rows of another table, whose title tells them apart.
void append(RawTable& table, const RawTable& other);

/// Tables of box characters, HTML, MediaWiki, Jira and LaTeX with plain bars.
std::string with_plain_bars(std::string_view text);

/// The cells of a text that is no TOML and no JSON. Throws UserError as `parse_table`.
RawTable read_cells(std::string_view text, const std::string& file);

/// As `rows_of_numbers` and `numbered_text`, where nothing else makes the text a table.
std::vector<RawTable> last_resorts(std::string_view text, const std::string& file);

/// The cells of a table as `parse_table` takes it, with counts in the header made rows. Throws
/// UserError for what is none, and where commas or points between semicolons may be either.
RawTable parse_raw_table(std::string_view text, const std::string& file);

/// Throw UserError beginning with `place` for one row or column more than a table may have.
void check_row_count(std::size_t rows_so_far, const std::string& place);
void check_column_count(std::size_t columns, const std::string& place);

/// Values that every cell of a column names beside another become columns, as the counters of
/// Google Benchmark, "97 items_per_second=313M/s".
RawTable with_named_values(RawTable table);

/// Counts that stand in the header ("1 card | 2 cards", or 1, 2, 4 behind a name) become rows;
/// those that stand in the names of rows ("Parallel (4 workers)") become a column.
RawTable counts_as_rows(RawTable table);

/// A column of nothing but two numbers in each cell, "79.3/75.3", and "2-8" below "servers-GPUs",
/// becomes two.
RawTable with_pairs(RawTable table);

/// The text of a table's file. Throws UserError where it is too large.
std::string table_text(const std::string& path);
/// As `parse_table`; a folder or a run.json is one of our own runs. With `scaling` declared the
/// table is of that, and a run's steps are those. Throws UserError for a file that cannot be read
/// or exceeds 16 MiB (TOML: 4 MiB, a run: 1 GiB).
TableFile read_table(const std::string& path,
                     const TableSelection& selection = {},
                     std::optional<Scaling> scaling = {});

/// The table of each text in the column `by`, in the order of the file. Throws as `read_table`, and
/// UserError for a column that is not there.
std::vector<NamedTable> read_groups(const std::string& path,
                                    const std::string& by,
                                    const TableSelection& selection,
                                    std::optional<Scaling> scaling);

/// In the order of the column table.
enum class Meaning {
  count,
  per_node,  // of what is counted, in a node
  repeat,
  time,
  compute,
  communication,
  idle,
  host,
  io,
  quality,
  work,
  throughput,
  speedup,
  efficiency,
  energy,
  energy_per_work,
  power,
  price,
  latency,
  tensor,
  pipeline,
  context,
  data,
  expert,
  batch,
  replica_batch,
  rank_batch,
  micro_batch,
  microbatches,
  sequence_length,
  steps,
  epochs,
  identity  // which program, model or machine a row is of
};

/// What a number of a column is of, where its name says so.
enum class Per { unstated, step, run };

enum class Dimension { none, time, energy, power };

struct Unit {
  std::string name;  // as it is said, "hours"
  Dimension dimension = Dimension::time;
  double factor = 1.0;  // of seconds, joules, watts
  std::vector<std::string> in_header;
  std::vector<std::string> in_cell;
};

struct TableColumn {
  Meaning meaning = Meaning::count;
  std::string name;  // as in the file
  std::string unit;  // "milliseconds"; empty for pure numbers, and for a time that states none
  Dimension dimension = Dimension::none;
  double factor = 1.0;     // of base units
  bool inverse = false;    // base units are the factor over the number
  std::size_t choice = 0;  // of several columns of one meaning the one with the least is taken
  Per per = Per::unstated;
  bool epoch = false;          // of an epoch, whose work is the same at every count
  bool per_rank = false;       // a throughput of one rank
  std::string rank;            // "gpu": what a throughput, price or batch is of
  bool of_one_or_all = false;  // a throughput whose name does not say which
  bool all_of_them = false;    // "total" stands in its name
  bool flops = false;          // a throughput in FLOP/s
  bool relative = false;       // a throughput in parts of an unknown peak
  bool nodes = false;          // a count of nodes
  bool load = false;           // a count of users or requests, not of machines
  bool singular = false;       // a count that may be a machine's name: "gpu"
  bool generic = false;        // a time that may be one of a part of the program
  bool percent = false;
  bool weak = false;  // the name speaks of weak scaling
  bool strong = false;
  bool summed = false;         // a time of all that are counted together: GPU-hours
  int better_quality = 0;      // as TableRow's
  bool unclear_batch = false;  // of all or of one
  std::string noun;            // what is counted, "GPUs"
  std::string work_noun;       // what work is counted in, "tokens"
  std::string latency;         // "ttft_p99"
};

using WordList = std::vector<std::string>;

/// What is counted, or what a rate is of: "GPUs" by "gpu", "gpus" ...
struct Noun {
  std::string noun;
  WordList words;
  std::size_t place = 0;  // in order of preference
};

/// A name of columns in data/columns.toml.
struct ColumnName {
  Meaning meaning = Meaning::count;
  std::size_t choice = 0;  // as TableColumn's
  bool load = false;
  bool generic = false;
};

/// Behind all names of one meaning stand things, parts of a program's time, and loads.
constexpr std::size_t choice_of_things = 100;
constexpr std::size_t choice_of_generic = 200;
constexpr std::size_t choice_of_letters = 300;  // "p", "n", which may be a size
constexpr std::size_t choice_of_load = 500;

/// What a header says that its column is; absent for nothing known.
std::optional<Meaning> named_meaning(const std::string& header);
/// Whether a header says what is counted.
bool names_a_count(const std::string& header);
/// What cells say that they are, all of them: "time" ("714.8 ms"), "throughput" ("895 records/s"),
/// "speedup" ("1.88x"), else "value".
std::string named_by_cells(const std::vector<RawCell>& cells);
/// "tokens/s" of "14k tokens/s"; empty for a cell that says no rate.
std::string rate_in(const std::string& cell);
/// Whether data/columns.toml has `word`, or one of `words`, in the list of this use.
bool is_word(std::string_view use, std::string_view word);
bool has_word(std::string_view use, const WordList& words);
const std::vector<Unit>& table_units();
/// A text in which what other programs print stands as tables have it, by data/columns.toml;
/// `line`: of running text, without what stands behind a value and is none, "± 3.2".
std::string rewritten(std::string text, bool line);
/// "hours" by "hrs"; null for other words.
const Unit* header_unit(const std::string& word);
/// Null for a name that data/columns.toml does not have: "total_time".
const ColumnName* column_named(const std::string& key);
/// What work is counted in, "samples" by "sample"; null for other words.
const Noun* work_of(const std::string& word);
/// What is counted: of "gpus", and of "ngpus" and "numgpus"; null for other words.
const Noun* thing_of(const std::string& word);
/// "GPUs" of "gpu"; empty for a word that names nothing countable.
std::string counted_noun(const std::string& word);
/// "gpu" of "gpus"; words that name nothing countable as they are.
std::string singular(const std::string& word);

/// A header taken apart.
struct HeaderWords {
  WordList name;                   // what it is, without fillers, units and what it is divided by
  const Unit* unit = nullptr;      // null where it states none
  std::string unit_text;           // as it stands there
  const Unit* per_time = nullptr;  // "/s"
  WordList per;                    // "gpu", "tok": what else it is divided by
  Per basis = Per::unstated;
  bool percent = false;
  bool all_of_them = false;  // "total"
  bool not_measured = false;

  std::string key() const;  // "total_time"
};
HeaderWords header_words(const std::string& text);
/// "threads / video" beside "fps / video" are both of one; "videos" tells the rows apart.
void drop_common_divisor(WordList& names);
/// Every word of a header, in small letters.
WordList all_header_words(const std::string& header);
/// 1000 of "thousand", "k", "10^3", "x1000", "1000s", else 1.
double power_of_ten(const std::string& word);
/// 1000 of "requests (thousands)", "ktok/s" and "k tokens/s", 1e9 of "tokens_B", else 1.
double header_scale(const WordList& words);

/// Of "time_ms", "comm (s)", "idle [h]", "# GPUs", "tok_per_s_per_gpu" ... in any case; absent for
/// a name that means nothing here. Throws UserError, beginning with `place`, for an energy or a
/// latency without a unit, and for "mj", which may be mega or milli.
std::optional<TableColumn> table_column(const std::string& header, const std::string& place);

std::string known_columns();

/// "table.csv:3: column 'p' is empty".
[[noreturn]] void refuse_column(const std::string& place,
                                const TableColumn& column,
                                const std::string& what);

/// Small letters; signs of Markdown and money are gone, typographic ones are plain, and what is no
/// ASCII after that, such as a check mark, is a blank.
std::string plain_text(std::string_view text);

/// A number as people write it in a cell.
struct CellNumber {
  double value = 0.0;
  const Unit* unit = nullptr;  // "299.5 ms"; "2h 21 min" in seconds
  bool clock = false;          // "10:30", in the first of its units over 60, and with seconds above
};

/// Of "1,884,602", "12,5" by `comma`, "25.4%", "1.8k", "**92.9%**", "~360ms", "1800 ± 20", "8x",
/// "512^3", "2h 21 min", "10:30", "$3.20"; absent for what is no number.
std::optional<CellNumber> cell_number(std::string_view text, Comma comma);

/// The number of 0 or more in a cell, by the cell's own unit, else times `factor`; absent for an
/// empty cell. Throws UserError with the place for anything else.
std::optional<double> value_in(const RawTable& table,
                               const RawRow& row,
                               std::size_t column,
                               double factor);

/// What a row says of its outcome where it failed, "OOM", "exit_code 137"; absent where it did not.
std::optional<std::string> failure_of(const RawTable& table, const RawRow& row);

/// Whether the cell says that there is no value: "N/A", "OOM".
bool is_missing(const RawCell& cell);

/// "898.98 Kelem/s" beside "6.13 Melem/s" in one unit, without prefixes.
void unify_prefixes(RawTable& table);

/// With a column "gpus", TP x PP x CP x DP, or "ranks", P x Q of a grid, where no other counts.
RawTable with_count_of_layout(RawTable table);

/// What commas and points are in the cells of a table, by those that can be but one; unstated where
/// they may be either: "1,234", and "1.234" between semicolons.
Comma comma_of(const RawTable& table);

/// One per column of a table; absent for one that is left out.
using Columns = std::vector<std::optional<TableColumn>>;

/// The first column of a meaning, by its place; how many there are without one.
std::size_t place_of(const Columns& columns, Meaning meaning);
/// Whether it is a time, a rate, a speed-up or an efficiency.
bool is_measurement(const TableColumn& column);
/// Null without one.
const TableColumn* find_column(const Columns& columns, Meaning meaning);

struct BuiltRows {
  std::vector<TableRow> rows;
  bool unit_missing = false;  // of a time, in header and cells
  std::string time_unit;      // of the first cell that states one
};

/// Leaves out rows without a count or a measurement, and those that failed by their own words.
void leave_out_missing(RawTable& table, const Columns& columns);

/// The rows of a scaling table. Throws UserError with
/// place and column for a cell that is no finite number, or no integer from 0 to 2e7 where one
/// belongs, and for a count that is missing. Loads of up to six decimals are counted in their
/// greatest common unit, which becomes the column's factor.
BuiltRows built_rows(const RawTable& table, Columns& columns);
/// A row of a table of training runs, read as those are, on so many `gpus` where no column counts.
TableRow row_of_run(const RawTable& table, const Columns& columns, const RawRow& row, int gpus);

TableKind kind_of(const Columns& columns);
/// "EUR" of "EUR 2" and of a sign; empty for USD, and for none.
std::string currency_in(const std::string& text);
/// "EUR" of a column of prices, by its header and its cells; empty for USD, and for none.
std::string currency_of(const RawTable& table, const std::string& column);
/// Columns of numbers that differ between rows, that nothing reads and that follow from nothing
/// else: the work of a run, its quality, or anything.
std::vector<std::string> unread_columns(const RawTable& table, const Columns& columns);
/// The columns that say with one text for all rows what ran, or how.
std::vector<StatedOfJob> stated_of_job(const RawTable& table, const Columns& columns);

bool has_digit(std::string_view text);
/// The lines of a text in which each is an object; empty for one document.
std::vector<std::string_view> json_lines(std::string_view text);
/// "column 2", of a table without a header.
bool is_unnamed(const std::string& name);
/// Without what Markdown puts around a text: "**A**", "`A`".
std::string without_marks(std::string_view text);
/// Throws UserError beginning with `option` for a column that is not there.
std::size_t column_of(const RawTable& table, const std::string& name, const char* option);
/// Columns by name: what is chosen among several does not depend on where they stand.
std::vector<std::size_t> by_name(const RawTable& table);
/// The texts of a column, each once.
std::vector<std::string> values_of(const RawTable& table, std::size_t column);
/// The numbers of a column, absent where a cell has none.
std::vector<std::optional<double>> numbers_of(const RawTable& table, std::size_t column);
/// Whether any cell of it has one.
bool has_numbers(const RawTable& table, std::size_t column);
/// The whole numbers of a column, from 1 on; empty where a cell has another.
std::vector<double> counts_in(const RawTable& table, std::size_t column);
bool differ(const std::vector<double>& numbers);
/// Whether it is named "N" and has numbers from 50 on: of cells, not of machines.
bool are_sizes(const RawTable& table, std::size_t column);
/// Whether its cells have numbers or nothing: "128 and 256" is no batch.
bool says_numbers(const RawTable& table, std::size_t column);
/// As `named_by_cells`.
std::string said_by_cells(const RawTable& table, std::size_t column);
/// "user", "sys", "System Time" beside "real" or another time: the time of processors.
bool is_cpu_time(const RawTable& table, std::size_t column);
/// Up to `most` names, for a message.
std::string first_names(std::vector<std::string> names, std::size_t most = 12);
/// Whether the name of a column says what is counted, and is no letter, which may be a size.
bool counts_machines(const RawTable& table, std::size_t column);

/// The texts of a column, each once, in their order. Throws UserError naming the columns there are.
std::vector<std::string> values_of(const RawTable& table,
                                   const std::string& column,
                                   const char* flag);

/// Whether the numbers of two columns have the same ratios to the first row, or inverse ones.
bool ratios_agree(
    const RawTable& table, std::size_t one, std::size_t other, bool inverse, double rounded = 0.06);

/// The table with columns renamed and the rows wanted. Throws UserError naming those there are.
RawTable select(RawTable table, const TableSelection& selection);

struct ChosenColumns {
  Columns columns;
  std::vector<std::string> ignored;  // fit for a message
};

/// One column per meaning. Throws UserError for a header as in `parse_table`, OpenColumns where
/// there is no count, or nothing measured, or several that say other things.
ChosenColumns choose_columns(const RawTable& table);

/// A column is missing that another may stand for, or several may be the time, or the speed-up.
struct OpenColumns : UserError {
  using UserError::UserError;
  WordList renames{};     // of which one settles it, likeliest first: "Total=time_s"
  bool alike = false;     // each is of another program or machine
  ChosenColumns there{};  // without a measurement
};

/// Names that a column may be renamed to where a count, or a measurement, is missing, likeliest
/// first, as "Total=time_s": by headers and values.
std::vector<std::string> likely_renames(const RawTable& table, bool count);

/// "params_B differs between rows (1.7, 3.6 ...)" of the first column that says which program or
/// machine a row is of; absent where all rows are of one.
std::optional<Finding> identity_remark(const RawTable& table, const ChosenColumns& chosen);

/// Whether the models differ from each row to the next count.
bool grows_in_each_row(const RawTable& table, const ChosenColumns& chosen);

/// Counts that stand twice.
struct RepeatedCount {
  std::string what;                            // where, for a message
  std::vector<std::vector<std::string>> ways;  // conditions that choose rows; none: repeats
  bool curves = false;  // each way is of another program or machine, and no row is of none
};

/// Of a table that does not name its repeats; absent where each count stands once.
std::optional<RepeatedCount> repeated_count(const RawTable& table, const ChosenColumns& chosen);

/// What an input is. `answer`: our JSON for other programs; `results`: of nccl-tests; `other`:
/// nothing known, or a pipe, which can be read but once.
enum class InputKind { table, run, recordings, attribution, answer, page, results, other };

/// By its beginning: `other` for what is neither JSON nor HTML.
InputKind kind_of_content(std::string_view text);

/// By name and beginning: a folder without run.json and a pattern that is no file are recordings, a
/// folder of NCCL Inspector's files results.
InputKind input_kind(const std::string& input);

/// Throws UserError where `input` is for other commands than `command`, with their names.
void refuse_foreign(const std::string& input, std::string_view command);

/// What `read` returns; where it throws UserError, that of `refuse_foreign` if there is one.
template <class Read>
auto read_for(std::string_view command, const std::vector<std::string>& inputs, Read read) {
  try {
    return read();
  } catch (const UserError&) {
    for (const std::string& input : inputs) refuse_foreign(input, command);
    throw;
  }
}

/// A job by its recordings, or as attribute --format json wrote it. Throws UserError naming the
/// input that cannot be read or attributed.
Attribution attributed_job(const std::string& input);

/// Recordings of one job, one count each: what `scaleworth attribute` takes, or the JSON that it
/// wrote. Throws UserError naming the input that cannot be read or attributed.
ScalingTable recordings_table(const std::vector<std::string>& inputs,
                              std::optional<Scaling> declared);

/// A line of a text, without the blanks around it.
struct TextLine {
  std::size_t number = 0;  // from 1 on
  std::string_view text;
};

/// A number ("1,024.5", "3e+00"), a word or a sign; what is no ASCII belongs to words.
struct Token {
  char kind = '.';   // 1 of a number, a of a word, . of a sign
  std::string text;  // small letters
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::vector<Token> tokens_of(std::string_view text);
constexpr std::size_t longest_text = 1000;  // bytes, of what may state a count

/// "4 GPUs", "--threads 4" in a text.
struct SaidCount {
  std::string count;
  std::string noun;  // as it is said; may be empty
  std::string key;   // what it is of: the noun for one, else the option
  std::size_t begin = 0;
  std::size_t end = 0;
};
/// What counts machines in a text. `name`: a header or the name of a row, where "gpu-4" counts
/// GPUs, and no line of a log, where it may be the fourth.
std::vector<SaidCount> counts_said(std::string_view text, bool name);

/// The counts that running text states, such as logs, reports and lists, with what it says of each
/// up to the next: "4 GPUs: 390 img/s", "real 0m4.2s" below "make -j 8". No columns where it states
/// fewer than two, or measures nothing.
RawTable running_text(const std::vector<TextLine>& lines, const std::string& file);

/// As `running_text`, of lines that differ in one number, "./pi 4", which stands in a column that
/// no name calls a count.
RawTable numbered_text(const std::vector<TextLine>& lines, const std::string& file);

/// The most lines that differ in nothing but their numbers and the words before the first, each a
/// row, with the count and the title that stand above it; their words name the columns. No columns
/// where fewer than two do.
RawTable rows_of_numbers(const std::vector<TextLine>& lines, const std::string& file);
}  // namespace scaleworth::cli
