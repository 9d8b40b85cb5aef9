// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas.h"

#include "src/core/error.h"
#include "src/core/lists.h"
#include "src/core/non_copyable.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include <dlfcn.h>
#include <strings.h>

namespace scaleworth::probes::host {
namespace {
/// Values of CBLAS_ORDER and CBLAS_TRANSPOSE in cblas.h.
enum CblasOrder : int { cblas_row_major = 101 };
enum CblasTranspose : int { cblas_no_transpose = 111, cblas_transpose = 112 };  // of cblas.h

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
class ScopedVariable : NonCopyable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
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

/// 0.3.21 of Debian 12 maps 38 MiB for itself (VmSize, x86-64).
constexpr double library_room = 40.0 * mebibyte;

int blas_integer(std::int64_t value, const char* name) {
  if (value > std::numeric_limits<int>::max()) {
    throw UserError(
        "{} = {} is more than this BLAS can count (2147483647): ask for a smaller product",
        name,
        value);
  }
  return static_cast<int>(value);
}

CblasTranspose transposition(bool transposed) {
  return transposed ? cblas_transpose : cblas_no_transpose;
}

template <class T, class Function>
void call(Function function, const GemmArguments<T>& x) {
  function(cblas_row_major,
           transposition(x.a.transposed),
           transposition(x.b.transposed),
           blas_integer(x.m, "m"),
           blas_integer(x.n, "n"),
           blas_integer(x.k, "k"),
           T{1},
           x.a.data,
           blas_integer(x.a.stride, "lda"),
           x.b.data,
           blas_integer(x.b.stride, "ldb"),
           x.c.keep,
           x.c.data,
           blas_integer(x.c.stride, "ldc"));
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

/// x86 vector widths in the order in which a wider one replaces a narrower one.
enum class Width { sse, avx, avx2, avx512 };
constexpr std::array width_names{"SSE", "AVX", "AVX2", "AVX-512"};

struct KernelSet {
  const char* name;
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

bool is_named(const char* known, const std::string& core_name) {
  return strcasecmp(known, core_name.c_str()) == 0;
}

Width width_of(const std::string& core_name) {
  const auto* set = std::ranges::find_if(
      wide_sets, [&](const KernelSet& known) { return is_named(known.name, core_name); });
  return set == wide_sets.end() ? Width::sse : set->width;
}
}  // namespace

void require_room(double bytes, const std::string& purpose) {
  const auto left = limited_address_space();
  if (!left || left->value() >= bytes) return;
  throw ProbeFailure(
      "{} needs {:.0f} MiB of address space and the resource limits leave {:.0f} MiB: "
      "raise them (ulimit -v, ulimit -d)",
      purpose,
      bytes / mebibyte,
      left->value() / mebibyte);
}

Outcome<std::shared_ptr<const Blas>> open_blas(const std::string& path) {
  try {
    require_room(library_room + room_per_blas_thread, "OpenBLAS");
  } catch (const ProbeFailure& no_room) {
    return Skipped{no_room.what()};
  }
  const CpuInfo cpu = read_cpuinfo();
  const std::string core_type = preferred_core_type(cpu);
  std::optional<ScopedVariable> chosen;
  const char* users = std::getenv("OPENBLAS_CORETYPE");
  if (!core_type.empty() && (users == nullptr || *users == '\0')) {
    chosen.emplace("OPENBLAS_CORETYPE", core_type);
  }
  const ScopedVariable one_thread("OPENBLAS_NUM_THREADS", "1");
  std::vector<std::string> names{path};
  if (path.empty()) {
    names = {soname,
             fmt::format("/usr/lib/x86_64-linux-gnu/openblas-pthread/{}", soname),
             fmt::format("/usr/lib/aarch64-linux-gnu/openblas-pthread/{}", soname)};
  }
  void* handle = nullptr;
  std::string first_error;
  for (std::size_t i = 0; i < names.size() && handle == nullptr; ++i) {
    handle = dlopen(names[i].c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr && first_error.empty()) first_error = dlerror();
  }
  if (handle == nullptr) {
    return Skipped{fmt::format("cannot open OpenBLAS ({}): {}", first_error, remedy)};
  }
  OpenBlasLibrary library;
  const std::string missing = find_all(handle, library);
  if (!missing.empty()) {
    return Skipped{fmt::format(
        "{} has no function {}: {}", path.empty() ? soname : path.c_str(), missing, remedy)};
  }
  const std::string_view config = library.get_config();
  if (config.find("USE64BITINT") != std::string_view::npos) {
    return Skipped{fmt::format("this OpenBLAS takes 64-bit integers ({}): {}", config, remedy)};
  }
  return std::make_shared<const OpenBlas>(library, cpu);
}

std::string preferred_core_type(const CpuInfo& cpu) {
  const Width width = width_of(cpu);
  if (width == Width::avx512) return cpu.has("avx512_bf16") ? "Cooperlake" : "SkylakeX";
  if (width != Width::avx2) return {};
  return cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine" ? "Zen" : "Haswell";
}

std::string core_type_warning(const std::string& core_name, const CpuInfo& cpu) {
  // aarch64 has one vector width before SVE; "armv8" is the set for CPUs that it does not know.
  if (cpu.has("asimd")) {
    return is_named("armv8", core_name) && cpu.has("sve")
               ? "generic ARMv8 kernels on an SVE machine"
               : "";
  }
  const Width kernels = width_of(core_name);
  const Width machine = width_of(cpu);
  if (kernels >= machine) return {};
  return fmt::format("{} kernels on an {} machine",
                     width_names[index_of(kernels)],
                     width_names[index_of(machine)]);
}
}  // namespace scaleworth::probes::host
