// SPDX-License-Identifier: Apache-2.0
/// Which probes a command will run and how long that takes; needs no measurement and no GPU.
#pragma once

#include "probes/gpu/registry.h"
#include "probes/registry.h"
#include "probes/roofline.h"
#include "src/cli/measure_flags.h"

#include <cstdint>
#include <optional>
#include <span>

namespace scaleworth::cli {
/// "M,N,K" or "M,N,K,BATCH", positive integers: C(M x N) = A(M x K) B(K x N), BATCH products per
/// operation. NumberFormat and workers are left at their defaults.
GemmWork parse_shape(const std::string& text);

std::string number_format_names();

struct PlannedProbe {
  std::string name;
  std::string question;
  Seconds estimate;
  bool on_ranks = false;
  std::optional<Finding> left_out{};  // why it is not measured
};

/// "300", "300s", "5m", "1h". Throws UserError for anything else than a positive time.
Seconds parse_time_limit(const std::string& text);

/// "8", "64K", "1M", "1MiB", "2G", powers of 1024. Throws UserError for anything else than 1 B to
/// 1 TiB.
Bytes parse_message_size(const std::string& text);

/// "ring", "tree/ll128": a way of NCCL, without a protocol in all of them. Throws UserError.
probes::CollectiveAlgorithm parse_algorithm(const std::string& text);

struct Plan {
  std::string heading;  // one line or more: suite and machine
  /// Starting processes, writing, reporting: what no probe accounts for.
  Seconds overhead;
  std::vector<PlannedProbe> probes;
  int repeats = 1;  // of all of it

  Seconds total() const;
  bool has_probes(bool on_ranks) const {
    return std::ranges::any_of(probes, [&](const PlannedProbe& probe) {
      return probe.on_ranks == on_ranks && !probe.left_out;
    });
  }
  /// All probes of a registry's table; `setting` is what their estimates are of.
  template <class Probe, class Inputs>
  void add(std::span<const Probe> table, const Inputs& setting, bool on_ranks) {
    for (const Probe& probe : table) {
      probes.push_back({std::string(probe.name),
                        std::string(probe.question),
                        probe.estimate(setting),
                        on_ranks});
    }
  }
  /// Keeps the probes whose name, or leading words before a dot, are in `only`; all where that is
  /// empty. Throws UserError naming the probes and `remedy` for a word that means none.
  void keep(const std::vector<std::string>& only, const std::string& remedy = "");
  /// What matters most first: the training step, what explains it, then the details.
  void order_by_value();
  /// Leaves out what does not fit into `limit`, what matters least first, with the reason. Throws
  /// UserError when nothing fits.
  void fit(Seconds limit);
};

/// Of the probes of a node and of its ranks. Throws UserError as `Plan::keep`.
Plan make_plan(const PlanInputs& setting, const MeasureOptions& options);

/// `make_plan` within --time, where given; on several nodes the collectives take what it leaves,
/// which `setting` then says.
Plan fitting_plan(PlanInputs& setting, const MeasureOptions& options);

/// As --dry-run prints it: a line per probe, overhead, total.
std::string describe(const Plan& plan);

/// What plans and probes work from. `ranks` of a launcher's job; absent: we start them. Throws
/// UserError for more ranks than cores without --oversubscribe and a straggler that is no rank.
PlanInputs make_setting(const Machine& machine,
                        const MeasureOptions& options,
                        std::optional<int> ranks);

/// A matrix product of the user's.
struct NamedShape {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::optional<NumberFormat> format;  // absent: as --number-format says
};

/// Of --shape, --shape-file and --model.
std::vector<NamedShape> shapes_of(const MeasureOptions& options);

/// The same products for the cores of this machine, in fp32 and fp64 (or as --number-format says),
/// on one worker and on all. Throws UserError for a format in which cores are not measured.
std::vector<probes::GemmShape> own_host_products(const MeasureOptions& options, int workers);

/// CSV with the columns name, m, n, k (1 to 2^31 - 1) and optionally batch and format, in any
/// order; 1 to 1000 shapes. Throws UserError naming `file`, line and remedy.
std::vector<NamedShape> parse_shape_file(std::string_view text, const std::string& file);

/// The matrix products of --shape, --shape-file and --model, each in every --number-format unless
/// the file names its own. Throws UserError also for a format that no GPU of `devices` has.
std::vector<DeviceSetting::NamedProblem> own_problems(
    const MeasureOptions& options, const std::vector<DeviceDescription>& devices);
}  // namespace scaleworth::cli
