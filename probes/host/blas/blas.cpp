// SPDX-License-Identifier: Apache-2.0
#include "probes/host/blas/blas.h"

#include "probes/host/blas/core_type.h"
#include "probes/host/blas/openblas_library.h"
#include "probes/host/facts/proc/address_space.h"
#include "src/core/error.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;
/// 0.3.21 of Debian 12 maps 38 MiB for itself and 128 MiB at the first product of each thread, plus
/// a stack of 8 MiB for each thread it starts (VmSize, x86-64). When the mapping fails it tries
/// again for ever, so a process with too little room must never call it.
constexpr double library_room = 40.0 * mebibyte;
constexpr double room_per_thread = 144.0 * mebibyte;

/// Throws ProbeFailure when a resource limit leaves less room than that.
void require_room(double bytes, const std::string& purpose) {
  const auto left = limited_address_space();
  if (left && left->value() < bytes) {
    throw ProbeFailure(
        fmt::format("{} needs {:.0f} MiB of address space and the resource limits leave {:.0f} "
                    "MiB: raise them (ulimit -v, ulimit -d)",
                    purpose,
                    bytes / mebibyte,
                    left->value() / mebibyte));
  }
}

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
      : library_(library), doubt_(core_type_doubt(library.get_corename(), cpu)) {}

  void gemm(const GemmArguments<float>& arguments) const override {
    call(library_.sgemm, arguments);
  }
  void gemm(const GemmArguments<double>& arguments) const override {
    call(library_.dgemm, arguments);
  }

  int set_threads(int threads) const override {
    if (threads < 1) throw std::invalid_argument("BLAS with less than one thread");
    const int more = threads - library_.get_num_threads();
    if (more > 0)
      require_room(more * room_per_thread, fmt::format("OpenBLAS on {} threads", threads));
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

  std::string doubt() const override { return doubt_; }

 private:
  OpenBlasLibrary library_;
  std::string doubt_;
};

}  // namespace

Outcome<std::shared_ptr<const Blas>> open_blas(const std::string& path) {
  try {
    require_room(library_room + room_per_thread, "OpenBLAS");
  } catch (const ProbeFailure& no_room) {
    return Skipped{no_room.what()};
  }
  const CpuInfo cpu = read_cpuinfo();
  const auto loaded = load_openblas(path, preferred_core_type(cpu));
  if (const auto* skipped = std::get_if<Skipped>(&loaded)) return *skipped;
  return std::make_shared<const OpenBlas>(std::get<OpenBlasLibrary>(loaded), cpu);
}

}  // namespace scaleworth::probes::host
