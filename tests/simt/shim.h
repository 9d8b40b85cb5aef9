// SPDX-License-Identifier: Apache-2.0
/// CUDA kernels on the CPU, so that their indices, tails, barriers and accesses are tested without
/// a GPU.
///
/// rewrite.sed turns each source of cuda/kernels into C++ that calls this header, which takes the
/// place of nvcc's own and, with the toolkit's headers, comes before every source of the program.
/// The branches for devices are compiled (__CUDA_ARCH__ 900). A launch runs at once, block after
/// block. A thread of a block runs until it waits at a barrier or for its warp; then the first
/// thread that can run goes on, in an order that the test chooses (in_every_order, schedule.h): a
/// result that depends on the order is a race. A warp goes as far as it can before the next one
/// starts: a barrier too few shows. Shared memory starts each block as NaN; so do the buffers of
/// tests, which end at a page that cannot be accessed (guarded.h).
///
/// Emulated: threadIdx and the like, __syncthreads; shuffles, votes and __syncwarp of whole warps;
/// static and dynamic shared memory, atomicAdd, cached loads and stores, and the PTX of the
/// kernels: loads, clocks, %smid, conversion to bf16, mma.sync (instructions.cpp). Limits of a
/// launch: threads, grid, shared memory.
///
/// Not emulated:
/// - warp functions of a part of a warp, cooperative groups, clusters, bulk copies, textures,
///   atomics but atomicAdd: a kernel that uses them does not compile here;
/// - other PTX (wgmma, tcgen05, mbarriers): throws, with its text;
/// - blocks that wait for each other, or threads that poll memory: they do so for ever;
/// - the memory model: neither a missing fence or volatile is seen, nor a race with the same
///   outcome in each order;
/// - the compiler's own arithmetic: nvcc rounds a * b + c once, and the last bits of expf and logf
///   differ, so that such results are compared within a tolerance;
/// - time, occupancy, registers, banks, caches, streams: the clock counts readings, a launch ends
///   before it returns. What the host does meanwhile comes at a reading (at_nanoseconds).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#define __CUDA_ARCH__ 900
#define __launch_bounds__(...)
#undef __shared__
#define __shared__ \
  static_assert(false, "rewrite.sed does not know this declaration of shared memory");

namespace scaleworth::simt {
/// Runs `thread` once per thread. What a GPU would refuse is the result of cudaGetLastError. Throws
/// std::runtime_error when threads wait for what cannot come, or at an instruction that is not
/// emulated.
void launch(const char* kernel,
            const std::function<void()>& thread,
            dim3 grid,
            dim3 block,
            std::size_t shared_bytes,
            cudaStream_t stream);

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
};
/// What the last launch asked for, refused or not.
LaunchShape last_launch();

/// Blocks that have begun since the program did: a name for the present one.
std::uint64_t block_number();

void* dynamic_shared_memory();

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(dynamic_shared_memory());
}

/// A declaration's memory: on a GPU each block has its own, with what was there before.
template <class T>
class Shared {
 public:
  T& of_block() {
    if (block_ != block_number()) std::memset(&memory_, 0xFF, sizeof(T));
    block_ = block_number();
    return memory_;
  }

 private:
  alignas(16) T memory_;
  std::uint64_t block_ = 0;
};

/// Waits for all threads of the block; `line` tells two barriers apart.
void wait_for_block(int line);

/// Values of the warp's lanes, when all have come here; they stay until the lane's call after the
/// next.
const std::uint64_t* exchange(unsigned mask, std::uint64_t value, int line);
int lane();

template <class T>
T value_of(unsigned mask, T value, int source, int line) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  const std::uint64_t* all = exchange(mask, bits, line);
  if (source >= 0 && source < 32) std::memcpy(&value, all + source, sizeof(T));
  return value;
}

/// Ends the launch, which throws.
[[noreturn]] void fail(const std::string& reason);

/// An assembler statement: addresses of its operands %0, %1, ...
void execute(const char* text, void* const* operands);

template <class... Operands>
void ptx(const char* text, Operands&&... operands) {
  void* const addresses[] = {
      const_cast<void*>(static_cast<const void*>(std::addressof(operands)))...};
  execute(text, addresses);
}

inline constexpr unsigned multiprocessors = 7;
/// Counts 10 ns at each reading.
std::uint64_t read_nanoseconds();
void sleep_nanoseconds(unsigned nanoseconds);
/// At the first reading from this time on, in whatever thread reads: `act`, once.
void at_nanoseconds(std::uint64_t time, std::function<void()> act);

cudaError_t allow_shared_memory(cudaFuncAttribute attribute, int value);
}  // namespace scaleworth::simt

// What nvcc declares by itself.

extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

inline void __syncthreads(int line = __builtin_LINE()) {
  scaleworth::simt::wait_for_block(line);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int = 32, int line = __builtin_LINE()) {
  return scaleworth::simt::value_of(mask, value, lane % 32, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int = 32, int line = __builtin_LINE()) {
  return scaleworth::simt::value_of(mask, value, scaleworth::simt::lane() ^ lanes, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int = 32, int line = __builtin_LINE()) {
  return scaleworth::simt::value_of(
      mask, value, scaleworth::simt::lane() + static_cast<int>(lanes), line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int = 32, int line = __builtin_LINE()) {
  return scaleworth::simt::value_of(
      mask, value, scaleworth::simt::lane() - static_cast<int>(lanes), line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  const std::uint64_t* all = scaleworth::simt::exchange(mask, predicate != 0, line);
  unsigned result = 0;
  for (unsigned i = 0; i < 32; ++i) result |= static_cast<unsigned>(all[i]) << i;
  return result;
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, line) != 0 ? 1 : 0;
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFU, int line = __builtin_LINE()) {
  scaleworth::simt::exchange(mask, 0, line);
}

template <class T>
T atomicAdd(T* address, T value) {
  const T before = *address;
  *address = before + value;
  return before;
}
template <class T>
void __stcg(T* address, T value) {
  *address = value;
}
template <class T>
void __stcs(T* address, T value) {
  *address = value;
}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned nanoseconds) {
  scaleworth::simt::sleep_nanoseconds(nanoseconds);
}
inline int __float2int_rn(float value) {
  return static_cast<int>(std::lrint(value));
}

inline float cospif(float x) {
  return static_cast<float>(std::cos(3.14159265358979323846 * x));
}

/// One rounding to the format: the product is exact in fp64, and so is the sum unless one of the
/// two is more than 2^30 times the other.
inline __half2 __hfma2(__half2 x, __half2 a, __half2 b) {
  const auto fma = [](__half p, __half q, __half r) {
    return __double2half(std::fma(double{__half2float(p)}, __half2float(q), __half2float(r)));
  };
  return {fma(x.x, a.x, b.x), fma(x.y, a.y, b.y)};
}
inline __nv_bfloat162 __hfma2(__nv_bfloat162 x, __nv_bfloat162 a, __nv_bfloat162 b) {
  const auto fma = [](__nv_bfloat16 p, __nv_bfloat16 q, __nv_bfloat16 r) {
    return __double2bfloat16(
        std::fma(double{__bfloat162float(p)}, __bfloat162float(q), __bfloat162float(r)));
  };
  return {fma(x.x, a.x, b.x), fma(x.y, a.y, b.y)};
}

template <class Result, class... Arguments>
cudaError_t cudaFuncSetAttribute(Result (*)(Arguments...), cudaFuncAttribute attribute, int value) {
  return scaleworth::simt::allow_shared_memory(attribute, value);
}
template <class Result, class... Arguments>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Result (*)(Arguments...)) {
  attributes->binaryVersion = attributes->ptxVersion = __CUDA_ARCH__ / 10;
  return cudaSuccess;
}
