// SPDX-License-Identifier: Apache-2.0
#include "report/json_values.h"
#include "report/names.h"
#include "report/render.h"
#include "report/run/run_report.h"
#include "src/core/run.h"

#include <algorithm>

namespace scaleworth::report {
namespace {
Json probe(const ProbeRecord& record) {
  Json losses = Json::object();
  for (const auto& [what, amount] : record.losses) {
    losses[what] = json_value(amount);
  }
  return {{"name", record.name},
          {"status", probe_status_name(record.status)},
          {"reason", record.reason.empty() ? Json(nullptr) : Json(record.reason)},
          {"duration_s", json_value(record.duration_s)},
          {"warnings", record.warnings},
          {"losses", losses}};
}

Json run_reference(const Run& run, const RenderOptions& options) {
  return {{"directory", options.input.empty() ? Json(nullptr) : Json(options.input)},
          {"schema_version", run.schema_version},
          {"tool_version", run.tool_version},
          {"git_revision", run.git_revision},
          {"started_at", run.started_at},
          {"command_line", run.command_line},
          {"suite", run.suite},
          {"complete", run.complete},
          {"interruption", run.interruption.empty() ? Json(nullptr) : Json(run.interruption)},
          {"probes", json_array(run.probes, probe)},
          {"warnings", run.warnings},
          {"files", run.files}};
}

Json fact_value(const Fact& fact) {
  if (!fact.value) {
    return nullptr;
  }
  if (const auto* real = std::get_if<double>(&*fact.value)) {
    return json_value(*real);
  }
  return std::visit([](const auto& value) { return Json(value); }, *fact.value);
}

Json environment(const Run& run) {
  Json sections = Json::object();
  for (const FactSection& section : run.environment) {
    Json& facts = sections[section.name] = Json::object();
    for (const Fact& fact : section.facts) {
      facts[fact.name] = {{"value", fact_value(fact)}, {"source", fact.source}};
    }
  }
  return sections;
}

Json assumptions(const model::AnalysisOptions& options) {
  const auto& price = options.price_per_rank;
  return {{"price_usd_per_rank_hour", price ? json_value(price->value() * 3600.0) : Json(nullptr)},
          {"fixed_usd_per_hour", json_value(options.fixed_price.value() * 3600.0)},
          {"peak_flop_per_s_per_rank", json_value(options.peak_per_rank)},
          {"tokens_per_run", json_value(options.tokens_per_run)},
          {"max_count", options.max_count}};
}

const char* answer_name(Answer answer) {
  return answer == Answer::yes ? "yes" : answer == Answer::no ? "no" : "unknown";
}

Json finding(const Finding& value) {
  return {{"text", value.text}, {"warning", value.warning}};
}
}  // namespace

std::string render_json(const Run& run,
                        const model::Analysis& analysis,
                        const RenderOptions& options) {
  const std::vector<Finding> findings = findings_of(run, analysis);
  const auto warnings = std::ranges::count_if(findings, &Finding::warning);
  const Verdict verdict = judge(analysis, static_cast<std::size_t>(warnings));
  Json json{{"schema_version", report_schema_version},
            {"kind", "scaleworth report"},
            {"run", run_reference(run, options)},
            {"environment", environment(run)},
            {"assumptions", assumptions(analysis.assumptions)},
            {"verdict",
             {{"worth_it", answer_name(verdict.answer)},
              {"headline", verdict.headline},
              {"lines", verdict.lines}}},
            {"findings", json_array(findings, finding)},
            {"scaling", json_array(analysis.scaling, json_scaling)},
            {"roofline", analysis.roofline ? json_roofline(*analysis.roofline) : Json(nullptr)},
            {"collectives", json_array(analysis.collectives, json_collective)}};
  if (!analysis.gpus.empty()) {
    json["gpus"] = json_array(analysis.gpus, json_gpu);
    json["gpus_together"] =
        analysis.gpus_together ? json_gpus_together(*analysis.gpus_together) : Json(nullptr);
  }
  if (!analysis.algorithms.empty()) {
    json["nccl"] = json_array(analysis.algorithms, json_algorithms);
  }
  // Text from the system may be in any encoding; a replacement character beats an exception.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
}  // namespace scaleworth::report
