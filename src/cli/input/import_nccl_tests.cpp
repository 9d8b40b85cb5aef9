// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/imports.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/process.h"
#include "src/core/whole_number.h"

#include <cctype>
#include <cmath>

namespace scaleworth::cli {
namespace {
using std::string_view;

// A table of some 40 sizes, and what surrounds it, is far from all of these.
constexpr std::size_t most_test_rows = 100'000;
constexpr std::size_t most_devices = 1'000'000;
constexpr int most_joined_lines = 4;

/// Escape sequences "ESC [ 0 ; 32 m" go; other control characters are blanks.
std::string plain_line(string_view line) {
  constexpr string_view byte_order_mark = "\xEF\xBB\xBF";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool escape = line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[';
    if (escape) {
      i = std::min(line.find_first_not_of("0123456789;?", i + 2), line.size());
    } else {
      out += static_cast<unsigned char>(line[i]) < ' ' ? ' ' : line[i];
    }
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

using Words = std::vector<string_view>;

bool all_digits(string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == string_view::npos;
}

bool begins_with_letter(string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
}

/// "N/A", "nan", "-inf": what stands for a number that there is not.
bool is_no_number(string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return word == "N/A" || word == "n/a" || word == "nan" || word == "NaN" || word == "inf";
}

bool is_value(string_view word) {
  return is_no_number(word) || parse_number<double>(word).has_value();
}

/// "[1,0]<stdout>:", "0:", "node1:", "[default0]:" and "2026-11-25T10:00:00Z" in front of a line of
/// numbers.
string_view without_prefix(string_view line) {
  line = trimmed(line);
  const std::size_t tag = line.find(">:");
  if (line.starts_with('[') && tag < 32) return trimmed(line.substr(tag + 2));
  while (true) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const string_view word = line.substr(0, end);
    const bool time = word.size() >= 8 && std::ranges::count(word, ':') >= 2;
    if (!time && !word.ends_with(':')) return line;
    line = trimmed(line.substr(end));
  }
}

/// Where the library's own line begins: "host:1:2 [0] NCCL INFO ...", also behind other text.
std::size_t start_of_log(string_view line) {
  constexpr std::array<string_view, 5> levels{"INFO ", "WARN ", "TRACE ", "ERROR ", "VERSION "};
  const std::size_t at = line.find("NCCL ");
  if (at == string_view::npos) return at;
  const string_view behind = line.substr(at + 5);
  if (std::ranges::none_of(levels, [&](string_view level) { return behind.starts_with(level); }))
    return string_view::npos;
  // Back over "[0]" and "host:1:2", to which a number of an unfinished row may be glued.
  std::size_t start = at;
  for (int words = 0; words < 2 && start > 0; ++words) {
    const std::size_t end = line.find_last_not_of(' ', start - 1);
    if (end == string_view::npos) return 0;
    const std::size_t blank = line.find_last_of(' ', end);
    start = blank == string_view::npos ? 0 : blank + 1;
  }
  const std::size_t digits = line.find_first_not_of("-0123456789", start);
  return digits == string_view::npos ? start : digits;
}

/// The heading of one table.
struct TextColumns {
  std::vector<const ForeignValue*> values;  // those right of the type, without reduction and root
  bool reduction = false;
  bool root = false;
  std::size_t times = 0;
  double time_factor = 1.0;  // of the oldest programs, which print milliseconds
};

class TextReader {
 public:
  explicit TextReader(std::string file) : file_(std::move(file)) {}
  void take(const std::string& line);
  std::vector<CollectiveTest> finish();

 private:
  enum class Row { none, partial, whole, damaged };

  std::string place() const { return fmt::format("{}:{}", file_, number_); }
  void begin_test();
  void comment(string_view text);
  void log_line(string_view text);
  void device(const Words& words);
  void header_line(const Words& words);
  bool command(string_view line);
  bool heading(string_view text, bool may_go_on);
  bool unfinished(const std::string& line);
  Row row(string_view text, TestRow& into, bool root_may_lack = false) const;
  bool timings(std::span<const string_view> values, TestRow& into) const;
  void keep(Row kind, TestRow&& row);
  void close_row();

  std::string file_;
  std::size_t number_ = 0;
  std::vector<CollectiveTest> tests_;
  CollectiveTest test_;
  std::optional<TextColumns> columns_;
  // What may go on in the next line.
  std::string open_heading_;
  std::string open_row_;
  int joined_ = 0;
  std::string open_place_;
};

/// A new program's output begins where the one before has had its table.
void TextReader::begin_test() {
  if (!columns_) return;
  if (!test_.rows.empty() || test_.damaged_rows > 0) tests_.push_back(std::move(test_));
  test_ = {};
  columns_.reset();
}

void TextReader::device(const Words& words) {
  TestDevice one;
  const auto number = [&](string_view word) -> std::optional<std::int64_t> {
    const auto found = std::ranges::find(words, word);
    if (found == words.end() || found + 1 == words.end()) return std::nullopt;
    return parse_number<std::int64_t>(*(found + 1));
  };
  const auto rank = rank_number(number("Rank"));
  if (!rank) return;
  one.rank = *rank;
  one.group = whole_number<int>(number("Group")).value_or(0);
  one.process = number("Pid").value_or(0);
  one.device = whole_number<int>(number("device")).value_or(0);
  const auto on = std::ranges::find(words, string_view("on"));
  if (on != words.end() && on + 1 != words.end()) one.host = *(on + 1);
  const auto bus =
      std::ranges::find_if(words, [](string_view word) { return word.starts_with('['); });
  if (bus != words.end()) {
    one.bus = *bus;
    one.name = listed(std::span(bus + 1, words.end()), {}, " ");
  }
  if (test_.devices.size() >= most_devices)
    throw UserError("{}: more than {} ranks; give the output of one job", place(), most_devices);
  // A list may be printed by several processes.
  if (std::ranges::count(test_.devices, one.rank, &TestDevice::rank) == 0 || one.rank >= 4096)
    test_.devices.push_back(std::move(one));
}

/// "nThread 1 nGpus 8 minBytes 8 ... warmup iters: 5 iters: 20 agg iters: 1".
void TextReader::header_line(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto value = parse_number<std::int64_t>(words[i + 1]);
    string_view name = words[i];
    if (name.ends_with(':')) name.remove_suffix(1);
    if (!value || (i > 0 && words[i - 1] == "warmup")) continue;
    const bool aggregated = i > 0 && words[i - 1] == "agg";
    const std::string ours = header_name((aggregated ? "agg " : "") + std::string(name));
    if (!ours.empty()) test_.header[ours] = *value;
  }
}

void TextReader::comment(string_view text) {
  const Words words = words_between(text);
  if (words.empty()) return;
  constexpr string_view starting = "Collective test starting: ";
  const auto found = [&](string_view word) { return text.find(word) != string_view::npos; };
  if (words[0] == "Rank" && words.size() > 4) {
    device(words);
  } else if (words[0].starts_with("nThread")) {
    begin_test();
    header_line(words);
  } else if (words.size() > 2 && words[0].ends_with("ccl-tests") && words[1] == "version") {
    begin_test();
    test_.version = {fmt::format("{} {}", words[0], words[2]), place()};
    for (const string_view word : words) {
      const std::size_t at = word.find("ccl-library=");
      const auto code =
          at == string_view::npos ? std::nullopt : parse_number<int>(word.substr(at + 12));
      if (code && *code >= 1000) test_.library = {library_version(*code), place()};
    }
  } else if (found(starting)) {
    begin_test();
    const Words behind = words_between(text.substr(text.find(starting) + starting.size()));
    if (!behind.empty()) test_.program = {std::string(behind[0]), place()};
  } else if (found("Out of bounds values :")) {
    const Words behind = words_between(text.substr(text.find(':') + 1));
    if (!behind.empty()) test_.out_of_bounds = parse_number<std::int64_t>(behind[0]);
  } else if (found("(ms)") && columns_) {
    columns_->time_factor = 1e3;
  } else if (found("(us)") && columns_) {
    columns_->time_factor = 1.0;
  }
}

void TextReader::log_line(string_view text) {
  const Words words = words_between(text);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const auto value = parse_number<std::int64_t>(words[i + 1]);
    if (words[i] == "version" && i > 0 && words[i - 1].ends_with("CCL") &&
        test_.library.text.empty())
      test_.library = {std::string(words[i + 1]), place()};
    if ((words[i] == "nranks" || words[i] == "nRanks") && rank_count(value))
      test_.logged_ranks = std::max(test_.logged_ranks.value_or(0), *rank_count(value));
    if (words[i] == "nNodes" && rank_count(value))
      test_.logged_nodes = std::max(test_.logged_nodes.value_or(0), *rank_count(value));
    // "NCCL_ALGO set by environment to Ring."
    if (words[i + 1] != "set" || i + 5 >= words.size() || words[i + 3] != "environment") continue;
    std::string set(words[i + 5]);
    if (set.ends_with('.')) set.pop_back();
    if (may_record_variable(words[i]) && test_.variables.size() < 200)
      test_.variables[std::string(words[i])] = {set, place()};
  }
}

/// "mpirun -np 16 -x NCCL_ALGO=Ring ./build/all_reduce_perf -b 8 -e 8G": of a launcher only what
/// counts the processes and what sets a variable that may be recorded, and nothing of what the
/// shell does besides: its line may hold secrets.
bool TextReader::command(string_view line) {
  Words words = words_between(line);
  const auto is_program = [](string_view word) {
    const string_view name = word.substr(word.rfind('/') + 1);
    return name.ends_with("_perf") || name.ends_with("_perf_mpi");
  };
  const auto program = std::ranges::find_if(words, is_program);
  if (program == words.end()) return false;
  constexpr string_view of_shell = ";|&<>";
  const auto end = std::find_if(program, words.end(), [&](string_view word) {
    return word.find_first_of(of_shell) != string_view::npos;
  });
  if (end != words.end()) {
    // "8G;" has a last word, "2>log" has none.
    const std::size_t at = end->find_first_of(of_shell);
    const bool last = at > 0 && (*end)[at] != '<' && (*end)[at] != '>';
    *end = end->substr(0, at);
    words.erase(end + (last ? 1 : 0), words.end());
  }
  const bool options =
      std::any_of(program + 1, words.end(), [](string_view word) { return word.starts_with('-'); });
  if (!options && program->find('/') == string_view::npos) return false;
  begin_test();
  test_.program = {std::string(program->substr(program->rfind('/') + 1)), place()};
  test_.command = {listed(std::span(program, words.end()), {}, " "), place()};
  // Without a launcher in front it is one process.
  const bool launched = std::any_of(words.begin(), program, [](string_view word) {
    return word.ends_with("run") || word.ends_with("exec");
  });
  test_.processes = launched ? std::nullopt : std::optional(1);
  for (auto word = words.begin(); word != program; ++word) {
    const bool count = *word == "-np" || *word == "-n" || *word == "--ntasks" || *word == "--np";
    if (count && word + 1 != program) test_.processes = rank_count(parse_number<int>(*(word + 1)));
    if (word->starts_with("--ntasks="))
      test_.processes = rank_count(parse_number<int>(word->substr(9)));
    const std::size_t equals = word->find('=');
    const string_view name = word->substr(0, equals);
    if (equals != string_view::npos && may_record_variable(name))
      test_.variables[std::string(name)] = {std::string(word->substr(equals + 1)), place()};
  }
  for (auto word = program; word + 1 < words.end(); ++word) {
    const auto value = parse_number<std::int64_t>(*(word + 1));
    if (*word == "-g" || *word == "--ngpus") test_.header.try_emplace("gpus", value.value_or(1));
    if (*word == "-t" || *word == "--nthreads")
      test_.header.try_emplace("threads", value.value_or(1));
    if ((*word == "-n" || *word == "--iters") && value)
      test_.header.try_emplace("iterations", *value);
    if ((*word == "-C" || *word == "--report_cputime") && value.value_or(0) != 0)
      throw UserError("{}: -C prints the processor's time, not the operation's; run it without -C",
                      place());
  }
  return true;
}

/// Takes a line of headings; false where it is none, or where it may go on in the next line.
bool TextReader::heading(string_view text, bool may_go_on) {
  TextColumns columns;
  bool behind_type = false;
  string_view unknown;
  for (const string_view word : words_between(text)) {
    const ForeignValue* value = text_column(word);
    if (value == nullptr) {
      unknown = word;
      break;
    }
    const bool is_type = value->parameter == Parameter::data_type;
    if (value->parameter == Parameter::reduction) {
      columns.reduction = true;
    } else if (word == "root") {
      columns.root = true;
    } else if (behind_type) {
      columns.values.push_back(value);
      columns.times += value->metric == Metric::time_s ? 1 : 0;
    }
    behind_type = behind_type || is_type;
    // Seen in the oldest programs only, with times in milliseconds.
    if (word == "N") columns.time_factor = 1e3;
  }
  // Two equal halves, as every version prints; a terminal may have broken the line anywhere.
  const auto middle =
      columns.values.begin() + static_cast<std::ptrdiff_t>(columns.values.size() / 2);
  const bool halves = columns.times == 2 &&
                      std::equal(columns.values.begin(), middle, middle, columns.values.end());
  if (may_go_on && (!unknown.empty() || !halves)) return false;
  if (!unknown.empty()) {
    throw UserError(
        "{}: the column '{}' is not known ({}); give it as nccl-tests prints it, without other "
        "columns",
        open_place_,
        toml_file::printable(unknown),
        known_columns_of_tests());
  }
  if (columns.times == 0)
    throw UserError("{}: no column 'time'; give the whole table of nccl-tests", open_place_);
  if (!test_.rows.empty()) begin_test();
  test_.place = open_place_;
  columns_ = std::move(columns);
  return true;
}

bool TextReader::timings(std::span<const string_view> values, TestRow& into) const {
  std::size_t half = 0;
  std::size_t times = 0;
  std::array<TestTiming, 2> found;
  for (std::size_t i = 0; i < columns_->values.size(); ++i) {
    const ForeignValue& column = *columns_->values[i];
    if (column.metric == Metric::time_s) half = times++;
    if (half > 1) return false;
    ForeignValue scaled = column;
    const auto number = parse_number<double>(values[i]);
    if (column.metric == Metric::time_s) {
      scaled.unit *= columns_->time_factor;
      found[half].time.sampling.resolution = printed_resolution(values[i]) * scaled.unit;
    } else if (column.metric == Metric::algorithm_bandwidth) {
      found[half].bandwidth_resolution = printed_resolution(values[i]) * column.unit;
    }
    set_value(found[half], scaled, number);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (found[i].time.empty()) continue;
    if (!is_consistent(into.bytes, found[i])) return false;
    into.timings[i] = std::move(found[i]);
  }
  return true;
}

/// size count type [redop] [root] values, behind whatever a launcher put in front.
TextReader::Row TextReader::row(string_view text, TestRow& into, bool root_may_lack) const {
  const Words words = words_between(text);
  std::size_t type = 2;
  for (; type < words.size(); ++type) {
    const string_view size = words[type - 2];
    const std::size_t digits = size.find_last_not_of("0123456789") + 1;
    const bool glued =
        digits == 0 || string_view(":>]|").find(size[digits - 1]) != string_view::npos;
    if (glued && digits < size.size() && all_digits(words[type - 1]) &&
        begins_with_letter(words[type])) {
      break;
    }
  }
  if (type >= words.size()) return Row::none;
  std::size_t first = type + 1;
  if (columns_->reduction && first < words.size() && begins_with_letter(words[first]) &&
      !is_no_number(words[first])) {
    into.reduction = words[first] == "none" ? "" : std::string(words[first]);
    ++first;
  }
  std::size_t last = first;
  while (last < words.size() && is_value(words[last])) ++last;
  const std::size_t wanted = columns_->values.size();
  const std::size_t count = last - first;
  // "N/" is the begin of "N/A".
  const bool cut = last + 1 == words.size() && string_view("N/A").starts_with(words[last]);
  if (count < wanted) return last == words.size() || cut ? Row::partial : Row::none;
  // One value too few, or a root that the program does not print: a root is a whole number.
  const bool may_be_root = all_digits(words[first]) || words[first].starts_with('-');
  if (columns_->root && count == wanted && may_be_root && !root_may_lack) return Row::partial;
  const string_view size = words[type - 2];
  const auto bytes =
      parse_number<std::int64_t>(size.substr(size.find_last_not_of("0123456789") + 1));
  const bool with_root = columns_->root && count == wanted + 1;
  if (!bytes || (count != wanted && !with_root) || last != words.size()) return Row::damaged;
  into.place = place();
  into.bytes = *bytes;
  into.data_type = std::string(words[type]);
  const std::span values(words.begin() + static_cast<std::ptrdiff_t>(first + (with_root ? 1 : 0)),
                         wanted);
  return timings(values, into) ? Row::whole : Row::damaged;
}

void TextReader::keep(Row kind, TestRow&& row) {
  if (kind == Row::damaged) {
    if (test_.damaged_rows++ == 0) test_.first_damaged = place();
  } else if (row.bytes == 0) {
    ++test_.rows_of_size_0;
  } else {
    if (test_.rows.size() >= most_test_rows)
      throw UserError("{}: more than {} rows; give the output of one job", place(), most_test_rows);
    test_.rows.push_back(std::move(row));
  }
}

/// Whether the line was the rest of what the last one began. A terminal breaks a line within a word
/// or between two: the number of columns tells which.
bool TextReader::unfinished(const std::string& line) {
  if (open_heading_.empty() && open_row_.empty()) return false;
  const bool row_open = open_heading_.empty();
  std::string& open = row_open ? open_row_ : open_heading_;
  string_view rest = without_prefix(line);
  if (!row_open && rest.starts_with('#') && !rest.starts_with("#wrong"))
    rest = trimmed(rest.substr(1));
  ++joined_;
  for (const char* between : {" ", ""}) {
    const std::string whole = open + between + std::string(rest);
    TestRow found;
    const Row kind = row_open ? row(whole, found) : Row::none;
    if (row_open ? kind == Row::whole : heading(whole, true)) {
      if (row_open) keep(kind, std::move(found));
      open.clear();
      return true;
    }
    if (row_open && kind == Row::partial && joined_ < most_joined_lines &&
        is_value(words_between(rest).empty() ? "" : words_between(rest)[0])) {
      open = whole;
      return true;
    }
  }
  if (row_open) {
    close_row();
  } else {
    heading(std::exchange(open, {}), false);
  }
  return false;
}

/// What nothing completed.
void TextReader::close_row() {
  TestRow found;
  const Row kind = row(open_row_, found, true);
  found.place = open_place_;
  keep(kind == Row::whole ? kind : Row::damaged, std::move(found));
  if (kind != Row::whole && test_.damaged_rows == 1) test_.first_damaged = open_place_;
  open_row_.clear();
}

void TextReader::take(const std::string& line) {
  ++number_;
  string_view text = line;
  const std::size_t log = start_of_log(text);
  const bool version = text.find("CCL version ") != string_view::npos;
  if (log != string_view::npos || version) {
    log_line(text);
    text = text.substr(0, version ? 0 : log);
    if (!open_row_.empty() || !open_heading_.empty() || trimmed(text).empty()) return;
  } else if (unfinished(line)) {
    return;
  }
  const std::size_t hash = text.find('#');
  const string_view front = text.substr(0, hash);
  const bool bare =
      front.find(" count ") != string_view::npos && front.find(" type ") != string_view::npos;
  if (hash != string_view::npos || bare) {
    const string_view rest = bare ? trimmed(without_prefix(text)) : trimmed(text.substr(hash + 1));
    const Words words = words_between(rest);
    const ForeignValue* first = words.empty() ? nullptr : text_column(words[0]);
    if (words.size() > 2 && first != nullptr && first->parameter == Parameter::message_bytes &&
        text_column(words[1]) != nullptr) {
      open_place_ = place();
      joined_ = 0;
      if (!heading(rest, true)) open_heading_ = rest;
    } else if (!command(rest)) {
      comment(rest);
    }
    return;
  }
  if (text.find("_perf") != string_view::npos && command(text)) return;
  if (!columns_) return;
  TestRow found;
  const Row kind = row(text, found);
  if (kind == Row::partial) {
    open_row_ = text;
    open_place_ = place();
    joined_ = 0;
  } else if (kind != Row::none) {
    keep(kind, std::move(found));
  }
}

std::vector<CollectiveTest> TextReader::finish() {
  if (!open_heading_.empty()) heading(open_heading_, false);
  if (!open_row_.empty()) close_row();
  if (!test_.rows.empty() || test_.damaged_rows > 0) tests_.push_back(std::move(test_));
  for (CollectiveTest& test : tests_) test.file = file_;
  return std::move(tests_);
}
}  // namespace

PlainLines::PlainLines(std::istream& text, std::size_t longest)
    : text_(text), longest_(longest), piece_(1 << 16, '\0') {}

bool PlainLines::next(std::string& line) {
  line.clear();
  bool any = false;
  while (at_ < size_ || fill()) {
    any = true;
    const string_view rest(piece_.data() + at_, size_ - at_);
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    line.append(rest.substr(0, std::min(length, longest_ - line.size())));
    at_ += length;
    if (length == rest.size()) continue;
    ++at_;
    break;
  }
  if (any) {
    line = plain_line(line);
    ++number_;
  }
  return any;
}

bool PlainLines::fill() {
  check_interrupt();
  text_.read(piece_.data(), static_cast<std::streamsize>(piece_.size()));
  size_ = static_cast<std::size_t>(text_.gcount());
  at_ = 0;
  return size_ > 0;
}

double printed_resolution(string_view number) {
  const std::size_t point = number.find('.');
  if (point == string_view::npos) return 1.0;
  return std::pow(10.0, -static_cast<double>(number.size() - point - 1));
}

std::vector<CollectiveTest> read_nccl_tests_text(std::istream& text, const std::string& file) {
  PlainLines lines(text);
  TextReader reader(file);
  std::string line;
  while (lines.next(line)) reader.take(line);
  return reader.finish();
}

bool ends_early(const CollectiveTest& test) {
  const auto* const largest = value_at(test.header, "largest_bytes");
  if (largest == nullptr || test.rows.empty()) return false;
  const auto size = [&](std::size_t from_end) {
    const bool there = from_end <= test.rows.size();
    return there ? static_cast<double>(test.rows[test.rows.size() - from_end].bytes) : 0.0;
  };
  const bool adds = size(3) > 0.0 && size(1) - size(2) == size(2) - size(3);
  const double factor = size(2) > 0.0 && size(1) > size(2) ? size(1) / size(2) : 2.0;
  return (adds ? 2.0 * size(1) - size(2) : factor * size(1)) <= static_cast<double>(*largest);
}
}  // namespace scaleworth::cli
