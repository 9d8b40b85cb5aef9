// SPDX-License-Identifier: Apache-2.0
#include "report/run/run_report.h"

#include "report/names.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/roofline.h"

#include <array>
#include <map>

namespace scaleworth::report {
namespace {
using namespace model;

/// Warnings of single points, each text once with how often it was raised. The findings count them
/// in a sentence, so they are detail.
Table sample_warnings(const Run& run) {
  using Counted = std::pair<std::string, std::map<std::string, int>>;  // of a probe, by warning
  using Warning = Counted::second_type::value_type;
  std::vector<Counted> probes;
  for (const ProbeRecord& probe : run.probes) {
    auto& counted = probes.emplace_back(probe.name, Counted::second_type{}).second;
    for (const Point& point : probe.points) {
      for (const std::string& warning : point.warnings) ++counted[warning];
    }
  }
  return all_detail(make_table("sample_warnings",
                               "Settings with unsteady samples",
                               nested(probes, &Counted::second),
                               {{parameter("probe", "probe"), &Counted::first},
                                {parameter("what", "warning"), &Warning::first},
                                {measure("settings", "settings", Unit::count), &Warning::second}}));
}

struct Sampling {
  std::string probe;
  int settings = 0;
  double samples = 0.0;  // this and the next: medians over the settings
  double lag1 = 0.0;
  double effective = 0.0;
  std::optional<double> runs;
  std::optional<double> between;  // standard deviation between runs, of their median
  std::optional<double> share;    // of it in the variance of the runs' medians
};

Table sampling(const Run& run) {
  std::vector<Sampling> rows;
  bool repeated = false;
  for (const ProbeRecord& probe : run.probes) {
    std::vector<double> samples;
    std::vector<double> lag1;
    std::vector<double> effective;
    std::vector<double> runs;
    std::vector<double> between;
    std::vector<double> shares;
    int settings = 0;
    for (const Point& point : probe.points) {
      for (const Metric name : {Metric::wall_s, Metric::time_s, Metric::step_s}) {
        if (!point.samples.contains(name)) continue;
        const Series all = usable_times(point, name);
        ++settings;
        if (const auto spread = run_spread(all)) {
          runs.push_back(static_cast<double>(spread->medians.size()));
          between.push_back(spread->between_sd / *median(spread->medians));
          shares.push_back(spread->share);
        }
        for (const auto& [number, times] : by_run(all)) {
          const Autocorrelation correlation = autocorrelation(times);
          samples.push_back(static_cast<double>(times.size()));
          lag1.push_back(correlation.lag1);
          effective.push_back(correlation.effective);
        }
      }
    }
    if (samples.empty()) continue;
    rows.push_back({probe.name,
                    settings,
                    *median(samples),
                    *median(lag1),
                    *median(effective),
                    median(runs),
                    median(between),
                    median(shares)});
    repeated = repeated || !runs.empty();
  }
  const Column sd = measure("between_runs_sd", "between runs, sd", Unit::percent).if_present();
  const Column share =
      measure("between_runs_share", "of the runs' variance", Unit::percent).if_present();
  Table table = make_table(
      "sampling",
      "Samples and their autocorrelation",
      rows,
      {{parameter("probe", "probe"), &Sampling::probe},
       {measure("settings", "settings", Unit::count), &Sampling::settings},
       {measure("samples", "samples"), &Sampling::samples},
       {measure("rank_autocorrelation", "lag-1 autocorrelation").with_decimals(2), &Sampling::lag1},
       {measure("effective_samples", "effective samples"), &Sampling::effective},
       {measure("runs", "runs").if_present(), &Sampling::runs},
       {sd, &Sampling::between},
       {share, &Sampling::share}},
      {"Medians over the settings; of ranks, samples in the order taken. The interval of a median "
       "is that of its effective samples."});
  if (!repeated) return all_detail(std::move(table));
  table.notes.push_back(
      "Between runs, each of fresh processes: the standard deviation beyond what the samples "
      "within them explain, and its part of the variance of the runs' medians. Intervals are of "
      "random effects: Student's t over the runs' medians, or the runs' own intervals pooled "
      "where those are wider.");
  return table;
}

Table losses(const Run& run) {
  using Loss = decltype(ProbeRecord::losses)::value_type;
  return make_table("losses",
                    "Lost in the measurement",
                    nested(run.probes, &ProbeRecord::losses),
                    {{parameter("probe", "probe"), &ProbeRecord::name},
                     {parameter("what", "what"), path(&Loss::first, words)},
                     {measure("amount", "amount").with_digits(4), &Loss::second}});
}

std::vector<std::string> texts_of(const std::vector<Finding>& findings, bool warnings) {
  std::vector<std::string> texts;
  for (const Finding& finding : findings) {
    if (finding.warning == warnings) texts.push_back(finding.text);
  }
  return texts;
}

/// "l2" of "l2_cache_bytes", "l1 data" of "l1_data_cache_bytes"; empty for other facts.
std::string cache_of(const std::string& fact) {
  const auto at = fact.find("_cache_");
  const bool level = fact.size() > 1 && fact[0] == 'l' && fact[1] >= '1' && fact[1] <= '9';
  return level && at != std::string::npos ? words(fact.substr(0, at)) : "";
}

/// "L1d" for "l1 data", "L1i" for "l1 instruction", "L2" for "l2".
std::string cache_name(const std::string& cache) {
  const auto space = cache.find(' ');
  return "L" + cache.substr(1, space - 1) +
         (space == std::string::npos ? "" : cache.substr(space + 1, 1));
}

/// "L1d 48 KiB (each CPU), L3 480 MiB (shared by 2 CPUs)".
std::string caches(const FactSection& section) {
  std::string text;
  for (const Fact& fact : section.facts) {
    const std::string cache = cache_of(fact.name);
    if (cache.empty() || !fact.value) continue;
    if (fact.name.ends_with("_cache_bytes")) {
      text += (text.empty() ? "" : ", ") + cache_name(cache) + " " + printed_fact(fact).value;
    } else if (fact.name.ends_with("_shared_by_cpus")) {
      const std::string sharers = plain_text(*fact.value);
      text += sharers == "1" ? " (each CPU)" : " (shared by " + sharers + " CPUs)";
    }
  }
  return text;
}

/// One line per fact, the caches in one, for formats that must be short.
Table overview(const Run& run) {
  Table table{"machine_overview",
              "",
              {parameter("part", "part"), parameter("fact", "fact"), measure("value", "value")},
              {},
              {}};
  table.in_csv = false;
  for (const FactSection& section : run.environment) {
    std::string part = words(section.name);
    const bool background = section.name == "environment_variables";
    bool caches_reported = false;
    for (const Fact& fact : section.facts) {
      const NamedValue named = printed_fact(fact);
      const bool cache = !cache_of(fact.name).empty();
      if (cache && caches_reported) continue;
      caches_reported = caches_reported || cache;
      table.rows.push_back(
          {{part, cache ? "caches" : named.name, cache ? caches(section) : named.value},
           background});
      part.clear();
    }
  }
  return table;
}

Table facts_with_sources(const Run& run) {
  const auto value = [](const Fact& fact) { return fact.value ? printed_fact(fact).value : "n/a"; };
  Table table = all_detail(make_table(
      "machine_facts",
      "Each fact with its source",
      nested(run.environment, &FactSection::facts),
      {{parameter("part", "part"), path(&FactSection::name, words)},
       {parameter("fact", "fact"), [](const Fact& fact) { return printed_fact(fact).name; }},
       {measure("value", "value"), value},
       {measure("source", "source"), &Fact::source}}));
  table.in_csv = false;
  return table;
}

/// A fact's printed value with what stands beside it; empty when it could not be had.
std::string fact(const Run& run,
                 const std::string& section,
                 const std::string& name,
                 const std::string& before = "",
                 const std::string& after = "") {
  const Fact* fact = find_fact(run, section, name);
  const std::string value = fact && fact->value ? printed_fact(*fact).value : "";
  return value.empty() ? "" : before + value + after;
}

/// The widest vector instructions of a list of features, and matrix tiles where there are any.
std::string widest(const std::string& features) {
  constexpr std::array known{std::pair("avx512f", "avx512"),
                             std::pair("avx2", "avx2"),
                             std::pair("sse2", "sse2"),
                             std::pair("sve", "sve"),
                             std::pair("neon", "neon")};
  const std::string tiles = features.find("amx") == std::string::npos ? "" : " and amx";
  for (const auto& [feature, name] : known) {
    if (features.find(feature) != std::string::npos) return name + tiles;
  }
  return "";
}

std::string without_trademarks(std::string name) {
  for (const std::string mark : {"(R)", "(TM)"}) {
    for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark)) {
      name.erase(at, mark.size());
    }
  }
  return name;
}

/// Processor, cores, memory, hypervisor and what else the host did, in one sentence.
std::string machine_line(const Run& run) {
  const std::array hardware{without_trademarks(fact(run, "cpu", "model")),
                            fact(run, "cpu", "cores", "", " cores"),
                            widest(fact(run, "cpu", "isa")),
                            fact(run, "memory", "total_bytes"),
                            fact(run, "virtualisation", "hypervisor")};
  const std::array load{fact(run, "load_during_run", "other_cpu_fraction", "other load "),
                        fact(run, "load_during_run", "steal_fraction", "steal ")};
  const std::string others = listed(load, std::identity{});
  return listed(hardware, std::identity{}) + (others.empty() ? "" : "; " + others);
}

/// Of a roof or a product.
auto is_of(NumberFormat precision, int workers) {
  return
      [=](const auto& one) { return one.format.precision == precision && one.workers == workers; };
}

std::optional<Estimate<FlopPerByte>> ridge(const RooflineResult& roofline,
                                           NumberFormat precision,
                                           int workers) {
  const SoftRoof* roof = find_in(roofline.soft_roofs, true, is_of(precision, workers));
  return roof ? std::optional(roof->ridge) : std::nullopt;
}

/// The best share of its roof that a library product reached.
std::optional<double> best_product(const RooflineResult& roofline,
                                   NumberFormat precision,
                                   int workers) {
  std::optional<double> share;
  for (const auto& one : roofline.gemms) {
    if (is_of(precision, workers)(one)) share = std::max(share.value_or(0.0), one.fraction);
  }
  return share;
}

/// Ceilings and ridge points of one worker and of the most.
Table compute(const RooflineResult& roofline) {
  const int most = largest(roofline.ceilings, &ComputeCeiling::workers);
  const std::vector<int> counts = most > 1 ? std::vector{1, most} : std::vector{1};
  const auto rate = [&](NumberFormat precision) {
    // The instructions of the fastest kernel with the most workers.
    const ComputeCeiling* fastest = fastest_ceiling(roofline.ceilings, precision, most);
    const std::string isa = fastest ? std::string(" ") + word_of(fastest->isa) : "";
    Column column = measure(
        key_of(precision), fmt::format("{} FMA{}", word_of(precision), isa), Unit::flop_per_second);
    return ColumnOf<int>(column, [&roofline, precision](int workers) {
      const ComputeCeiling* ceiling = fastest_ceiling(roofline.ceilings, precision, workers);
      return ceiling ? Cell{number(ceiling->ceiling())} : Cell{};
    });
  };
  Table table = make_table(
      "compute",
      "",
      counts,
      {{parameter("workers", "Machine"), [](int workers) { return counted(workers, "worker"); }},
       rate(NumberFormat::fp32),
       rate(NumberFormat::fp64),
       {measure("ridge_fp32", "fp32 ridge", Unit::flop_per_byte),
        [&](int workers) { return ridge(roofline, NumberFormat::fp32, workers); }},
       {measure("ridge_fp64", "fp64 ridge", Unit::flop_per_byte),
        [&](int workers) { return ridge(roofline, NumberFormat::fp64, workers); }},
       {measure("product", "best fp32 BLAS of roof", Unit::percent),
        [&](int workers) { return best_product(roofline, NumberFormat::fp32, workers); }}});
  std::vector<std::string> contended;
  for (const int workers : counts) {
    for (const NumberFormat precision : {NumberFormat::fp32, NumberFormat::fp64}) {
      const ComputeCeiling* ceiling = fastest_ceiling(roofline.ceilings, precision, workers);
      if (!ceiling || !ceiling->contended) continue;
      contended.push_back(fmt::format("{} of {}", word_of(precision), counted(workers, "worker")));
    }
  }
  if (!contended.empty()) {
    table.notes.push_back(fmt::format("Other work held the cores, so per second of CPU time: {}.",
                                      fmt::join(contended, ", ")));
  }
  return table;
}

/// The plateaus of one kernel with the most workers.
std::vector<MemoryLevel> plateaus(const RooflineResult& roofline) {
  const int most = largest(roofline.memory_levels, &MemoryLevel::workers);
  for (const MemoryKernel kernel :
       {MemoryKernel::read, MemoryKernel::triad, MemoryKernel::copy, MemoryKernel::write}) {
    std::vector<MemoryLevel> levels = roofline.memory_levels;
    std::erase_if(levels, [&](const MemoryLevel& level) {
      return level.workers != most || level.stream != StreamKernel{kernel};
    });
    if (!levels.empty()) return levels;
  }
  return {};
}

/// Bandwidth and latency differ in unit, so their rows are text.
Table memory(const RooflineResult& roofline) {
  const auto levels = plateaus(roofline);
  Table table{"levels", "", {}};
  if (levels.empty()) return table;
  const std::string kernel = word_of(levels.front().stream);
  const int workers = levels.front().workers;
  table.columns.push_back(parameter("what", "Memory by level"));
  std::vector<std::optional<Number>> rates;
  std::vector<std::optional<Number>> latencies;
  for (const auto& level : levels) {
    table.columns.push_back(measure("level", word_of(level.name)));
    rates.emplace_back(number(level.value));
    latencies.emplace_back();
    for (const auto& one : roofline.latency_levels) {
      // The last: over the largest working sets.
      if (one.name == level.name) latencies.back() = number(one.value);
    }
  }
  table.rows = {row_of(fmt::format("{} x {}", kernel, workers), rates, Unit::bytes_per_second),
                row_of("latency", latencies, Unit::seconds)};
  return table;
}
}  // namespace

Section findings_section(const std::vector<Finding>& findings) {
  return {"findings", "Findings", {}, texts_of(findings, false)};
}

Section warnings_section(const Run& run,
                         const Analysis& analysis,
                         const std::vector<Finding>& findings) {
  Section section = section_of(
      "warnings", "Warnings and losses", {losses(run), sampling(run), sample_warnings(run)});
  section.list = texts_of(findings, true);
  const auto add = [&](const std::string& of, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) section.list.push_back(of + warning);
  };
  if (analysis.roofline) add("", analysis.roofline->warnings);
  for (const auto& gpu : analysis.gpus) {
    add(fmt::format("GPU {}: ", gpu.identity.ordinal), gpu.roofline.warnings);
  }
  add("", run.warnings);
  for (const ProbeRecord& probe : run.probes) add(probe.name + ": ", probe.warnings);
  return section;
}

Section unmeasured_section(const Run& run) {
  std::vector<const ProbeRecord*> probes;
  for (const ProbeRecord& probe : run.probes) {
    if (probe.status != ProbeStatus::measured) probes.push_back(&probe);
  }
  const auto status = [](ProbeStatus of) {
    return of == ProbeStatus::pending ? "not reached" : key_of(of);
  };
  const auto reason = [&](const ProbeRecord* probe) {
    const bool reasoned = probe->status != ProbeStatus::pending || !probe->reason.empty();
    return reasoned ? probe->reason : "the run ended before: " + run.interruption;
  };
  return section_of("unmeasured",
                    "Not measured",
                    {make_table("unmeasured",
                                "",
                                probes,
                                {{parameter("probe", "probe"), &ProbeRecord::name},
                                 {measure("status", "status"), path(&ProbeRecord::status, status)},
                                 {measure("reason", "reason"), reason}})});
}

Section machine_section(const Run& run) {
  if (run.environment.empty()) return {"machine", "Machine"};
  return {"machine", "Machine", {}, {}, {overview(run), facts_with_sources(run)}};
}

Row row_of(const std::string& name, const std::vector<std::optional<Number>>& values, Unit unit) {
  std::vector<double> magnitudes;
  for (const auto& value : values)
    if (value) magnitudes.push_back(value->value);
  const Scale scale = scale_for(unit, median(magnitudes).value_or(0.0));
  Row row{{scale.symbol.empty() ? name : name + " (" + scale.symbol + ")"}, false};
  for (const auto& value : values) {
    row.cells.push_back(value ? format_number(*value, unit, scale) : "n/a");
  }
  return row;
}

Section capability_summary(const Run& run, const Analysis& analysis) {
  Section section{"capability", ""};
  if (analysis.roofline) {
    section.tables = {compute(*analysis.roofline), memory(*analysis.roofline)};
  }
  const std::string machine = machine_line(run);
  if (!machine.empty()) section.lead = {machine};
  return section;
}
}  // namespace scaleworth::report
