// SPDX-License-Identifier: Apache-2.0
/// Flags that several subcommands share: colour, currency, vendor libraries, units in words.
#pragma once

#include "probes/gpu/registry.h"
#include "probes/machine.h"
#include "probes/ranks.h"
#include "src/cli/application.h"
#include "src/cli/measure_flags.h"
#include "src/core/run.h"
#include "src/core/units.h"

#include <functional>
#include <string>

namespace scaleworth::cli {
// Whether what goes to stdout may be coloured.

/// Colour only on a terminal that did not ask for none (no-color.org: set and not empty).
bool colour_wanted();
}  // namespace scaleworth::cli

namespace CLI {
// The label of all amounts of money, in reports and in messages alike.

class App;
}  // namespace CLI

namespace scaleworth::cli {
/// --currency. Nothing is converted.
void add_currency(CLI::App& command, std::string& currency);

/// What `body` returns; amounts in the message of a UserError of its carry the label.
int in_currency(const std::string& currency, const std::function<int()>& body);
}  // namespace scaleworth::cli

// The flags that name the GPU vendor's libraries, for every command that opens them.

// CLI11 is heavy to compile; those who only pass the application along need no more than its name.

namespace scaleworth::cli {
/// Adds --cublas-lib, --nccl-lib, --nvml-lib and --cupti-lib, which fill `paths`; `paths` must live
/// until parsing is over.
void add_vendor_options(CLI::App& app, probes::VendorPaths& paths);

// The command as a person typed it, to be typed again.

/// "scaleworth decide table.csv --price 2": without --format and --details, which the next command
/// chooses anew; words that a shell would take apart are quoted.
std::string typed_command(const Arguments& arguments);

// From a run to what the person reads: analysis, report on stdout, report files in the run
// directory.

/// The run analysed and rendered in `options.format`. `directory` names the run in the "next" line;
/// may be empty.
std::string render_run(const Run& run, const ReportOptions& options, const std::string& directory);

// Words on the command line that carry a number and its meaning. Each throws UserError with the
// form expected.

/// "RANK:FACTOR", FACTOR >= 1: "1:2.0" makes rank 1 take twice as long to compute.
probes::TrainingWork::Straggler parse_straggler(const std::string& text);

/// A compute rate with its unit, "95GFLOP/s" or "989 TFLOP/s"; a bare number is refused, for nobody
/// can tell GF from TF.
FlopPerSecond parse_compute_rate(const std::string& text);
}  // namespace scaleworth::cli
