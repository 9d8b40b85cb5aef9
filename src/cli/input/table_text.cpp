// SPDX-License-Identifier: Apache-2.0
/// Running text that states counts and what was measured with each: logs, reports, lists, prose.
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"

#include <cctype>
#include <functional>
#include <map>
#include <set>

namespace scaleworth::cli {
namespace {
constexpr std::size_t most_lines = 20000;

/// A measurement in running text: "took 0.0212 seconds".
struct Measure {
  std::string key;   // the words before it, and what kind of number it is
  std::string cell;  // with its unit
  std::string of;    // the first word of its line
};

/// The cell at the number `i` of a line, as far as it can be read: "31m54,857s", "14k tokens/sec".
std::string cell_at(std::string_view line, const std::vector<Token>& tokens, std::size_t& i) {
  constexpr std::size_t most_words = 7;
  const std::size_t begin = tokens[i].begin;
  for (std::size_t last = std::min(i + most_words, tokens.size() - 1); last > i; --last) {
    const std::string cell(line.substr(begin, tokens[last].end - begin));
    const auto number = cell_number(cell, Comma::thousands);
    const bool one = !has_digit(cell.substr(tokens[i].text.size()));
    const bool ends = tokens[last].kind == 'a' || tokens[last].text == "%";
    // Of "4 cnts/sec= 46,204" the words are of what follows.
    const bool names = last + 1 < tokens.size() && number && !number->unit &&
                       (tokens[last + 1].text == "=" || tokens[last + 1].text == ":");
    const bool divided =
        names || cell.find_first_of(";|\t()") != cell.npos || cell.find(", ") != cell.npos;
    if (!number || !ends || divided || !(one || number->unit)) continue;
    i = last;
    const std::size_t times = cell.find("x ");  // "2x faster"
    return times < cell.size() ? cell.substr(0, times + 1) : cell;
  }
  return std::string(line.substr(begin, tokens[i].end - begin));
}

/// What a line measures.
std::vector<Measure> measures_of(std::string_view line) {
  const std::vector<Token> tokens = tokens_of(line);
  constexpr std::ptrdiff_t most_words = 6;
  std::vector<Measure> measures;
  std::size_t measured_to = 0;
  WordList key;
  const auto* const word = find_in(tokens, true, [](const Token& one) { return one.kind != '.'; });
  const bool named = word && word->kind == 'a';
  const std::string of = named ? word->text.substr(0, word->text.find_first_of("0123456789")) : "";
  // "threads: 4, warmup: yes, time: 3 s"
  const bool stated_fields = line.find(": ") != line.npos || line.find('=') != line.npos;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    // "-m4: real 35.97"
    const bool option = i == 1 && tokens[0].text == "-" && has_digit(token.text);
    if (token.kind == 'a' && token.text.front() != '\x7F' && !option) key.push_back(token.text);
    if (token.text == "/" && !key.empty()) key.emplace_back("per");
    if (token.text == ";" || token.text == "|" || (token.text == "," && stated_fields)) key.clear();
    const bool dimensions = token.end < line.size() && line[token.end] == 'D';  // "2D", no days
    if (token.kind != '1' || dimensions) continue;
    // "Loop time of 44.1"
    const bool of_time = i > 1 && tokens[i - 1].text == "of" && is_word("time", tokens[i - 2].text);
    const bool stated =
        of_time || (i > 0 && (tokens[i - 1].text == ":" || tokens[i - 1].text == "=" ||
                              is_word("clock", tokens[i - 1].text)));  // "real 8.76"
    if (std::ssize(key) > most_words) key.erase(key.begin(), key.end() - most_words);
    std::string name = fmt::format("{}", fmt::join(key, " "));
    key.clear();
    const bool bracket = i > 1 && tokens[i - 1].text == "(" && tokens[i - 2].end == measured_to;
    const std::string cell = cell_at(line, tokens, i);
    measured_to = tokens[i].end;
    // "959 c/s real, 960 c/s virtual"
    const std::size_t behind = cell.find(' ', cell.find(' ') + 1);
    if (name.empty() && !measures.empty() && behind != std::string::npos)
      name = cell.substr(behind + 1);
    else if (name.empty() && named)
      name = word->text;
    const std::string kind = named_by_cells({cell});
    // "10m:" heads what follows.
    if (i + 2 == tokens.size() && tokens[i + 1].text == ":") continue;
    // "img/s per GPU", "total img/s"
    const std::string rate = rate_in(cell);
    const auto column = table_column(rate, "");
    if (column && (column->per_rank || column->all_of_them)) name = rate;
    // "312.2 s (5.2 min)" is said once.
    if (bracket && !measures.empty() && measures.back().key.ends_with("\n" + kind)) continue;
    const HeaderWords words = header_words(name);
    const bool known = stated && (named_meaning(name) || words.per_time || words.unit ||
                                  has_word("time", words.name));
    if (kind != "value" || known) measures.push_back({name + "\n" + kind, cell, of});
  }
  return measures;
}

/// A line of running text.
struct Said {
  std::vector<SaidCount> counts;
  std::vector<Measure> measures;
  bool heading = false;  // "4 GPUs:"
  bool begins = false;   // with its count: "4 GPUs: 390 img/s"
  bool serial = false;   // its measurements are of one
  bool numbers = false;  // it has some behind its count
  std::string label;     // without its count
  std::string number;    // it begins with: "4. 5m40s"
};

std::string kind_of(const std::string& key) {
  return key.substr(key.find('\n'));
}

/// The parts of a line, each beginning or ending with one of its counts, where each measures the
/// same kind of thing: "1 GPU took 8 min, 2 GPUs 4 min"; empty for other lines.
std::vector<TextLine> parts_of(const TextLine& line, bool begins) {
  std::vector<SaidCount> counts = counts_said(line.text.substr(0, longest_text), false);
  // Beside "4p=104.9s, 6p=83.0s" nothing else counts.
  const auto equals = [&](const SaidCount& one) {
    return line.text.substr(one.end).starts_with('=');
  };
  const bool equations = std::ranges::count_if(counts, equals) > 1;
  if (equations && !begins) return {};
  if (equations) std::erase_if(counts, std::not_fn(equals));
  std::vector<TextLine> parts;
  std::string kind;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t begin = i == 0 && !equations ? 0
                              : begins             ? counts[i].begin
                                                   : counts[i - 1].end;
    const bool last = i + 1 == counts.size();
    std::size_t end = last ? line.text.size() : begins ? counts[i + 1].begin : counts[i].end;
    for (const char* mark : {", ", "; ", " \xE2", " - ", " ("})
      if (equations) end = std::min(end, line.text.find(mark, counts[i].end));
    std::string rest(line.text.substr(begin, end - begin));
    const std::size_t length = counts[i].end - counts[i].begin;
    rest.replace(counts[i].begin - begin, length, length, ' ');
    const std::vector<Measure> measures = measures_of(rest);
    // "Compared with one GPU"
    if (measures.empty() && parts.empty() && !begins) continue;
    const std::string own = measures.size() == 1 ? kind_of(measures.front().key) : "";
    if (own.empty() || (!parts.empty() && own != kind) || counts[i].key != counts[0].key) return {};
    kind = own;
    parts.push_back({line.number, line.text.substr(begin, end - begin)});
  }
  return parts;
}

/// Lines of several counts in parts of one.
std::vector<TextLine> one_count_each(const std::vector<TextLine>& lines) {
  std::vector<TextLine> all;
  for (const TextLine& line : lines) {
    std::vector<TextLine> parts = parts_of(line, true);
    if (parts.size() < 2) parts = parts_of(line, false);
    if (parts.size() < 2) parts = {line};
    all.insert(all.end(), parts.begin(), parts.end());
  }
  return all;
}

std::vector<Said> said_by(const std::vector<TextLine>& lines) {
  std::vector<Said> said;
  for (const TextLine& line : lines) {
    Said& one = said.emplace_back();
    std::string rest = rewritten(std::string(line.text.substr(0, longest_text)), true);
    one.counts = counts_said(rest, false);
    for (const SaidCount& count : one.counts) {
      std::size_t begin = count.begin;
      std::size_t end = count.end;
      // "(16 GPUs total)"
      const std::size_t close = rest.find_first_of("()0123456789", end);
      if (begin > 0 && rest[begin - 1] == '(' && close < rest.size() && rest[close] == ')') {
        --begin;
        end = close + 1;
      }
      rest.replace(begin, end - begin, end - begin, ' ');
    }
    one.measures = measures_of(rest);
    // Prose says it in other words each time.
    const bool first = &line == &lines.front() || (&line - 1)->number != line.number;
    const bool last = &line == &lines.back() || (&line + 1)->number != line.number;
    if (!(first && last) && !one.measures.empty()) {
      one.measures.resize(1);
      one.measures.front().key = kind_of(one.measures.front().key);
    }
    const std::size_t point = line.text.find_first_not_of("0123456789");
    if (const auto behind = line.text.substr(std::min(point, line.text.size()), 2);
        behind == ". " || behind == ": ")
      one.number = line.text.substr(0, point);
    const std::string_view named = trimmed(rest, " -*,");
    one.label = named.substr(0, std::min(named.find_first_of("0123456789:"), named.find("  ")));
    one.numbers = !one.counts.empty() && has_digit(rest);
    const std::string_view mark = line.text.substr(0, line.text.find(' '));
    // Prose around a list compares what the list says.
    const bool listed = !one.measures.empty() && (mark == "-" || mark == "*" || mark == "+");
    one.begins = first && last && !one.counts.empty() && one.counts.front().begin == 0;
    one.heading = listed || line.text.starts_with('#') || trimmed(line.text, " *`").ends_with(':');
    one.serial = one.counts.empty() && !one.measures.empty() &&
                 has_word("serial", all_header_words(std::string(line.text)));
  }
  return said;
}

/// Leaves of each line the counts of the key that tells most of them apart, and where headings
/// count none but theirs. Returns the key; absent where none has two counts.
std::optional<std::string> choose_key(std::vector<Said>& lines) {
  std::map<std::string, std::set<std::string>> counts;
  for (const Said& line : lines)
    for (const SaidCount& said : line.counts) counts[said.key].insert(said.count);
  std::optional<std::string> best;
  for (auto& [key, different] : counts) {
    if (std::ranges::any_of(lines, &Said::serial)) different.insert("1");
    if (different.size() > 1 && (!best || different.size() > counts[*best].size())) best = key;
  }
  // Below lines that begin with their counts those that begin with a number have theirs, too.
  const bool begin = best && std::ranges::count_if(lines, &Said::begins) > 1;
  for (Said& line : lines)
    if (begin && line.counts.empty() && !line.number.empty() && !line.measures.empty()) {
      line.counts = {{line.number, "", *best, 0, line.number.size()}};
      line.begins = true;
    }
  std::set<std::string> in_headings;
  for (Said& line : lines) {
    std::erase_if(line.counts, [&](const SaidCount& one) { return one.key != best; });
    // Of a line with several counts its measurements may be of any.
    if (line.counts.size() > 1 && line.counts.front().count != line.counts.back().count) line = {};
    if (line.heading && !line.counts.empty()) in_headings.insert(line.counts.front().count);
  }
  for (Said& line : lines)
    if (in_headings.size() > 1 && !line.heading && !(line.begins && !line.measures.empty()))
      line.counts.clear();
  return best;
}

/// Lines of one key that begin otherwise are of other programs, and no repeats.
constexpr std::string_view several_programs = "\n";

/// A count and what was measured with it.
struct Block {
  std::string count;
  std::string place;
  std::string label;
  bool serial = false;
  bool numbers = false;                                     // stand behind the count
  std::map<std::string, std::vector<std::string>> cells{};  // by key
  std::map<std::string, std::string> of{};                  // the first word of their lines, by key
};

bool has_keys_of(const Block& block, const Block& other) {
  return std::ranges::all_of(other.cells,
                             [&](const auto& one) { return block.cells.contains(one.first); });
}

/// Of each count the lines up to the next; those from the one before where reports end with it.
std::vector<Block> blocks_of(std::vector<TextLine>& lines,
                             std::vector<Said>& said,
                             const std::string& file,
                             std::vector<std::string>& left_out) {
  std::vector<Block> blocks;
  Block before;  // the first count
  std::vector<Block> serial;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Said& line = said[i];
    const std::string place = fmt::format("{}:{}", file, lines[i].number);
    const bool again = !blocks.empty() && !line.counts.empty() && line.measures.empty() &&
                       !line.numbers && blocks.back().count == line.counts.front().count;
    if (!line.counts.empty() && !again)
      blocks.push_back({line.counts.front().count, place, line.label, false, line.numbers});
    if (line.serial) serial.push_back({"1", place, line.label, true});
    Block& block = line.serial ? serial.back() : blocks.empty() ? before : blocks.back();
    for (const Measure& measure : line.measures) {
      block.cells[measure.key].push_back(measure.cell);
      std::string& of = block.of.emplace(measure.key, measure.of).first->second;
      if (of != measure.of) of = several_programs;
    }
  }
  if (blocks.size() > 1 && !before.cells.empty() && blocks.back().cells.empty() &&
      !blocks.back().numbers && has_keys_of(before, blocks.front())) {
    std::ranges::reverse(lines);
    std::ranges::reverse(said);
    return blocks_of(lines, said, file, left_out);
  }
  if (blocks.size() > 1 && !before.cells.empty() && !blocks.back().cells.empty() &&
      has_keys_of(before, blocks.back()))
    left_out.emplace_back("the first block (no count)");
  if (find_in(blocks, "1", &Block::count) == nullptr)
    blocks.insert(blocks.begin(), serial.begin(), serial.end());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].cells.empty() && blocks[i].numbers &&
        (i + 1 == blocks.size() || blocks[i].count != blocks[i + 1].count))
      left_out.push_back(fmt::format("{} (no measurement)", blocks[i].count));
  std::erase_if(blocks, [](const Block& block) { return block.cells.empty(); });
  return blocks;
}

/// The table of lines, each with what it says, that count in `key`.
RawTable table_of(std::vector<TextLine> lines,
                  std::vector<Said> said,
                  const std::string& name,
                  const std::string& file) {
  std::vector<std::string> left_out;
  std::vector<Block> blocks = blocks_of(lines, said, file, left_out);
  std::set<std::string> keys;  // that all blocks have
  const auto find_keys = [&] {
    keys.clear();
    for (const Block& block : blocks)
      for (const auto& [key, cells] : block.cells) keys.insert(key);
    for (const Block& block : blocks)
      std::erase_if(keys, [&](const std::string& key) {
        return !block.cells.contains(key) || block.of.at(key) == several_programs;
      });
  };
  find_keys();
  // "Serial time" of each run beside "parallel time".
  if (keys.empty()) std::erase_if(blocks, &Block::serial);
  find_keys();
  // Prose says one measurement of each count in other words.
  std::set<std::string> different;
  std::set<std::string> names;
  for (const Block& block : blocks) {
    different.insert(block.count);
    names.insert(block.label);
  }
  if (keys.empty() && (different.size() == blocks.size() || 2 * names.size() <= blocks.size()))
    for (Block& block : blocks)
      if (block.cells.size() == 1) {
        auto cells = block.cells.extract(block.cells.begin());
        cells.key() = kind_of(cells.key());
        block.of = {{cells.key(), block.of.begin()->second}};
        block.cells.insert(std::move(cells));
      }
  find_keys();
  std::map<std::string, std::set<std::string>> labels;  // by counts
  for (const Block& block : blocks) labels[block.count].insert(block.label);
  // "DataParallel (2 GPUs)" and "DistributedDataParallel (2 GPUs)" are no repeats.
  const bool apart =
      std::ranges::any_of(labels, [](const auto& of_count) { return of_count.second.size() > 1; });
  if (keys.empty() || labels.size() < 2) return {};
  RawTable table{file, blocks.front().place, {name}, {}};
  for (const std::string& key : keys) {
    std::string of_key = key.substr(0, key.find('\n'));
    if (of_key.empty()) of_key = rate_in(blocks.front().cells.at(key).front());
    const bool taken = of_key.empty() || std::ranges::count(table.columns, of_key) > 0;
    table.columns.push_back(taken ? fmt::format("column {}", table.columns.size() + 1) : of_key);
  }
  table.left_out = std::move(left_out);
  if (apart) table.columns.emplace_back("label");
  for (const Block& block : blocks) {
    std::size_t repeats = 1;
    for (const std::string& key : keys) repeats = std::max(repeats, block.cells.at(key).size());
    for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
      check_row_count(table.rows.size(), block.place);
      RawRow& row = table.rows.emplace_back(RawRow{block.place, {block.count}});
      for (const std::string& key : keys) {
        const auto& cells = block.cells.at(key);
        row.cells.push_back(repeat < cells.size() ? RawCell(cells[repeat]) : RawCell{});
      }
      if (apart) row.cells.emplace_back(std::string(trimmed(block.label, " -*>:=,(")));
    }
  }
  return table;
}
}  // namespace

RawTable running_text(const std::vector<TextLine>& lines, const std::string& file) {
  if (lines.size() > most_lines) return {};
  const std::vector<TextLine> parts = one_count_each(lines);
  std::vector<Said> said = said_by(parts);
  const auto key = choose_key(said);
  if (!key) return {};
  std::string name = "count";
  for (const Said& line : said)
    if (!line.counts.empty() && !line.counts.front().noun.empty()) name = line.counts.front().noun;
  return table_of(parts, std::move(said), name, file);
}

namespace {
/// "4" of "4_1_cts"
bool is_in_name(std::string_view text, const Token& token) {
  return (token.begin > 0 && text[token.begin - 1] == '_') ||
         text.substr(token.end).starts_with('_');
}
}  // namespace

RawTable numbered_text(const std::vector<TextLine>& lines, const std::string& file) {
  if (lines.size() > most_lines) return {};
  // Numbers by what stands before them.
  std::map<std::string, std::set<std::string>> alike;
  const auto numbers_in = [](std::string_view line) {
    line = line.substr(0, longest_text);
    const std::vector<Token> tokens = tokens_of(line);
    std::vector<std::pair<std::string, std::string>> found;  // what stands before, and the number
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      std::string number = tokens[i].text;
      std::string head = (i > 1 ? tokens[i - 2].text + " " : "") + tokens[i - 1].text;
      // "-m4", but "-O2" is of a compiler
      if (tokens[i].kind == 'a' && tokens[i - 1].text == "-" && number.front() != 'o') {
        head = number.substr(0, 1) + " flag";
        number.erase(0, 1);
      }
      const auto behind =
          static_cast<unsigned char>(tokens[i].end < line.size() ? line[tokens[i].end] : ' ');
      if (!number.empty() && number.find_first_not_of("0123456789") == number.npos &&
          !std::isalnum(behind) && !is_in_name(line, tokens[i]) &&
          (i + 1 == tokens.size() || named_by_cells({number + " " + tokens[i + 1].text}) != "time"))
        found.emplace_back(head, number);
    }
    return found;
  };
  for (const TextLine& line : lines)
    for (const auto& [head, number] : numbers_in(line.text)) alike[head].insert(number);
  // Those of steps, repeats and sizes are no counts.
  std::erase_if(alike, [](const auto& one) {
    const WordList words = all_header_words(one.first);
    return one.second.size() < 3 || words.empty() || is_word("size", words.back()) ||
           is_word("setting", words.back()) || named_meaning(words.back());
  });
  std::vector<Said> said = said_by(lines);
  for (const auto& [head, numbers] : alike) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      said[i].counts.clear();
      for (const auto& [before, number] : numbers_in(lines[i].text))
        if (before == head) said[i].counts = {{number, "", "", 0, 0}};
    }
    if (RawTable table = table_of(lines, said, "argument", file); !table.columns.empty())
      return table;
  }
  return {};
}

RawTable rows_of_numbers(const std::vector<TextLine>& lines, const std::string& file) {
  if (lines.size() > most_lines || lines.empty()) return {};
  // Lines of JSON and of pages are of other programs.
  if (trimmed(lines.front().text).find_first_of("{[<") == 0) return {};
  std::map<std::string, RawTable> tables;  // by the words between and behind the numbers
  std::string noun = "count";
  WordList heads(3);  // the count and the title above a row, and its first words
  for (const TextLine& line : lines) {
    const std::string_view text = line.text.substr(0, longest_text);
    if (!has_digit(text) || trimmed(text, " *`").ends_with(':')) {
      const auto said = counts_said(text, false);
      if (said.empty()) heads[1] = trimmed(text.substr(0, 60), " #*:>`|-");
      if (!said.empty()) heads[0] = said.front().count;
      if (!said.empty() && !said.front().noun.empty()) noun = said.front().noun;
      continue;
    }
    const std::vector<Token> tokens = tokens_of(text);
    WordList words{""};  // before each number, and behind the last
    WordList cells;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      // "units" as "unit"
      std::string word = tokens[i].kind == 'a' ? tokens[i].text : "";
      if (word.size() > 3 && word.ends_with('s') && !word.ends_with("ss")) word.pop_back();
      words.back() += (words.back().empty() || word.empty() ? "" : " ") + word;
      if (tokens[i].kind != '1' || is_in_name(text, tokens[i])) continue;
      cells.push_back(cell_at(text, tokens, i));
      words.emplace_back();
    }
    if (cells.empty()) continue;  // digits that are no number, as in "run_2"
    heads[2] = words.front();
    const std::string place = fmt::format("{}:{}", file, line.number);
    RawTable& table = tables[fmt::format("{}", fmt::join(words.begin() + 1, words.end(), "#"))];
    if (table.columns.empty())
      table = {file, place, {"count", "title", "label"}, {}, ' ', {}, {}, {}, heads[1]};
    for (std::size_t i = table.columns.size() - 3; i < cells.size(); ++i) {
      // Behind the numbers of a line that begins with one stands what they are: "10 nodes".
      const std::string cell(
          trimmed(cells[i].substr(std::min(cells[i].find(' '), cells[i].size()))));
      const std::string said = names_a_count(cell) ? cell : rate_in(cells[i]);
      const std::string name = !said.empty()      ? said
                               : heads[2].empty() ? words[i + 1]
                               : i == 0           ? ""
                                                  : words[i];
      const bool taken =
          name.size() < 2 || is_word("all", name) || std::ranges::count(table.columns, name) > 0;
      table.columns.push_back(taken ? fmt::format("column {}", i + 1) : name);
    }
    RawRow& row = table.rows.emplace_back(RawRow{place, {heads[0], heads[1], heads[2]}});
    row.cells.insert(row.cells.end(), cells.begin(), cells.end());
  }
  // The most lines; of as many those of more numbers.
  const auto best = std::ranges::max_element(tables, {}, [](const auto& one) {
    return std::pair(one.second.rows.size(), one.second.columns.size());
  });
  if (best == tables.end() || best->second.rows.size() < 2) return {};
  RawTable& table = best->second;
  // "workers: seconds" above them
  const std::vector<std::string_view> names = split(table.title, ':');
  for (std::size_t i = 0; names.size() + 3 == table.columns.size() && i < names.size(); ++i)
    table.columns[i + 3] = trimmed(names[i]);
  table.columns[0] = noun;
  for (std::size_t i = 3; i-- > 0;) {
    const WordList values = values_of(table, i);
    if (values.size() > 1) continue;
    // Words before all first numbers are their name.
    if (i == 2 && !values[0].empty()) table.columns[3] = values[0];
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
    for (RawRow& row : table.rows)
      row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return table;
}

RawTable with_named_values(RawTable table) {
  const std::size_t columns = table.columns.size();
  for (std::size_t i = 0; i < columns && table.rows.size() > 1; ++i) {
    std::map<std::string, WordList> named;  // of each row up to one that lacks it
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const std::string text = cell_text(table.rows[row].cells[i]);
      const auto words = split(text, ' ');
      for (const std::string_view word : words) {
        const std::size_t equals = std::min(word.find('='), word.size());
        if (words.size() < 2 || equals == 0 || !has_digit(word.substr(equals).substr(0, 2)))
          continue;
        WordList& values = named[std::string(word.substr(0, equals))];
        if (values.size() == row) values.emplace_back(word.substr(equals + 1));
      }
    }
    for (const auto& [name, values] : named) {
      if (values.size() != table.rows.size() || std::ranges::count(table.columns, name) > 0)
        continue;
      table.columns.push_back(name);
      for (std::size_t row = 0; row < values.size(); ++row)
        table.rows[row].cells.emplace_back(values[row]);
    }
  }
  return table;
}
}  // namespace scaleworth::cli
