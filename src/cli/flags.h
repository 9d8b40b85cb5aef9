// SPDX-License-Identifier: Apache-2.0
/// Flags that several subcommands share: colour, currency, vendor libraries, units in words.
#pragma once

#include "probes/gpu/registry.h"
#include "probes/machine.h"
#include "probes/ranks.h"
#include "report/render_options.h"
#include "src/cli/application.h"
#include "src/cli/input/table_input.h"
#include "src/cli/measure_flags.h"
#include "src/core/catalogue.h"
#include "src/core/run.h"
#include "src/core/units.h"

#include <functional>

namespace scaleworth::cli {
/// --format and --details; sets, too, what needs no flag: colour and the program's versions.
/// `options` must live until parsing is over. `more` takes the name of a format beyond those of all
/// reports, which `names` lists.
void add_render_flags(CLI::App& command,
                      report::RenderOptions& options,
                      const std::vector<std::string>& names = {},
                      const std::function<void(const std::string&)>& more = {});

/// --currency, the label of all amounts; nothing is converted.
void add_currency(CLI::App& command, std::string& currency);
/// "1.5k", or of times "500 ms" in seconds. Throws UserError that asks for `as`.
double stated_amount(const char* flag, const std::string& text, Dimension of, const char* as);
/// 0.05 of "5%" and of "5"; absent for none. Throws UserError.
std::optional<double> allowed_loss(const char* flag, const std::string& text);
/// That of a column of prices, where no flag names one.
void take_currency(const std::string& of_column, std::string& currency);

/// --cublas-lib, --nccl-lib, --nvml-lib and --cupti-lib; `paths` must live until parsing is over.
void add_vendor_options(CLI::App& app, VendorPaths& paths);

/// The command to be typed again: "scaleworth decide table.csv --price 2", quoted for a shell and
/// without --format and --details, which the next command chooses anew.
std::string typed_command(const Arguments& arguments);

/// `directory` names the run in the "next" line; may be empty.
std::string render_run(const Run& run, const ReportOptions& options, const std::string& directory);

/// Takes numbers of all flags as people type them ("$3.20", "15T", "40%", "2h"), before any check
/// of theirs: to be called when all flags are there.
void take_typed_numbers(CLI::App& command);

/// A flag that changes nothing would be believed to have changed something. Throws UserError for
/// the first of `unused`, names with blanks between them, that was given.
void refuse_unused(const CLI::App& command, const std::string& asked, std::string_view unused);
/// For the first that was given and is neither in `used` nor of every report.
void refuse_all_but(const CLI::App& command, const std::string& asked, std::string_view used);

/// `part`, of --regime NAME:PART. Throws UserError for more than 1.5, which may be per cent.
double price_part(const std::string& regime, double part);

/// An instance by --instance in the file of --prices (empty: the prices built in). Throws UserError
/// for one that is not there, one without GPUs, and a currency other than that of prices, USD.
InstancePrice priced_instance(const std::string& id,
                              const std::string& file,
                              const std::string& currency);

/// "p5.48xlarge: 55.04 USD an hour for 8 x H100 in us-east-1, the cheapest of 14 regions (source)".
std::string origin_text(const InstancePrice& price);

/// "RANK:FACTOR", FACTOR >= 1: "1:2.0" makes rank 1 compute twice as long. Throws UserError.
TrainingWork::Straggler parse_straggler(const std::string& text);

/// A compute rate with its unit, "95GFLOP/s" or "989 TFLOP/s". Throws UserError, for a bare number
/// too, because GF and TF would look the same.
FlopPerSecond parse_compute_rate(const std::string& text);
}  // namespace scaleworth::cli
