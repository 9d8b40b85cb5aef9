// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/plan.h"

#include "probes/collectives.h"
#include "report/words.h"
#include "src/core/files/csv.h"
#include "src/core/run.h"

#include <array>
#include <cmath>

namespace scaleworth::cli {
namespace {
// mpirun, MPI_Init and the report, on the 2-core machines this was tuned on.
constexpr Seconds rank_start{2.0};
constexpr Seconds reporting{0.5};

/// The question of the run is whether more ranks pay: the step answers it, what lies between ranks
/// and a rank that is slower than the others explain it, ceilings say what a better program could
/// reach, and the rest how these come about.
constexpr std::array by_value{probe_name::step_training,
                              probe_name::gpu_together,
                              probe_name::comm_nccl,
                              probe_name::comm_collectives,
                              probe_name::gpu_gemm,
                              probe_name::roofline_gemm,
                              probe_name::gpu_memory,
                              probe_name::roofline_memory,
                              probe_name::roofline_compute,
                              probe_name::gpu_transfer,
                              probe_name::gpu_launch,
                              probe_name::gpu_compute,
                              probe_name::gpu_latency,
                              probe_name::roofline_latency};

/// Smaller for what matters more.
auto value_order(const PlannedProbe& probe) {
  return std::ranges::find(by_value, std::string_view(probe.name)) - by_value.begin();
}

bool means(const std::string& word, const std::string& probe) {
  return probe == word || probe.starts_with(word + ".");
}
}  // namespace

Seconds Plan::total() const {
  Seconds sum = overhead;
  for (const PlannedProbe& probe : probes) {
    if (!probe.left_out) sum += probe.estimate;
  }
  return sum * static_cast<double>(repeats);
}

void Plan::keep(const std::vector<std::string>& only, const std::string& remedy) {
  for (const std::string& word : only) {
    const auto meant = [&](const PlannedProbe& probe) { return means(word, probe.name); };
    if (std::ranges::any_of(probes, meant)) continue;
    throw UserError(
        "--only {}: no such probe; known: {}{}", word, listed(probes, &PlannedProbe::name), remedy);
  }
  std::erase_if(probes, [&](const PlannedProbe& probe) {
    const auto meant = [&](const std::string& word) { return means(word, probe.name); };
    return !only.empty() && std::ranges::none_of(only, meant);
  });
}

void Plan::order_by_value() {
  std::ranges::stable_sort(probes, {}, &value_order);
}

void Plan::fit(Seconds limit) {
  std::vector<PlannedProbe*> order;
  for (PlannedProbe& probe : probes) order.push_back(&probe);
  std::ranges::stable_sort(
      order, {}, [](const PlannedProbe* probe) { return value_order(*probe); });
  const Seconds all = total();
  Seconds left = limit - overhead;
  bool any = false;
  for (PlannedProbe* probe : order) {
    if (probe->estimate > left) {
      probe->left_out = Finding(FindingId::beyond_time_limit,
                                limit.value(),
                                std::ceil(probe->estimate.value()),
                                std::max(0.0, std::floor(left.value())));
      continue;
    }
    left -= probe->estimate;
    any = any || probe->estimate > Seconds(0.0);
  }
  if (any) return;
  throw UserError("--time {:.0f} s: no probe fits; {:.0f} s measure everything (--dry-run)",
                  limit.value(),
                  std::ceil(all.value()));
}

Seconds parse_time_limit(const std::string& text) {
  constexpr std::array units{std::pair{'s', 1.0}, std::pair{'m', 60.0}, std::pair{'h', 3600.0}};
  const auto unit =
      std::ranges::find(units, text.empty() ? '\0' : text.back(), &std::pair<char, double>::first);
  const bool named = unit != units.end();
  std::string digits = text.substr(0, text.size() - (named ? 1 : 0));
  while (digits.ends_with(' ')) digits.pop_back();
  const auto number = parse_number<double>(digits);
  if (!number || !(*number > 0.0) || !std::isfinite(*number)) {
    throw UserError("--time is '{}': write seconds, or 5m, or 1h", text);
  }
  return Seconds(*number * (named ? unit->second : 1.0));
}

Bytes parse_message_size(const std::string& text) {
  constexpr std::array units{
      std::pair{'K', kibibyte}, std::pair{'M', mebibyte}, std::pair{'G', gibibyte}};
  std::string digits = text;
  for (const std::string_view end : {"iB", "B"})
    if (digits.ends_with(end)) digits.resize(digits.size() - end.size());
  const char last = digits.empty() ? '\0' : digits.back();
  const auto unit = std::ranges::find(units, last, &std::pair<char, double>::first);
  if (unit != units.end()) digits.pop_back();
  const auto number = parse_number<std::int64_t>(digits);
  const double bytes =
      static_cast<double>(number.value_or(0)) * (unit == units.end() ? 1.0 : unit->second);
  if (bytes >= 1.0 && bytes <= 1024.0 * gibibyte) return Bytes(bytes);
  throw UserError("--sizes: '{}' is no message size: write bytes, or 64K, 1M, 2G", text);
}

probes::CollectiveAlgorithm parse_algorithm(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto algorithm = probes::nccl_word(probes::nccl_algorithm_words, text.substr(0, slash));
  const auto protocol = slash == std::string::npos ? std::optional<std::string>("")
                                                   : probes::nccl_word(probes::nccl_protocol_words,
                                                                       text.substr(slash + 1));
  if (algorithm && protocol) return {*algorithm, *protocol};
  throw UserError("--algorithms: '{}' is none of {}, with or without one of /{} behind it",
                  text,
                  fmt::join(probes::nccl_algorithm_words, ", "),
                  fmt::join(probes::nccl_protocol_words, ", /"));
}

Plan fitting_plan(PlanInputs& setting, const MeasureOptions& options) {
  Plan plan = make_plan(setting, options);
  if (options.time.empty()) return plan;
  const Seconds limit = parse_time_limit(options.time);
  const auto* sweep = find_in(plan.probes, probe_name::comm_collectives, &PlannedProbe::name);
  if (sweep != nullptr && setting.nodes > 1) {
    // Leaves the rounding of the other probes' estimates.
    const Seconds rest = 0.99 * (limit - (plan.total() - sweep->estimate));
    if (rest > Seconds(0.0)) setting.collectives_budget = rest;
    plan = make_plan(setting, options);
  }
  plan.fit(limit);
  return plan;
}

Plan make_plan(const PlanInputs& setting, const MeasureOptions& options) {
  Plan plan{fmt::format("plan: suite {}, {}, up to {}\n",
                        suite_name(setting.suite),
                        counted(setting.workers, "worker"),
                        counted(setting.max_ranks, "rank")),
            reporting,
            {}};
  plan.add(node_probes(), setting, false);
  plan.add(rank_probes(), setting, true);
  plan.keep(options.only);
  const auto own_gemms = own_host_products(options, setting.workers);
  for (PlannedProbe& probe : plan.probes) {
    if (own_gemms.empty() || probe.name != probe_name::roofline_gemm) continue;
    probe.estimate = estimate_gemm_shapes(own_gemms, setting.suite);
  }
  if (setting.max_ranks > 1 && plan.has_probes(true)) plan.overhead += rank_start;
  return plan;
}

std::string describe(const Plan& plan) {
  std::string text = plan.heading + "\n";
  for (const PlannedProbe& probe : plan.probes) {
    text +=
        probe.left_out
            ? fmt::format("  {:<24}  left out, {}\n", probe.name, report::said(*probe.left_out))
            : fmt::format(
                  "  {:<24} {:>6.1f} s  {}\n", probe.name, probe.estimate.value(), probe.question);
  }
  text += fmt::format("  {:<24} {:>6.1f} s  start ranks, write the run directory, report\n",
                      "overhead",
                      plan.overhead.value());
  if (plan.repeats > 1) {
    text +=
        fmt::format("  {:<24} {:>6} x  all of it, in processes of its own\n", "runs", plan.repeats);
  }
  return text + fmt::format("  {:<24} {:>6.1f} s\n", "total", plan.total().value());
}

PlanInputs make_setting(const Machine& machine,
                        const MeasureOptions& options,
                        std::optional<int> ranks) {
  PlanInputs setting;
  setting.suite = parse_suite(options.suite);
  setting.workers = machine.workers();
  setting.available_memory = machine.available_memory();
  setting.last_cache = machine.last_cache();
  setting.isa_count = machine.isas().size();
  setting.max_ranks = ranks ? *ranks : options.ranks.value_or(setting.workers);
  if (!ranks && setting.max_ranks > setting.workers && !options.oversubscribe) {
    throw UserError(
        "--ranks {}: this process may use {}; ask for at most that many, or add "
        "--oversubscribe for a run that shows the mechanism and no scaling",
        setting.max_ranks,
        counted(setting.workers, "core"));
  }
  setting.asked = options.rank_options();
  if (!setting.asked.algorithms.empty())
    throw UserError("--algorithms are NCCL's, of GPUs: how MPI works on cores is its own choice");
  if (setting.asked.straggler && setting.asked.straggler->rank.index >= setting.max_ranks) {
    throw UserError(
        "--straggler {}: there are ranks 0 to {} only", options.straggler, setting.max_ranks - 1);
  }
  return setting;
}
}  // namespace scaleworth::cli
