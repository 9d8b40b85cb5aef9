// SPDX-License-Identifier: Apache-2.0
#include "src/cli/environment.h"

#include "probes/host/mpi/loader.h"
#include "src/core/environment_allow_list.h"

#include <type_traits>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

/// The value of an outcome as a fact; what is missing keeps its reason.
template <class T, class Describe>
Fact fact_of(const std::string& name, const Outcome<T>& outcome, Describe describe) {
  if (const T* value = std::get_if<T>(&outcome))
    return {name, Value(describe(*value)), "opened at run time"};
  if (const Skipped* skipped = std::get_if<Skipped>(&outcome))
    return {name, std::nullopt, skipped->reason};
  return {name, std::nullopt, std::get<Failed>(outcome).reason};
}

/// A library's path and the search step that found it stand as its source, the reason where it is
/// missing.
FactSection gpu_libraries(const probes::VendorPaths& paths) {
  FactSection section{gpu_libraries_section, {}};
  for (const probes::VendorLibrary& library : probes::vendor_libraries(paths)) {
    if (library.path.empty()) {
      section.facts.push_back({library.name, std::nullopt, library.reason});
    } else {
      section.facts.push_back(
          {library.name, library.version, fmt::format("{}, by {}", library.path, library.reason)});
    }
  }
  return section;
}

/// Without a GPU nothing of these libraries is opened: they are large, and a rank's memory may be
/// limited.
void append_gpus(std::vector<FactSection>& sections, const probes::VendorPaths& paths) {
  const Outcome<std::vector<FactSection>> gpus = probes::gpu_facts(paths);
  if (const auto* found = std::get_if<std::vector<FactSection>>(&gpus)) {
    sections.insert(sections.end(), found->begin(), found->end());
    sections.push_back(gpu_libraries(paths));
    return;
  }
  const Fact none = fact_of("count", gpus, [](const auto&) { return std::string(); });
  sections.push_back({"gpu", {none}});
}

}  // namespace

std::vector<FactSection> collect_environment(probes::Machine& machine,
                                             const std::string& mpi_module,
                                             const probes::VendorPaths& vendor_paths) {
  std::vector<FactSection> sections = machine.facts();
  append_gpus(sections, vendor_paths);
  sections.push_back(
      {"libraries",
       {fact_of("blas", machine.gemm_library(), [](const std::string& name) { return name; }),
        fact_of(
            "mpi", probes::host::open_mpi(mpi_module), [](const probes::host::MpiModule* module) {
              return std::string(module->library_version());
            })}});
  sections.push_back(allowed_variables());
  return sections;
}

}  // namespace scaleworth::cli
