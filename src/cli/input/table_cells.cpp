// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <array>
#include <cctype>
#include <cmath>
#include <numeric>
#include <set>

namespace scaleworth::cli {
using toml_file::printable;
constexpr std::size_t most_rows = 100000;
constexpr std::size_t most_columns = 1000;

namespace {
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
}  // namespace

namespace {
constexpr std::array<std::pair<char, double>, 5> prefixes{
    {{'k', 1e3}, {'m', 1e6}, {'g', 1e9}, {'b', 1e9}, {'t', 1e12}}};

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
/// commas, and then "1.234" as "1234". Empty for what is no number.
std::string without_grouping(std::string_view text, Comma comma) {
  std::string sign;
  if (text.starts_with('-') || text.starts_with('+')) {
    if (text.front() == '-') sign = "-";
    text.remove_prefix(1);
  }
  const bool decimal = comma == Comma::decimal || comma == Comma::mixed;
  if (decimal && text.find(',') != std::string_view::npos) {
    const std::size_t at = text.rfind(',');
    std::string whole(text.substr(0, at));
    const char mark = whole.find('.') != std::string::npos ? '.' : ' ';
    if (whole.find(mark) != std::string::npos && !grouped(whole, mark)) return "";
    std::erase(whole, mark);
    const std::string part(text.substr(at + 1));
    return whole.find(',') == std::string::npos ? sign + whole + "." + part : "";
  }
  const auto least_points = comma == Comma::mixed ? 2 : 1;
  if (decimal && std::ranges::count(text, '.') >= least_points && grouped(text, '.')) {
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

std::string_view front_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
  return text.substr(0, end);
}

/// "2h 21 min", "6m 2.46s"; absent for anything but numbers with units of time.
std::optional<double> duration(std::string_view text, Comma comma) {
  if (text.empty()) return std::nullopt;
  double seconds = 0.0;
  double longest = 1e9;  // "134s 27s" are two times
  while (!text.empty()) {
    const std::string_view number = front_number(text);
    // "31m54,857s" has a decimal comma.
    const auto value =
        parse_number<double>(without_grouping(number, seconds > 0.0 ? Comma::mixed : comma));
    const std::string_view behind = trimmed(text.substr(number.size()));
    const std::string_view word = front_word(behind);
    const Unit* const unit = cell_unit(word);
    if (!value || !unit || unit->factor >= longest) return std::nullopt;
    longest = unit->factor;
    seconds += *value * unit->factor;
    text = trimmed(behind.substr(word.size()), " ,\t:");
  }
  return seconds;
}

/// "1:02:03" in seconds, "10:30" in the smaller of its two units; Slurm's "1-16:00:00" with days,
/// Python's "1 day, 16:00:00".
std::optional<CellNumber> clock_time(std::string_view text) {
  const std::size_t at = std::min(text.find('-'), text.find(" day"));  // "1 day, 16:00:00"
  if (at != std::string_view::npos) {
    const auto days = parse_number<double>(text.substr(0, at));
    const auto rest = clock_time(trimmed(text.substr(at), " -days,"));
    if (!days || !rest || !rest->unit) return std::nullopt;
    return CellNumber{86400.0 * *days + rest->value, rest->unit, true};
  }
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
  return CellNumber{sum, parts.size() == 3 ? cell_unit("s") : nullptr, true};
}

/// "256^3", "512 x 512 x 256", "(512, 512)".
std::optional<double> product(std::string_view text) {
  double product = 1.0;
  const bool tuple = text.starts_with('(') && text.ends_with(')');
  if (tuple) text = text.substr(1, text.size() - 2);
  for (const std::string_view factor : split(text, tuple ? ',' : 'x')) {
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
  if (behind.empty() || behind.starts_with('x') || behind.starts_with("/s") || behind == "%")
    return true;
  const std::string word(front_word(behind));
  if (word.empty()) return false;
  // "A100", "MI300X"
  const std::string_view model = behind.substr(word.size());
  if (word.size() <= 3 && model.find_first_of("0123456789") == 0 &&
      model.find_first_not_of("0123456789x-") == std::string_view::npos)
    return true;
  // "V100 GPUs"
  const std::string last(behind.substr(behind.rfind(' ') + 1));
  if (last.ends_with('s') && !counted_noun(last).empty()) return true;
  return !counted_noun(word).empty() || work_of(word) || is_word("currency", word) ||
         word == "usd" || word.ends_with("flops") || word.ends_with("flop") ||
         is_word("step", word) || behind.find("/s") != std::string_view::npos ||
         named_meaning(word) == Meaning::throughput;
}
}  // namespace

std::optional<CellNumber> cell_number(std::string_view text, Comma comma) {
  const std::string plain = plain_text(text);
  std::string_view rest = plain;
  const std::string_view first = front_word(rest);
  if (is_word("about", first)) rest = trimmed(rest.substr(first.size()), " .");
  // "x8"; "1800 +- 20" and "1800 (20)" are of the first number.
  if (rest.starts_with('x') && rest.size() > 1 && is_digit(rest[1])) rest.remove_prefix(1);
  const bool iso = rest.starts_with("pt") && text.find('P') != text.npos;  // "PT14H20M" of ISO 8601
  if (iso) rest.remove_prefix(2);
  rest = trimmed(rest.substr(0, rest.find("+-")));
  // "60 s / 52.5 GB" is of its first number, too.
  if (const std::size_t slash = rest.find(" / ");
      slash != std::string_view::npos &&
      rest.find_first_of("0123456789", slash) != std::string_view::npos)
    rest = trimmed(rest.substr(0, slash));
  const std::size_t bracket = rest.find('(');
  if (bracket != std::string_view::npos && bracket > 0) rest = trimmed(rest.substr(0, bracket));
  const std::string_view number = front_number(rest);
  const auto value = parse_number<double>(without_grouping(number, comma));
  std::string_view behind = trimmed(rest.substr(number.size()));
  if (behind.starts_with('+')) behind.remove_prefix(1);  // "8+" and "1000+ req/s" are at least that
  if (value && behind.empty()) return CellNumber{*value};
  if (const auto time = clock_time(rest)) return time;
  // "35-45 sec"
  if (behind.starts_with('-')) {
    const auto high = cell_number(behind.substr(1), comma);
    if (value && high && high->unit && high->value > *value)
      return CellNumber{0.5 * (*value + high->value), high->unit};
  }
  if (const auto seconds = duration(rest, comma)) {
    const Unit* const own = value ? cell_unit(behind) : nullptr;
    // "1.4M" is no time.
    if (own && !iso && behind == "m" && text.find('M') != std::string_view::npos)
      return CellNumber{*value * 1e6};
    // "2D" has two dimensions.
    if (own && behind == "d" && text.find('D') != std::string_view::npos) return std::nullopt;
    return own ? CellNumber{*value, own} : CellNumber{*seconds, cell_unit("s"), true};
  }
  // "9.77 s/it"
  if (const std::size_t slash = behind.find('/'); value && slash != std::string_view::npos)
    if (const Unit* const unit = cell_unit(trimmed(behind.substr(0, slash)));
        unit && is_word("took", front_word(trimmed(behind.substr(slash + 1)))))
      return CellNumber{*value, unit};
  if (const auto all = product(rest)) return CellNumber{*all};
  if (!value) return std::nullopt;
  const bool attached = behind.data() == number.data() + number.size();
  for (const auto& [letter, factor] : prefixes)
    if (attached && behind.front() == letter && says_nothing_new(behind.substr(1)))
      return CellNumber{*value * factor};
  const std::string_view word = front_word(behind);  // "1.2 billion tokens"
  const double scale = word.size() > 1 ? header_scale({std::string(word)}) : 1.0;
  if (scale != 1.0 && says_nothing_new(behind.substr(word.size())))
    return CellNumber{*value * scale};
  return says_nothing_new(behind) ? std::optional(CellNumber{*value}) : std::nullopt;
}

void unify_prefixes(RawTable& table) {
  struct Rate {
    std::string* cell;
    double number;
    std::string unit;
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::vector<Rate> rates;
    std::set<std::string> units;
    const HeaderWords of_header = header_words(table.columns[i]);
    for (RawRow& row : table.rows) {
      auto* const text = std::get_if<std::string>(&row.cells[i]);
      if (!text) continue;
      // "320 episodes/hr" in seconds, where the header does not say it
      const std::string said = rate_in(*text);
      const HeaderWords rate = header_words(said);
      const auto stated = cell_number(text->substr(0, text->find(said)), Comma::thousands);
      if (stated && rate.per_time && rate.per_time->factor > 1.0 && !of_header.per_time)
        *text = fmt::format("{} {}/s", stated->value / rate.per_time->factor, rate.key());
      const std::string plain = plain_text(*text);
      const std::string_view digits = front_number(plain);
      const auto number = parse_number<double>(without_grouping(digits, Comma::thousands));
      const std::string unit(trimmed(std::string_view(plain).substr(digits.size())));
      if (!number || unit.find("/s") == std::string::npos) continue;
      rates.push_back({text, *number, unit});
      units.insert(unit);
    }
    if (units.size() < 2) continue;
    // Of "elem/s", "kelem/s" and "melem/s" the shortest, or all but its prefix, is in all of them.
    const std::string shortest = *std::ranges::min_element(units, {}, &std::string::size);
    for (const std::string& base : {shortest, shortest.substr(1)}) {
      const auto factor_of = [&](const std::string& unit) -> std::optional<double> {
        if (unit == base) return 1.0;
        const auto* const prefix =
            std::ranges::find(prefixes, unit.front(), &std::pair<char, double>::first);
        if (prefix == prefixes.end() || unit.substr(1) != base) return std::nullopt;
        // "GiB/s" is 1024 "MiB/s".
        return base.starts_with("ib") ? std::pow(1024.0, std::log10(prefix->second) / 3.0)
                                      : prefix->second;
      };
      const auto is_multiple = [&](const std::string& unit) { return factor_of(unit).has_value(); };
      if (!std::ranges::all_of(units, is_multiple)) continue;
      for (const Rate& rate : rates)
        *rate.cell = fmt::format("{} {}", rate.number * *factor_of(rate.unit), base);
      break;
    }
  }
}

bool is_missing(const RawCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (!text) return false;
  const std::string word = lower_case(trimmed(*text, " *`_"));
  if (word.empty()) return false;
  const std::string first = word.substr(0, word.find_first_of(" (:,+"));
  // "(technical problem)"
  const bool remark = word.front() == '(' && has_word("missing", all_header_words(word));
  return is_word("missing", word) || (first.size() > 2 && is_word("missing", first)) || remark;
}

Comma comma_of(const RawTable& table) {
  bool either = false;    // "1,234"
  bool decimal = false;   // "1,5"
  bool point = false;     // "1.5"
  bool grouping = false;  // "1.234"
  bool seconds = false;
  for (const RawRow& row : table.rows) {
    for (const RawCell& cell : row.cells) {
      const auto* text = std::get_if<std::string>(&cell);
      if (!text) continue;
      const std::string plain = plain_text(*text);
      const std::string_view number = front_number(plain);
      const auto commas = std::ranges::count(number, ',');
      const std::string_view whole = number.substr(0, number.find('.'));
      const auto points = std::ranges::count(number, '.');
      if (commas == 0 && points > 0) {
        const bool groups = grouped(number, '.');
        (groups ? grouping : point) = true;
        decimal = decimal || (groups && points > 1);
      }
      if (commas == 0) continue;
      const bool point_behind =
          number.find('.') > number.rfind(',') && whole.size() < number.size();
      if (grouped(whole, ',') && (commas > 1 || point_behind)) return Comma::thousands;
      seconds = (seconds || !either) && plain.ends_with(" s");
      if (grouped(number, ','))
        either = true;
      else if (commas == 1)
        decimal = true;
    }
  }
  if (decimal) return point ? Comma::mixed : Comma::decimal;
  // Where people write 1,5 for one and a half they separate cells by other signs; with bars they
  // may write "296,508 s" either way.
  if (!either)
    return grouping && !point && table.separator == ';' ? Comma::unstated : Comma::thousands;
  if (point || table.separator == ',' || (table.separator == '|' && !seconds))
    return Comma::thousands;
  return Comma::unstated;
}

std::string rate_in(const std::string& cell) {
  std::string_view unit = trimmed(cell, " ~*`");
  unit = trimmed(unit.substr(front_number(unit).size()));
  // "14k tokens/s"
  if (unit.size() > 2 && unit[1] == ' ') unit.remove_prefix(2);
  const std::string name(unit);
  return named_meaning(name) == Meaning::throughput ? name : "";
}

std::string named_by_cells(const std::vector<RawCell>& cells) {
  bool times = true;
  bool rates = true;
  bool ratios = true;
  std::size_t numbers = 0;
  for (const RawCell& cell : cells) {
    const std::string text = plain_text(cell_text(cell));
    // "incomplete output" is no measurement.
    if (is_missing(cell) || text.find_first_of("0123456789") == std::string::npos) continue;
    ++numbers;
    const auto number = cell_number(cell_text(cell), Comma::thousands);
    times = times && number && number->unit && number->unit->dimension == Dimension::time;
    rates = rates && number &&
            (text.find("/s") != std::string::npos || !rate_in(cell_text(cell)).empty());
    ratios = ratios && text.ends_with('x');
  }
  if (numbers < std::clamp<std::size_t>(cells.size(), 1, 2)) return "value";
  if (times) return "time";
  if (rates) return "throughput";
  return ratios ? "speedup" : "value";
}

std::string first_names(std::vector<std::string> names, std::size_t most) {
  std::erase(names, "");
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return listed(names, printable) + (more > 0 ? fmt::format(" and {} more", more) : "");
}

std::size_t column_of(const RawTable& table, const std::string& name, const char* option) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found != table.columns.end()) return static_cast<std::size_t>(found - table.columns.begin());
  throw UserError("{} {}: no such column in {}; it has {}",
                  option,
                  printable(name),
                  table.file,
                  first_names(table.columns));
}

std::vector<std::size_t> by_name(const RawTable& table) {
  std::vector<std::size_t> order(table.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return table.columns[i]; });
  return order;
}

std::vector<std::string> values_of(const RawTable& table, std::size_t column) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const RawRow& row : table.rows) {
    const std::string text = cell_text(row.cells[column]);
    if (seen.insert(text).second) values.push_back(text);
  }
  return values;
}

std::vector<std::optional<double>> numbers_of(const RawTable& table, std::size_t column) {
  return mapped(table.rows, [&](const RawRow& row) -> std::optional<double> {
    const RawCell& cell = row.cells[column];
    if (const auto* number = std::get_if<double>(&cell)) return *number;
    const auto* text = std::get_if<std::string>(&cell);
    if (!text || is_missing(cell)) return std::nullopt;
    const auto number = cell_number(*text, table.comma);
    return number ? std::optional(number->value) : std::nullopt;
  });
}

bool has_numbers(const RawTable& table, std::size_t column) {
  const auto numbers = numbers_of(table, column);
  return std::ranges::any_of(numbers, [](const auto& number) { return number.has_value(); });
}

std::size_t place_of(const Columns& columns, Meaning meaning) {
  const auto found = std::ranges::find_if(
      columns, [=](const auto& column) { return column && column->meaning == meaning; });
  return static_cast<std::size_t>(found - columns.begin());
}

const TableColumn* find_column(const Columns& columns, Meaning meaning) {
  const std::size_t place = place_of(columns, meaning);
  return place < columns.size() ? &*columns[place] : nullptr;
}

bool is_measurement(const TableColumn& column) {
  return column.meaning == Meaning::time || column.meaning == Meaning::throughput ||
         column.meaning == Meaning::speedup || column.meaning == Meaning::efficiency;
}

std::vector<double> counts_in(const RawTable& table, std::size_t column) {
  const auto numbers = numbers_of(table, column);
  const bool whole = std::ranges::all_of(numbers, [](const auto& number) {
    return number && *number >= 1.0 && *number == std::floor(*number);
  });
  return whole ? mapped(numbers, [](const auto& number) { return *number; })
               : std::vector<double>{};
}

bool differ(const std::vector<double>& numbers) {
  return std::ranges::any_of(numbers, [&](double number) { return number != numbers.front(); });
}

std::string said_by_cells(const RawTable& table, std::size_t i) {
  return named_by_cells(mapped(table.rows, [=](const RawRow& row) { return row.cells[i]; }));
}

bool is_cpu_time(const RawTable& table, std::size_t column) {
  const auto of_cpus = [](const std::string& name) {
    WordList words = header_words(name).name;
    std::erase(words, "time");
    return words.size() == 1 && is_word("cpu_time", words.front());
  };
  const std::string& name = table.columns[column];
  const bool time = has_word("time", all_header_words(name)) || counts_in(table, column).empty();
  return of_cpus(name) && time && has_numbers(table, column) &&
         std::ranges::any_of(table.columns, [&](const std::string& other) {
           return named_meaning(other) == Meaning::time && !of_cpus(other);
         });
}

bool are_sizes(const RawTable& table, std::size_t column) {
  const std::vector<double> numbers = counts_in(table, column);
  return has_word("size", all_header_words(table.columns[column])) && !numbers.empty() &&
         std::ranges::min(numbers) >= 50.0;
}

bool says_numbers(const RawTable& table, std::size_t column) {
  const auto numbers = numbers_of(table, column);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    const RawCell& cell = table.rows[row].cells[column];
    if (!numbers[row] && !is_missing(cell) && !cell_text(cell).empty()) return false;
  }
  return true;
}

bool counts_machines(const RawTable& table, std::size_t i) {
  return table.columns[i].size() > 1 && names_a_count(table.columns[i]);
}

bool is_unnamed(const std::string& name) {
  return name.starts_with("column ");
}

std::string without_marks(std::string_view text) {
  return std::string(trimmed(text, " *`"));
}

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

std::string cell_text(const RawCell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

namespace {
/// "params=16B" at its first "=".
std::pair<std::string, std::string> halves(const std::string& text, const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UserError("{} {}: write it as COLUMN=VALUE", option, printable(text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

bool same_cell(const RawCell& cell, const std::string& wanted) {
  const std::string text = cell_text(cell);
  if (without_marks(text) == without_marks(wanted)) return true;
  const auto number = parse_number<double>(text);
  return number && number == parse_number<double>(wanted);
}

void keep_rows(RawTable& table, const std::string& condition) {
  auto halved = halves(condition, "--where");
  const bool without = halved.first.size() > 1 && halved.first.ends_with('!');
  if (without) halved.first.pop_back();
  const std::string& name = halved.first;
  const std::string& wanted = halved.second;  // no binding: clang 14 captures none
  const std::size_t column = column_of(table, name, "--where");
  const std::vector<std::string> values = values_of(table, column);
  std::erase_if(table.rows,
                [&](const RawRow& row) { return same_cell(row.cells[column], wanted) == without; });
  if (!table.rows.empty()) return;
  throw UserError("--where {}: no row has it; {} is {}",
                  printable(condition),
                  printable(name),
                  first_names(values));
}
}  // namespace

RawTable select(RawTable table, const TableSelection& selection) {
  for (const std::string& condition : selection.where) keep_rows(table, condition);
  // Of one of several tables the columns of the others are none.
  for (std::size_t i = 0; !table.kinds.empty() && i < table.columns.size(); ++i)
    if (std::ranges::all_of(table.rows,
                            [=](const RawRow& row) { return row.cells[i].index() == 0; }))
      table.columns[i].clear();
  table.stated_as.resize(table.columns.size());
  for (const std::string& renaming : selection.rename) {
    const auto [from, to] = halves(renaming, "--rename");
    const std::size_t column = column_of(table, from, "--rename");
    table.stated_as[column] = table.columns[column];
    table.columns[column] = to;
  }
  return table;
}

void check_row_count(std::size_t rows_so_far, const std::string& place) {
  if (rows_so_far < most_rows) return;
  throw UserError("{}: more than {} rows; give one per count and repeat", place, most_rows);
}

void check_column_count(std::size_t columns, const std::string& place) {
  if (columns <= most_columns) return;
  throw UserError(
      "{}: more than {} columns; leave out what is not of the runs", place, most_columns);
}
}  // namespace scaleworth::cli
