// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/whole_number.h"

#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>

namespace scaleworth::cli {
namespace {
using toml_file::printable;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Small letters; signs of Markdown and money are gone, typographic ones are plain, and what is no
/// ASCII after that, such as a check mark, is a blank.
std::string plain_text(std::string_view text) {
  struct Replaced {
    std::string_view from;
    std::string_view to;
  };
  constexpr std::array replaced{Replaced{"\xC3\x97", "x"},
                                Replaced{"\xC2\xB1", "+-"},
                                Replaced{"+/-", "+-"},
                                Replaced{"\xC2\xB5", "u"},
                                Replaced{"\xCE\xBC", "u"},
                                Replaced{"\xE2\x88\x92", "-"},
                                Replaced{"\\pm", "+-"},
                                Replaced{"\xE2\x89\x88", ""},
                                Replaced{"\xE2\x82\xAC", ""},
                                Replaced{"\xC2\xA3", ""},
                                Replaced{"\\%", "%"}};
  std::string plain;
  while (!text.empty()) {
    const auto* const found = std::ranges::find_if(
        replaced, [&](const Replaced& one) { return text.starts_with(one.from); });
    if (found != replaced.end()) {
      plain += found->to;
      text.remove_prefix(found->from.size());
      continue;
    }
    const char c = text.front();
    text.remove_prefix(1);
    if (std::string_view("*`~$").find(c) != std::string_view::npos) continue;
    const bool ascii = static_cast<unsigned char>(c) < 0x80;
    plain += ascii ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : ' ';
  }
  return std::string(trimmed(plain));
}

/// Of the number at the front of `text`: digits, signs, exponent, and what may group or divide it.
std::string_view front_number(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const char c = text[end];
    const bool next_digit = end + 1 < text.size() && is_digit(text[end + 1]);
    const bool first = end == 0;
    const bool sign = (c == '-' || c == '+') && first;
    const bool point = c == '.' && (next_digit || (!first && is_digit(text[end - 1])));
    const bool group = std::string_view(",_ '").find(c) != std::string_view::npos && !first &&
                       next_digit && is_digit(text[end - 1]);
    const bool exponent =
        c == 'e' && !first && is_digit(text[end - 1]) && end + 1 < text.size() &&
        (next_digit || (end + 2 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+') &&
                        is_digit(text[end + 2])));
    if (!is_digit(c) && !sign && !point && !group && !exponent) break;
    end += exponent && !next_digit ? 2 : 1;
  }
  return text.substr(0, end);
}

/// Whether `text` is digits in groups of three behind `mark`.
bool grouped(std::string_view text, char mark) {
  const std::vector<std::string_view> groups = split(text, mark);
  if (groups.size() < 2) return false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool digits = std::ranges::all_of(groups[i], is_digit) && !groups[i].empty();
    if (!digits || (i > 0 && groups[i].size() != 3) || (i == 0 && groups[i].size() > 4))
      return false;
  }
  return !groups.front().starts_with('0');
}

/// "1,234,567.5", "1_234_567.5" and "1 234 567.5" as "1234567.5"; "1.234,5" and "12,5" with decimal
/// commas. Empty for what is no number.
std::string without_grouping(std::string_view text, Comma comma) {
  std::string sign;
  if (text.starts_with('-') || text.starts_with('+')) {
    if (text.front() == '-') sign = "-";
    text.remove_prefix(1);
  }
  if (comma == Comma::decimal && text.find(',') != std::string_view::npos) {
    const std::size_t at = text.rfind(',');
    std::string whole(text.substr(0, at));
    const char mark = whole.find('.') != std::string::npos ? '.' : ' ';
    if (whole.find(mark) != std::string::npos && !grouped(whole, mark)) return "";
    std::erase(whole, mark);
    const std::string part(text.substr(at + 1));
    return whole.find(',') == std::string::npos ? sign + whole + "." + part : "";
  }
  if (comma == Comma::decimal && std::ranges::count(text, '.') > 1 && grouped(text, '.')) {
    std::string whole(text);
    std::erase(whole, '.');
    return sign + whole;
  }
  const std::size_t first = text.find_first_of(",_ '");
  if (first == std::string_view::npos) return sign + std::string(text);
  const std::size_t point = std::min(text.find('.', first), text.size());
  const std::string_view whole = text.substr(0, point);
  if (!grouped(whole, text[first])) return "";
  std::string digits(whole);
  std::erase(digits, text[first]);
  return sign + digits + std::string(text.substr(point));
}

const Unit* cell_unit(std::string_view word) {
  for (const Unit& unit : table_units())
    if (std::ranges::count(unit.in_cell, word) > 0) return &unit;
  return nullptr;
}

const Unit* seconds_unit() {
  return cell_unit("s");
}

std::string_view front_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
  return text.substr(0, end);
}

/// "2h 21 min", "6m 2.46s"; absent for anything but numbers with units of time.
std::optional<double> duration(std::string_view text, Comma comma) {
  double seconds = 0.0;
  while (!text.empty()) {
    const std::string_view number = front_number(text);
    const auto value = parse_number<double>(without_grouping(number, comma));
    const std::string_view behind = trimmed(text.substr(number.size()));
    const std::string_view word = front_word(behind);
    const Unit* const unit = cell_unit(word);
    if (!value || !unit) return std::nullopt;
    seconds += *value * unit->factor;
    text = trimmed(behind.substr(word.size()), " ,\t:");
  }
  return seconds;
}

/// "1:02:03" in seconds, "10:30" in the smaller of its two units.
std::optional<CellNumber> clock_time(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  double sum = 0.0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = parse_number<double>(parts[i]);
    const bool last = i + 1 == parts.size();
    const bool whole = value && (last || std::floor(*value) == *value);
    if (!whole || *value < 0.0 || (i > 0 && *value >= 60.0)) return std::nullopt;
    sum = sum * 60.0 + *value;
  }
  return CellNumber{sum, parts.size() == 3 ? seconds_unit() : nullptr, parts.size() == 2};
}

/// "256^3", "512 x 512 x 256".
std::optional<double> product(std::string_view text) {
  double product = 1.0;
  for (const std::string_view factor : split(text, 'x')) {
    const std::vector<std::string_view> power = split(trimmed(factor), '^');
    const auto base = parse_number<double>(power.front());
    const auto exponent = power.size() == 2 ? parse_number<double>(power[1]) : std::optional(1.0);
    if (!base || !exponent || power.size() > 2) return std::nullopt;
    product *= std::pow(*base, *exponent);
  }
  return product;
}

/// What may stand behind a number without changing it: "x", "%", "gpus", "tokens/s".
bool says_nothing_new(std::string_view behind) {
  behind = trimmed(behind, " .)");
  // "8x A100" counts machines of that name.
  if (behind.empty() || behind.starts_with('x') || behind == "%") return true;
  const std::string word(front_word(behind));
  if (word.empty()) return false;
  return !counted_noun(word).empty() || names_work(word) || word.ends_with("flops") ||
         word.ends_with("flop") || is_word("step", word) ||
         behind.find("/s") != std::string_view::npos;
}

constexpr double most_count = 1e6;

/// What a row needs before it is one of a scaling table.
struct Draft {
  TableRow row;
  std::optional<double> steps;
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
    Member{&Draft::steps},
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
  if (number.clock) {
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
  void operator()(std::optional<double> TableRow::*member) const { draft.row.*member = value; }
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
  if (!draft.steps || !(*draft.steps > 0.0)) {
    throw UserError(
        "{}: the parts are of one {}, the time is of one {}; add a column steps with the number of "
        "steps of the run",
        draft.row.place,
        to_run ? "step" : "run",
        to_run ? "run" : "step");
  }
  for (auto& part : draft.row.parts_s) {
    if (part) part = to_run ? *part * *draft.steps : *part / *draft.steps;
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
/// is. A count that is not there is an error, where no word says that it is missing.
std::optional<std::string> missing_in(const RawRow& row, const Columns& columns) {
  std::optional<std::string> why;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i]) continue;
    const RawCell& cell = row.cells[i];
    const bool missing = is_missing(cell);
    if (columns[i]->meaning == Meaning::count) {
      const std::string count = cell_text(cell);
      if (missing) return count;
      const bool fraction = count.find('/') != std::string::npos &&
                            count.find_first_not_of("0123456789/") == std::string::npos;
      if (fraction) return "no whole count";
      continue;
    }
    if (!is_measurement(*columns[i]) && columns[i]->meaning != Meaning::compute) continue;
    if (!missing && !is_empty(cell)) return std::nullopt;
    if (missing && !why) why = printable(cell_text(cell));
  }
  return why;
}

struct RowReader {
  const RawTable& table;
  const Columns& columns;
  std::map<std::string, int> repeats{};
  bool unit_missing = false;
  std::string time_unit{};  // of a cell

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
      if (is_empty(cell) || is_missing(cell)) {
        if (column.meaning == Meaning::count) refuse_column(raw.place, column, "is empty");
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
      if (unitless && column.meaning != Meaning::time)
        refuse_column(raw.place,
                      column,
                      "has no unit; write it into the header, as (s), or rename it, as comm_s");
      unit_missing = unit_missing || unitless;
      if (column.meaning == Meaning::time && time_unit.empty() && (number.unit || number.clock))
        time_unit = number.unit ? number.unit->name : "minutes and seconds";
      per_rank = per_rank || column.per_rank;
      load = load || column.load;
      time_per_step = time_per_step || (column.meaning == Meaning::time && column.per == Per::step);
      std::visit(Put{draft, column, raw.place, column.load ? std::round(base * 1e6) / 1e6 : base},
                 members[static_cast<std::size_t>(column.meaning)]);
    }
    if (draft.per_node) draft.row.count *= *draft.per_node;
    if (per_rank && !load && draft.row.throughput)
      draft.row.throughput = *draft.row.throughput * draft.row.count;
    std::ranges::sort(draft.row.facts.latencies, {}, &Latency::name);
    match_parts(draft, time_per_step);
    complete_batch(draft);
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
  const auto count = std::ranges::find_if(
      columns, [](const auto& column) { return column && column->meaning == Meaning::count; });
  const bool per_node = std::ranges::any_of(
      columns, [](const auto& column) { return column && column->meaning == Meaning::per_node; });
  for (const auto& rate : columns) {
    if (!rate || !rate->per_rank || rate->relative || count == columns.end() || per_node) continue;
    const bool of_nodes = counted_noun(rate->rank) == "nodes";
    const bool of_gpus = (*count)->noun == "GPUs";
    if (of_nodes
            ? of_gpus
            : (*count)->nodes && !rate->rank.empty() && counted_noun(rate->rank) != (*count)->noun)
      refuse_column(
          table.place,
          *rate,
          fmt::format("is of another thing than '{}' counts; give the rate of all, as tokens_per_s",
                      printable((*count)->name)));
  }
}
}  // namespace

std::optional<CellNumber> cell_number(std::string_view text, Comma comma) {
  const std::string plain = plain_text(text);
  std::string_view rest = plain;
  // "x8"; "1800 +- 20" and "1800 (20)" are of the first number.
  if (rest.starts_with('x') && rest.size() > 1 && is_digit(rest[1])) rest.remove_prefix(1);
  rest = trimmed(rest.substr(0, rest.find("+-")));
  const std::size_t bracket = rest.find('(');
  if (bracket != std::string_view::npos && bracket > 0) rest = trimmed(rest.substr(0, bracket));
  const std::string_view number = front_number(rest);
  const auto value = parse_number<double>(without_grouping(number, comma));
  const std::string_view behind = trimmed(rest.substr(number.size()));
  if (value && behind.empty()) return CellNumber{*value};
  if (const auto time = clock_time(rest)) return time;
  if (const auto seconds = duration(rest, comma)) {
    const Unit* const own = value ? cell_unit(behind) : nullptr;
    return own ? CellNumber{*value, own} : CellNumber{*seconds, seconds_unit()};
  }
  if (const auto all = product(rest)) return CellNumber{*all};
  if (!value) return std::nullopt;
  const bool attached = behind.data() == number.data() + number.size();
  constexpr std::array<std::pair<char, double>, 5> suffixes{
      {{'k', 1e3}, {'m', 1e6}, {'g', 1e9}, {'b', 1e9}, {'t', 1e12}}};
  for (const auto& [letter, factor] : suffixes)
    if (attached && behind.front() == letter && says_nothing_new(behind.substr(1)))
      return CellNumber{*value * factor};
  return says_nothing_new(behind) ? std::optional(CellNumber{*value}) : std::nullopt;
}

bool is_missing(const RawCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (!text) return false;
  std::string word;
  for (const char c : trimmed(*text, " *`_"))
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word.empty()) return false;
  const std::string first = word.substr(0, word.find_first_of(" (:,"));
  return is_word("missing", word) || (first.size() > 2 && is_word("missing", first));
}

Comma comma_of(const RawTable& table) {
  bool either = false;
  for (const RawRow& row : table.rows) {
    for (const RawCell& cell : row.cells) {
      const auto* text = std::get_if<std::string>(&cell);
      if (!text) continue;
      const std::string plain = plain_text(*text);
      const std::string_view number = front_number(plain);
      const auto commas = std::ranges::count(number, ',');
      const std::string_view whole = number.substr(0, number.find('.'));
      if (commas == 0) continue;
      const bool point_behind =
          number.find('.') > number.rfind(',') && whole.size() < number.size();
      if (grouped(whole, ',') && (commas > 1 || point_behind)) return Comma::thousands;
      if (grouped(number, ','))
        either = true;
      else if (commas == 1)
        return Comma::decimal;
    }
  }
  // Where people write 1,5 for one and a half they separate cells by other signs.
  if (!either || table.separator == ',' || table.separator == '|') return Comma::thousands;
  return Comma::unstated;
}

BuiltRows built_rows(const RawTable& table, Columns& columns) {
  count_loads(table, columns);
  check_rate_of_one(table, columns);
  RowReader reader{table, columns};
  BuiltRows built;
  built.left_out = table.left_out;
  for (const RawRow& row : table.rows) {
    if (const auto why = missing_in(row, columns)) {
      const auto count = std::ranges::find_if(
          columns, [](const auto& column) { return column && column->meaning == Meaning::count; });
      const std::string at =
          cell_text(row.cells[static_cast<std::size_t>(count - columns.begin())]);
      built.left_out.push_back(fmt::format("{} ({})", printable(at), *why));
      continue;
    }
    built.rows.push_back(reader.row(row));
  }
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
  for (const auto& column : columns)
    if (column && column->meaning == Meaning::per_node) {
      kind.noun = column->noun;
      kind.axis = Axis::ranks;
    }
  if (!timed && parts_of_step) kind.basis = TimeBasis::step;
  if (!timed && !rate_of_work && !parts_of_step)
    kind.relative = std::ranges::none_of(
        columns, [](const auto& column) { return column && column->meaning == Meaning::compute; });
  return kind;
}
}  // namespace scaleworth::cli
