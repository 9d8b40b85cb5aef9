// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/toml_table.h"
#include "src/core/whole_number.h"

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

namespace scaleworth::cli {
namespace {
using toml_file::printable;

constexpr double most_count = 1e6;

/// What a row needs before it is one of a scaling table.
struct Draft {
  TableRow row;
  std::optional<double> replica_batch;
  std::optional<double> rank_batch;
  std::optional<double> micro_batch;
  std::optional<int> per_node;
  bool parts_per_step = false;
  bool parts_per_run = false;
};

/// What a cell is stored in; nothing for a column that is read otherwise.
using Member = std::variant<std::monostate,
                            int TableRow::*,
                            std::optional<double> TableRow::*,
                            std::optional<double> RowFacts::*,
                            std::optional<int> Layout::*,
                            std::optional<double> Draft::*,
                            std::optional<int> Draft::*,
                            PartGroup>;

/// In the order of Meaning.
constexpr std::array<Member, static_cast<std::size_t>(Meaning::identity) + 1> members{
    Member{&TableRow::count},
    Member{&Draft::per_node},
    Member{},  // repeat
    Member{&TableRow::time_s},
    Member{PartGroup::compute},
    Member{PartGroup::communication},
    Member{PartGroup::idle},
    Member{PartGroup::host},
    Member{PartGroup::io},
    Member{&TableRow::quality},
    Member{&TableRow::work},
    Member{&TableRow::throughput},
    Member{&TableRow::stated_speedup},
    Member{&TableRow::stated_efficiency},
    Member{&TableRow::energy_j},
    Member{&TableRow::energy_per_work_j},
    Member{&RowFacts::power_w},
    Member{},  // price
    Member{},  // latency
    Member{&Layout::tensor},
    Member{&Layout::pipeline},
    Member{&Layout::context},
    Member{&Layout::data},
    Member{&Layout::expert},
    Member{&RowFacts::batch},
    Member{&Draft::replica_batch},
    Member{&Draft::rank_batch},
    Member{&Draft::micro_batch},
    Member{&RowFacts::microbatches},
    Member{&RowFacts::sequence_length},
    Member{&RowFacts::steps},
    Member{&RowFacts::epochs},
    Member{}};  // identity

bool is_empty(const RawCell& cell) {
  return std::holds_alternative<std::monostate>(cell) || cell == RawCell{""};
}

CellNumber number_in(const RawCell& cell,
                     const TableColumn& column,
                     const std::string& place,
                     Comma comma) {
  if (const auto* number = std::get_if<double>(&cell)) return {*number};
  const auto& text = std::get<std::string>(cell);
  if (const auto number = cell_number(text, comma)) {
    if (!number->unit || number->unit->dimension == column.dimension) return *number;
    refuse_column(place,
                  column,
                  fmt::format("is '{}', and no {}",
                              printable(text),
                              column.meaning == Meaning::count ? "count" : "number of its kind"));
  }
  refuse_column(
      place,
      column,
      fmt::format("is '{}', not a number; leave the cell empty for a value that is missing",
                  printable(text)));
}

/// A cell's number in base units: by its own unit, else by the header's.
double base_value(const CellNumber& number, const TableColumn& column) {
  const double factor = number.unit ? number.unit->factor : column.factor;
  if (number.clock && !number.unit) {
    // "10:30" under a header in hours is hours and minutes, else minutes and seconds.
    const bool of_hours = column.factor == 3600.0;
    return number.value * (of_hours ? 60.0 : 1.0);
  }
  return column.inverse ? factor / number.value : number.value * factor;
}

int whole(double value, const TableColumn& column, const std::string& place) {
  if (value != std::floor(value) || value < 0.0 || value > most_count) {
    refuse_column(
        place, column, fmt::format("is {:g}, not an integer from 0 to {:g}", value, most_count));
  }
  return static_cast<int>(value);
}

/// Stores a cell's `value`, in base units, in the member of its column.
struct Put {
  Draft& draft;
  const TableColumn& column;
  const std::string& place;
  double value;

  void operator()(std::monostate) const {
    RowFacts& facts = draft.row.facts;
    if (column.meaning == Meaning::price) facts.price = dollars_per_hour(value);
    if (column.meaning == Meaning::latency) facts.latencies.push_back({column.latency, value});
  }
  void operator()(int TableRow::*member) const { draft.row.*member = whole(value, column, place); }
  void operator()(std::optional<double> TableRow::*member) const {
    draft.row.*member = value;
    if (column.meaning == Meaning::quality) draft.row.better_quality = column.better_quality;
  }
  void operator()(std::optional<double> RowFacts::*member) const {
    draft.row.facts.*member = value;
  }
  void operator()(std::optional<int> Layout::*member) const {
    draft.row.facts.layout.*member = whole(value, column, place);
  }
  void operator()(std::optional<double> Draft::*member) const { draft.*member = value; }
  void operator()(std::optional<int> Draft::*member) const {
    draft.*member = whole(value, column, place);
  }
  void operator()(PartGroup part) const {
    draft.row.parts_s[index_of(part)] = value;
    draft.parts_per_step = draft.parts_per_step || column.per == Per::step;
    draft.parts_per_run = draft.parts_per_run || column.per == Per::run;
  }
};

/// Parts of one step under a time of a run, or the other way round, brought to the time's basis.
void match_parts(Draft& draft, bool time_per_step) {
  const bool to_run = draft.parts_per_step && draft.row.time_s && !time_per_step;
  const bool to_step = draft.parts_per_run && draft.row.time_s && time_per_step;
  if (!to_run && !to_step) return;
  const auto& steps = draft.row.facts.steps;
  if (!steps || !(*steps > 0.0)) {
    throw UserError(
        "{}: the parts are of one {}, the time is of one {}; add a column steps with the number of "
        "steps of the run",
        draft.row.place,
        to_run ? "step" : "run",
        to_run ? "run" : "step");
  }
  for (auto& part : draft.row.parts_s) {
    if (part) part = to_run ? *part * *steps : *part / *steps;
  }
}

/// Batch and microbatches from the batch of a rank, a replica and a microbatch.
void complete_batch(Draft& draft) {
  RowFacts& facts = draft.row.facts;
  const Layout& layout = facts.layout;
  const auto& replicas = layout.data;
  if (!facts.batch && draft.rank_batch) {
    const int ranks =
        layout.tensor.value_or(1) * layout.pipeline.value_or(1) * layout.context.value_or(1);
    facts.batch = *draft.rank_batch * std::max(1, draft.row.count / std::max(1, ranks));
  }
  if (!replicas || *replicas < 1) return;
  if (!facts.batch && draft.replica_batch) facts.batch = *draft.replica_batch * *replicas;
  const bool known = facts.batch && draft.micro_batch && *draft.micro_batch > 0.0;
  if (known && !facts.microbatches)
    facts.microbatches = *facts.batch / (*replicas * *draft.micro_batch);
}

/// Names of repeats are numbered in the order of their occurrence.
int repeat_of(const RawCell& cell,
              const TableColumn& column,
              const std::string& place,
              std::map<std::string, int>& named) {
  const auto* text = std::get_if<std::string>(&cell);
  const bool number = !text || text->find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (number) return whole(number_in(cell, column, place, Comma::unstated).value, column, place);
  const int next = static_cast<int>(named.size()) + static_cast<int>(most_count) + 1;
  return named.emplace(*text, next).first->second;
}

bool is_measurement(const TableColumn& column) {
  return column.meaning == Meaning::time || column.meaning == Meaning::throughput ||
         column.meaning == Meaning::speedup || column.meaning == Meaning::efficiency;
}

/// Why a row is no count of the table: what it has in place of a measurement; absent for one that
/// is. A count that is not there is an error, where no word says that it is missing, and so is 0,
/// but among several rows.
std::optional<std::string> missing_in(const RawRow& row,
                                      const RawTable& table,
                                      const Columns& columns,
                                      bool several) {
  const std::string empty = "empty";
  std::optional<std::string> why;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (is_missing(row.cells[i]) && has_word("outcome", all_header_words(table.columns[i])))
      return printable(cell_text(row.cells[i]));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const RawCell& cell = row.cells[i];
    const bool missing = is_missing(cell);
    if (!columns[i]) continue;
    if (columns[i]->meaning == Meaning::count) {
      const std::string count = cell_text(cell);
      if (missing) return count;
      // "Original" among numbers.
      const bool word =
          several && !count.empty() && count.find_first_of("0123456789") == count.npos;
      if (word) return "no count";
      const auto number = cell_number(count, Comma::thousands);
      const bool none = number && number->value == 0.0 && !is_empty(cell);
      if (none && several) return "no count";
      if (!number && has_word("serial", all_header_words(count))) return "no count";
      const bool fraction = count.find('/') != std::string::npos &&
                            count.find_first_not_of("0123456789/") == std::string::npos;
      if (fraction) return "no whole count";
      continue;
    }
    if (!is_measurement(*columns[i]) && columns[i]->meaning != Meaning::compute) continue;
    if (!missing && !is_empty(cell)) return std::nullopt;
    if (!why || *why == empty) why = missing ? printable(cell_text(cell)) : empty;
  }
  return why;
}

/// Words in a column of ratios, as "baseline", say nothing that the times beside it do not.
bool is_remark(const RawCell& cell, const TableColumn& column, const Columns& columns) {
  const bool ratio = column.meaning == Meaning::speedup || column.meaning == Meaning::efficiency;
  const auto* const text = std::get_if<std::string>(&cell);
  return ratio && text && !cell_number(*text, Comma::thousands) &&
         (find_column(columns, Meaning::time) || find_column(columns, Meaning::throughput));
}

struct RowReader {
  const RawTable& table;
  const Columns& columns;
  std::map<std::string, int> repeats{};
  bool unit_missing = false;
  std::string time_unit{};                       // of a cell
  std::vector<std::optional<double>> lengths{};  // of runs, in epochs or steps

  /// Of GPU-hours the hours of each.
  void share_time(Draft& draft) const {
    const TableColumn* const time = find_column(columns, Meaning::time);
    if (!time || !time->summed || !draft.row.time_s) return;
    const TableColumn* const count = find_column(columns, Meaning::count);
    const std::string counted =
        draft.per_node ? find_column(columns, Meaning::per_node)->noun : count->noun;
    if (!counted.empty() && counted != counted_noun(time->rank))
      refuse_column(draft.row.place,
                    *time,
                    fmt::format("is of {}, the rows count {}: give the time of the run",
                                counted_noun(time->rank),
                                counted));
    draft.row.time_s = *draft.row.time_s / draft.row.count;
  }

  TableRow row(const RawRow& raw) {
    Draft draft;
    draft.row.place = raw.place;
    bool per_rank = false;
    bool time_per_step = false;
    bool load = false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i] || columns[i]->meaning == Meaning::identity) continue;
      const TableColumn& column = *columns[i];
      const RawCell& cell = raw.cells[i];
      if (is_empty(cell) || is_missing(cell) || is_remark(cell, column, columns)) {
        if (column.meaning == Meaning::count || column.meaning == Meaning::per_node)
          refuse_column(raw.place, column, "is empty");
        continue;
      }
      if (column.meaning == Meaning::repeat) {
        draft.row.repeat = repeat_of(cell, column, raw.place, repeats);
        continue;
      }
      const CellNumber number = number_in(cell, column, raw.place, table.comma);
      const double base = base_value(number, column);
      if (!(std::abs(base) <= 1e40))
        refuse_column(
            raw.place,
            column,
            "is not a number up to 1e40; leave the cell empty for a value that is missing");
      const bool unitless = column.dimension == Dimension::time && column.unit.empty() &&
                            !number.unit && !number.clock;
      unit_missing = unit_missing || unitless;
      if (column.meaning == Meaning::time && time_unit.empty() && (number.unit || number.clock))
        time_unit = !number.clock ? number.unit->name
                    : number.unit ? "hours, minutes and seconds"
                                  : "minutes and seconds";
      per_rank = per_rank || column.per_rank;
      load = load || column.load;
      time_per_step = time_per_step || (column.meaning == Meaning::time && column.per == Per::step);
      std::visit(Put{draft, column, raw.place, column.load ? std::round(base * 1e6) / 1e6 : base},
                 members[static_cast<std::size_t>(column.meaning)]);
    }
    if (draft.per_node) draft.row.count *= *draft.per_node;
    share_time(draft);
    if (per_rank && !load && draft.row.throughput)
      draft.row.throughput = *draft.row.throughput * draft.row.count;
    std::ranges::sort(draft.row.facts.latencies, {}, &Latency::name);
    match_parts(draft, time_per_step);
    complete_batch(draft);
    const RowFacts& facts = draft.row.facts;
    if (!time_per_step) lengths.push_back(facts.epochs ? facts.epochs : facts.steps);
    return draft.row;
  }
};

/// The greatest load that all of `loads` are multiples of: 1 for whole ones, and for more than six
/// decimals, which are refused later.
double unit_of(const std::vector<double>& loads) {
  for (std::int64_t scale = 1; scale <= 1'000'000; scale *= 10) {
    std::int64_t unit = 0;
    const auto fits = [&](double load) {
      const double scaled = load * static_cast<double>(scale);
      unit = std::gcd(unit, saturated<std::int64_t>(std::round(scaled)));
      return std::abs(scaled - std::round(scaled)) < 1e-6;
    };
    if (!std::ranges::all_of(loads, fits)) continue;
    return scale > 1 && unit > 0 ? static_cast<double>(unit) / static_cast<double>(scale) : 1.0;
  }
  return 1.0;
}

/// Loads need not be whole.
void count_loads(const RawTable& table, Columns& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i] || !columns[i]->load) continue;
    std::vector<double> loads;
    for (const RawRow& row : table.rows) {
      const RawCell& cell = row.cells[i];
      if (is_empty(cell) || is_missing(cell)) continue;
      const double load = number_in(cell, *columns[i], row.place, table.comma).value;
      if (std::abs(load) < most_count) loads.push_back(load);
    }
    columns[i]->factor = 1.0 / unit_of(loads);
  }
}

/// A rate of one GPU under a count of nodes has no whole.
void check_rate_of_one(const RawTable& table, const Columns& columns) {
  const TableColumn* count = find_column(columns, Meaning::count);
  if (!count || find_column(columns, Meaning::per_node)) return;
  for (const auto& rate : columns) {
    if (!rate || !rate->per_rank || rate->relative) continue;
    const std::string of = counted_noun(rate->rank);
    if (of == "nodes" ? count->noun == "GPUs"
                      : count->nodes && !rate->rank.empty() && of != count->noun)
      refuse_column(
          table.place,
          *rate,
          fmt::format("is of another thing than '{}' counts; give the rate of all, as tokens_per_s",
                      printable(count->name)));
  }
}
}  // namespace

void leave_out_missing(RawTable& table, const Columns& columns) {
  // A word among times is what became of a run: "SEGFAULT".
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == ' '; };
  for (RawRow& row : table.rows)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string text = cell_text(row.cells[i]);
      const bool word = text.size() > 3 && std::ranges::all_of(text, is_letter);
      if (word && columns[i] && columns[i]->meaning == Meaning::time && !is_missing(row.cells[i]))
        row.cells[i] = "n/a: " + text;
    }
  const auto count = std::ranges::find_if(
      columns, [](const auto& column) { return column && column->meaning == Meaning::count; });
  std::vector<std::string> left_out;
  const bool several = table.rows.size() > 2;
  std::erase_if(table.rows, [&](const RawRow& row) {
    const auto why = missing_in(row, table, columns, several);
    const std::string at = cell_text(row.cells[static_cast<std::size_t>(count - columns.begin())]);
    if (why) left_out.push_back(fmt::format("{} ({})", printable(at), *why));
    return why.has_value();
  });
  table.left_out.insert(table.left_out.end(), left_out.begin(), left_out.end());
}

BuiltRows built_rows(const RawTable& table, Columns& columns) {
  count_loads(table, columns);
  check_rate_of_one(table, columns);
  RowReader reader{table, columns};
  BuiltRows built;
  built.left_out = table.left_out;
  for (const RawRow& row : table.rows) built.rows.push_back(reader.row(row));
  // Runs of different lengths did different work.
  const bool all =
      !built.rows.empty() && reader.lengths.size() == built.rows.size() &&
      std::ranges::all_of(reader.lengths, [](const auto& one) { return one.has_value(); });
  const bool work_known =
      any_has(built.rows, &TableRow::work) || any_has(built.rows, &TableRow::throughput);
  if (all && !work_known && std::ranges::any_of(reader.lengths, [&](const auto& one) {
        return one != reader.lengths.front();
      }))
    for (std::size_t i = 0; i < built.rows.size(); ++i) built.rows[i].work = reader.lengths[i];
  built.unit_missing = reader.unit_missing;
  built.time_unit = reader.time_unit;
  return built;
}

TableKind kind_of(const Columns& columns) {
  TableKind kind;
  bool timed = false;
  bool parts_of_step = false;
  bool rate_of_work = false;
  for (const auto& column : columns) {
    if (!column) continue;
    const bool of_step = column->per == Per::step;
    const bool counts_work =
        column->meaning == Meaning::work || column->meaning == Meaning::throughput;
    if (column->load) {
      kind.axis = Axis::load;
      kind.load_unit = 1.0 / column->factor;
    }
    if (column->meaning == Meaning::count && column->nodes) kind.axis = Axis::nodes;
    if (column->meaning == Meaning::count && kind.noun.empty()) kind.noun = column->noun;
    if (counts_work && !column->flops && kind.work_noun.empty()) kind.work_noun = column->work_noun;
    if (column->meaning == Meaning::throughput) {
      rate_of_work = true;
      kind.read.rate = column->flops || column->work_noun.empty() ? column->name : "";
      kind.read.rate_noun = column->work_noun;
      kind.read.rate_of_one = column->per_rank;
      kind.read.of_flops = column->flops;
      kind.relative = column->relative;
    }
    if (column->meaning == Meaning::time) {
      timed = true;
      kind.read.time_unit = column->unit;
      kind.read.fixed_work = column->epoch;
      kind.read.of_steps = column->inverse;
      kind.unclear_time = column->per == Per::unstated;
      if (of_step) kind.basis = TimeBasis::step;
    }
    parts_of_step = parts_of_step || (column->meaning == Meaning::compute && of_step);
    kind.unclear_batch = kind.unclear_batch || column->unclear_batch;
    kind.named_weak = kind.named_weak || column->weak;
    kind.named_strong = kind.named_strong || column->strong;
  }
  if (const TableColumn* per_node = find_column(columns, Meaning::per_node)) {
    kind.noun = per_node->noun;
    kind.axis = Axis::ranks;
  }
  if (!timed && parts_of_step) kind.basis = TimeBasis::step;
  if (!timed && !rate_of_work && !parts_of_step)
    kind.relative = find_column(columns, Meaning::compute) == nullptr;
  return kind;
}

namespace {
/// The rows of a table by the number in the column of the count.
struct CountedRows {
  const RawTable& table;
  const ChosenColumns& chosen;
  std::size_t count = 0;
  std::optional<std::size_t> per_node;
  std::optional<std::size_t> repeat;

  std::string counted(const RawRow& row) const {
    const std::string text = cell_text(row.cells[count]);
    const auto value = cell_number(text, table.comma);
    if (!value) return text;
    // Two nodes of four and one of eight are two layouts of one count.
    const auto of_each = per_node ? cell_number(cell_text(row.cells[*per_node]), table.comma)
                                  : std::optional<CellNumber>();
    return fmt::format("{}", value->value * (of_each ? of_each->value : 1.0));
  }

  std::size_t different_counts(const std::vector<const RawRow*>& rows) const {
    std::set<std::string> counts;
    for (const RawRow* row : rows) counts.insert(counted(*row));
    return counts.size();
  }

  /// By whichever column counts most.
  std::size_t most_counts(const std::vector<const RawRow*>& rows) const {
    std::size_t most = different_counts(rows);
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (counts_machines(table, i)) most = std::max(most, different_cells(rows, i));
    return most;
  }

  std::size_t different_cells(const std::vector<const RawRow*>& rows, std::size_t column) const {
    std::set<std::string> cells;
    for (const RawRow* row : rows) cells.insert(cell_text(row->cells[column]));
    return cells.size();
  }

  /// Whether rows of one count are told apart by another column that counts: by threads, where all
  /// have one process.
  bool counted_otherwise(const std::vector<const RawRow*>& rows) const {
    if (rows.size() < 2 || different_counts(rows) > 1) return false;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (counts_machines(table, i) && different_cells(rows, i) == rows.size()) return true;
    return false;
  }

  /// What names each row by itself, in words.
  std::optional<std::size_t> names_of_rows() const {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      constexpr std::ptrdiff_t word = 5;  // letters, more than a unit has
      const bool words = std::ranges::all_of(table.rows, [&](const RawRow& row) {
        const std::string cell = cell_text(row.cells[i]);
        const auto letters =
            std::ranges::count_if(cell, [](unsigned char c) { return std::isalpha(c) != 0; });
        const bool digits = cell.find_first_of("0123456789") != std::string::npos;
        return letters >= word || (letters > 0 && !digits);
      });
      if (!chosen.columns[i] && words && values_of(table, i).size() == table.rows.size()) return i;
    }
    return std::nullopt;
  }

  /// Whether two rows of one count differ in `column`, which is no measurement and no name of each
  /// row by itself, such as the time of its start.
  bool divides(std::size_t column, const std::vector<const RawRow*>& rows) const {
    const auto& meaning = chosen.columns[column];
    const bool measured =
        (meaning && meaning->meaning <= Meaning::latency && meaning->meaning != Meaning::work &&
         meaning->meaning != Meaning::per_node) ||
        has_word("money", all_header_words(table.columns[column]));
    if (measured || table.columns[column].empty()) return false;
    if (values_of(table, column).size() == table.rows.size()) return false;
    std::map<std::string, std::string> seen;
    return std::ranges::any_of(rows, [&](const RawRow* row) {
      const std::string text = cell_text(row->cells[column]);
      return seen.emplace(counted(*row), text).first->second != text;
    });
  }

  /// A column of words, each of several rows, that still differs: names of data, of programs.
  std::optional<std::size_t> program_of(const std::vector<const RawRow*>& rows) const {
    for (const std::size_t column : by_name(table)) {
      const auto& meaning = chosen.columns[column];
      const bool measured = meaning && meaning->meaning <= Meaning::latency;
      if (has_numbers(table, column) || measured ||
          2 * values_of(table, column).size() > table.rows.size())
        continue;
      if (like(rows, *rows.front(), column).size() < rows.size()) return column;
    }
    return std::nullopt;
  }

  /// The rows that have what `wanted` has in a column.
  std::vector<const RawRow*> like(const std::vector<const RawRow*>& rows,
                                  const RawRow& wanted,
                                  std::size_t column) const {
    std::vector<const RawRow*> kept;
    const std::string text = cell_text(wanted.cells[column]);
    std::ranges::copy_if(rows, std::back_inserter(kept), [&](const RawRow* row) {
      return cell_text(row->cells[column]) == text;
    });
    return kept;
  }

  /// Conditions by which rows are of one program, as `wanted` is: by what names a program or a
  /// machine first, then by words, then by the number that leaves most counts. `rows` are then
  /// those that have it.
  std::vector<std::string> conditions(const RawRow& wanted,
                                      std::vector<const RawRow*>& rows) const {
    std::vector<std::string> where;
    while (!counted_otherwise(rows)) {
      std::optional<std::size_t> best;
      std::tuple<bool, bool, bool, std::size_t> best_rank;
      for (const std::size_t column : by_name(table)) {
        if (!divides(column, rows) || cell_text(wanted.cells[column]).empty()) continue;
        const auto& meaning = chosen.columns[column];
        const bool words = std::ranges::any_of(table.rows, [&](const RawRow& row) {
          const std::string text = cell_text(row.cells[column]);
          return !is_missing(row.cells[column]) && !cell_number(text, table.comma);
        });
        const bool named = std::ranges::any_of(
            all_header_words(table.columns[column]), [](const std::string& word) {
              const ColumnName* const known = column_named(word);
              return known && known->meaning == Meaning::identity && !thing_of(word);
            });
        const std::tuple rank(named || (meaning && meaning->meaning == Meaning::identity),
                              words,
                              has_word("size", all_header_words(table.columns[column])),
                              different_counts(like(rows, wanted, column)));
        if (best && rank <= best_rank) continue;
        best = column;
        best_rank = rank;
      }
      if (!best) best = program_of(rows);
      if (!best) return where;
      where.push_back(table.columns[*best] + "=" + without_marks(cell_text(wanted.cells[*best])));
      rows = like(rows, wanted, *best);
    }
    return where;
  }
};
}  // namespace

std::optional<RepeatedCount> repeated_count(const RawTable& table, const ChosenColumns& chosen) {
  CountedRows counted{table, chosen, 0, {}, {}};
  for (std::size_t i = 0; i < chosen.columns.size(); ++i) {
    if (!chosen.columns[i]) continue;
    if (chosen.columns[i]->meaning == Meaning::repeat) counted.repeat = i;
    if (chosen.columns[i]->meaning == Meaning::count) counted.count = i;
    if (chosen.columns[i]->meaning == Meaning::per_node) counted.per_node = i;
  }
  // Rows that count different things, CPUs and GPUs, are of different curves.
  if (!table.kinds.empty())
    if (const auto kinds = values_of(table, table.kinds, "--where"); kinds.size() > 1)
      return RepeatedCount{
          fmt::format("{}: the rows count several things, {}", table.place, first_names(kinds)),
          mapped(kinds,
                 [&](const std::string& kind) { return WordList{table.kinds + "=" + kind}; })};
  std::unordered_map<std::string, const RawRow*> seen;
  std::vector<const RawRow*> all;
  std::optional<RepeatedCount> clash;
  for (const RawRow& row : table.rows) {
    all.push_back(&row);
    const std::string repeat = counted.repeat ? cell_text(row.cells[*counted.repeat]) : "";
    const auto [first, added] = seen.emplace(counted.counted(row) + "#" + repeat, &row);
    if (added) continue;
    if (!clash) {
      clash.emplace();
      clash->what = fmt::format("{} and {} have the same count, {}",
                                first->second->place,
                                row.place,
                                printable(counted.counted(row)));
    }
    // "1 (no threads)" and "1 (baseline)".
    const std::string one = cell_text(first->second->cells[counted.count]);
    const std::string other = cell_text(row.cells[counted.count]);
    if (one == other || counted.per_node || !clash->ways.empty()) continue;
    const std::string& name = table.columns[counted.count];
    clash->what = fmt::format("{} ('{}') and {} ('{}') have the same count",
                              first->second->place,
                              printable(one),
                              row.place,
                              printable(other));
    clash->ways = {{name + "!=" + other}, {name + "!=" + one}};
  }
  if (!clash || !clash->ways.empty()) return clash;
  // Where one count alone stands several times, and each row has a name, one of its rows is kept.
  if (const auto names = counted.names_of_rows()) {
    std::map<std::string, std::vector<const RawRow*>> by_count;
    for (const RawRow* row : all) by_count[counted.counted(*row)].push_back(row);
    std::vector<const RawRow*> alike;
    std::size_t several = 0;
    for (const auto& [count, rows] : by_count) {
      if (rows.size() < 2) continue;
      ++several;
      alike = rows;
    }
    const bool one_count = several == 1 && 2 * alike.size() <= all.size() + 2;
    for (std::size_t kept = 0; one_count && kept < alike.size(); ++kept) {
      auto& where = clash->ways.emplace_back();
      for (std::size_t other = 0; other < alike.size(); ++other)
        if (other != kept)
          where.push_back(table.columns[*names] +
                          "!=" + without_marks(cell_text(alike[other]->cells[*names])));
    }
    if (!clash->ways.empty()) return clash;
  }
  constexpr std::size_t most_ways = 8;
  std::vector<const RawRow*> rest = all;
  struct Way {
    std::size_t counts = 0;  // that are left
    std::size_t rows = 0;
    std::vector<std::string> where;
  };
  std::vector<Way> ways;
  while (!rest.empty() && ways.size() < most_ways) {
    std::vector<const RawRow*> kept = all;
    auto where = counted.conditions(*rest.front(), kept);
    if (where.empty()) return clash;
    const std::size_t before = rest.size();
    std::erase_if(rest, [&](const RawRow* one) { return std::ranges::count(kept, one) > 0; });
    if (rest.size() == before) break;
    const std::size_t counts = counted.most_counts(kept);
    if (counts > 1) ways.push_back({counts, kept.size(), std::move(where)});
  }
  std::ranges::stable_sort(ways, std::greater{}, &Way::counts);
  if (ways.empty()) return clash;
  constexpr std::size_t enough = 3;
  const Way& best = ways.front();
  clash->clear = best.counts >= enough && 2 * best.rows >= all.size() &&
                 (ways.size() == 1 || ways[1].counts < enough);
  const std::string condition = best.where.front();
  const std::string column = condition.substr(0, condition.find('='));
  clash->what +=
      fmt::format("; they differ in '{}' ({})",
                  printable(column),
                  first_names(mapped(values_of(table, column, "--where"), without_marks)));
  const bool machines = !has_numbers(table, column_of(table, column, "--where"));
  if (machines && ways.size() > 1 && best.where.size() == 1)
    clash->what += fmt::format(
        ", or compare all: scaleworth compare {} --by '{}'", table.file, printable(column));
  clash->ways = mapped(ways, &Way::where);
  return clash;
}
}  // namespace scaleworth::cli
