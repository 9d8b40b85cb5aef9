// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/openblas_library.h"

#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

constexpr const char* soname = "libopenblas.so.0";
constexpr const char* remedy =
    "install the Debian package libopenblas0-pthread or name a library with --blas PATH";

/// One environment variable for a while; the old value, or its absence, comes back.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

std::vector<std::string> candidates(const std::string& path) {
  if (!path.empty()) return {path};
  return {soname,
          fmt::format("/usr/lib/x86_64-linux-gnu/openblas-pthread/{}", soname),
          fmt::format("/usr/lib/aarch64-linux-gnu/openblas-pthread/{}", soname)};
}

/// The first library that opens, or the loader's words about the first that did not.
Outcome<void*> open_first(const std::vector<std::string>& names) {
  std::string first_error;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    if (first_error.empty()) first_error = dlerror();
  }
  return Skipped{fmt::format("cannot open OpenBLAS ({}): {}", first_error, remedy)};
}

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

/// The name of the first function that the library lacks, empty when it has all.
std::string find_all(void* handle, OpenBlasLibrary& library) {
  if (!find(handle, "cblas_sgemm", library.sgemm)) return "cblas_sgemm";
  if (!find(handle, "cblas_dgemm", library.dgemm)) return "cblas_dgemm";
  if (!find(handle, "openblas_set_num_threads", library.set_num_threads)) {
    return "openblas_set_num_threads";
  }
  if (!find(handle, "openblas_get_num_threads", library.get_num_threads)) {
    return "openblas_get_num_threads";
  }
  if (!find(handle, "openblas_get_parallel", library.get_parallel)) return "openblas_get_parallel";
  if (!find(handle, "openblas_get_config", library.get_config)) return "openblas_get_config";
  if (!find(handle, "openblas_get_corename", library.get_corename)) return "openblas_get_corename";
  return {};
}

}  // namespace

Outcome<OpenBlasLibrary> load_openblas(const std::string& path, const std::string& core_type) {
  std::optional<ScopedVariable> chosen;
  const char* users = std::getenv("OPENBLAS_CORETYPE");
  if (!core_type.empty() && (users == nullptr || *users == '\0')) {
    chosen.emplace("OPENBLAS_CORETYPE", core_type);
  }
  const ScopedVariable one_thread("OPENBLAS_NUM_THREADS", "1");
  const Outcome<void*> opened = open_first(candidates(path));
  if (const auto* skipped = std::get_if<Skipped>(&opened)) return *skipped;
  OpenBlasLibrary library;
  const std::string missing = find_all(std::get<void*>(opened), library);
  if (!missing.empty()) {
    return Skipped{fmt::format(
        "{} has no function {}: {}", path.empty() ? soname : path.c_str(), missing, remedy)};
  }
  const std::string_view config = library.get_config();
  if (config.find("USE64BITINT") != std::string_view::npos) {
    return Skipped{fmt::format("this OpenBLAS takes 64-bit integers ({}): {}", config, remedy)};
  }
  return library;
}

}  // namespace scaleworth::probes::host
