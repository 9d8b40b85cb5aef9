// SPDX-License-Identifier: Apache-2.0
#include "probes/host/host_facts.h"
#include "probes/registry.h"
#include "report/names.h"
#include "src/cli/bind_flags.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/cli/measure/session.h"
#include "src/core/catalogue.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/run_directory.h"
#include "src/core/version.h"

#include <filesystem>
#include <memory>
#include <set>
#include <span>

#include <unistd.h>
#include <zlib.h>

namespace scaleworth::cli {
namespace {
struct ReportedRuns {
  std::vector<std::string> runs;
  ReportOptions report;
};

int report_runs(const ReportedRuns& options) {
  const report::Format format = options.report.render.format;
  const bool pages = format == report::Format::text || format == report::Format::markdown;
  const auto measurements = measurements_of(options.runs);
  if (measurements.size() > 1 && !pages) {
    throw UserError("--format {} is one document: report one run at a time",
                    report::format_name(format));
  }
  for (const std::vector<std::string>& files : measurements) {
    Run run = read_for("report", files, [&] { return read_any_run(files); });
    if (run.tool_version.empty()) run.tool_version = tool_version();
    // Of a job the folder of its files is what the next command names.
    const auto folder = std::filesystem::path("." / std::filesystem::path(files.front()));
    const std::string input =
        files.size() == 1 ? files.front() : folder.parent_path().lexically_normal().string();
    fmt::print("{}", render_run(run, options.report, input));
  }
  return exit_done;
}

struct PackOptions {
  std::string run;
  std::string out;  // empty: beside the run
};

constexpr std::size_t tar_block = 512;

/// A regular file in POSIX's ustar format (pax, IEEE 1003.1): fields in octal at fixed places, the
/// sum of all bytes with blanks in its own place. Without a time: the same run packs to the same
/// bytes. Throws UserError for a name that the format cannot hold. By hand, for libarchive's writer
/// brings those of all formats, and libxml2, into a static build.
std::string tar_header(const std::string& name, std::size_t bytes) {
  if (name.size() > 100) throw UserError("{}: a name of over 100 bytes; rename the run", name);
  std::string block(tar_block, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    block.replace(at, text.size(), text);
  };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", bytes));
  put(136, "00000000000");
  put(148, std::string(8, ' '));
  put(156, "0");
  put(257, std::string("ustar\0", 6) + "00");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

enum class Packed : std::uint8_t { yes, recording, no };

/// Recordings, by the name of a file or of its folder, are most of a run's bytes, and no figure of
/// it needs them. Nor are hidden files and archives of the run itself part of it.
Packed packed_as(const std::filesystem::path& inside) {
  Packed as = inside.extension() == ".tgz" ? Packed::no : Packed::yes;
  for (const auto& part : inside) {
    if (part.string().starts_with('.')) return Packed::no;
    if (part.string().starts_with("trace")) as = Packed::recording;
  }
  return as;
}

int pack_run(const PackOptions& options) {
  namespace fs = std::filesystem;
  read_run(options.run);  // throws for what is none
  const fs::path run = fs::weakly_canonical(options.run);
  if (!fs::is_directory(run)) throw UserError("{}: is no run directory", options.run);
  if (fs::is_symlink(run / run_file_name))
    throw UserError("{}: {} is a link; pack the run that it is of", options.run, run_file_name);
  const std::string out = options.out.empty() ? run.filename().string() + ".tgz" : options.out;
  // What is written takes the name of what is there, a device's or a link's too.
  std::error_code trouble;
  const fs::file_status there = fs::symlink_status(out, trouble);
  if (fs::exists(there) && !fs::is_regular_file(there))
    throw UserError("{}: is no regular file; name a file for the archive", out);
  std::set<fs::path> files;
  std::size_t left_out = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    if (entry.is_symlink() || !entry.is_regular_file()) continue;
    const Packed as = packed_as(entry.path().lexically_relative(run));
    if (as == Packed::yes) files.insert(entry.path());
    if (as == Packed::recording) ++left_out;
  }
  NewFile file(out);
  // Its own copy of the descriptor, which gzclose() closes.
  const gzFile packed = gzdopen(dup(file.descriptor()), "wb");
  if (packed == nullptr) file.fail();
  const auto write = [&](std::string_view bytes) {
    const bool whole = gzfwrite(bytes.data(), 1, bytes.size(), packed) == bytes.size();
    if (!whole) file.fail();
  };
  // The run first, by which readers of the archive know it.
  std::vector<fs::path> order{run / run_file_name};
  files.erase(order.front());
  order.insert(order.end(), files.begin(), files.end());
  for (const fs::path& path : order) {
    const std::string contents =
        read_whole(path.string(), path.string(), 1U << 30U, "; move it out of the run");
    write(tar_header((run.filename() / path.lexically_relative(run)).string(), contents.size()));
    write(contents);
    write(std::string((tar_block - contents.size() % tar_block) % tar_block, '\0'));
  }
  write(std::string(2 * tar_block, '\0'));
  if (gzclose(packed) != Z_OK) file.fail();
  file.commit();
  fmt::print("{} in {}{}\n\nnext, on any machine: scaleworth report {}\n",
             counted(order.size(), "file"),
             out,
             left_out == 0 ? "" : fmt::format("; left out: {}", counted(left_out, "recording")),
             report::shell_words({out}));
  return exit_done;
}

struct ListOptions {
  std::string mpi_module;
  std::string blas_library;
  VendorPaths vendor_paths;
  bool known = false;
};

std::string value_text(const Fact& fact) {
  if (!fact.value) return "n/a";
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, *fact.value);
}

void print_ladder(const VendorPaths& paths) {
  fmt::print("\n{}\n", gpu_libraries_section);
  for (const VendorLibrary& library : vendor_libraries(paths)) {
    if (library.path.empty()) {
      fmt::print("  {:<10} {:<12} {}\n", library.name, "missing", library.reason);
      fmt::print("  {:<10} {:<12} lost: {}\n", "", "", library.lost);
    } else {
      fmt::print("  {:<10} {:<12} {}  (by {})\n",
                 library.name,
                 library.version,
                 library.path,
                 library.reason);
    }
  }
}

template <class Probe>
void print_probes(std::span<const Probe> table) {
  for (const Probe& probe : table) fmt::print("  {:<24} {}\n", probe.name, probe.question);
}

/// What is compiled in from data/, with where it comes from.
int list_known() {
  fmt::print("GPUs (data/gpus.toml)\n");
  for (const GpuDatasheet& gpu : gpu_catalogue()) {
    fmt::print("  {:<24} {:<36} {}; {}\n", gpu.id, gpu.name, gpu.source, gpu.date);
  }
  fmt::print("\nmodels (data/models.toml)\n");
  for (const TransformerModel& model : model_catalogue()) {
    fmt::print("  {:<24} {:<36} {}; {}\n", model.id, model.name, model.source, model.date);
  }
  fmt::print("\nprices of instances (data/prices.toml)\n");
  for (const InstancePrice& one : price_catalogue()) fmt::print("  {}\n", origin_text(one));
  fmt::print("\nnext: scaleworth roofline --model llama-3.1-8b --dry-run\n");
  return exit_done;
}

int list(const ListOptions& options) {
  if (options.known) return list_known();
  fmt::print("probes\n");
  print_probes(node_probes());
  print_probes(rank_probes());
  print_probes(device_probes());
  print_probes(device_rank_probes());
  const auto machine = host::open_host_machine({options.blas_library});
  const MachineFacts environment =
      collect_environment(*machine, options.mpi_module, options.vendor_paths);
  for (const FactSection& section : environment.sections) {
    if (section.name == gpu_libraries_section) continue;  // the table of peak losses shows it
    fmt::print("\n{}\n", section.name);
    for (const Fact& fact : section.facts) {
      fmt::print("  {:<28} {}  ({})\n", fact.name, value_text(fact), fact.source);
    }
  }
  print_ladder(options.vendor_paths);
  fmt::print("\nnext: scaleworth bench --dry-run\n");
  return exit_done;
}
}  // namespace

Command add_report_command(CLI::App& app) {
  auto options = std::make_shared<ReportedRuns>();
  CLI::App* command = add_command(app, "report");
  Flags(*command).add("run", options->runs)->required();
  options->report.add_to(*command);
  take_typed_numbers(*command);
  return {command, [options](const Arguments&) { return report_runs(*options); }};
}

Command add_pack_command(CLI::App& app) {
  auto options = std::make_shared<PackOptions>();
  CLI::App* command = add_command(app, "pack");
  const Flags flags(*command);
  flags.add("run", options->run)->required();
  flags.add("--out", options->out);
  return {command, [options](const Arguments&) { return pack_run(*options); }};
}

Command add_list_command(CLI::App& app) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = add_command(app, "list");
  const Flags flags(*command);
  flags.add("--mpi-module", options->mpi_module);
  flags.add("--blas-lib", options->blas_library);
  flags.add("--known", options->known);
  add_vendor_options(*command, options->vendor_paths);
  return {command, [options](const Arguments&) { return list(*options); }};
}
}  // namespace scaleworth::cli
