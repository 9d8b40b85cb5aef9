// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/plan.h"

#include "probes/roofline/gemm.h"
#include "src/cli/measure/probe_choice.h"
#include "src/core/run/fields.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

// mpirun, MPI_Init and the report, on the 2-core machines this was tuned on.
constexpr Seconds rank_start{2.0};
constexpr Seconds telling{0.5};

std::vector<std::string_view> known_probes() {
  std::vector<std::string_view> names;
  for (const probes::NodeProbe& probe : probes::node_probes()) names.push_back(probe.name);
  for (const probes::RankProbe& probe : probes::rank_probes()) names.push_back(probe.name);
  return names;
}

}  // namespace

Seconds Plan::total() const {
  Seconds sum = overhead;
  for (const PlannedProbe& probe : probes) sum += probe.estimate;
  return sum;
}

Plan make_plan(const probes::Setting& setting,
               const std::vector<std::string>& only,
               const std::vector<probes::GemmWork>& own_gemms) {
  check_words(only, known_probes());
  Plan plan{{}, telling};
  for (const probes::NodeProbe& probe : probes::node_probes()) {
    if (!is_asked_for(probe.name, only)) continue;
    const bool own = !own_gemms.empty() && probe.name == fields::roofline_gemm;
    const Seconds estimate =
        own ? probes::estimate_gemm_shapes(own_gemms, setting.suite) : probe.estimate(setting);
    plan.probes.push_back({std::string(probe.name), std::string(probe.question), estimate, false});
  }
  bool ranks_start = false;
  for (const probes::RankProbe& probe : probes::rank_probes()) {
    if (!is_asked_for(probe.name, only)) continue;
    ranks_start = ranks_start || setting.max_ranks > 1;
    plan.probes.push_back(
        {std::string(probe.name), std::string(probe.question), probe.estimate(setting), true});
  }
  if (ranks_start) plan.overhead += rank_start;
  return plan;
}

std::string table_of(const Plan& plan) {
  std::string text;
  for (const PlannedProbe& probe : plan.probes) {
    text += fmt::format(
        "  {:<24} {:>6.1f} s  {}\n", probe.name, probe.estimate.value(), probe.question);
  }
  text += fmt::format("  {:<24} {:>6.1f} s  start ranks, write the run directory, report\n",
                      "overhead",
                      plan.overhead.value());
  return text + fmt::format("  {:<24} {:>6.1f} s\n", "total", plan.total().value());
}

std::string describe(const Plan& plan, const probes::Setting& setting) {
  std::string text = fmt::format("plan: suite {}, {} worker{}, up to {} rank{}\n\n",
                                 probes::suite_name(setting.suite),
                                 setting.workers,
                                 setting.workers == 1 ? "" : "s",
                                 setting.max_ranks,
                                 setting.max_ranks == 1 ? "" : "s");
  return text + table_of(plan);
}

}  // namespace scaleworth::cli
