// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/plan.h"

#include "probes/roofline.h"
#include "src/core/error.h"
#include "src/core/files/run_names.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {
// mpirun, MPI_Init and the report, on the 2-core machines this was tuned on.
constexpr Seconds rank_start{2.0};
constexpr Seconds reporting{0.5};

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
  Plan plan{{}, reporting};
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

namespace {
bool means(const std::string& word, std::string_view probe) {
  return probe == word || (probe.starts_with(word) && probe.substr(word.size(), 1) == ".");
}
}  // namespace

bool is_asked_for(std::string_view probe, const std::vector<std::string>& only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& word) {
           return means(word, probe);
         });
}

void check_words(const std::vector<std::string>& only,
                 const std::vector<std::string_view>& known,
                 const std::string& remedy) {
  for (const std::string& word : only) {
    const auto found = std::any_of(
        known.begin(), known.end(), [&](std::string_view probe) { return means(word, probe); });
    if (found) continue;
    throw UserError(
        fmt::format("--only {}: no such probe; known: {}{}", word, fmt::join(known, ", "), remedy));
  }
}

namespace {
int choose_ranks(const MeasureOptions& options, int workers) {
  const int ranks = options.ranks.value_or(workers);
  if (ranks > workers && !options.oversubscribe) {
    throw UserError(
        fmt::format("--ranks {}: this process may use {} core{}; ask for at most that many, or add "
                    "--oversubscribe for a run that shows the mechanism and no scaling",
                    ranks,
                    workers,
                    workers == 1 ? "" : "s"));
  }
  return ranks;
}
}  // namespace

probes::Setting make_setting(const probes::Machine& machine,
                             const MeasureOptions& options,
                             std::optional<int> ranks) {
  probes::Setting setting;
  setting.suite = probes::parse_suite(options.suite);
  setting.workers = machine.workers();
  setting.available_memory = machine.available_memory();
  setting.last_cache = machine.last_cache();
  setting.isa_count = machine.isas().size();
  setting.max_ranks = ranks ? *ranks : choose_ranks(options, setting.workers);
  const probes::RankOptions rank_options = options.rank_options();
  if (rank_options.straggler && rank_options.straggler->rank.index >= setting.max_ranks) {
    throw UserError(fmt::format(
        "--straggler {}: there are ranks 0 to {} only", options.straggler, setting.max_ranks - 1));
  }
  return setting;
}

std::optional<std::string> oversubscription(int ranks, int cores) {
  if (ranks <= cores) return std::nullopt;
  return fmt::format(
      "oversubscribed: {} ranks shared {} core{}; step and collectives show the mechanism, not "
      "what {} cores would give",
      ranks,
      cores,
      cores == 1 ? "" : "s",
      ranks);
}
}  // namespace scaleworth::cli
