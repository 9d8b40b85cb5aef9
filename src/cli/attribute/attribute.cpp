// SPDX-License-Identifier: Apache-2.0
#include "src/cli/attribute/attribute.h"

#include "report/attribution/attribution_report.h"
#include "src/cli/attribute/export_file.h"
#include "src/cli/colour.h"
#include "src/cli/exit_code.h"
#include "src/core/toml/table.h"
#include "src/core/version.h"
#include "trace/attribute.h"
#include "trace/classify/classify.h"
#include "trace/format/read_job.h"

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

trace::RuleTable rule_table(const AttributeOptions& options) {
  if (options.rules.empty()) return trace::RuleTable::built_in();
  return trace::RuleTable::with_own(toml_file::read_small_file(options.rules), options.rules);
}

report::AttributionOptions report_options(const AttributeOptions& options) {
  report::AttributionOptions report;
  report.colour = colour_wanted();
  report.details = options.details;
  if (options.price_usd_per_gpu_hour)
    report.price_per_gpu = dollars_per_hour(*options.price_usd_per_gpu_hour);
  report.input = fmt::format("{}", fmt::join(options.inputs, " "));
  report.tool_version = tool_version();
  report.git_revision = git_revision();
  return report;
}

}  // namespace

int attribute_recordings(const AttributeOptions& options) {
  const report::Format format = report::parse_format(options.format);
  const trace::RuleTable rules = rule_table(options);
  trace::Job job = trace::read_job(options.inputs, {&rules, 0});
  for (trace::Recording& recording : job.recordings) trace::classify(recording, rules);
  const trace::Attributed attributed = trace::attribute(job);
  export_file(job, attributed, options);
  fmt::print("{}", report::render_attribution(attributed.result, format, report_options(options)));
  return exit_done;
}

}  // namespace scaleworth::cli
