// SPDX-License-Identifier: Apache-2.0
#include "tests/simt/guarded.h"
#include "tests/simt/schedule.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include <ucontext.h>

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace scaleworth::simt {
namespace {
constexpr std::size_t stack_bytes = 128 * 1024;
constexpr unsigned warp_lanes = 32;
constexpr unsigned none = ~0U;

/// A stack on which threads run: one after another, until one of them has to wait there.
struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> memory;
  unsigned thread = none;
};

/// Threads that wait for each other.
struct Gathering {
  unsigned first = 0;
  unsigned size = 0;
  unsigned arrived = 0;
  int line = 0;
};

struct Warp {
  Gathering gathering;
  /// Of this exchange and the one before, which a slow lane may still read.
  std::uint64_t values[2][warp_lanes];
};

struct Thread {
  Fiber* fiber = nullptr;  // where it waits, and for whom
  const Gathering* gathering = nullptr;
  unsigned rank = 0;  // in the order
  unsigned exchanges = 0;
  bool runnable = true;
  bool ended = false;
};

/// The processor: one block at a time.
class Processor {
 public:
  void run(const char* kernel, const std::function<void()>& thread) {
    kernel_ = kernel;
    body_ = &thread;
    const unsigned count = blockDim.x * blockDim.y * blockDim.z;
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    std::mt19937 random(seed_);
    for (const unsigned block : arranged(blocks, random)) {
      blockIdx = place(block, gridDim);
      begin_block(count, random);
      go_on();
      if (error_.empty() && ended_ < count) error_ = waiting_threads();
      if (!error_.empty()) abandon();
    }
  }

  void wait(Gathering& gathering, int line) {
    if (gathering.arrived == 0) gathering.line = line;
    if (gathering.line != line) {
      fail("threads wait at lines " + std::to_string(gathering.line) + " and " +
           std::to_string(line));
    }
    thread().fiber = current_;
    thread().gathering = &gathering;
    thread().runnable = false;
    if (++gathering.arrived == gathering.size) {
      gathering.arrived = 0;
      for (unsigned i = 0; i < gathering.size; ++i) wake(gathering.first + i);
    }
    go_on();
  }

  Gathering& block() { return block_; }
  Warp& warp() { return warps_[current_->thread / warp_lanes]; }
  Thread& thread() { return threads_[current_->thread]; }
  unsigned lane() const { return current_->thread % warp_lanes; }

  /// Ends the launch.
  [[noreturn]] void fail(const std::string& reason) {
    error_ = reason;
    for (;;) switch_to(main_);
  }

  void set_order(Order order, unsigned seed) {
    order_ = order;
    seed_ = seed;
  }

  std::uint64_t blocks_begun = 0;
  std::optional<GuardedMemory> shared;

 private:
  static uint3 place(unsigned index, dim3 extent) {
    return {index % extent.x, index / extent.x % extent.y, index / extent.x / extent.y};
  }

  std::vector<unsigned> arranged(unsigned count, std::mt19937& random) const {
    std::vector<unsigned> result(count);
    std::iota(result.begin(), result.end(), 0U);
    if (order_ == Order::backward) std::reverse(result.begin(), result.end());
    if (order_ == Order::shuffled) std::shuffle(result.begin(), result.end(), random);
    return result;
  }

  void begin_block(unsigned count, std::mt19937& random) {
    ++blocks_begun;
    if (shared) shared->fill(0xFF);
    threads_.assign(count, {});
    warps_.assign((count + warp_lanes - 1) / warp_lanes, {});
    block_ = {0, count, 0, 0};
    order_of_threads_.clear();
    for (const unsigned w : arranged(static_cast<unsigned>(warps_.size()), random)) {
      const unsigned first = w * warp_lanes;
      warps_[w].gathering = {first, std::min(warp_lanes, count - first), 0, 0};
      for (const unsigned l : arranged(warps_[w].gathering.size, random)) {
        threads_[first + l].rank = static_cast<unsigned>(order_of_threads_.size());
        order_of_threads_.push_back(first + l);
      }
    }
    first_runnable_ = 0;
    ended_ = 0;
  }

  void wake(unsigned thread) {
    threads_[thread].runnable = true;
    first_runnable_ = std::min(first_runnable_, threads_[thread].rank);
  }

  /// To the first thread that can run; to the caller of `run` when there is none.
  void go_on() {
    while (first_runnable_ < threads_.size() &&
           !threads_[order_of_threads_[first_runnable_]].runnable) {
      ++first_runnable_;
    }
    if (first_runnable_ == threads_.size()) return switch_to(main_);
    const unsigned next = order_of_threads_[first_runnable_];
    if (threads_[next].fiber != nullptr) return switch_to(*threads_[next].fiber);
    Fiber& fiber = idle_fiber();
    fiber.thread = next;
    switch_to(fiber);
  }

  Fiber& idle_fiber() {
    if (idle_.empty()) {
      fibers_.push_back(std::make_unique<Fiber>());
      Fiber& fiber = *fibers_.back();
      fiber.memory.reset(new char[stack_bytes]);  // left as it is: most of it is never touched
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.memory.get();
      fiber.context.uc_stack.ss_size = stack_bytes;
      makecontext(&fiber.context, &Processor::start, 0);
      idle_.push_back(&fiber);
    }
    Fiber& fiber = *idle_.back();
    idle_.pop_back();
    return fiber;
  }

  void switch_to(Fiber& to) {
    Fiber& from = *current_;
    if (to.thread != none) threadIdx = place(to.thread, blockDim);
    if (&to == &from) return;
    current_ = &to;
    swapcontext(&from.context, &to.context);
  }

  static void start();
  void run_threads() {
    for (;;) {
      (*body_)();
      thread().runnable = false;
      thread().ended = true;
      ++ended_;
      idle_.push_back(current_);
      go_on();
    }
  }

  std::string waiting_threads() const {
    const auto waits = std::find_if(
        threads_.begin(), threads_.end(), [](const Thread& thread) { return !thread.ended; });
    return "thread " + std::to_string(waits - threads_.begin()) + " waits at line " +
           std::to_string(waits->gathering->line) + " with " +
           std::to_string(waits->gathering->arrived) + " of " +
           std::to_string(waits->gathering->size) + " threads, " + std::to_string(ended_) +
           " have ended";
  }

  /// Threads that wait never go on: their stacks are lost.
  [[noreturn]] void abandon() {
    const std::string reason = std::string(kernel_) + ": " + error_;
    error_.clear();
    idle_.clear();
    fibers_.clear();
    throw std::runtime_error(reason);
  }

  const char* kernel_ = nullptr;
  const std::function<void()>* body_ = nullptr;
  Order order_ = Order::forward;
  unsigned seed_ = 0;
  std::string error_;

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Gathering block_;
  std::vector<unsigned> order_of_threads_;
  unsigned first_runnable_ = 0;  // no thread of a lower rank is
  unsigned ended_ = 0;

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  Fiber main_;
  Fiber* current_ = &main_;
};

Processor processor;

void Processor::start() {
  processor.run_threads();
}

// Limits of compute capability 9.0: CUDA C++ programming guide, "Technical specifications".
constexpr std::size_t most_shared_bytes = 232448;
constexpr std::size_t shared_bytes_without_asking = 48 * 1024;
std::size_t allowed_shared_bytes = shared_bytes_without_asking;
cudaError_t last_error = cudaSuccess;
std::uint64_t clock_ns = 1'000'000;
std::uint64_t act_ns = 0;
std::function<void()> act_then;
LaunchShape shape;

cudaError_t refusal(dim3 grid, dim3 block, std::size_t shared_bytes) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  const bool grid_fits = grid.x >= 1 && grid.x <= 0x7FFFFFFFU && grid.y >= 1 && grid.y <= 65535 &&
                         grid.z >= 1 && grid.z <= 65535;
  if (!grid_fits || threads < 1 || threads > 1024 || block.z > 64) {
    return cudaErrorInvalidConfiguration;
  }
  return shared_bytes > allowed_shared_bytes ? cudaErrorInvalidValue : cudaSuccess;
}
}  // namespace

void set_order(Order order, unsigned seed) {
  processor.set_order(order, seed);
}

void launch(const char* kernel,
            const std::function<void()>& thread,
            dim3 grid,
            dim3 block,
            std::size_t shared_bytes,
            cudaStream_t) {
  shape = {grid, block, shared_bytes};
  last_error = refusal(grid, block, shared_bytes);
  allowed_shared_bytes = shared_bytes_without_asking;
  if (last_error != cudaSuccess) return;
  blockDim = block;
  gridDim = grid;
  processor.shared.reset();
  if (shared_bytes > 0) processor.shared.emplace(shared_bytes);
  processor.run(kernel, thread);
}

LaunchShape last_launch() {
  return shape;
}

std::uint64_t block_number() {
  return processor.blocks_begun;
}

void* dynamic_shared_memory() {
  if (!processor.shared) processor.fail("the launch gives no dynamic shared memory");
  return processor.shared->data();
}

void wait_for_block(int line) {
  processor.wait(processor.block(), line);
}

const std::uint64_t* exchange(unsigned mask, std::uint64_t value, int line) {
  Warp& warp = processor.warp();
  if (mask != (~0U >> (warp_lanes - warp.gathering.size))) {
    processor.fail("the mask at line " + std::to_string(line) + " is not all lanes of the warp");
  }
  std::uint64_t(&values)[warp_lanes] = warp.values[processor.thread().exchanges++ % 2];
  values[processor.lane()] = value;
  processor.wait(warp.gathering, line);
  return values;
}

int lane() {
  return static_cast<int>(processor.lane());
}

void fail(const std::string& reason) {
  processor.fail(reason);
}

std::uint64_t read_nanoseconds() {
  clock_ns += 10;
  if (act_then && clock_ns >= act_ns) std::exchange(act_then, nullptr)();
  return clock_ns;
}

void at_nanoseconds(std::uint64_t time, std::function<void()> act) {
  act_ns = time;
  act_then = std::move(act);
}

void sleep_nanoseconds(unsigned nanoseconds) {
  clock_ns += nanoseconds;
}

cudaError_t allow_shared_memory(cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<std::size_t>(value) > most_shared_bytes)
    return cudaErrorInvalidValue;
  allowed_shared_bytes = static_cast<std::size_t>(value);
  return cudaSuccess;
}
}  // namespace scaleworth::simt

cudaError_t cudaGetLastError() {
  return std::exchange(scaleworth::simt::last_error, cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void*, int block_threads, std::size_t, unsigned) {
  *blocks = 2048 / block_threads;
  return cudaSuccess;
}
