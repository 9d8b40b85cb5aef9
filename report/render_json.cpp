// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/core/files/fields.h"

#include <nlohmann/json.hpp>

namespace scaleworth::report {
namespace {
constexpr JsonHead head{report_schema_version, "scaleworth report"};

void put_run(Fields& json, const Run& run, const RenderOptions& options) {
  json("directory", options.input, or_null);
  json("schema_version", run_schema_version);
  json.members("tool_version", run.tool_version, "git_revision", run.git_revision);
  json.members("started_at", run.started_at);
  json.members("command_line", run.command_line, "suite", run.suite, "complete", run.complete);
  json("interruption", said(run.interruption), or_null);
  json.array("probes", run.probes, [](Fields& of, const ProbeRecord& probe) {
    of("name", probe.name);
    of("status", key_of(probe.status));
    of("reason", said(probe.reason), or_null);
    of.members("duration_s", probe.duration_s, "warnings", said(probe.warnings));
    of("losses", probe.losses);
  });
  json.members("warnings", said(run.warnings), "files", run.files);
}

void put_environment(Fields& json, const std::vector<FactSection>& sections) {
  for (const FactSection& section : sections) {
    json.object(section.name, [&](Fields& facts) {
      for (const Fact& fact : section.facts)
        facts.object(fact.name, fact, [](Fields& of, const Fact& one) {
          of.members("value", one.value, "source", one.source);
        });
    });
  }
}

}  // namespace

std::string render_json(const Run& run,
                        const model::Analysis& analysis,
                        const RenderOptions& options) {
  const model::RunFindings findings = model::run_findings(run, analysis);
  return json_of(head, [&](Fields& json) {
    json.object("run", [&](Fields& of) { put_run(of, run, options); });
    json.object("environment", run.environment, put_environment);
    json.object(
        "assumptions", analysis.assumptions, [](Fields& of, const model::AnalysisOptions& assumed) {
          const auto& price = assumed.price_per_rank;
          of("price_usd_per_rank_hour",
             price ? std::optional(price->value() * 3600.0) : std::nullopt);
          of("fixed_usd_per_hour", assumed.fixed_price.value() * 3600.0);
          of("peak_flop_per_s_per_rank", assumed.peak_per_rank);
          of.members("tokens_per_run", assumed.tokens_per_run, "max_count", assumed.max_count);
        });
    json.object("verdict", judge(analysis, findings), [](Fields& of, const Verdict& verdict) {
      of("worth_it", answer_name(verdict.answer));
      of.members("headline", verdict.headline, "lines", verdict.lines);
    });
    std::vector<std::pair<std::string, bool>> said;  // and whether it is a warning
    for (const std::string& text : results_of(run, analysis)) said.emplace_back(text, false);
    for (const std::string& text : warnings_of(findings)) said.emplace_back(text, true);
    json.array("findings", said, [](Fields& of, const auto& one) {
      of.members("text", one.first, "warning", one.second);
    });
    json.array("scaling", analysis.scaling, put_scaling);
    json.object("roofline", analysis.roofline, put_roofline);
    json.array("collectives", analysis.collectives, put_collective);
    if (!analysis.gpus.empty()) {
      json.array("gpus", analysis.gpus, put_gpu);
      json.object("gpus_together", analysis.gpus_together, put_gpus_together);
    }
    if (!analysis.algorithms.empty()) json.array("nccl", analysis.algorithms, put_algorithms);
  });
}
}  // namespace scaleworth::report
