// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/files/toml_table.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/decision/scaling_row.h"

#include <cctype>
#include <cmath>
#include <map>
#include <regex>
#include <set>

namespace scaleworth::cli {
using toml_file::printable;

namespace {
constexpr std::uintmax_t most_table_bytes = 16U << 20U;

/// Ratios of a utilisation, a speed-up or an efficiency are those of throughputs; its times are of
/// nothing.
std::optional<Finding> relative_remark(const ChosenColumns& chosen) {
  for (const auto& column : chosen.columns) {
    if (!column) continue;
    const bool ratio =
        column->meaning == Meaning::speedup || column->meaning == Meaning::efficiency;
    if (!column->relative && !ratio) continue;
    return Finding(column->meaning == Meaning::speedup ? FindingId::speedup_for_rate
                                                       : FindingId::efficiency_for_rate,
                   column->name);
  }
  return std::nullopt;
}

using Answers = std::vector<Question::Answer>;

/// One way to go on: a selection, and the flags that name it.
struct Way {
  TableSelection selection;
  std::vector<std::string> flags;
};

/// A table's text and how far it is settled what it says.
class Reading {
 public:
  explicit Reading(RawTable raw) : raw_(std::move(raw)) { unify_prefixes(raw_); }

  TableFile read(const TableSelection& selection,
                 std::optional<Scaling> scaling,
                 int depth = 0) const {
    RawTable table = select(raw_, selection);
    // `further`: how deep questions of their answers are below this one.
    const auto ask =
        [&](const std::string& what, const std::vector<Way>& ways, bool alike, int further = 1) {
          if (depth >= most_depth) return;
          const Question asked = tried(what, ways, scaling, depth + further, alike);
          if (!asked.answers.empty()) throw Question(asked);
        };
    // Rows of several tables, or that count CPUs and GPUs, are of different curves.
    const auto kinds = table.kinds.empty() ? WordList{} : values_of(table, table.kinds, "--where");
    if (kinds.size() > 1) {
      const std::string what =
          fmt::format("{}: the rows are of several things, {}", table.place, first_names(kinds));
      const auto ways = mapped(
          kinds, [&](const std::string& kind) { return WordList{table.kinds + "=" + kind}; });
      ask(what, ways_of(selection, "--where", ways), true, 0);
      throw UserError(what);
    }
    table.comma = selection.comma != Comma::unstated ? selection.comma : comma_of(table);
    if (table.comma == Comma::unstated) ask_comma(table, selection, ask);
    ChosenColumns chosen;
    try {
      chosen = choose_columns(table);
    } catch (const OpenColumns& open) {
      // Rows of one kind may say by their units what they are.
      const bool counted = find_column(open.there.columns, Meaning::count) != nullptr;
      const auto clash = counted ? repeated_count(table, open.there) : std::nullopt;
      if (clash)
        ask(open.what(), ways_of(selection, "--where", clash->ways), clash->curves, most_depth);
      const auto renames =
          mapped(open.renames, [](const std::string& one) { return WordList{one}; });
      ask(open.what(), ways_of(selection, "--rename", renames), open.alike);
      throw;
    }
    leave_out_missing(table, chosen.columns);
    const BuiltRows built = checked_rows(table, chosen);
    const auto clash = repeated_count(table, chosen);
    if (clash && !clash->ways.empty()) {
      ask(clash->what, ways_of(selection, "--where", clash->ways), clash->curves);
      throw UserError(clash->what);
    }
    return finish(table, chosen, built, selection, scaling, clash.has_value());
  }

 private:
  static constexpr int most_depth = 2;  // of questions behind questions

  /// `flag`: that takes one after the other of each list.
  static std::vector<Way> ways_of(const TableSelection& selection,
                                  const std::string& flag,
                                  const std::vector<WordList>& lists) {
    return mapped(lists, [&](const WordList& values) {
      Way way{selection, {}};
      for (const std::string& one : values) {
        (flag == "--where" ? way.selection.where : way.selection.rename).push_back(one);
        way.flags.insert(way.flags.end(), {flag, one});
      }
      return way;
    });
  }

  template <class Ask>
  static void ask_comma(const RawTable& table, const TableSelection& selection, Ask ask) {
    std::vector<Way> ways{{selection, {"--comma", "decimal"}},
                          {selection, {"--comma", "thousands"}}};
    ways[0].selection.comma = Comma::decimal;
    ways[1].selection.comma = Comma::thousands;
    const std::string what =
        table.place + ": a comma or a point in its numbers may be decimal or group thousands";
    ask(what, ways, false);
    throw Question(what, {});
  }

  /// Whether a guess reads as a scaling: no more is gained than half again as much as machines are
  /// added, and, where the count is guessed, no more lost.
  static bool may_scale(const ScalingTable& table, const Way& way) {
    const TableRow& first = table.rows.front();
    const TableRow& last = table.rows.back();
    const double gain = first.time.value.value() / last.time.value.value() *
                        last.work.value_or(1.0) / first.work.value_or(1.0);
    const double more = static_cast<double>(last.count) / first.count;
    const bool counts = way.flags.back().ends_with("=p");
    return way.flags.front() != "--rename" || (gain < 1.5 * more && (!counts || gain * more > 1.0));
  }

  /// Asks which of the ways that lead to an answer, with what they ask in turn; without answers
  /// where none does. `alike`: each is of another curve, the first no likelier than the others.
  Question tried(const std::string& what,
                 const std::vector<Way>& ways,
                 std::optional<Scaling> scaling,
                 int depth,
                 bool alike) const {
    Question asked(what, {});
    Answers questions;
    std::vector<Way> open;  // for which scaling it is
    bool strong = true;     // all that are settled
    asked.alike = alike = alike || ways.size() == 1;
    for (const Way& way : ways) {
      // What a first way asks comes before what is less likely.
      const std::size_t found = asked.answers.empty() ? questions.size() : asked.answers.size();
      if (!alike && found >= Question::most_shown) break;
      try {
        const TableFile file = read(way.selection, scaling, depth);
        if (!may_scale(file.table, way)) continue;
        if (file.table.rows.size() > 1) asked.answers.push_back({way.flags, ""});
        strong = strong && scaling_of(file.table) == Scaling::strong;
      } catch (const Question& further) {
        if (further.answers.empty()) {  // no way leads further
          asked.alike = false;
          continue;
        }
        const bool scalings = further.answers.front().flags.front() == "--scaling";
        if (scalings && !may_scale(read(way.selection, Scaling::strong, depth).table, way))
          continue;
        if (scalings) open.push_back(way);
        asked.alike = asked.alike && (further.alike || scalings);
        for (Question::Answer answer : further.answers) {
          answer.flags.insert(answer.flags.begin(), way.flags.begin(), way.flags.end());
          (further.alike && alike ? asked.answers : questions).push_back(std::move(answer));
        }
      } catch (const UserError&) {
      }
    }
    // Curves of one table are of one scaling.
    asked.alike = asked.alike && (open.empty() || (strong && !asked.answers.empty()));
    for (Way& way : open) {
      if (!asked.alike) break;
      way.flags.insert(way.flags.end(), {"--scaling", "strong"});
      asked.answers.push_back({way.flags, ""});
    }
    const bool columns = ways.size() > 1 && ways.front().flags.front() == "--rename";
    if (alike && columns && !asked.alike) return tried(what, ways, scaling, depth, false);
    if (asked.answers.empty() || (alike && !columns && !asked.alike))
      asked.answers.insert(asked.answers.end(), questions.begin(), questions.end());
    return asked;
  }

  /// Ratios need no unit: a time without one is asked for where something else does.
  static void settle_unit(const RawTable& table,
                          const ChosenColumns& chosen,
                          const BuiltRows& built,
                          TableKind& kind,
                          std::optional<Question>& asked,
                          std::vector<Finding>& remarks) {
    const Answers units = units_of(chosen);
    asked.emplace(table.place + ": the time has no unit, in the header or the cells", units);
    const bool needed = std::ranges::any_of(built.rows, [](const TableRow& row) {
      return row.facts.price || row.facts.power_w || row.energy_j;
    });
    if (needed || !built.time_unit.empty()) throw Question(*asked);
    kind.relative = true;
    remarks.emplace_back(FindingId::time_without_unit, units.front().flags.back());
  }

  /// Parts that leave little of the time say nothing of that rest; where they are of another amount
  /// in several rows, they are no parts of it.
  static void settle_parts(std::vector<TableRow>& rows,
                           TableKind& kind,
                           std::vector<Finding>& remarks) {
    constexpr double exact = 0.005;
    constexpr double little = 0.1;
    // Communication alone is no time where a rate is given.
    for (TableRow& row : rows)
      if (!row.time_s && row.throughput && !row.has_parts()) row.parts_s = {};
    std::size_t off = 0;
    double least = 0.0;
    double most = 0.0;
    for (const TableRow& row : rows) {
      if (!row.time_s || !(*row.time_s > 0.0) || !row.has_parts()) return;
      const double rest = 1.0 - *sum_of(row.parts_s) / *row.time_s;
      if (std::abs(rest) > exact) ++off;
      least = std::min(least, rest);
      most = std::max(most, rest);
    }
    const auto idle_of = [](TableRow & row) -> auto& {
      return row.parts_s[index_of(PartGroup::idle)];
    };
    const bool idle =
        std::ranges::any_of(rows, [&](TableRow& row) { return idle_of(row).has_value(); });
    // More of it than the time is that of several processors.
    const bool only_compute = std::ranges::all_of(rows, [](const TableRow& row) {
      return row.parts_s[index_of(PartGroup::compute)] == sum_of(row.parts_s);
    });
    if (off > 0 && !idle && least >= -exact && most <= little) {
      for (TableRow& row : rows) idle_of(row) = std::max(0.0, *row.time_s - *sum_of(row.parts_s));
      remarks.emplace_back(FindingId::rest_is_waiting, 100.0 * most);
    } else if (off > 1 || (only_compute && least < -exact)) {
      for (TableRow& row : rows) row.parts_s = {};
      kind.read.odd_parts = true;
      remarks.emplace_back(FindingId::parts_left_out);
    }
  }

  /// Efficiencies alone, or speed-ups, that are not 1 at the least count are against 1.
  static void add_row_of_one(std::vector<TableRow>& rows, std::vector<Finding>& remarks) {
    TableRow one = *std::ranges::min_element(rows, {}, &TableRow::count);
    const bool measured = one.time_s || one.throughput || one.has_parts();
    const bool speedups = one.stated_speedup.has_value();
    const double whole = one.stated_efficiency.value_or(1.0) > 2.0 ? 100.0 : 1.0;
    const double stated =
        speedups ? *one.stated_speedup : one.stated_efficiency.value_or(1.0) / whole;
    const bool of_one = stated > 0.995 && (!speedups || stated < 1.005);
    if (one.count < 2 || measured || of_one) return;
    one.count = 1;
    if (one.stated_efficiency) one.stated_efficiency = whole;
    if (speedups) one.stated_speedup = 1.0;
    rows.insert(rows.begin(), std::move(one));
    remarks.emplace_back(speedups ? FindingId::speedups_against_one
                                  : FindingId::efficiencies_against_one);
  }

  /// The time of no unit, as a column that states one.
  static Answers units_of(const ChosenColumns& chosen) {
    Answers answers;
    for (const char* unit : {"s", "ms"}) {
      Question::Answer& answer = answers.emplace_back();
      answer.means = fmt::format("its numbers are {}", unit[0] == 's' ? "seconds" : "milliseconds");
      for (const auto& column : chosen.columns) {
        if (!column || column->dimension != Dimension::time || !column->unit.empty()) continue;
        const std::string name = column->meaning != Meaning::time ? column->name
                                 : column->per == Per::step       ? "step"
                                                                  : "time";
        answer.flags.insert(answer.flags.end(),
                            {"--rename", fmt::format("{}={}_{}", column->name, name, unit)});
      }
    }
    return answers;
  }

  /// A rate that barely rises with the count may be that of one, unless its name says which.
  static void check_rate(const ScalingTable& table, const ChosenColumns& chosen) {
    constexpr double barely = 1.15;
    if (table.basis != TimeBasis::work_unit || table.axis == Axis::load || table.rows.size() < 2)
      return;
    const TableColumn* rate = find_column(chosen.columns, Meaning::throughput);
    if (!rate || rate->per_rank || rate->all_of_them || rate->inverse ||
        is_word("whole_rate", rate->work_noun) ||
        has_word("whole_rate", header_words(rate->name).name))
      return;
    const auto rate_of = [](const TableRow& row) { return *row.work / row.time.value.value(); };
    const double first = rate_of(table.rows.front());
    const double most = std::ranges::max(mapped(table.rows, rate_of));
    if (most >= barely * first && !rate->of_one_or_all) return;
    if (states_same_work(table)) return;
    const std::string& name = rate->name;
    const std::string rate_name = named_meaning(name) == Meaning::throughput ? name : "throughput";
    std::string one = table.noun.empty() ? "rank" : table.noun.substr(0, table.noun.size() - 1);
    throw Question(
        fmt::format("'{}' {}",
                    name,
                    rate->of_one_or_all
                        ? "may be the rate of one or of all of them"
                        : "barely rises with the count, or falls: it may be the rate of "
                          "one or of all of them"),
        {{{"--rename", fmt::format("{}={} per {}", name, rate_name, one)}, "the rate of each"},
         {{"--rename", fmt::format("{}=total {}", name, rate_name)}, "the rate of all together"}});
  }

  /// Iterations of runs are the work of a training, or what a solver took for the same work. (Those
  /// of a benchmark, whose times are of one each, are many where these are short.)
  static void ask_iterations(const RawTable& table,
                             const std::vector<TableRow>& rows,
                             const TableKind& kind) {
    constexpr double same = 1.1;
    const auto of_run = [](const TableRow& row) {
      return row.time_s >= 1.0 && !row.work && !row.throughput;
    };
    if (kind.basis != TimeBasis::run || !std::ranges::all_of(rows, of_run)) return;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string& name = table.columns[i];
      const std::vector<double> counts = counts_in(table, i);
      if (!is_word("iterations", header_words(name).key()) || counts.empty()) continue;
      if (std::ranges::max(counts) > same * std::ranges::min(counts))
        throw Question(
            fmt::format("'{}' differs: the runs did other work, or the same took so many",
                        printable(name)),
            {{{"--rename", name + "=steps"}, "other work: so many steps"},
             {{"--rename", name + "=note"}, "the same work"}});
    }
  }

  /// A price is of one GPU, of an instance of several, or of all that a row counts: where it grows
  /// as the count does.
  static void settle_price(const RawTable& table,
                           const ChosenColumns& chosen,
                           const TableSelection& selection,
                           std::vector<TableRow>& rows,
                           TableKind& kind,
                           std::vector<std::string>& ignored) {
    const TableColumn* price = find_column(chosen.columns, Meaning::price);
    if (!price || !any_has(rows, [](const TableRow& row) { return row.facts.price; })) return;
    kind.read.currency = currency_of(table, price->name);
    const bool unsaid = price->rank == "rank";
    const std::string counted = unsaid ? "" : counted_noun(price->rank);
    const auto dear = [](const TableRow& row) {  // above it no GPU is rented
      return row.facts.price > dollars_per_hour(12.0);
    };
    const bool asked = kind.noun == "GPUs" && std::ranges::any_of(rows, dear);
    if (unsaid ? !asked : !counted.empty() && counted == kind.noun) return;
    const auto divide = [&](auto by) {
      for (TableRow& row : rows)
        if (row.facts.price) row.facts.price = *row.facts.price * (1.0 / by(row));
    };
    if (counted == "nodes" && selection.gpus_per_instance)
      return divide([&](const TableRow&) { return *selection.gpus_per_instance; });
    for (std::size_t i = 0; counted == "nodes" && i < table.columns.size(); ++i) {
      const std::vector<double> gpus = counts_in(table, i);
      if (gpus.empty() || named_meaning(table.columns[i]) != Meaning::per_node) continue;
      std::erase(ignored, printable(table.columns[i]));
      return divide([&](const TableRow& row) { return gpus[&row - rows.data()]; });
    }
    const double first =
        rows.front().facts.price.value_or(DollarsPerSecond(0.0)).value() / rows.front().count;
    const bool of_row =
        counted.empty() && rows.size() > 1 && std::ranges::all_of(rows, [&](const TableRow& row) {
          return row.facts.price &&
                 std::abs(row.facts.price->value() / row.count / first - 1.0) < 0.02;
        });
    if (of_row) return divide([](const TableRow& row) { return row.count; });
    if (!counted.empty() && counted != "nodes") return;
    const std::string of_gpu = fmt::format("{}=usd_per_gpu_hour", price->name);
    const std::string of_instance = fmt::format("{}=usd_per_instance_hour", price->name);
    if (!counted.empty())
      throw Question(
          fmt::format("'{}' is of an instance; how many of the counted has it?", price->name),
          {{{"--gpus-per-instance", "8"}, "eight in each"}});
    throw Question(
        fmt::format("'{}' may be the price of one or of an instance of several", price->name),
        {{{"--rename", of_gpu}, "of one"},
         {{"--rename", of_instance, "--gpus-per-instance", "8"}, "of an instance of eight"}});
  }

  /// A note behind a measurement that names another program than the other rows: "(774M model)".
  static std::optional<std::string> odd_note(const RawTable& table, const ChosenColumns& chosen) {
    static const std::regex note(R"(\(([^()]+ ([a-z]+))\))");
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      std::set<std::string> notes;
      for (const RawRow& row : table.rows) {
        const std::string cell = plain_text(cell_text(row.cells[i])).substr(0, longest_text);
        std::smatch found;
        const bool noted = chosen.columns[i] && std::regex_search(cell, found, note);
        const ColumnName* const named = noted ? column_named(found[2]) : nullptr;
        const bool program = named && named->meaning == Meaning::identity && !thing_of(found[2]);
        notes.insert(program ? found.str(1) : "");
      }
      if (notes.size() > 1) return printable(*notes.rbegin());
    }
    return std::nullopt;
  }

  /// Whether a column says so in each row.
  static bool cells_say(const RawTable& table, std::string_view use) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (std::ranges::all_of(table.rows, [&](const RawRow& row) {
            return has_word(use, all_header_words(cell_text(row.cells[i])));
          }))
        return true;
    return false;
  }

  /// Whether a size of the problem that nothing else reads grows as the count does: "N", "NX".
  static bool size_grows(const RawTable& table, const ChosenColumns& chosen) {
    const std::size_t count = place_of(chosen.columns, Meaning::count);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const bool other = i != count &&
                         !(chosen.columns[i] && chosen.columns[i]->meaning < Meaning::batch) &&
                         !names_a_count(table.columns[i]);
      if (other && has_word("size", all_header_words(table.columns[i])) &&
          differ(counts_in(table, count)) && ratios_agree(table, i, count, false, 0.01))
        return true;
    }
    return false;
  }

  static BuiltRows checked_rows(const RawTable& table, ChosenColumns& chosen) {
    BuiltRows built = built_rows(table, chosen.columns);
    if (built.rows.empty())
      throw UserError("{}: no row has a measurement; left out: {}",
                      table.place,
                      fmt::join(table.left_out, ", "));
    const TableKind kind = kind_of(chosen.columns);
    for (const TableRow& row : built.rows) check_row(row, kind.axis);
    return built;
  }

  static TableFile finish(const RawTable& table,
                          const ChosenColumns& chosen,
                          BuiltRows built,
                          const TableSelection& selection,
                          std::optional<Scaling> scaling,
                          bool repeated) {
    TableKind kind = kind_of(chosen.columns);
    kind.read.table = true;
    kind.read.left_out = table.left_out;
    kind.stated = stated_of_job(table, chosen.columns);
    if (!built.time_unit.empty()) kind.read.time_unit = built.time_unit;
    const auto identity = identity_remark(table, chosen);
    if (identity) {
      kind.growing_models = kind.read.of_flops && grows_in_each_row(table, chosen);
      if (!kind.growing_models) kind.warnings.push_back(*identity);
    }
    if (const auto note = odd_note(table, chosen))
      kind.warnings.emplace_back(FindingId::program_noted, *note);
    kind.named_weak = kind.named_weak || cells_say(table, "weak") || size_grows(table, chosen) ||
                      has_word("weak", all_header_words(table.title));
    kind.named_strong = kind.named_strong || cells_say(table, "strong");
    TableFile result{{}, chosen.ignored, unread_columns(table, chosen.columns)};
    settle_price(table, chosen, selection, built.rows, kind, result.ignored);
    ask_iterations(table, built.rows, kind);
    constexpr double most_watts = 2500.0;
    for (const TableRow& row : built.rows)
      if (kind.noun == "GPUs" && row.facts.power_w > most_watts)
        throw UserError("{}: {:g} W are more than one GPU takes: give the power of one",
                        row.place,
                        *row.facts.power_w);
    std::vector<Finding> remarks;
    if (built.unit_missing) settle_unit(table, chosen, built, kind, result.unit, remarks);
    settle_parts(built.rows, kind, remarks);
    add_row_of_one(built.rows, remarks);
    const ScalingTable assembled = assemble(built.rows, kind);
    check_rate(assembled, chosen);
    result.table = settle_scaling(assembled, scaling);
    // A grid of its own in each row is the size that grows.
    const bool size = identity && !kind.growing_models && grows_in_each_row(table, chosen) &&
                      scaling_of(result.table) == Scaling::weak;
    if (size) result.table.warnings.erase(result.table.warnings.begin());
    remarks.insert(remarks.end(), result.table.remarks.begin(), result.table.remarks.end());
    if (repeated) {
      remarks.emplace_back(FindingId::rows_are_repeats);
      constexpr double too_far = 0.3;
      const auto far = std::ranges::find_if(result.table.rows, [](const TableRow& row) {
        return row.relative_sd.value_or(0.0) > too_far;
      });
      if (far != result.table.rows.end())
        result.table.warnings.emplace_back(FindingId::repeats_apart, far->count, *far->relative_sd);
    }
    const bool timed = result.table.basis != TimeBasis::work_unit;
    if (auto relative = relative_remark(chosen); relative && !timed && result.table.relative)
      remarks.push_back(std::move(*relative));
    result.table.remarks = std::move(remarks);
    return result;
  }

  RawTable raw_;
};
}  // namespace

namespace {
/// As it stands in the file, with counts in the header made rows.
RawTable raw_table(std::string_view text, const std::string& file) {
  if (text.starts_with("PK\x03\x04"))
    throw UserError(file +
                    ": a workbook; save its sheet as CSV (in a spreadsheet: save as, CSV UTF-8)");
  if (text.find('\0') != std::string_view::npos)
    throw UserError("{}: no text in UTF-8 (binary, or saved as UTF-16); save it as CSV in UTF-8",
                    file);
  const std::string_view begin = trimmed(text);
  const bool toml = file.ends_with(".toml") || begin.starts_with("[[row]]");
  // "[10:05] 4 GPUs" is a line of a log, "{|" of MediaWiki.
  const bool json = file.ends_with(".json") ||
                    (begin.find_first_of("[{") == 0 &&
                     begin.find_first_of("{[]}\"", 1) == begin.find_first_not_of(" \t\r\n", 1));
  const bool bars = text.find("\n|") != std::string_view::npos;
  if (!toml && !json && !bars)
    if (RawTable assigned = assigned_rows(text, file); !assigned.columns.empty())
      return with_count_of_layout(with_pairs(counts_as_rows(std::move(assigned))));
  const auto parse = toml ? parse_toml : json ? parse_json : read_cells;
  return with_count_of_layout(with_pairs(counts_as_rows(parse(text, file))));
}

/// A part of a text, behind as many empty lines as stand before it.
struct Part {
  std::string text;
  std::string title{};
  bool marked = false;  // the title is
  bool rows = false;
};

/// A text divided before its headings, lines without a number, in marks or before a colon, behind
/// rows; with `gaps` before each line behind an empty one, too.
std::vector<Part> parts_of(std::string_view text, bool gaps) {
  std::vector<Part> parts(1);
  std::size_t number = 0;
  bool gap = false;
  for (const std::string_view whole : split(text, '\n')) {
    const std::string_view line = trimmed(whole);
    const std::string_view name = trimmed(line, " #*:=-_|`>");
    const bool marked = line.starts_with('#') || line.starts_with("==") || line.ends_with(':') ||
                        (line.starts_with("**") && line.ends_with("**"));
    const bool words = std::ranges::any_of(
        name, [](unsigned char c) { return c >= 0x80 || std::isalpha(c) != 0; });
    const bool heading = words && !line.starts_with("#!") && (marked || !has_digit(line));
    if (parts.back().rows && (heading || (gap && gaps)) && !name.empty())
      parts.push_back({std::string(number, '\n')});
    Part& part = parts.back();
    part.rows = part.rows || (has_digit(line) && !heading);
    if (heading && !part.rows && (marked || !part.marked)) part.title = name;
    part.marked = part.marked || marked;
    part.text.append(whole).append("\n");
    gap = line.empty();
    ++number;
  }
  return parts;
}

/// The table of a text that has two counts or more and measures something; else no columns.
RawTable whole_table(const std::string& text, const std::string& file) {
  std::vector<RawTable> readings = last_resorts(text, file);
  try {
    readings.insert(readings.begin(), raw_table(text, file));
  } catch (const UserError&) {
  }
  for (RawTable& raw : readings) {
    const bool counted = std::ranges::any_of(raw.columns, names_a_count);
    try {
      if (counted && Reading(raw).read({}, {}).table.rows.size() > 1) return raw;
    } catch (const Question&) {
      return raw;
    } catch (const UserError&) {
    }
  }
  return {};
}

/// As it stands in the file; several tables, each under its heading, in one, in which a column
/// names them.
RawTable document(std::string_view text, const std::string& file) {
  constexpr std::size_t most_parts = 100;
  const std::string plain = with_plain_bars(text);
  for (const bool gaps : {false, true}) {
    RawTable all{file, "", {}, {}};
    std::set<std::string> titles;
    const std::vector<Part> parts = parts_of(plain, gaps);
    for (const Part& part : parts) {
      if (parts.size() < 2 || parts.size() > most_parts || !part.rows) continue;
      RawTable one = whole_table(part.text, file);
      if (one.columns.empty()) continue;
      std::string title = one.title.empty() || part.marked ? part.title : one.title;
      // "tile 8" above rows
      const std::string first(trimmed(split(trimmed(part.text), '\n').front(), " #*:"));
      if (title.empty() && words_between(first).size() < 4 && counts_said(first, false).empty())
        title = first;
      if (title.empty() || titles.contains(title)) title += std::to_string(titles.size() + 1);
      titles.insert(title);
      one.columns.emplace_back("table");
      for (RawRow& row : one.rows) row.cells.emplace_back(title);
      all.separator = one.separator;
      if (all.place.empty()) all.place = one.place;
      append(all, one);
    }
    all.kinds = "table";
    if (titles.size() > 1) return all;
  }
  return raw_table(text, file);
}

}  // namespace

std::string table_text(const std::string& path) {
  const std::string limit = fmt::format("; a scaling table has at most {}", most_table_bytes);
  return path.ends_with(".toml") ? toml_file::read_small_file(path)
                                 : read_whole(path, path, most_table_bytes, limit);
}

RawTable parse_raw_table(std::string_view text, const std::string& file) {
  RawTable table = raw_table(text, file);
  unify_prefixes(table);
  if (table.comma == Comma::unstated) table.comma = comma_of(table);
  if (table.comma == Comma::unstated && table.separator == ';')
    throw UserError(
        "{}: a comma or a point in its numbers may be decimal or group thousands (36.000 may be 36 "
        "or 36000); write them without grouping",
        table.place);
  return table;
}

TableFile parse_table(std::string_view text,
                      const std::string& file,
                      const TableSelection& selection,
                      std::optional<Scaling> scaling) {
  // Divided into cells by a sign: what it lacks is an error.
  bool divided = file.ends_with(".toml") || trimmed(text).find_first_of("[{") == 0;
  try {
    const RawTable raw = document(text, file);
    divided = divided || (raw.separator != ' ' && raw.rows.size() > 1);
    return Reading(raw).read(selection, scaling);
  } catch (const Question&) {
    throw;
  } catch (const UserError&) {
    for (const RawTable& rows : divided ? std::vector<RawTable>{} : last_resorts(text, file)) {
      try {
        if (!rows.columns.empty()) return Reading(rows).read(selection, scaling);
      } catch (const Question&) {
        throw;
      } catch (const UserError&) {  // of a way that nobody asked for
      }
    }
    throw;
  }
}

std::vector<NamedTable> read_groups(const std::string& path,
                                    const std::string& by,
                                    const TableSelection& selection,
                                    std::optional<Scaling> scaling) {
  const RawTable raw = document(table_text(path), path);
  const Reading reading(raw);
  auto groups = mapped(values_of(raw, by, "--by"), [&](const std::string& value) {
    TableSelection group = selection;
    group.where.push_back(by + "=" + value);
    NamedTable one{value, reading.read(group, scaling).with_unit(), {}, {}};
    std::erase_if(one.table.stated, [&](const auto& stated) { return stated.column == by; });
    return one;
  });
  // What differs between machines, and nothing knows what it is.
  const RawTable table = select(raw, selection);
  for (const std::string& name : unread_columns(table, Columns(table.columns.size())))
    if (name != by && !named_meaning(name) &&
        !(groups.front().table.rows.front().facts.steps && is_word("iterations", name)) &&
        values_of(table, name, "--by").size() <= groups.size())
      groups.front().table.warnings.emplace_back(FindingId::columns_may_say_work, name, name);
  return groups;
}

}  // namespace scaleworth::cli
