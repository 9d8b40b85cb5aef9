// SPDX-License-Identifier: Apache-2.0
#include "probes/host/mpi/loader.h"

#include <string_view>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

constexpr const char* file_name = "libscaleworth_mpi.so";

Outcome<const MpiModule*> open_file(const std::filesystem::path& file) {
  // Open MPI opens its own plug-ins, which look for its symbols in the global scope.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* text = dlerror();
    const std::string error = text == nullptr ? "unknown error" : text;
    if (error.starts_with("libmpi") || error.starts_with("libopen-")) {
      return Skipped{
          fmt::format("MPI is not installed ({}): apt install openmpi-bin libopenmpi3", error)};
    }
    return Failed{
        fmt::format("cannot open the MPI module ({}): install it again or name another "
                    "with --mpi-module",
                    error)};
  }
  const auto table = reinterpret_cast<const MpiModule* (*)()>(dlsym(library, mpi_module_symbol));
  if (table == nullptr) {
    return Failed{
        fmt::format("{} is no MPI module of this program (no symbol {}): name another "
                    "with --mpi-module",
                    file.string(),
                    mpi_module_symbol)};
  }
  const MpiModule* module = table();
  if (module->abi != mpi_module_abi) {
    return Failed{
        fmt::format("{} has interface version {}, this program needs {}: install both "
                    "from the same build",
                    file.string(),
                    module->abi,
                    mpi_module_abi)};
  }
  return module;
}

}  // namespace

std::vector<std::filesystem::path> mpi_module_candidates(const std::filesystem::path& program) {
  std::filesystem::path folder = program.parent_path();
  std::vector<std::filesystem::path> candidates{folder / file_name};
  for (int level = 0; level < 3 && folder != folder.root_path(); ++level) {
    folder = folder.parent_path();
    candidates.push_back(folder / "lib" / "scaleworth" / file_name);
  }
  return candidates;
}

Outcome<const MpiModule*> open_mpi(const std::string& path) {
  if (!path.empty()) {
    // A bare name would send dlopen to the library path instead of the file that was meant.
    return open_file(std::filesystem::absolute(path));
  }
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const auto& candidate : mpi_module_candidates(program)) {
    if (std::filesystem::exists(candidate, error)) return open_file(candidate);
  }
  return Skipped{
      fmt::format("the MPI module {} lies neither beside the program nor in ../lib/scaleworth: "
                  "build with -DSCALEWORTH_MPI=ON or name it with --mpi-module",
                  file_name)};
}

}  // namespace scaleworth::probes::host
