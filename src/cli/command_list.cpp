// SPDX-License-Identifier: Apache-2.0
#include "probes/host/host_facts.h"
#include "probes/registry.h"
#include "src/cli/bind_flags.h"
#include "src/cli/flags.h"
#include "src/cli/measure/session.h"
#include "src/core/catalogue.h"

#include <memory>
#include <span>

namespace scaleworth::cli {
namespace {
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
