// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/toml_table.h"
#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <map>
#include <set>

namespace scaleworth::cli {
using toml_file::printable;

namespace {
/// The numbers of a column that counts; empty where none does.
std::vector<double> counts_of_rows(const RawTable& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (counts_machines(table, i))
      if (auto counts = counts_in(table, i); differ(counts)) return counts;
  return {};
}
}  // namespace

std::vector<std::string> likely_renames(const RawTable& table, bool count) {
  const bool of_rate = header_words(table.title).per_time != nullptr;
  constexpr double unlikely = 1e9;  // "residual" beside "cg_time"
  bool time_said = false;
  bool total_said = false;
  std::vector<std::pair<double, std::string>> renames;
  // Where the work is told, times may rise.
  const bool works = std::ranges::any_of(
      table.columns, [](const std::string& name) { return named_meaning(name) == Meaning::work; });
  std::vector<double> counts = count ? std::vector<double>{} : counts_of_rows(table);
  if (counts.empty())
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      counts.push_back(static_cast<double>(row));
  // At the least and at the largest count; without counts, of the first and the last row.
  const auto ends_of = [&](const std::vector<std::optional<double>>& numbers) {
    std::map<double, std::vector<double>> by_count;
    for (std::size_t row = 0; row < numbers.size(); ++row)
      if (numbers[row]) by_count[counts[row]].push_back(*numbers[row]);
    if (by_count.empty()) return std::pair(0.0, 0.0);
    return std::pair(*median(by_count.begin()->second), *median(by_count.rbegin()->second));
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i];
    auto numbers = numbers_of(table, i);
    const bool all = says_numbers(table, i) && std::ranges::none_of(numbers, [](const auto& one) {
                       return one && *one <= 0.0;
                     });
    const auto [first, last] = ends_of(numbers);
    std::erase(numbers, std::nullopt);
    if (name.empty() || !all || is_cpu_time(table, i) || numbers.size() < 2 ||
        (count && numbers.size() < table.rows.size()))
      continue;
    const HeaderWords header = header_words(name);
    WordList words = all_header_words(name);
    std::erase(words, "max");
    const bool other = name == "value" && has_word("ratio", all_header_words(table.title));
    const bool excluded = other || header.percent || named_meaning(name) ||
                          has_word("ratio", words) || has_word("not_measured", words) ||
                          said_by_cells(table, i) == "speedup";
    if (excluded || first == last) continue;
    if (count) {
      std::set<double> different;
      for (const auto& number : numbers)
        if (*number == std::floor(*number)) different.insert(*number);
      if (different.size() == numbers.size()) renames.emplace_back(first / last, name + "=p");
      continue;
    }
    // The total of several times, else the longest, else what falls most.
    const bool total = name.find("otal") != std::string::npos;
    const double ratio = last / first;
    const bool timed = header.unit && header.unit->dimension == Dimension::time;
    const bool says_time = timed || std::ranges::any_of(words, [](const std::string& word) {
                             return is_word("time", word) || word.ends_with("time");
                           });
    const double rises = total ? 2.0 : 1.25;
    const bool rate =
        !timed && (header.per_time || of_rate || (ratio > rises && !works && !says_time));
    const bool likely = rate || says_time || total;
    time_said = time_said || (likely && !rate);
    total_said = total_said || total;
    const double falls = **std::ranges::min_element(numbers) / first;
    const double order = total ? 0.0 : rate ? ratio : timed ? 1.0 / first : falls;
    renames.emplace_back(order + (likely ? 0.0 : unlikely),
                         fmt::format("{}={}{}",
                                     name,
                                     rate ? "throughput" : "time",
                                     timed && !rate ? "_" + header.unit_text : ""));
  }
  if (total_said) std::erase_if(renames, [](const auto& rename) { return rename.first > 0.0; });
  if (time_said)
    std::erase_if(renames, [&](const auto& rename) { return rename.first >= unlikely; });
  std::ranges::stable_sort(renames, {}, &std::pair<double, std::string>::first);
  return mapped(renames, &std::pair<double, std::string>::second);
}

bool grows_in_each_row(const RawTable& table, const ChosenColumns& chosen) {
  for (std::size_t i = 0; i < chosen.columns.size(); ++i) {
    const auto& column = chosen.columns[i];
    const bool identity = column && column->meaning == Meaning::identity;
    if (identity && table.rows.size() > 2 && values_of(table, i).size() == table.rows.size())
      return true;
  }
  return false;
}

std::optional<Remark> identity_remark(const RawTable& table, const ChosenColumns& chosen) {
  std::optional<std::size_t> first;  // as the column table lists what names a program
  std::vector<std::string> values;
  for (const std::size_t i : by_name(table)) {
    const auto& column = chosen.columns[i];
    if (!column || column->meaning != Meaning::identity) continue;
    if (first && chosen.columns[*first]->choice <= column->choice) continue;
    std::vector<std::string> own = values_of(table, i);
    if (own.size() < 2) continue;
    first = i;
    values = std::move(own);
  }
  if (!first) return std::nullopt;
  const std::string column = printable(table.columns[*first]);
  Remark remark(fmt::format("{} differs between the rows", column),
                fmt::format(" (--where {}=... takes one)", column),
                fmt::format(": {} are not one program on more machines, so speed-up compares only "
                            "what their work has in common",
                            first_names(values, 4)));
  remark.again = "keep the rows of one " + column;
  return remark;
}
}  // namespace scaleworth::cli
