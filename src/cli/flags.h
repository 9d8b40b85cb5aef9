// SPDX-License-Identifier: Apache-2.0
/// Flags that several subcommands share: colour, currency, vendor libraries, units in words.
#pragma once

#include "probes/gpu/registry.h"
#include "probes/machine.h"
#include "probes/ranks.h"
#include "report/render_options.h"
#include "src/cli/application.h"
#include "src/cli/measure_flags.h"
#include "src/core/run.h"
#include "src/core/units.h"

#include <functional>
#include <string>

namespace scaleworth::cli {
/// Colour only on a terminal that did not ask for none (no-color.org: set and not empty).
bool colour_wanted();

// How a report is printed, for every command that prints one.

/// Adds --format and --details, which fill `options`, and sets what needs no flag: colour and the
/// versions of the program. `options` must live until parsing is over.
void add_render_flags(CLI::App& command, report::RenderOptions& options);

/// --currency, the label of all amounts; with `add_render_flags` for commands whose reports take
/// it. Nothing is converted.
void add_currency(CLI::App& command, std::string& currency);

/// What `body` returns; amounts in the message of a UserError of its carry the label.
int in_currency(const std::string& currency, const std::function<int()>& body);

// The flags that name the GPU vendor's libraries, for every command that opens them.

/// Adds --cublas-lib, --nccl-lib, --nvml-lib and --cupti-lib, which fill `paths`; `paths` must live
/// until parsing is over.
void add_vendor_options(CLI::App& app, probes::VendorPaths& paths);

// The command as a person typed it, to be typed again.

/// "scaleworth decide table.csv --price 2": without --format and --details, which the next command
/// chooses anew; words that a shell would take apart are quoted.
std::string typed_command(const Arguments& arguments);

// From a run to what the person reads: analysis, report on stdout, report files in the run
// directory.

/// The run analysed and rendered in `options.render.format`. `directory` names the run in the
/// "next" line; may be empty.
std::string render_run(const Run& run, const ReportOptions& options, const std::string& directory);

// Words on the command line that carry a number and its meaning. Each throws UserError with the
// form expected.

/// "RANK:FACTOR", FACTOR >= 1: "1:2.0" makes rank 1 take twice as long to compute.
probes::TrainingWork::Straggler parse_straggler(const std::string& text);

/// A compute rate with its unit, "95GFLOP/s" or "989 TFLOP/s"; a bare number is refused, because
/// GF and TF would look the same.
FlopPerSecond parse_compute_rate(const std::string& text);
}  // namespace scaleworth::cli
