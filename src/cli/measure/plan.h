// SPDX-License-Identifier: Apache-2.0
/// Which probes a command will run and how long that takes; needs no measurement and no GPU.
#pragma once

#include "probes/gpu/numbers.h"
#include "probes/gpu/registry.h"
#include "probes/machine.h"
#include "probes/registry.h"
#include "src/cli/measure_flags.h"

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::cli {
/// "M,N,K" or "M,N,K,BATCH", positive integers: C(M x N) = A(M x K) B(K x N), BATCH products per
/// operation. Precision and workers are left at their defaults.
probes::GemmWork parse_shape(const std::string& text);

struct PlannedProbe {
  std::string name;
  std::string question;
  Seconds estimate;
  bool on_ranks = false;
};

struct Plan {
  std::vector<PlannedProbe> probes;
  /// Starting processes, writing, reporting: what no probe accounts for.
  Seconds overhead;
  Seconds total() const;
};

/// The registry's entry of a planned probe. Throws std::logic_error for a name that is not in it.
template <class Probe>
const Probe& find_probe(std::span<const Probe> probes, const std::string& name) {
  for (const Probe& probe : probes) {
    if (probe.name == name) return probe;
  }
  throw std::logic_error("no probe is named " + name);
}

/// The probes of the registry whose name, or first word before the dot, is in `only`; all for an
/// empty `only`. Throws UserError naming the known probes for a word that matches none.
Plan make_plan(const probes::Setting& setting,
               const std::vector<std::string>& only,
               const std::vector<probes::GemmWork>& own_gemms = {});

/// One line per probe with its estimate and question, then overhead and total.
std::string table_of(const Plan& plan);

/// The plan as --dry-run prints it.
std::string describe(const Plan& plan, const probes::Setting& setting);

// Which probes of a table the words after --only mean.

/// Whether `probe` ("roofline.memory") is named by one of `only`: by itself or by leading words
/// ("roofline"). An empty `only` means all.
bool is_asked_for(std::string_view probe, const std::vector<std::string>& only);

/// Throws UserError naming the known probes when a word of `only` means none of `known`; `remedy`
/// is added to it.
void check_words(const std::vector<std::string>& only,
                 const std::vector<std::string_view>& known,
                 const std::string& remedy = "");

// The setting that plans and probes work from: this machine and what the user asked.

/// `ranks` of a launcher's job; absent when we start ranks ourselves.
/// Throws UserError for more ranks than usable cores without --oversubscribe, and for a straggler
/// that is no rank.
probes::Setting make_setting(const probes::Machine& machine,
                             const MeasureOptions& options,
                             std::optional<int> ranks);

/// What a reader must know when `ranks` processes share `cores` of one node; absent when each has
/// its own.
std::optional<std::string> oversubscription(int ranks, int cores);

// The user's own matrix products: a CSV with the header name,m,n,k and optionally batch, format.

struct NamedShape {
  std::string name;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::optional<probes::NumberFormat> format;  // absent: as --number-format says
};

/// Columns in any order, unknown ones refused; blank lines and lines that start with # are skipped;
/// cells may stand in double quotes. At most 1000 shapes.
/// Throws UserError naming `file`, line and remedy: a missing or unknown column, a number that is
/// not a positive integer up to 2^31 - 1, an unknown format, no shape at all.
std::vector<NamedShape> parse_shape_file(std::string_view text, const std::string& file);

/// Throws UserError also for a file that cannot be read or is larger than 1 MiB.
std::vector<NamedShape> read_shape_file(const std::string& path);

// The matrix products that the user named: --shape, --shape-file, and the layers of --model.

/// Each in every format of --number-format that some GPU of `devices` has, unless the file names
/// the product's own. Empty when the user named none. Throws UserError for a malformed shape or
/// file and an unknown model or format.
std::vector<probes::DeviceSetting::NamedProblem> own_problems(
    const MeasureOptions& options, const std::vector<probes::DeviceDescription>& devices);
}  // namespace scaleworth::cli
