// SPDX-License-Identifier: Apache-2.0
/// What the shim must find, in kernels with known faults.
#include "tests/simt/shim.h"

#include "tests/catch.h"
#include "tests/simt/guarded.h"
#include "tests/simt/schedule.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <sys/wait.h>

using namespace scaleworth::simt;

namespace {
void run(int threads, const std::function<void()>& thread) {
  launch("kernel", thread, 2, threads, 0, nullptr);
  REQUIRE(cudaGetLastError() == cudaSuccess);
}

/// What each thread gets, threads forward or backward.
template <class Kernel>
std::vector<unsigned> results(Order order, int threads, Kernel kernel) {
  const Buffer<unsigned> found(static_cast<std::size_t>(threads));
  set_order(order);
  run(threads, [&] { found[threadIdx.x] = kernel(); });
  set_order(Order::forward);
  return found.values();
}

/// Each thread reads what another one wrote.
template <int reader_barriers>
unsigned reversed() {
  static Shared<unsigned[100]> memory;
  auto& values = memory.of_block();
  values[threadIdx.x] = threadIdx.x;
  if (reader_barriers > 0) __syncthreads();
  return values[blockDim.x - 1 - threadIdx.x];
}

/// The sum of the warps' numbers, twice in the same memory.
template <bool last_barrier>
unsigned sums_of_warps() {
  static Shared<unsigned[4]> memory;
  auto& warps = memory.of_block();
  unsigned total = 0;
  for (unsigned turn = 1; turn <= 2; ++turn) {
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = turn * (threadIdx.x / 32 + 1);
    __syncthreads();
    for (const unsigned value : warps) total = 100 * total + value;
    if (last_barrier) __syncthreads();
  }
  return total;
}

/// Of a child process: whether it ended as programs do.
template <class Act>
bool survives(Act act) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    signal(SIGSEGV, SIG_DFL);
    act();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::set<std::string> launchers_in(const std::string& folder, const std::string& ending) {
  static const std::regex call(R"(\blaunch_\w+(?=\())");
  std::set<std::string> names;
  const std::filesystem::path top = std::filesystem::path(PROJECT_FOLDER) / folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
    if (!contains(entry.path().filename().string(), ending)) continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator i(source.begin(), source.end(), call), end; i != end; ++i) {
      names.insert(i->str());
    }
  }
  return names;
}
}  // namespace

TEST_CASE("without its barrier a block's result depends on the order of threads", "[simt]") {
  const auto right = results(Order::forward, 100, reversed<1>);
  CHECK(right.front() == 99);
  CHECK(right == results(Order::backward, 100, reversed<1>));
  CHECK(results(Order::forward, 100, reversed<0>) != right);
  CHECK(results(Order::forward, 100, reversed<0>) != results(Order::backward, 100, reversed<0>));
}

TEST_CASE("without the barrier before memory is used again a result depends on the order",
          "[simt]") {
  const auto right = results(Order::forward, 128, sums_of_warps<true>);
  CHECK(right == results(Order::backward, 128, sums_of_warps<true>));
  CHECK(right == std::vector<unsigned>(128, right.front()));
  CHECK(results(Order::forward, 128, sums_of_warps<false>) != right);
  CHECK(results(Order::backward, 128, sums_of_warps<false>) != right);
}

TEST_CASE("threads that wait for what cannot come are named", "[simt]") {
  const auto text = [](const std::function<void()>& thread) -> std::string {
    try {
      launch("kernel", thread, 1, 64, 0, nullptr);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(text([] {
               if (threadIdx.x < 61) __syncthreads();
             }),
             ContainsSubstring("kernel: thread 0 waits at line") &&
                 ContainsSubstring("with 61 of 64 threads, 3 have ended"));
  CHECK_THAT(text([] {
               if (threadIdx.x != 40) __syncwarp();
             }),
             ContainsSubstring("thread 32 waits at line") &&
                 ContainsSubstring("with 31 of 32 threads, 33 have ended"));
  const auto two_barriers = [] {
    if (threadIdx.x % 2 == 0) {
      __syncthreads();
    } else {
      __syncthreads();
    }
  };
  CHECK_THAT(text(two_barriers), ContainsSubstring("kernel: threads wait at lines"));
  CHECK_THAT(text([] { __syncwarp(0xFFFF); }), ContainsSubstring("is not all lanes"));
  CHECK_THAT(text([] { dynamic_shared<int>()[0] = 1; }),
             ContainsSubstring("no dynamic shared memory"));
  CHECK_THAT(text([] { ptx("wgmma.fence.sync.aligned;", threadIdx); }),
             ContainsSubstring("not emulated: wgmma.fence"));
  CHECK(text([] { __syncthreads(); }).empty());
}

TEST_CASE("lanes of a warp exchange their values", "[simt]") {
  const auto check = [](auto exchanged, auto source) {
    const auto found = results(Order::backward, 96, [&] { return exchanged(threadIdx.x + 1000); });
    for (unsigned t = 0; t < 96; ++t) {
      const unsigned from = source(static_cast<int>(t % 32));
      CHECK(found[t] == t / 32 * 32 + (from < 32 ? from : t % 32) + 1000);
    }
  };
  check([](unsigned x) { return __shfl_sync(~0U, x, 7); }, [](int) { return 7; });
  check([](unsigned x) { return __shfl_xor_sync(~0U, x, 5); }, [](int l) { return l ^ 5; });
  check([](unsigned x) { return __shfl_down_sync(~0U, x, 3); }, [](int l) { return l + 3; });
  check([](unsigned x) { return __shfl_up_sync(~0U, x, 3); }, [](int l) { return l - 3; });
  const auto ballots =
      results(Order::backward, 64, [] { return __ballot_sync(~0U, lane() % 3 == 0); });
  CHECK(ballots == std::vector<unsigned>(64, 0x49249249U));
  const auto votes = results(Order::backward, 96, [] {
    return static_cast<unsigned>(__any_sync(~0U, threadIdx.x == 40 ? 1 : 0));
  });
  for (unsigned t = 0; t < 96; ++t) CHECK(votes[t] == (t / 32 == 1 ? 1U : 0U));
}

TEST_CASE("what the host does at a time comes once, at a reading from then on", "[simt]") {
  const std::uint64_t start = read_nanoseconds();
  std::vector<std::uint64_t> times;
  at_nanoseconds(start + 25, [&] { times.push_back(read_nanoseconds()); });
  for (int i = 0; i < 9; ++i) read_nanoseconds();
  CHECK(times == std::vector<std::uint64_t>{start + 40});
}

TEST_CASE("shared memory and buffers start as NaN, shared memory anew in each block", "[simt]") {
  const Buffer<float> data(3);
  CHECK(std::isnan(data[0]));
  Shared<float> memory;
  unsigned numbers = 0;
  launch(
      "kernel",
      [&] {
        float& value = memory.of_block();
        if (!std::isnan(value) || !std::isnan(dynamic_shared<float>()[4])) ++numbers;
        value = dynamic_shared<float>()[4] = 1.0F;
      },
      3,
      1,
      5 * sizeof(float),
      nullptr);
  CHECK(numbers == 0);
}

TEST_CASE("an access beyond either end of a buffer is found", "[simt]") {
  for (const std::size_t count : {1, 1000, 5000}) {
    Buffer<int> data(count);
    CHECK(survives([&] { data[count - 1] = 1; }));
    CHECK_FALSE(survives([&] { data[count] = 1; }));
    CHECK_FALSE(survives([&] { _exit(*(data.data() + count) == 0 ? 0 : 1); }));
    GuardedMemory memory(count);
    CHECK(memory.changed_before() == 0);
    memory.data()[-1] = 1;
    CHECK(memory.changed_before() == 1);
    memory.restore_before();
  }
}

TEST_CASE("a launch beyond the limits of a GPU is refused", "[simt]") {
  const auto status = [](dim3 grid, dim3 block, std::size_t shared_bytes) {
    launch(
        "kernel", [] {}, grid, block, shared_bytes, nullptr);
    return cudaGetLastError();
  };
  CHECK(status(1, 1024, 48 * 1024) == cudaSuccess);
  CHECK(status(0, 32, 0) == cudaErrorInvalidConfiguration);
  CHECK(status(1, 1025, 0) == cudaErrorInvalidConfiguration);
  CHECK(status(dim3(1, 65536), 1, 0) == cudaErrorInvalidConfiguration);
  CHECK(status(1, 1, 48 * 1024 + 1) == cudaErrorInvalidValue);
}

TEST_CASE("each launcher of the kernels is called by a test on the CPU", "[simt]") {
  const auto declared = launchers_in("cuda/kernels", ".h");
  const auto called = launchers_in("tests/simt", "_test.cpp");
  CHECK(declared.size() > 20);
  for (const std::string& name : declared) {
    INFO(name);
    CHECK(called.count(name) == 1);
  }
}
