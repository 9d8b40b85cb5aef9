// SPDX-License-Identifier: Apache-2.0
#include "report/run/run_report.h"

#include "report/decision/decision_report.h"
#include "report/words.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/roofline.h"

#include <array>

namespace scaleworth::report {
namespace {
using namespace model;

/// Of one probe, over its settings.
struct Sampling {
  std::string probe;
  int settings = 0;
  std::vector<double> samples{};
  std::vector<double> lag1{};
  std::vector<double> effective{};
  std::vector<double> runs{};
  std::vector<double> between{};  // standard deviation between runs, of their median
  std::vector<double> shares{};   // of it in the variance of the runs' medians
};

Table sampling(const Run& run) {
  std::vector<Sampling> rows;
  bool repeated = false;
  for (const ProbeRecord& probe : run.probes) {
    Sampling row{probe.name};
    for (const Point& point : probe.points) {
      for (const Metric name : {Metric::wall_s, Metric::time_s, Metric::step_s}) {
        if (!point.samples.contains(name)) continue;
        const Series all = usable_times(point, name);
        ++row.settings;
        if (const auto spread = run_spread(all)) {
          repeated = true;
          row.runs.push_back(static_cast<double>(spread->medians.size()));
          row.between.push_back(spread->between_sd / *median(spread->medians));
          row.shares.push_back(spread->share);
        }
        for (const auto& [number, times] : by_run(all)) {
          const Autocorrelation correlation = autocorrelation(times);
          row.samples.push_back(static_cast<double>(times.size()));
          row.lag1.push_back(correlation.lag1);
          row.effective.push_back(correlation.effective);
        }
      }
    }
    if (!row.samples.empty()) rows.push_back(std::move(row));
  }
  const auto middle = [](std::vector<double> Sampling::*list) {
    return [list](const Sampling& row) { return median(row.*list); };
  };
  const auto between = [](const char* id, const char* header) {
    return measure(id, header, Unit::percent).if_present();
  };
  Table table = make_table(
      "sampling",
      "Samples and their autocorrelation",
      rows,
      {{parameter("probe", "probe"), &Sampling::probe},
       {measure("settings", "settings", Unit::count), &Sampling::settings},
       {measure("samples", "samples"), middle(&Sampling::samples)},
       {measure("rank_autocorrelation", "lag-1 autocorrelation").with_decimals(2),
        middle(&Sampling::lag1)},
       {measure("effective_samples", "effective samples"), middle(&Sampling::effective)},
       {measure("runs", "runs").if_present(), middle(&Sampling::runs)},
       {between("between_runs_sd", "between runs, sd"), middle(&Sampling::between)},
       {between("between_runs_share", "of the runs' variance"), middle(&Sampling::shares)}});
  if (!repeated) return all_detail(std::move(table));
  table.notes.push_back(reading_note("sampling of repeats"));
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

/// What was measured on; each part is named once.
Table machine_facts(const Run& run) {
  Table table{"machine_facts",
              "",
              {parameter("part", "part"),
               parameter("fact", "fact"),
               measure("value", "value"),
               measure("source", "source").as_detail()}};
  table.in_csv = false;
  for (const FactSection& section : run.environment) {
    std::string part = words(section.name);
    for (const Fact& fact : section.facts) {
      const NamedValue named = printed_fact(fact);
      table.rows.push_back({{std::exchange(part, ""), named.name, named.value, fact.source},
                            section.name == "environment_variables"});
    }
  }
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

}  // namespace

std::vector<std::string> results_of(const Run& run, const Analysis& analysis) {
  std::vector<std::string> results = sentences(run_findings(run, analysis).results);
  const RenderOptions options;
  for (const ScalingResult& scaling : analysis.scaling) {
    if (scaling.mode != BatchScaling::weak || scaling.rows.empty() || !scaling.decision) continue;
    const DecideView view{*scaling.decision, options};
    for (const std::string& line : {cause_line(view), straggler_line(view)})
      if (!line.empty()) results.push_back("Weak scaling: " + line);
  }
  return results;
}

std::vector<std::string> warnings_of(const RunFindings& findings, Audience audience) {
  std::vector<std::string> all = sentences(findings.unreliable, audience);
  std::ranges::move(sentences(findings.warnings, audience), std::back_inserter(all));
  return all;
}

Section warnings_section(const Run& run,
                         const Analysis& analysis,
                         const RunFindings& findings,
                         Audience audience) {
  Section section = section_of("warnings", "Warnings and losses", {losses(run), sampling(run)});
  section.list = warnings_of(findings, audience);
  const auto add = [&](const std::string& of, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) section.list.push_back(of + warning);
  };
  if (analysis.roofline) add("", said(analysis.roofline->warnings));
  for (const auto& gpu : analysis.gpus) {
    add(fmt::format("GPU {}: ", gpu.identity.ordinal), said(gpu.roofline.warnings));
  }
  add("", said(run.warnings, audience));
  if (run.suite != "import")  // whose findings they are
    for (const ProbeRecord& probe : run.probes)
      add(probe.name + ": ", said(probe.warnings, audience));
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
    const bool reasoned = probe->status != ProbeStatus::pending || probe->reason;
    return reasoned ? said(probe->reason) : "the run ended before: " + said(run.interruption);
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
  return section_of("machine", "Machine", {machine_facts(run)});
}

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
}  // namespace scaleworth::report
