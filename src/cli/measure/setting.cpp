// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/setting.h"

#include "src/core/error.h"

#include <fmt/format.h>

namespace scaleworth::cli {
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
