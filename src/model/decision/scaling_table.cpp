// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/scaling_table.h"

#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <numeric>
#include <set>

namespace scaleworth::model {
namespace {
struct Factor {
  const char* name;
  std::optional<int> Layout::*value;
};

constexpr std::array factors{Factor{"TP", &Layout::tensor},
                             Factor{"PP", &Layout::pipeline},
                             Factor{"CP", &Layout::context},
                             Factor{"DP", &Layout::data}};

/// "TP 8 x PP 16"; empty where no factor is stated.
std::string factors_text(const Layout& layout, const char* between) {
  std::string text;
  for (const Factor& factor : factors) {
    const auto& value = layout.*factor.value;
    if (value) text += fmt::format("{}{} {}", text.empty() ? "" : between, factor.name, *value);
  }
  return text;
}

/// Which fact two repeats of one count state differently, "the layout"; empty where they agree. Of
/// latencies and power, which are measured, nothing is asked.
std::string disagreement(const RowFacts& one, const RowFacts& other) {
  if (!(one.layout == other.layout)) return "the layout";
  if (one.batch != other.batch || one.sequence_length != other.sequence_length) return "the batch";
  if (one.microbatches != other.microbatches) return "the number of microbatches";
  if (one.price != other.price) return "the price";
  return "";
}

/// The facts of the repeats of a count, which agree: of each latency the greatest, of power the
/// mean.
RowFacts merged_facts(const std::vector<const TableRow*>& repeats) {
  RowFacts facts = repeats.front()->facts;
  facts.latencies.clear();
  std::vector<double> powers;
  for (const TableRow* at : repeats) {
    if (at->facts.power_w) powers.push_back(*at->facts.power_w);
    for (const Latency& latency : at->facts.latencies) {
      Latency* known = find_in(facts.latencies, latency.name, &Latency::name);
      if (!known) known = &facts.latencies.emplace_back(latency);
      known->seconds = std::max(known->seconds, latency.seconds);
    }
  }
  if (!powers.empty()) {
    const double sum = std::accumulate(powers.begin(), powers.end(), 0.0);
    facts.power_w = sum / static_cast<double>(powers.size());
  }
  return facts;
}

constexpr std::size_t compute = index_of(PartGroup::compute);
constexpr std::size_t communication = index_of(PartGroup::communication);

/// Parts may miss their sum by this share of the time: printed tables are rounded.
constexpr double parts_tolerance = 0.005;

/// Derived work within this share of equal is equal: published rates are rounded.
constexpr double rounding_tolerance = 0.02;

template <class... Values>
[[noreturn]] void refuse(const TableRow& at,
                         fmt::format_string<const Values&...> what,
                         const Values&... values) {
  throw UserError(at.place + ": " + fmt::format(what, values...));
}

/// TP x PP x CP x DP must equal the count; without DP the other factors must divide it. A factor
/// that is absent counts as 1.
void check_layout(const TableRow& at) {
  const Layout& layout = at.facts.layout;
  std::int64_t product = 1;
  for (const Factor& factor : factors) {
    const auto& value = layout.*factor.value;
    if (value && *value < 1) {
      refuse(at, "the layout is {} is {}; it must be 1 or more", factor.name, *value);
    }
    // Beyond any count it cannot come back to it, and would overflow.
    if (value && product <= at.count) product *= *value;
  }
  if (layout.data ? product == at.count : at.count % product == 0) return;
  refuse(at,
         "the layout is {} = {}{} the count {}; correct one of them",
         factors_text(layout, " x "),
         product,
         layout.data ? ", not" : " does not divide",
         at.count);
}

/// Fills in the compute of the rows, with a remark, where none has it, each has a time and each
/// says what communication took: most tables that people keep are of these two. Throws UserError
/// with the place of a row whose parts exceed its time by more than `parts_tolerance`.
void leave_rest_to_compute(ScalingTable& table) {
  const auto lacks_compute_alone = [](const TableRow& at) {
    return at.time_s && at.parts_s[communication] && !at.parts_s[compute];
  };
  if (!std::ranges::all_of(table.rows, lacks_compute_alone)) return;
  for (TableRow& at : table.rows) {
    const double others = *sum_of(at.parts_s);
    if (others > (1.0 + parts_tolerance) * *at.time_s) {
      refuse(at, "the parts add up to {:g} s, more than the time of {:g} s", others, *at.time_s);
    }
    at.parts_s[compute] = std::max(0.0, *at.time_s - others);
  }
  table.remarks.emplace_back(FindingId::compute_is_the_rest);
}

constexpr double most_time_s = 1e15;
constexpr double most_work = 1e40;

/// Ratios of what lies within 1/most to most stay within what a double holds.
void check_range(const TableRow& at, double value, const char* what, double most) {
  if (value >= 1.0 / most && value <= most) return;
  refuse(at, "{} is {:g}; it must lie within {:g} to {:g}", what, value, 1.0 / most, most);
}

/// Absent without a time and parts.
std::optional<double> stated_time(const TableRow& at) {
  return at.time_s ? at.time_s : sum_of(at.parts_s);
}

double time_of(const TableRow& at) {
  const std::optional<double> time = stated_time(at);
  if (!time) refuse(at, "no time and no parts; fill in time_s");
  if (!(*time > 0.0)) refuse(at, "the time is {:g} s; it must be above 0", *time);
  check_range(at, *time, "the time in s", most_time_s);
  const std::optional<double> sum = sum_of(at.parts_s);
  if (sum && std::abs(*sum - *time) > parts_tolerance * *time) {
    refuse(
        at,
        "the parts add up to {:g} s, the time is {:g} s; correct them or give the rest as idle_s",
        *sum,
        *time);
  }
  return *time;
}

void check_positive(const TableRow& at, const std::optional<double>& value, const char* what) {
  if (value && !(*value > 0.0)) refuse(at, "{} is {:g}; it must be above 0", what, *value);
}

/// Mean share of each part over the repeats, scaled to `time`.
GroupTimes merged_parts(const std::vector<const TableRow*>& repeats, double time) {
  GroupTimes parts{};
  double sum = 0.0;
  for (const GroupInfo& group : part_groups) {
    const std::size_t i = index_of(group.id);
    for (const TableRow* at : repeats) {
      if (!at->parts_s[i]) continue;
      parts[i] = parts[i].value_or(0.0) + *at->parts_s[i];
      sum += *at->parts_s[i];
    }
  }
  for (auto& part : parts)
    if (part && sum > 0.0) part = *part * time / sum;
  return parts;
}

TableRow merge(const std::vector<const TableRow*>& repeats) {
  std::vector<double> times;
  std::vector<double> energies;
  std::vector<double> energies_per_work;
  TableRow row;
  row.count = repeats.front()->count;
  row.work = repeats.front()->work;
  for (const TableRow* at : repeats) {
    if (at->work) check_range(*at, *at->work, "the work", most_work);
    if (at->work != row.work)
      refuse(*at, "the work differs from that of the same count above: keep one work (--where)");
    const std::string differing = disagreement(at->facts, repeats.front()->facts);
    if (!differing.empty()) refuse(*at, "{} differs from that of the same count above", differing);
    times.push_back(time_of(*at));
    if (at->energy_j) energies.push_back(*at->energy_j);
    if (at->energy_per_work_j) energies_per_work.push_back(*at->energy_per_work_j);
    row.better_quality = at->better_quality;
    const double sign = at->better_quality < 0 ? -1.0 : 1.0;
    if (at->quality)
      row.quality = sign * std::min(sign * row.quality.value_or(*at->quality), sign * *at->quality);
  }
  row.time = as<Seconds>(median_estimate(times));
  row.repeats = static_cast<int>(times.size());
  row.relative_sd = relative_sd(times);
  row.energy_j = median(energies);
  row.energy_per_work_j = median(energies_per_work);
  row.stated_speedup = repeats.front()->stated_speedup;
  row.stated_efficiency = repeats.front()->stated_efficiency;
  row.parts_s = merged_parts(repeats, row.time.value.value());
  row.facts = merged_facts(repeats);
  return row;
}

/// Takes `work` for that of the rows where the most of it exceeds the least by more than
/// `tolerance`; returns how many times as much it then is.
template <class Work>
std::optional<double> take_if_grown(std::vector<TableRow>& rows, Work work, double tolerance) {
  const auto ends = std::ranges::minmax_element(rows, {}, work);
  const double least = work(*ends.min);
  const double most = work(*ends.max);
  if (!(most > least * (1.0 + tolerance))) return std::nullopt;
  for (TableRow& at : rows) at.work = work(at);
  return most / least;
}

/// Rows without times: each takes what its work takes at its throughput; without work that of the
/// least power of 1000 units that takes the fastest row a second or more.
void times_from_throughput(ScalingTable& table, bool work_known) {
  double fastest = 0.0;
  for (const TableRow& at : table.rows) fastest = std::max(fastest, at.throughput.value_or(0.0));
  double unit = 1.0;
  while (unit < fastest) unit *= 1000.0;
  for (TableRow& at : table.rows) {
    if (!at.throughput) refuse(at, "no time, no parts and no throughput");
    if (!work_known) at.work = unit;
    if (!at.work) refuse(at, "no work, which other rows have; fill it in");
    at.time_s = *at.work / *at.throughput;
  }
  if (!work_known) table.basis = TimeBasis::work_unit;
}

/// Whether `ratios` of one row to the first are those of `expected` within what rates are rounded
/// to.
bool agree(const std::vector<double>& ratios, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < ratios.size(); ++i)
    if (!(std::abs(ratios[i] / expected[i] - 1.0) <= published_rounding)) return false;
  return true;
}

/// Time x throughput, the same for all repeats of a count: their mean. It is the work where it
/// grows as the count or the batch does; else time and rate contradict each other, nothing says
/// which is wrong, and times are compared as they are.
void work_from_throughput(ScalingTable& table) {
  std::map<int, std::pair<double, int>> sums;
  for (const TableRow& at : table.rows) {
    auto& [sum, repeats] = sums[at.count];
    sum += *stated_time(at) * *at.throughput;
    ++repeats;
  }
  const auto work = [&](const TableRow& at) {
    const auto& [sum, repeats] = sums.at(at.count);
    return sum / repeats;
  };
  const TableRow& first = *std::ranges::min_element(table.rows, {}, &TableRow::count);
  std::vector<double> done;
  std::vector<double> counts;
  std::vector<double> batches;
  for (const TableRow& at : table.rows) {
    done.push_back(work(at) / work(first));
    counts.push_back(static_cast<double>(at.count) / first.count);
    batches.push_back(at.facts.batch.value_or(0.0) / first.facts.batch.value_or(1.0));
  }
  const bool explained = table.axis == Axis::load || table.growing_models || agree(done, counts) ||
                         agree(done, batches) || agree(done, std::vector<double>(done.size(), 1.0));
  if (explained) {
    const auto times = take_if_grown(table.rows, work, rounding_tolerance);
    if (times) table.remarks.emplace_back(FindingId::work_by_rate, *times);
    return;
  }
  const auto last = std::ranges::max_element(table.rows, {}, &TableRow::count);
  const auto i = static_cast<std::size_t>(last - table.rows.begin());
  table.warnings.emplace_back(FindingId::time_and_rate_disagree,
                              first.count,
                              last->count,
                              *stated_time(first) / *stated_time(*last),
                              *last->throughput / *first.throughput,
                              done[i]);
}

/// A table of speed-ups or efficiencies alone: what they say of throughputs.
void throughput_from_ratios(std::vector<TableRow>& rows) {
  const bool speedups = all_have(rows, &TableRow::stated_speedup);
  for (TableRow& at : rows) {
    const auto& stated = speedups ? at.stated_speedup : at.stated_efficiency;
    if (!stated) refuse(at, "no time, no throughput, and no speed-up or efficiency");
    at.throughput = *stated * (speedups ? 1.0 : at.count);
  }
}

void work_from_batch(ScalingTable& table) {
  const bool batches = any_has(table.rows, [](const TableRow& at) { return at.facts.batch; });
  for (const TableRow& at : table.rows)
    if (batches ? !at.facts.batch : !at.facts.sequence_length)
      refuse(at, "no {}, which other rows have; fill it in", batches ? "batch" : "sequence length");
  take_if_grown(
      table.rows, [](const TableRow& at) { return *at.facts.step_work(); }, 0.0);
}

void fill_in_energy(TableRow& at, Axis axis) {
  if (at.energy_j) return;
  if (at.energy_per_work_j && at.work) {
    at.energy_j = *at.energy_per_work_j * *at.work;
  } else if (const auto time = stated_time(at); at.facts.power_w && time) {
    at.energy_j = *at.facts.power_w * *time * (axis == Axis::load ? 1 : at.count);
  }
}

bool within(double ratio, double factor) {
  return ratio <= factor && ratio >= 1.0 / factor;
}

/// Columns that say the same thing twice agree: work with time x throughput, energy with power x
/// time. A batch may count other units than the throughput, and models that differ by the row: only
/// a unit slip, of a thousand, is far enough off.
void check_agreement(const ScalingTable& table) {
  std::vector<double> ratios;  // of time x throughput to the batch
  for (const TableRow& at : table.rows) {
    const std::optional<double> time = stated_time(at);
    if (!time) continue;
    const double done = at.throughput.value_or(0.0) * *time;
    if (at.throughput && at.facts.batch) ratios.push_back(done / *at.facts.batch);
    if (at.throughput && at.work && !within(done / *at.work, 2.0))
      refuse(
          at, "time x throughput is {:g}, the work {:g}; correct one of the three", done, *at.work);
    const int ranks = table.axis == Axis::load ? 1 : at.count;
    const double energy = at.facts.power_w.value_or(0.0) * *time * ranks;
    if (at.energy_j && at.facts.power_w && !within(*at.energy_j / energy, 3.0))
      refuse(at,
             "the energy is {:g} J, power x time x count {:g} J; correct one of them",
             *at.energy_j,
             energy);
  }
  if (ratios.size() < table.rows.size()) return;
  const double usual = *median(ratios);
  for (std::size_t i = 0; i < ratios.size(); ++i)
    if (!within(ratios[i] / usual, 100.0))
      refuse(table.rows[i],
             "time x throughput is {:g} batches, elsewhere {:g}; correct one",
             ratios[i],
             usual);
}

/// From one count to the next a time, of equal work, neither falls nor grows by a hundred times as
/// much as the count does.
void check_neighbours(const ScalingTable& table) {
  const bool works = all_have(table.rows, &TableRow::work);
  for (std::size_t i = 1; table.axis != Axis::load && i < table.rows.size(); ++i) {
    const TableRow& before = table.rows[i - 1];
    const TableRow& at = table.rows[i];
    const double growth = works ? *at.work / *before.work : 1.0;
    const double times = at.time.value / before.time.value / growth;
    const double counts = static_cast<double>(at.count) / before.count;
    if (within(times, 100.0 * counts)) continue;
    throw UserError(
        "the table's time goes from {:g} s at {} to {:g} s at {}: another unit? Correct the row",
        before.time.value.value(),
        before.count,
        at.time.value.value(),
        at.count);
  }
}

/// Time and work from the throughput or a step's batch, energy from its rate per work or from
/// power. Throws UserError with the place of a row that has a throughput alone among rows with
/// times, or no batch among rows whose batch grows.
void fill_in_work(ScalingTable& table) {
  auto& rows = table.rows;
  const auto batch = [](const TableRow& at) { return at.facts.step_work(); };
  const bool work_given = any_has(rows, &TableRow::work);
  const bool timed = any_has(rows, stated_time);
  const bool ratios =
      any_has(rows, &TableRow::stated_speedup) || any_has(rows, &TableRow::stated_efficiency);
  if (!timed && !any_has(rows, &TableRow::throughput) && ratios) throughput_from_ratios(rows);
  if (!timed && any_has(rows, &TableRow::throughput)) {
    times_from_throughput(table, work_given);
  } else if (!work_given && all_have(rows, &TableRow::throughput) && all_have(rows, stated_time)) {
    work_from_throughput(table);
  } else if (!work_given && table.basis == TimeBasis::step && any_has(rows, batch)) {
    work_from_batch(table);
  }
  check_agreement(table);
  for (TableRow& at : rows) fill_in_energy(at, table.axis);
}

using Remark = std::optional<Finding>;

Remark basis_remark(const ScalingTable& table) {
  if (table.basis == TimeBasis::step && table.rows.front().work)
    return Finding(FindingId::times_of_one_step);
  if (table.basis != TimeBasis::work_unit) return {};
  return Finding(FindingId::times_of_units, std::lround(std::log10(*table.rows.front().work)));
}

Remark batch_remark(const ScalingTable& table) {
  const TableRow& first = table.rows.front();
  const TableRow& last = table.rows.back();
  if (!first.facts.batch || !last.facts.batch || *first.facts.batch == *last.facts.batch) return {};
  const bool of_work = first.work && last.work;
  return Finding(of_work ? FindingId::batch_grows : FindingId::batch_grows_with_times,
                 *first.facts.batch,
                 *last.facts.batch);
}

Remark layout_remark(const ScalingTable& table) {
  const auto fixed_part = [](const TableRow& row) { return layout_of_replica(row.facts.layout); };
  const TableRow& first = table.rows.front();
  const auto other = std::ranges::find_if(
      table.rows, [&](const TableRow& row) { return !(fixed_part(row) == fixed_part(first)); });
  if (other == table.rows.end()) return {};
  const auto text = [](const Layout& layout) {
    return layout.empty() ? "none given" : layout_text(layout);
  };
  return Finding(FindingId::layout_changes,
                 text(fixed_part(first)),
                 first.count,
                 text(fixed_part(*other)),
                 other->count);
}
}  // namespace

std::optional<double> sum_of(const GroupTimes& parts) {
  std::optional<double> sum;
  for (const auto& part : parts)
    if (part) sum = sum.value_or(0.0) + *part;
  return sum;
}

double TableRow::quality_loss(const TableRow& baseline) const {
  if (!quality || !baseline.quality) return 0.0;
  const double more = *quality - *baseline.quality;
  return better_quality == 0 ? std::abs(more) : std::max(0.0, -better_quality * more);
}

bool TableRow::has_parts() const {
  return parts_s[index_of(PartGroup::compute)].has_value() && sum_of(parts_s) > 0.0;
}

void check_row(const TableRow& at, Axis axis) {
  if (at.count < 1) refuse(at, "the count is {}; it must be 1 or more", at.count);
  for (const GroupInfo& group : part_groups) {
    const auto& time = at.parts_s[index_of(group.id)];
    if (time && !(*time >= 0.0)) {
      refuse(at, "{} is {:g} s; a part of the time is 0 or more", group.name, *time);
    }
  }
  check_positive(at, at.work, "the work");
  check_positive(at, at.throughput, "the throughput");
  check_positive(at, at.energy_j, "the energy in J");
  check_positive(at, at.energy_per_work_j, "the energy in J of a unit of work");
  check_positive(at, at.facts.batch, "the batch");
  check_positive(at, at.facts.sequence_length, "the sequence length");
  check_positive(at, at.facts.microbatches, "the number of microbatches");
  check_positive(at, at.facts.power_w, "the power in W");
  for (const Latency& latency : at.facts.latencies) {
    check_positive(at, latency.seconds, ("the latency " + latency.name + " in s").c_str());
  }
  if (at.facts.price && at.facts.price->value() < 0.0) refuse(at, "the price is below 0");
  if (axis == Axis::ranks) check_layout(at);
}

ScalingTable assemble(const std::vector<TableRow>& rows, TableKind kind) {
  if (rows.empty()) throw UserError("the table has no rows; give at least one count and time");
  for (const TableRow& at : rows) check_row(at, kind.axis);
  ScalingTable table{kind, rows};
  fill_in_work(table);
  leave_rest_to_compute(table);
  std::map<int, std::vector<const TableRow*>> by_count;
  std::set<std::pair<int, int>> seen;
  for (const TableRow& at : table.rows) {
    auto& repeats = by_count[at.count];
    if (at.repeat && !seen.emplace(at.count, *at.repeat).second) {
      refuse(at, "repeat {} of count {} stands twice", *at.repeat, at.count);
    }
    repeats.push_back(&at);
  }
  table.rows = mapped(by_count, [](const auto& count) { return merge(count.second); });
  check_neighbours(table);
  return table;
}

ScalingTable of_work(ScalingTable table, double work) {
  const bool of_step = table.basis == TimeBasis::step;
  if (table.basis == TimeBasis::run || (!of_step && !all_have(table.rows, &TableRow::work)))
    return table;
  if (!(work > 0.0)) throw UserError("the work must be above 0, as --work 1200000");
  for (TableRow& row : table.rows) {
    const double factor = work / row.work.value_or(1.0);
    row.time = transform(row.time, [&](Seconds time) { return time * factor; });
    for (auto& part : row.parts_s)
      if (part) part = *part * factor;
    row.work = work;
    if (row.energy_j) row.energy_j = *row.energy_j * factor;
  }
  table.basis = TimeBasis::run;
  return table;
}

Layout layout_of_replica(const Layout& layout) {
  return {layout.tensor, layout.pipeline, layout.context, std::nullopt, layout.expert};
}

std::string layout_text(const Layout& layout) {
  const std::string text = factors_text(layout, ", ");
  if (!layout.expert) return text;
  return fmt::format("{}{}EP {}", text, text.empty() ? "" : ", ", *layout.expert);
}

std::optional<double> RowFacts::step_work() const {
  if (!batch) return sequence_length;
  return *batch * sequence_length.value_or(1.0);
}

std::optional<double> RowFacts::latency_s(const std::string& name) const {
  const Latency* found = find_in(latencies, name, &Latency::name);
  return found ? std::optional(found->seconds) : std::nullopt;
}

std::optional<double> relative_sd(const std::vector<double>& times) {
  if (times.size() < 2) return std::nullopt;
  const Moments moments = moments_of(times);
  return std::sqrt(moments.of_one.variance) / moments.mean;
}

SampleVariance repeat_noise(const std::vector<TableRow>& rows) {
  SampleVariance noise;
  for (const TableRow& row : rows)
    if (row.relative_sd && !row.repeats_are_steps)
      noise = noise.pooled({*row.relative_sd * *row.relative_sd, row.repeats - 1.0});
  return noise;
}

std::vector<Finding> table_remarks(const ScalingTable& table) {
  std::vector<Finding> remarks = table.remarks;
  if (table.axis == Axis::load) remarks.emplace_back(FindingId::rows_are_loads);
  const int most = table.rows.back().count;
  if (table.load_unit != 1.0)
    remarks.emplace_back(FindingId::load_in_units, table.load_unit, most, most * table.load_unit);
  for (const Remark& remark : {basis_remark(table), batch_remark(table), layout_remark(table)})
    if (remark) remarks.push_back(*remark);
  return remarks;
}
}  // namespace scaleworth::model
