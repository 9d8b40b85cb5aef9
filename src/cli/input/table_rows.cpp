// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/whole_number.h"

#include <cctype>
#include <cmath>
#include <map>
#include <numeric>

namespace scaleworth::cli {
namespace {
using toml_file::printable;

// The largest machines have ten million cores; more is a size, or a time in another unit.
constexpr double most_count = 2e7;

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
  double sum = 0.0;  // of "8+8+4"
  for (const std::string_view part : split(text, '+'))
    sum += parse_number<double>(trimmed(part)).value_or(std::nan(""));
  refuse_column(
      place,
      column,
      fmt::format("is '{}', {}",
                  printable(text),
                  !(sum > 0.0) ? "not a number; leave the cell empty for a value that is missing"
                  : column.meaning == Meaning::per_node
                      ? fmt::format("of nodes that differ; write all {:g} in a column of "
                                    "their own, as gpus, in place of it",
                                    sum)
                      : fmt::format("a sum; write {:g}", sum)));
}

/// A cell's number in base units: by its own unit, else by the header's.
double base_value(const CellNumber& number, const TableColumn& column) {
  const double factor = number.unit ? number.unit->factor : column.factor;
  if (number.clock && !number.unit) {
    // "10:30" under a header in hours is hours and minutes, else minutes and seconds.
    return number.value * (column.factor == 3600.0 ? 60.0 : 1.0);
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

/// Where a number of this meaning is stored; null for a whole number, and for what is read
/// otherwise.
std::optional<double>* place_in(Draft& draft, Meaning meaning) {
  TableRow& row = draft.row;
  RowFacts& facts = row.facts;
  const auto part = [&](PartGroup group) { return &row.parts_s[index_of(group)]; };
  if (meaning == Meaning::time) return &row.time_s;
  if (meaning == Meaning::compute) return part(PartGroup::compute);
  if (meaning == Meaning::communication) return part(PartGroup::communication);
  if (meaning == Meaning::idle) return part(PartGroup::idle);
  if (meaning == Meaning::host) return part(PartGroup::host);
  if (meaning == Meaning::io) return part(PartGroup::io);
  if (meaning == Meaning::quality) return &row.quality;
  if (meaning == Meaning::work) return &row.work;
  if (meaning == Meaning::throughput) return &row.throughput;
  if (meaning == Meaning::speedup) return &row.stated_speedup;
  if (meaning == Meaning::efficiency) return &row.stated_efficiency;
  if (meaning == Meaning::energy) return &row.energy_j;
  if (meaning == Meaning::energy_per_work) return &row.energy_per_work_j;
  if (meaning == Meaning::power) return &facts.power_w;
  if (meaning == Meaning::batch) return &facts.batch;
  if (meaning == Meaning::replica_batch) return &draft.replica_batch;
  if (meaning == Meaning::rank_batch) return &draft.rank_batch;
  if (meaning == Meaning::micro_batch) return &draft.micro_batch;
  if (meaning == Meaning::microbatches) return &facts.microbatches;
  if (meaning == Meaning::sequence_length) return &facts.sequence_length;
  if (meaning == Meaning::steps) return &facts.steps;
  return meaning == Meaning::epochs ? &facts.epochs : nullptr;
}

/// The same of a whole number; null also for the count itself, which no row lacks.
std::optional<int>* count_in(Draft& draft, Meaning meaning) {
  Layout& layout = draft.row.facts.layout;
  if (meaning == Meaning::per_node) return &draft.per_node;
  if (meaning == Meaning::tensor) return &layout.tensor;
  if (meaning == Meaning::pipeline) return &layout.pipeline;
  if (meaning == Meaning::context) return &layout.context;
  if (meaning == Meaning::data) return &layout.data;
  return meaning == Meaning::expert ? &layout.expert : nullptr;
}

/// Stores a cell's `value`, in base units. Throws std::logic_error for a meaning without a place.
void put(Draft& draft, const TableColumn& column, const std::string& place, double value) {
  const Meaning meaning = column.meaning;
  RowFacts& facts = draft.row.facts;
  if (auto* const number = place_in(draft, meaning))
    *number = value;
  else if (auto* const count = count_in(draft, meaning))
    *count = whole(value, column, place);
  else if (meaning == Meaning::count)
    draft.row.count = whole(value, column, place);
  else if (meaning == Meaning::price)
    facts.price = dollars_per_hour(value);
  else if (meaning == Meaning::latency)
    facts.latencies.push_back({column.latency, value});
  else
    throw std::logic_error("a column's meaning has no place in a row");
  if (meaning == Meaning::quality) draft.row.better_quality = column.better_quality;
  const bool part = meaning >= Meaning::compute && meaning <= Meaning::io;
  draft.parts_per_step = draft.parts_per_step || (part && column.per == Per::step);
  draft.parts_per_run = draft.parts_per_run || (part && column.per == Per::run);
}

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

/// Batch and microbatches from the batch of a rank, a replica and a microbatch. `accumulated`: the
/// micro-batches are those that a rank adds up, not those of a pipeline.
void complete_batch(Draft& draft, bool accumulated) {
  RowFacts& facts = draft.row.facts;
  const Layout& layout = facts.layout;
  const auto& replicas = layout.data;
  const int ranks =
      layout.tensor.value_or(1) * layout.pipeline.value_or(1) * layout.context.value_or(1);
  const int copies = std::max(1, replicas.value_or(draft.row.count / std::max(1, ranks)));
  const auto& several = facts.microbatches;
  if (!facts.batch && draft.rank_batch)
    facts.batch = *draft.rank_batch * copies * (accumulated ? several.value_or(1.0) : 1.0);
  if (!facts.batch && draft.micro_batch && several)
    facts.batch = *draft.micro_batch * copies * *several;
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

}  // namespace

std::optional<std::string> failure_of(const RawTable& table, const RawRow& row) {
  constexpr double first_error = 400.0;  // of HTTP
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string text(trimmed(plain_text(cell_text(row.cells[i]))));
    const auto number = parse_number<double>(text);
    // Most are measurements.
    if (text.empty() || (number && *number != std::floor(*number))) continue;
    const WordList words = all_header_words(table.columns[i]);
    if (words.empty()) continue;
    const bool none = text == "nan" || text == "inf";
    if (none && named_meaning(table.columns[i]) == Meaning::quality) return text;
    const bool no = text == "false" || text == "no" || number == 0.0;
    const bool word = !number && is_missing(row.cells[i]);  // "timeout", but "none" is no error
    const bool yes = text == "true" || text == "yes" || number == 1.0 || (word && text.size() > 4);
    const bool outcome = has_word("outcome", words);
    const bool code = std::ranges::count(words, "status") + std::ranges::count(words, "code") > 0;
    // -9, or Slurm's "9:0": the status and the signal
    const bool exit = has_word("exit_code", words) && text.size() < 8 &&
                      text.find_first_not_of("0123456789:-") == std::string::npos &&
                      text.find_first_of("123456789") != std::string::npos;
    // "CUDA out of memory" below "error", but no "none"
    const bool message = !number && !is_word("no_error", text) &&
                         is_word("failed", words.front()) && !has_digit(text.substr(0, 1)) &&
                         (words.size() == 1 || is_word("message", words.back()));
    if ((has_word("succeeded", words) && no) || (has_word("failed", words) && yes) || message ||
        (outcome && (word || (code && number >= first_error))) || exit)
      return printable(outcome ? cell_text(row.cells[i])
                               : table.columns[i] + " " + cell_text(row.cells[i]));
  }
  return std::nullopt;
}

std::vector<std::string> unread_columns(const RawTable& table, const Columns& columns) {
  const auto has = [&](Meaning meaning) { return find_column(columns, meaning) != nullptr; };
  const bool batch =
      has(Meaning::batch) || (has(Meaning::micro_batch) && has(Meaning::microbatches));
  // Its iterations are how often a benchmark was repeated.
  const bool benchmark = std::ranges::any_of(table.columns, [](const std::string& name) {
    return std::ranges::count(all_header_words(name), "benchmark") > 0;
  });
  std::vector<std::string> unread;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = table.columns[i];
    if (benchmark && has_word("iterations", all_header_words(name))) continue;
    const HeaderWords header = header_words(name);
    const auto meaning = named_meaning(name);
    // A micro-batch, or how many there are, is no batch without the other.
    const bool part =
        !batch && (meaning == Meaning::micro_batch || meaning == Meaning::microbatches);
    // A count that is not taken, as "jobs" beside "gpus", may be work.
    const bool known = meaning && meaning != Meaning::quality && meaning != Meaning::count;
    bool read = (!part && (columns[i] || known)) || header.not_measured || header.per_time ||
                !header.per.empty() || (header.unit && !has_word("simulated", header.name)) ||
                is_unnamed(name) || has_word("aside", all_header_words(name)) ||
                is_cpu_time(table, i) || !has_numbers(table, i) || !says_numbers(table, i) ||
                values_of(table, i).size() < 2;
    for (std::size_t other = 0; other < columns.size() && !read; ++other)  // a ratio
      read = other != i && columns[other] &&
             (ratios_agree(table, i, other, false) || ratios_agree(table, i, other, true));
    if (!read) unread.push_back(name);
  }
  return unread;
}

namespace {
/// Why a row is no count of the table: what it has in place of a measurement; absent for one that
/// is. A count that is not there is an error, where no word says that it is missing, and so is 0,
/// but among several rows.
std::optional<std::string> missing_in(const RawRow& row,
                                      const RawTable& table,
                                      const Columns& columns,
                                      bool several) {
  const std::string empty = "empty";
  std::optional<std::string> why;
  if (auto failure = failure_of(table, row)) return failure;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const RawCell& cell = row.cells[i];
    const bool missing = is_missing(cell);
    if (!columns[i]) continue;
    if (columns[i]->meaning == Meaning::count) {
      const std::string count = cell_text(cell);
      if (missing) return count;
      // "Original" among numbers.
      if (several && !count.empty() && !has_digit(count)) return "no count";
      const auto number = cell_number(count, Comma::thousands);
      const bool none = number && number->value == 0.0 && !cell_text(cell).empty();
      if (none && several) return "no count";
      if (!number && has_word("serial", all_header_words(count))) return "no count";
      const bool fraction = count.find('/') != std::string::npos &&
                            count.find_first_not_of("0123456789/") == std::string::npos;
      if (fraction) return "no whole count";
      continue;
    }
    if (!is_measurement(*columns[i]) && columns[i]->meaning != Meaning::compute) continue;
    if (!missing && !cell_text(cell).empty()) return std::nullopt;
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
  std::string time_unit{};  // of a cell

  /// Of GPU-hours the hours of each.
  void share_time(Draft& draft) const {
    const TableColumn* const time = find_column(columns, Meaning::time);
    if (!time || !time->summed || !draft.row.time_s) return;
    const TableColumn* const counted =
        find_column(columns, draft.per_node ? Meaning::per_node : Meaning::count);
    if (counted && !counted->noun.empty() && counted->noun != counted_noun(time->rank))
      refuse_column(draft.row.place,
                    *time,
                    fmt::format("is of {}, the rows count {}: give the time of the run",
                                counted_noun(time->rank),
                                counted->noun));
    draft.row.time_s = *draft.row.time_s / draft.row.count;
  }

  /// Throws UserError for what is of a GPU where rows count what has several, or parts of it.
  void check_counted(const Draft& draft, const TableColumn& column) const {
    const TableColumn* const count = find_column(columns, Meaning::count);
    const bool other = count && (count->nodes || is_word("part_of_machine", count->noun));
    if (other && !draft.per_node && counted_noun(column.rank) == "GPUs")
      refuse_column(draft.row.place,
                    column,
                    "is of a GPU, the rows count " + count->noun + ": add gpus, or gpus_per_node");
  }

  TableRow row(const RawRow& raw, int count = 1) {
    Draft draft;
    draft.row.place = raw.place;
    draft.row.count = count;
    bool per_rank = false;
    bool time_per_step = false;
    bool load = false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i] || columns[i]->meaning == Meaning::identity) continue;
      const TableColumn& column = *columns[i];
      const bool tokens = column.meaning == Meaning::batch && column.per == Per::step;
      if (tokens && find_column(columns, Meaning::replica_batch)) continue;
      const RawCell& cell = raw.cells[i];
      if (cell_text(cell).empty() || is_missing(cell) || is_remark(cell, column, columns)) {
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
        time_unit = !number.clock             ? number.unit->name
                    : number.unit             ? "hours, minutes and seconds"
                    : column.factor == 3600.0 ? "hours and minutes"
                                              : "minutes and seconds";
      per_rank = per_rank || column.per_rank;
      load = load || column.load;
      time_per_step = time_per_step || (column.meaning == Meaning::time && column.per == Per::step);
      put(draft, column, raw.place, column.load ? std::round(base * 1e6) / 1e6 : base);
    }
    if (draft.per_node) draft.row.count *= *draft.per_node;
    for (const Meaning of_gpu : {Meaning::price, Meaning::power, Meaning::rank_batch})
      if (const TableColumn* const column = find_column(columns, of_gpu))
        check_counted(draft, *column);
    share_time(draft);
    const TableColumn* const power = find_column(columns, Meaning::power);
    const bool node = power && counted_noun(power->rank) == "nodes";
    if (auto& watts = draft.row.facts.power_w; watts && power && !load)
      *watts /= power->all_of_them ? draft.row.count : node ? draft.per_node.value_or(1) : 1;
    if (per_rank && !load && draft.row.throughput)
      draft.row.throughput = *draft.row.throughput * draft.row.count;
    std::ranges::sort(draft.row.facts.latencies, {}, &Latency::name);
    match_parts(draft, time_per_step);
    const TableColumn* const several = find_column(columns, Meaning::microbatches);
    complete_batch(draft, several && has_word("accumulation", all_header_words(several->name)));
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
      if (cell_text(cell).empty() || is_missing(cell)) continue;
      const double load = number_in(cell, *columns[i], row.place, table.comma).value;
      if (std::abs(load) < most_count) loads.push_back(load);
    }
    columns[i]->factor = 1.0 / unit_of(loads);
  }
}
}  // namespace

void leave_out_missing(RawTable& table, const Columns& columns) {
  const bool several = table.rows.size() > 2;
  // A word among times is what became of a run: "SEGFAULT", among several "x".
  for (RawRow& row : table.rows)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string text = cell_text(row.cells[i]);
      const bool letters = !has_digit(text) && std::isalpha(static_cast<unsigned char>(text[0]));
      const bool word = letters && (text.size() > 3 || (several && text.size() == 1));
      if (word && columns[i] && columns[i]->meaning == Meaning::time && !is_missing(row.cells[i]))
        row.cells[i] = "n/a: " + text;
    }
  const std::size_t count = place_of(columns, Meaning::count);
  std::vector<std::string> left_out;
  std::erase_if(table.rows, [&](const RawRow& row) {
    const auto why = missing_in(row, table, columns, several);
    if (!why) return false;
    // A paragraph is no row.
    const std::string at = printable(cell_text(row.cells[count]).substr(0, 40));
    std::string said = fmt::format("{} ({})", at, *why);
    if (std::ranges::count(left_out, said) == 0) left_out.push_back(std::move(said));
    return true;
  });
  table.left_out.insert(table.left_out.end(), left_out.begin(), left_out.end());
}

TableRow row_of_run(const RawTable& table, const Columns& columns, const RawRow& row, int gpus) {
  return RowReader{table, columns}.row(row, gpus);
}

BuiltRows built_rows(const RawTable& table, Columns& columns) {
  count_loads(table, columns);
  // A rate says what was done, whatever else is counted.
  const bool rate = find_column(columns, Meaning::throughput) != nullptr;
  for (auto& column : columns)
    if (rate && column && column->meaning == Meaning::work && column->generic) column.reset();
  RowReader reader{table, columns};
  BuiltRows built;
  for (const RawRow& row : table.rows) built.rows.push_back(reader.row(row));
  // Runs of different lengths did different work: in epochs, or in steps of so many tokens each.
  const TableColumn* const time = find_column(columns, Meaning::time);
  const auto step = [](const TableRow& row) { return row.facts.step_work(); };
  const bool batches = all_have(built.rows, step);
  const auto lengths = mapped(built.rows, [&](const TableRow& row) -> std::optional<double> {
    if (row.facts.epochs || !row.facts.steps) return row.facts.epochs;
    return *row.facts.steps * (batches ? *step(row) : 1.0);
  });
  constexpr double rounded = 1.01;  // steps, of the same samples
  // Of a data set, which is the same in all rows, each epoch does all.
  const auto work = mapped(built.rows, &TableRow::work);
  const bool set = !work.empty() && find_column(columns, Meaning::epochs) &&
                   all_have(built.rows, &TableRow::work) &&
                   *std::ranges::max(work) <= *std::ranges::min(work) * rounded;
  const bool known = (time && (time->per == Per::step || time->epoch)) ||
                     (!set && any_has(built.rows, &TableRow::work)) ||
                     any_has(built.rows, &TableRow::throughput);
  const auto least = built.rows.empty() ? std::nullopt : std::ranges::min(lengths);
  if (!known && least && std::ranges::max(lengths) > *least * rounded)
    for (std::size_t i = 0; i < built.rows.size(); ++i)
      built.rows[i].work = work[i].value_or(1.0) * *lengths[i];
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

std::vector<StatedOfJob> stated_of_job(const RawTable& table, const Columns& columns) {
  std::vector<StatedOfJob> stated;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const WordList words = all_header_words(table.columns[i]);
    const Meaning meaning = columns[i] ? columns[i]->meaning : Meaning::identity;
    const bool job = has_word("job", words) && meaning != Meaning::sequence_length;
    const bool machine = std::ranges::any_of(words, thing_of);
    const auto texts = values_of(table, i);
    if (machine || meaning <= Meaning::expert || texts.size() != 1 || is_missing(texts.front()))
      continue;
    if (!job && !has_word("manner", words)) continue;
    const auto number = cell_number(texts.front(), table.comma);
    stated.push_back({printable(table.columns[i]),
                      number ? fmt::format("{:g}", number->value) : printable(texts.front()),
                      job});
  }
  return stated;
}
}  // namespace scaleworth::cli
