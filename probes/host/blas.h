// SPDX-License-Identifier: Apache-2.0
/// OpenBLAS, opened at run time after its core type was chosen from the CPU's own flags.
#pragma once

#include "probes/host/proc_files.h"
#include "probes/machine.h"
#include "src/core/estimate.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes::host {
/// A row-major matrix, `stride` elements from row to row; transposed: what is stored is its
/// transpose.
template <class T>
struct GemmOperand {
  const T* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
};

/// Where the product goes; `keep` times what is there is added to it.
template <class T>
struct GemmResult {
  T* data = nullptr;
  std::int64_t stride = 0;
  T keep{0};
};

/// C(m x n) = A(m x k) B(k x n) + keep C.
template <class T>
struct GemmArguments {
  std::int64_t m = 0, n = 0, k = 0;
  GemmOperand<T> a, b;
  GemmResult<T> c;
};

/// The loaded library. One per process; calls are safe from several threads when set to one thread.
class Blas {
 public:
  virtual ~Blas() = default;
  /// Throws UserError for a dimension past 2^31 - 1. None is negative, no leading dimension shorter
  /// than a row.
  virtual void gemm(const GemmArguments<float>& arguments) const = 0;
  virtual void gemm(const GemmArguments<double>& arguments) const = 0;
  /// Threads inside one call from now on. Returns how many the library will really use: fewer than
  /// asked when its build has a lower maximum. Throws ProbeFailure when a resource limit leaves no
  /// room for their buffers.
  virtual int set_threads(int threads) const = 0;
  /// "OpenBLAS 0.3.21, SkylakeX kernels", for the record.
  virtual std::string description() const = 0;
  /// Empty, or why its kernels are not the best for this CPU.
  virtual std::string warning() const = 0;
};

/// Opens `path`, or where it is empty the library that the loader finds, else Debian's threaded
/// builds. While it loads, OPENBLAS_CORETYPE is set from CPU flags unless the user set it, and
/// OPENBLAS_NUM_THREADS is 1, so that it starts no thread; call it before other threads read the
/// environment. Skipped names the Debian package to install, or the resource limit that leaves no
/// room. `gemm` from several threads needs room for each.
Outcome<std::shared_ptr<const Blas>> open_blas(const std::string& path = {});

/// What OpenBLAS maps at the first product of each thread: 128 MiB, and a stack of 8 MiB for each
/// thread that it starts (0.3.21 of Debian 12, x86-64). When the mapping fails it tries again for
/// ever, so a process with too little room must never call it.
inline constexpr double room_per_blas_thread = 144.0 * mebibyte;
/// Throws ProbeFailure when a resource limit leaves less than `bytes` of address space.
void require_room(double bytes, const std::string& purpose);

/// The value for OPENBLAS_CORETYPE by the CPU's flags, empty to leave the choice to the library.
///
/// OpenBLAS compares family and model numbers and takes a CPU that it does not know for an old one:
/// 0.3.21 runs AVX2 kernels on Zen 5 (OpenMathLib/OpenBLAS issue 6029). By flags: AVX-512 with bf16
/// -> Cooperlake, AVX-512 -> SkylakeX, AVX2 and FMA -> Zen (AMD) or Haswell; anything else, aarch64
/// too, is left alone. SapphireRapids is never chosen: it differs from Cooperlake in bf16 kernels
/// only, and a library built without it falls back to the model number.
///
/// Seen on a 2-vCPU machine with AVX-512, bf16 and AMX, 0.3.21 of Debian 12, 1024^3, one thread,
/// per second of CPU time: SkylakeX 159 (fp32) and 77 (fp64) GFLOP/s, Cooperlake 160 and 77,
/// SapphireRapids the same as Cooperlake (that build has no such kernels), Haswell 109 and 54, Zen
/// 107 and 53. Other CPUs can order them otherwise; the user's OPENBLAS_CORETYPE always wins.
std::string preferred_core_type(const CpuInfo& cpu);

/// Empty, or what the kernels of `core_name` (as openblas_get_corename() spells it) leave unused of
/// this CPU: "AVX2 kernels on an AVX-512 machine".
std::string core_type_warning(const std::string& core_name, const CpuInfo& cpu);

/// C = A B with A, B uniform in [-1, 1). One operation is all `batch` products:
///   flops       2 m n k batch
///   bytes       (m k + k n + m n) sizeof element batch: the compulsory traffic, A and B read and C
///               written once. A library moves more when its blocks do not fit a cache.
///   bytes_real  bytes + m n sizeof element batch, where each line of C is first read
/// Operands are not flushed between repetitions: they are as warm as their size lets them be.
///
/// Who computes: a batch of several products is spread over `workers` pinned threads, each calling
/// the library with one thread for its share (products i, i + workers, ...; only they touch the
/// operands first). A single product of one worker runs on a pinned thread; of several workers, on
/// the library's own threads, which it neither pins nor reports: their CPU time is the whole
/// process's (CLOCK_PROCESS_CPUTIME_ID), spinning while they wait included.
///
/// After sampling, the first, middle and last product are compared with a reference
/// (find_mismatch). Throws ProbeFailure for a wrong result, no memory, or more workers than CPUs;
/// UserError for dimensions that the library cannot count or the reference cannot verify (past 2^31
/// - 1; k past 2^23 in fp32); Interrupted between samples.
Measured time_gemm(const Blas& blas, const GemmWork& work, const Target& target);

/// A (m x k) and B (k x n) hold independent uniform numbers in [-1, 1) drawn from `seed`, C (m x n)
/// NaN, so that an element that the product never wrote is found. Rows are contiguous.
/// Constant data would let hardware save power and predict, and report too much.
template <class T>
class GemmOperands {
 public:
  /// Writes every element, so the pages lie near the calling thread. Throws std::bad_alloc.
  GemmOperands(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed);
  /// C = A B. Points into this object.
  GemmArguments<T> product();

 private:
  std::int64_t m_;
  std::int64_t n_;
  std::int64_t k_;
  std::vector<T> a_;
  std::vector<T> b_;
  std::vector<T> c_;
};

extern template class GemmOperands<float>;
extern template class GemmOperands<double>;

/// Compares up to four whole rows and four whole columns of C (the first, the last and two drawn by
/// `seed`) with sums in double. An element passes only when
///   |c - sum| <= (gamma(k, u) + gamma(k, 2^-53)) sum_p |a_ip b_pj|,
///   gamma(k, u) = k u / (1 - k u),  u = 2^-24 (fp32) or 2^-53 (fp64),
/// the worst case for any order of summation, with or without fused multiply-add, of the product
/// and of the reference (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section
/// 3.1); it grows with k eps, real errors with about sqrt(k) eps. A NaN never passes.
/// Returns the first that does not: "C[3, 7] = nan, the reference is 1.5 and rounding allows
/// 1e-05". Of plain products: nothing transposed, C not kept, k u < 1.
template <class T>
std::optional<std::string> find_mismatch(const GemmArguments<T>& product, std::uint64_t seed = 1);
}  // namespace scaleworth::probes::host
