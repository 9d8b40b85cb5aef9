// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas.h"

#include "probes/host/proc_files.h"
#include "src/core/error.h"
#include "src/core/estimate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {
// The functions of OpenBLAS that we call, found in the library at run time.

/// Values of CBLAS_ORDER and CBLAS_TRANSPOSE in cblas.h.
enum CblasOrder : int { cblas_row_major = 101 };
enum CblasTranspose : int { cblas_no_transpose = 111, cblas_transpose = 112 };

/// Prototypes of cblas.h for the LP64 build (32-bit int dimensions). The library stays loaded until
/// the process ends: its threads cannot be stopped safely.
struct OpenBlasLibrary {
  template <class T>
  using Gemm = void (*)(CblasOrder,
                        CblasTranspose,
                        CblasTranspose,
                        int m,
                        int n,
                        int k,
                        T alpha,
                        const T* a,
                        int lda,
                        const T* b,
                        int ldb,
                        T beta,
                        T* c,
                        int ldc);
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  void (*set_num_threads)(int) = nullptr;
  int (*get_num_threads)() = nullptr;
  int (*get_parallel)() = nullptr;  // 0 sequential, 1 own threads, 2 OpenMP
  const char* (*get_config)() = nullptr;
  const char* (*get_corename)() = nullptr;
};

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

/// Finds all functions; the name of the first one that the library lacks, empty for none.
std::string find_all(void* handle, OpenBlasLibrary& library) {
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  find("cblas_sgemm", library.sgemm);
  find("cblas_dgemm", library.dgemm);
  find("openblas_set_num_threads", library.set_num_threads);
  find("openblas_get_num_threads", library.get_num_threads);
  find("openblas_get_parallel", library.get_parallel);
  find("openblas_get_config", library.get_config);
  find("openblas_get_corename", library.get_corename);
  return missing;
}

/// Opens the library: `path` if given, else the loader's search for libopenblas.so.0, else Debian's
/// folders of its threaded builds. While it loads, OPENBLAS_CORETYPE is `core_type` (unless empty
/// or set by the user) and OPENBLAS_NUM_THREADS is 1, so that it starts no thread; the environment
/// is then as before, and child processes see nothing of it. Call it before other threads read the
/// environment. Skipped says what is missing and what to install.
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

constexpr double mebibyte = 1024.0 * 1024.0;
/// 0.3.21 of Debian 12 maps 38 MiB for itself (VmSize, x86-64).
constexpr double library_room = 40.0 * mebibyte;

int blas_integer(std::int64_t value, const char* name) {
  if (value < 0) throw std::invalid_argument(fmt::format("GEMM with {} = {}", name, value));
  if (value > std::numeric_limits<int>::max()) {
    throw UserError(
        fmt::format("{} = {} is more than this BLAS can count (2147483647): ask for a "
                    "smaller product",
                    name,
                    value));
  }
  return static_cast<int>(value);
}

void require_rows(std::int64_t leading, std::int64_t columns, const char* name) {
  if (leading < std::max<std::int64_t>(1, columns)) {
    throw std::invalid_argument(
        fmt::format("GEMM with {} = {} for rows of {} elements", name, leading, columns));
  }
}

template <class T, class Function>
void call(Function function, const GemmArguments<T>& x) {
  require_rows(x.lda, x.transpose_a ? x.m : x.k, "lda");
  require_rows(x.ldb, x.transpose_b ? x.k : x.n, "ldb");
  require_rows(x.ldc, x.n, "ldc");
  function(cblas_row_major,
           x.transpose_a ? cblas_transpose : cblas_no_transpose,
           x.transpose_b ? cblas_transpose : cblas_no_transpose,
           blas_integer(x.m, "m"),
           blas_integer(x.n, "n"),
           blas_integer(x.k, "k"),
           x.alpha,
           x.a,
           blas_integer(x.lda, "lda"),
           x.b,
           blas_integer(x.ldb, "ldb"),
           x.beta,
           x.c,
           blas_integer(x.ldc, "ldc"));
}

class OpenBlas final : public Blas {
 public:
  OpenBlas(OpenBlasLibrary library, const CpuInfo& cpu)
      : library_(library), warning_(core_type_warning(library.get_corename(), cpu)) {}

  void gemm(const GemmArguments<float>& arguments) const override {
    call(library_.sgemm, arguments);
  }
  void gemm(const GemmArguments<double>& arguments) const override {
    call(library_.dgemm, arguments);
  }

  int set_threads(int threads) const override {
    if (threads < 1) throw std::invalid_argument("BLAS with less than one thread");
    const int more = threads - library_.get_num_threads();
    if (more > 0) {
      require_room(more * room_per_blas_thread, fmt::format("OpenBLAS on {} threads", threads));
    }
    library_.set_num_threads(threads);
    return library_.get_parallel() == 0 ? 1 : library_.get_num_threads();
  }

  std::string description() const override {
    // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": name and version are the first two words.
    const std::string config = library_.get_config();
    const std::size_t version = config.find(' ', config.find(' ') + 1);
    const char* threading = library_.get_parallel() == 0   ? "single-threaded build"
                            : library_.get_parallel() == 2 ? "OpenMP threads"
                                                           : "own threads";
    return fmt::format(
        "{}, {} kernels, {}", config.substr(0, version), library_.get_corename(), threading);
  }

  std::string warning() const override { return warning_; }

 private:
  OpenBlasLibrary library_;
  std::string warning_;
};
}  // namespace

void require_room(double bytes, const std::string& purpose) {
  const auto left = limited_address_space();
  if (!left || left->value() >= bytes) return;
  throw ProbeFailure(
      fmt::format("{} needs {:.0f} MiB of address space and the resource limits leave {:.0f} MiB: "
                  "raise them (ulimit -v, ulimit -d)",
                  purpose,
                  bytes / mebibyte,
                  left->value() / mebibyte));
}

Outcome<std::shared_ptr<const Blas>> open_blas(const std::string& path) {
  try {
    require_room(library_room + room_per_blas_thread, "OpenBLAS");
  } catch (const ProbeFailure& no_room) {
    return Skipped{no_room.what()};
  }
  const CpuInfo cpu = read_cpuinfo();
  const auto loaded = load_openblas(path, preferred_core_type(cpu));
  if (const auto* skipped = std::get_if<Skipped>(&loaded)) return *skipped;
  return std::make_shared<const OpenBlas>(std::get<OpenBlasLibrary>(loaded), cpu);
}

namespace {
/// x86 vector widths in the order in which a wider one replaces a narrower one.
enum class Width { sse, avx, avx2, avx512 };
constexpr std::array width_names{"SSE", "AVX", "AVX2", "AVX-512"};

struct KernelSet {
  std::string_view name;  // lower case
  Width width;
};
/// Kernel sets of OpenBLAS's x86-64 DYNAMIC_ARCH builds that use more than SSE (driver/others/
/// dynamic.c and the KERNEL.* files of 0.3.21).
constexpr std::array wide_sets{KernelSet{"sapphirerapids", Width::avx512},
                               KernelSet{"cooperlake", Width::avx512},
                               KernelSet{"skylakex", Width::avx512},
                               KernelSet{"haswell", Width::avx2},
                               KernelSet{"zen", Width::avx2},
                               KernelSet{"excavator", Width::avx},
                               KernelSet{"steamroller", Width::avx},
                               KernelSet{"piledriver", Width::avx},
                               KernelSet{"bulldozer", Width::avx},
                               KernelSet{"sandybridge", Width::avx}};

Width width_of(const CpuInfo& cpu) {
  if (cpu.has_all({"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"})) {
    return Width::avx512;
  }
  if (cpu.has_all({"avx2", "fma"})) return Width::avx2;
  return cpu.has("avx") ? Width::avx : Width::sse;
}

Width width_of(const std::string& core_name) {
  const auto* set = std::ranges::find(wide_sets, core_name, &KernelSet::name);
  return set == wide_sets.end() ? Width::sse : set->width;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return text;
}
}  // namespace

std::string preferred_core_type(const CpuInfo& cpu) {
  switch (width_of(cpu)) {
    case Width::avx512:
      return cpu.has("avx512_bf16") ? "Cooperlake" : "SkylakeX";
    case Width::avx2:
      return cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine" ? "Zen" : "Haswell";
    case Width::avx:
    case Width::sse:
      return {};
  }
  return {};
}

std::string core_type_warning(const std::string& core_name, const CpuInfo& cpu) {
  const std::string name = lower(core_name);
  // aarch64 has one vector width before SVE; "armv8" is the set for CPUs that it does not know.
  if (cpu.has("asimd")) {
    return name == "armv8" && cpu.has("sve") ? "generic ARMv8 kernels on an SVE machine" : "";
  }
  const Width kernels = width_of(name);
  const Width machine = width_of(cpu);
  if (kernels >= machine) return {};
  return fmt::format("{} kernels on an {} machine",
                     width_names[static_cast<std::size_t>(kernels)],
                     width_names[static_cast<std::size_t>(machine)]);
}
}  // namespace scaleworth::probes::host
