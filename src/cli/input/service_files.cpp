// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/files/toml_table.h"

#include <cmath>
#include <ctime>
#include <initializer_list>

#include <nlohmann/json.hpp>

namespace scaleworth::cli {
std::optional<double> value_in(const RawTable& table,
                               const RawRow& row,
                               std::size_t at,
                               double factor) {
  const RawCell& cell = row.cells[at];
  if (std::holds_alternative<std::monostate>(cell) || is_missing(cell)) return std::nullopt;
  const std::string text = cell_text(cell);  // "c=8" is 8
  const auto number = cell_number(text.substr(text.find('=') + 1), table.comma);
  if (!number || !(number->value >= 0.0) || !std::isfinite(number->value))
    throw UserError("{}: column '{}' has '{}', which is no number of 0 or more",
                    row.place,
                    toml_file::printable(table.columns[at]),
                    toml_file::printable(cell_text(cell)));
  return number->value * (number->unit ? number->unit->factor : factor);
}

namespace {
using toml_file::printable;

bool has_any(const WordList& words, std::initializer_list<const char*> wanted) {
  return std::ranges::any_of(wanted,
                             [&](const char* word) { return std::ranges::count(words, word) > 0; });
}

enum class ServiceColumn { none, concurrency, requests, tokens, latency, prompt };

struct Column {
  ServiceColumn is = ServiceColumn::none;
  double factor = 1.0;  // of base units; 0: as each cell says
  std::string latency = {};
  bool of_output = false;
  bool of_one_gpu = false;
  bool of_prompts = false;  // tokens of prompts and answers
};

/// "ttft_ms" without a percentile is "ttft"; "http_req_duration_p95_ms" is "p95".
std::optional<std::string> latency_name(const std::string& header, const WordList& words) {
  WordList plain = words;
  const bool timed = header_words(header).unit != nullptr;
  const auto of_answer = [](const std::string& word) { return is_word("of_answer", word); };
  const bool said = timed && std::erase_if(plain, of_answer) > 0;
  if (said && has_any(words, {"first"})) plain.insert(plain.begin(), "ttft");
  const auto known = table_column(said ? fmt::format("{}", fmt::join(plain, " ")) : header, "");
  if (known && known->meaning == Meaning::latency) return known->latency;
  for (const std::string& word : plain)
    if (is_word("latency", word) && (timed || !has_word("no_latency", words))) return word;
  return std::nullopt;
}

Column column_of(const std::string& header) {
  const HeaderWords parts = header_words(header);
  const WordList words = all_header_words(header);
  const bool offered = has_any(words, {"rate"}) && !parts.per_time;
  if (offered || has_any(words, {"id"})) return {};
  if (!parts.per_time && has_any(words, {"concurrency", "concurrent", "users", "clients", "batch"}))
    return {ServiceColumn::concurrency};
  const bool input = has_any(words, {"input", "prompt", "prefill", "isl"});
  const bool output = has_any(words, {"output", "out", "generated", "generation", "decode"});
  const bool rate = has_any(words, {"throughput"});  // "request_throughput"
  if (has_any(words, {"rps", "qps"}) || (rate && has_any(words, {"request"})))
    return {ServiceColumn::requests};
  if (rate && output && !parts.per_time) return {ServiceColumn::tokens, 1.0, "", true};
  if (has_any(words, {"tps"}) && !input) return {ServiceColumn::tokens, 1.0, "", output};
  const bool of_one_gpu = parts.per.size() == 1 && counted_noun(parts.per.front()) == "GPUs";
  const auto known = table_column(header, "");
  if (known && known->meaning == Meaning::throughput && !known->inverse &&
      known->per_rank == of_one_gpu) {
    const bool both = has_any(words, {"total"}) && !output;
    if (known->work_noun == "tokens" && !input)
      return {ServiceColumn::tokens, known->factor, "", output, of_one_gpu, both};
    if (known->work_noun == "requests")
      return {ServiceColumn::requests, known->factor, "", false, of_one_gpu};
  }
  if (input && !parts.unit && !parts.per_time) return {ServiceColumn::prompt};
  const bool other = parts.unit && parts.unit->dimension != Dimension::time;
  if (const auto latency = other ? std::nullopt : latency_name(header, words))
    return {ServiceColumn::latency, parts.unit ? parts.unit->factor : 0.0, *latency};
  return {};
}

/// Of several columns of one kind the first, of tokens the first of output.
std::optional<std::size_t> chosen(const std::vector<Column>& columns, ServiceColumn is) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].is == is && (!best || (columns[i].of_output && !columns[*best].of_output)))
      best = i;
  return best;
}

/// A latency per row.
ServiceFile latencies_in(const RawTable& all, const std::vector<Column>& columns) {
  ServiceFile file;
  RawTable table = all;
  std::erase_if(table.rows, [&](const RawRow& row) { return failure_of(all, row).has_value(); });
  if (const std::size_t failed = all.rows.size() - table.rows.size(); failed > 0)
    file.warnings.emplace_back(FindingId::percentiles_of_others, all.file, failed, all.rows.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is != ServiceColumn::latency) continue;
    LatencySamples& samples = file.samples.emplace_back();
    samples.kind = columns[i].latency == "latency" ? "" : columns[i].latency;
    samples.source = table.file;
    for (const RawRow& row : table.rows)
      if (const auto time = value_in(table, row, i, columns[i].factor); time && *time > 0.0)
        samples.sorted.push_back(*time);
    if (samples.sorted.empty()) {
      file.samples.pop_back();
      continue;
    }
    std::ranges::sort(samples.sorted);
    if (const auto lost = table.rows.size() - samples.sorted.size(); lost > 0)
      file.remarks.emplace_back(FindingId::rows_without_latency,
                                table.file,
                                lost,
                                table.rows.size(),
                                printable(table.columns[i]));
  }
  return file;
}

/// GPUs that served, by a column of them or the product of those of the layout. Throws UserError
/// for rows of several servers, and of several models.
std::optional<int> gpus_of(const RawTable& table) {
  std::optional<double> counted;
  std::optional<double> product;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto known = table_column(table.columns[i], table.place);
    if (!known) continue;
    const bool gpus = known->noun == "GPUs";
    const bool layout = known->meaning >= Meaning::tensor && known->meaning <= Meaning::data;
    const bool model = known->meaning == Meaning::identity;
    if ((gpus || layout || model) && values_of(table, i).size() > 1)
      throw UserError("{}: '{}' differs from row to row: a curve is of one server",
                      table.place,
                      printable(table.columns[i]));
    const auto number = numbers_of(table, i).front();
    if (gpus && number) counted = *number;
    if (layout && number) product = product.value_or(1.0) * *number;
  }
  const auto all = counted ? counted : product;
  return all ? std::optional(saturated<int>(*all)) : std::nullopt;
}

/// Throws UserError for a latency that states no unit.
void check_units(const RawTable& table, const std::vector<Column>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is != ServiceColumn::latency || columns[i].factor > 0.0) continue;
    const auto number = cell_number(cell_text(table.rows.front().cells[i]), table.comma);
    if (number && !number->unit)
      throw UserError("{0}: '{1}' has no unit; write it in the header, as {1}_ms or {1}_s",
                      table.place,
                      printable(table.columns[i]));
  }
}

ServiceFile service_table(const RawTable& table) {
  auto columns = mapped(table.columns, column_of);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].is == ServiceColumn::prompt && !says_numbers(table, i)) columns[i] = {};
  check_units(table, columns);
  const auto concurrency = chosen(columns, ServiceColumn::concurrency);
  const auto requests = chosen(columns, ServiceColumn::requests);
  const auto tokens = chosen(columns, ServiceColumn::tokens);
  const auto prompt = chosen(columns, ServiceColumn::prompt);
  if (!concurrency && !requests && !tokens && std::ranges::none_of(table.columns, names_a_count)) {
    for (std::size_t i = 0; i < columns.size(); ++i)  // "response_time_ms" of single requests
      if (const HeaderWords header = header_words(table.columns[i]);
          columns[i].is == ServiceColumn::none && header.unit && says_numbers(table, i) &&
          has_word("latency_of_request", header.name))
        columns[i] = {ServiceColumn::latency, header.unit->factor, "latency"};
    if (ServiceFile single = latencies_in(table, columns); !single.samples.empty()) return single;
  }
  if (!concurrency || (!requests && !tokens))
    throw UserError(
        "{}: no {}; a service curve has concurrency, requests_per_s or tokens_per_s, "
        "and latencies as ttft_p99_ms",
        table.place,
        concurrency ? "rate of requests or tokens" : "column of the concurrency");
  if (tokens && columns[*tokens].of_prompts && !requests)
    throw UserError("{}: '{}' counts prompts, too: give output_tokens_per_s or requests_per_s",
                    table.place,
                    printable(table.columns[*tokens]));
  ServiceFile file;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].is == ServiceColumn::none && values_of(table, i).size() > 1 &&
        has_word(says_numbers(table, i) ? "latency_of_request" : "server",
                 all_header_words(table.columns[i])))
      file.warnings.emplace_back(
          FindingId::column_not_read, table.file, printable(table.columns[i]));
  file.gpus = gpus_of(table);
  file.requests_of_gpu = requests && columns[*requests].of_one_gpu;
  file.tokens_of_gpu = tokens && columns[*tokens].of_one_gpu;
  for (const RawRow& row : table.rows) {
    const auto value = [&](const std::optional<std::size_t>& at) {
      return at ? value_in(table, row, *at, columns[*at].factor) : std::nullopt;
    };
    const auto load = value(concurrency);
    ServicePoint point{load.value_or(0.0), value(requests), value(tokens), {}, value(prompt)};
    if (!load || (!point.requests_per_s && !point.tokens_per_s)) {
      file.remarks.emplace_back(FindingId::row_without_load, row.place);
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].is != ServiceColumn::latency) continue;
      if (const auto time = value(i); time && *time > 0.0)
        point.latencies.push_back({columns[i].latency, *time});
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const WordList words = all_header_words(table.columns[i]);
      const bool rate = has_any(words, {"goodput"}) && point.requests_per_s;
      const double all = has_word("percent", words) ? 100.0 : rate ? *point.requests_per_s : 1.0;
      if (says_numbers(table, i) && (has_word("unserved", words) || has_word("served", words)))
        if (const auto failed = value_in(table, row, i, 1.0);
            failed && (has_word("unserved", words) ? *failed > 0.01 : *failed < 0.99 * all))
          file.warnings.emplace_back(
              FindingId::not_all_served, row.place, printable(table.columns[i]), *failed);
    }
    file.points.push_back(std::move(point));
  }
  if (file.points.empty()) throw UserError("{}: no row has a concurrency and a rate", table.place);
  return file;
}
}  // namespace

namespace {
/// What json.dumps writes of a rate without limit is no JSON.
std::string plain_json(std::string_view text) {
  std::string plain(text);
  for (const std::string_view word : {": Infinity", ": NaN"})
    for (std::size_t at = plain.find(word); at != std::string::npos; at = plain.find(word, at))
      plain.replace(at, word.size(), ": null");
  return plain;
}

std::string text_of(const std::string& path) {
  constexpr std::uintmax_t most_bytes = 512U << 20U;
  return read_whole(path, path, most_bytes, " are too many; give the run's summary alone");
}

/// One column without a separator is a table, too.
RawTable table_in(std::string_view text, const std::string& file) {
  const std::string_view rest = trimmed(text.substr(std::min(text.find('\n'), text.size())));
  const std::string_view second = trimmed(rest.substr(0, rest.find('\n')));
  if (text.find_first_of(",;|\t{[") != std::string_view::npos || second.empty() ||
      second.find(' ') != std::string_view::npos)
    return parse_raw_table(text, file);
  std::string table;
  for (const std::string_view line : split(trimmed(text), '\n'))
    table += fmt::format("{}|row\n", trimmed(line));
  return parse_raw_table(table, file);
}
}  // namespace

std::vector<std::string_view> json_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : split(text, '\n'))
    if (!trimmed(line).empty()) lines.push_back(trimmed(line));
  const auto whole = [](std::string_view line) {
    return line.starts_with('{') && line.ends_with('}');
  };
  return std::ranges::all_of(lines, whole) ? lines : std::vector<std::string_view>{};
}

ServiceFile parse_service_file(std::string_view text, const std::string& file) {
  const std::string_view front = trimmed(text);
  if (!front.starts_with('{')) return service_table(table_in(text, file));
  const std::string plain = plain_json(front);
  const std::vector<std::string_view> lines = json_lines(plain);
  ServiceFile found;
  if (lines.empty()) {
    if (read_load_generator(parse_bounded_json(plain, file), found, file)) return found;
    return service_table(table_in(plain, file));
  }
  std::string rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string place = lines.size() == 1 ? file : fmt::format("{}:{}", file, i + 1);
    if (read_load_generator(parse_bounded_json(lines[i], place), found, place)) continue;
    rows += fmt::format("{}{}", rows.empty() ? "[" : ",", lines[i]);
  }
  if (rows.empty()) return found;
  if (!found.points.empty())
    throw UserError("{}: some lines are no result of a load generator as the others are", file);
  return service_table(parse_raw_table(rows + "]", file));
}

ServiceFile read_service_file(const std::string& path) {
  return parse_service_file(text_of(path), path);
}

std::vector<DemandHour> read_demand_hours(const std::string& path) {
  return parse_demand_hours(text_of(path), path);
}

namespace {
constexpr double seconds_per_day = 86400.0;

/// Since 1970 of a date, with a time or without, and of seconds or milliseconds that are as many;
/// of "03:00" since midnight. Absent for anything else.
std::optional<double> moment_of(const std::string& text) {
  if (const auto number = parse_number<double>(text); number && *number >= 1e9)
    return *number >= 1e12 ? *number * 1e-3 : *number;
  std::string plain = text;
  std::ranges::replace(plain, 'T', ' ');  // "2026-11-01T03:00"
  for (const char* format : {"%Y-%m-%d%n%H:%M:%S",
                             "%Y-%m-%d%n%H:%M:%S%z",
                             "%Y-%m-%d%n%H:%M",
                             "%Y-%m-%d",
                             "%H:%M:%S",
                             "%H:%M"}) {
    std::tm time{};
    time.tm_year = 70;
    time.tm_mday = 1;
    const char* const rest = strptime(plain.c_str(), format, &time);
    if (rest == nullptr || (*rest != '\0' && std::string_view(rest) != "Z")) continue;
    const auto zone = static_cast<double>(time.tm_gmtoff);  // which timegm sets to 0
    return static_cast<double>(timegm(&time)) - zone;
  }
  return std::nullopt;
}

/// The column that says when, with the unit of its numbers; null: dates, or times without a unit.
/// Of "day,hour" the hour, which begins again at 0.
struct TimeAxis {
  std::size_t column = 0;
  const Unit* unit = nullptr;
};

std::optional<TimeAxis> time_axis(const RawTable& table, std::size_t counts) {
  std::optional<TimeAxis> best;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i == counts) continue;
    const WordList words = all_header_words(table.columns[i]);
    for (const Unit& unit : table_units())
      for (const std::string& word : words)
        if (unit.dimension == Dimension::time && std::ranges::count(unit.in_header, word) > 0 &&
            (!best || !best->unit || unit.factor < best->unit->factor))
          best = TimeAxis{i, &unit};
    if (!best && has_word("when", words)) best = TimeAxis{i, nullptr};
  }
  return best;
}

/// Seconds that each row lasts, by the column that says when it begins. Throws UserError for rows
/// that are missing, stand twice or in another order.
double step_of_rows(const RawTable& table, const TimeAxis& axis, bool counted) {
  const auto refuse = [](const RawRow& row, const std::string& what) {
    throw UserError("{}: {}", row.place, what);
  };
  std::vector<double> begins;
  double days = 0.0;    // of hours that begin again at 0
  bool stamped = true;  // by stamps, whose own steps say what time the requests are of
  for (const RawRow& row : table.rows) {
    const std::string text(trimmed(cell_text(row.cells[axis.column])));
    const std::string said = fmt::format("'{}'", printable(text));
    const auto number = cell_number(text, table.comma);
    auto at = moment_of(text);
    stamped = stamped && at;
    if (!at && axis.unit && number) at = number->value * axis.unit->factor;
    if (!at) refuse(row, said + " is no time; write 2026-11-01 03:00, or name its unit, as hour");
    if (!begins.empty() && *at + days == begins.back())
      refuse(row, said + " stands twice; add up the requests of each time in one line");
    const bool of_day = *at < seconds_per_day && (!axis.unit || axis.unit->name == "hours");
    if (of_day && !begins.empty() && *at + days < begins.back()) days += seconds_per_day;
    if (!begins.empty() && *at + days < begins.back())
      refuse(row, said + " is earlier than the line above; sort the lines by their time");
    begins.push_back(*at + days);
  }
  double step = axis.unit ? axis.unit->factor : seconds_per_hour;
  if (begins.size() > 1) step = begins[1] - begins[0];
  for (std::size_t i = 1; i < begins.size(); ++i) {
    const double own = begins[i] - begins[i - 1];
    if (std::abs(own / step - 1.0) > 0.01)
      refuse(table.rows[std::max<std::size_t>(i, 2)],
             "lines are missing here or above, for the times go in other steps than before; give "
             "each a line, with 0 where nothing was asked for");
  }
  if (counted && axis.unit && !stamped && begins.size() > 1 &&
      std::abs(step / axis.unit->factor - 1.0) > 0.01)
    throw UserError(
        "{}: the lines are {:g} {} apart: give rates, as requests_per_s, for it is not said what "
        "time the requests of a line are of",
        table.place,
        step / axis.unit->factor,
        axis.unit->name);
  return step;
}
}  // namespace

std::vector<DemandHour> parse_demand_hours(std::string_view text, const std::string& file) {
  const RawTable table = table_in(text, file);
  const auto found = std::ranges::find_if(table.columns, [](const std::string& header) {
    return has_word("asked_for", all_header_words(header));
  });
  if (found == table.columns.end())
    throw UserError("{}: no column of requests; write hour,requests and one line per hour",
                    table.place);
  const auto at = static_cast<std::size_t>(found - table.columns.begin());
  const HeaderWords words = header_words(*found);
  const WordList all = all_header_words(*found);
  const bool per_second = has_any(all, {"rps", "qps"}) || found->find("rate(") != found->npos;
  const auto axis = time_axis(table, at);
  if (!axis)
    throw UserError("{}: no column says when; write hour,requests, or time,requests", table.place);
  const double step = step_of_rows(table, *axis, !words.per_time && !per_second);
  const double seconds = per_second ? 1.0 : words.per_time ? words.per_time->factor : step;
  std::vector<DemandHour> hours;
  for (const RawRow& row : table.rows) {
    const auto count = value_in(table, row, at, header_scale(all));
    if (!count) throw UserError("{}: no requests; write 0 where there are none", row.place);
    hours.push_back({*count / seconds, step / seconds_per_hour});
  }
  return hours;
}
}  // namespace scaleworth::cli
