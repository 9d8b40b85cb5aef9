// SPDX-License-Identifier: Apache-2.0
// A host and a device played through with known delays: the ledger must find the delay that was put
// in, in its step and under its cause.
#include "tests/catch.h"
#include "tests/unit/trace/analysis/one_rank.h"

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

constexpr std::int64_t us = 1000;
constexpr int steps = 4;
constexpr int kernels_per_step = 40;

struct Delay {
  HostCause cause = HostCause::other;
  HostActivity activity = HostActivity::annotation;
  std::uint32_t thread = 0;
  bool recorded = true;  // false: the recording shows nothing there
  int step = 1;
  int before_kernel = 0;
  std::int64_t length = 0;
};

/// Kernels of one stream, launched one by one ahead of the device; each step ends with a
/// synchronizing call.
class Playback {
 public:
  Playback(std::uint64_t seed, const Delay& delay) : random_(seed), delay_(delay) {
    for (int step = 0; step < steps; ++step) {
      const std::int64_t begin = host_;
      for (int kernel = 0; kernel < kernels_per_step; ++kernel) play(step, kernel);
      synchronize();
      rank_.step(begin, host_);
    }
  }

  std::vector<StepLedger> ledger() { return rank_.ledger(); }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low));
  }

  void play(int step, int kernel) {
    host_ += between(5 * us, 40 * us);
    if (step == delay_.step && kernel == delay_.before_kernel) {
      if (delay_.recorded)
        rank_.host(delay_.activity, host_, host_ + delay_.length, delay_.cause, delay_.thread);
      host_ += delay_.length;
    }
    ++correlation_;
    rank_.launch(correlation_, host_, host_ + 5 * us);
    host_ += 5 * us;
    const std::int64_t start = std::max(device_ + us, host_ + 4 * us);
    device_ = start + between(5 * us, 60 * us);
    rank_.work(WorkClass::gemm, start, device_, correlation_);
  }

  void synchronize() {
    const std::int64_t end = std::max(host_, device_) + 3 * us;
    rank_.host(HostActivity::runtime_call, host_, end, HostCause::synchronizing_call);
    host_ = end;
  }

  OneRank rank_;
  std::mt19937_64 random_;
  Delay delay_;
  std::int64_t host_ = 0;
  std::int64_t device_ = 0;
  std::uint64_t correlation_ = 0;
};

Delay random_delay(std::uint64_t seed) {
  std::mt19937_64 random(seed + 1000);
  const std::vector<Delay> kinds{
      {HostCause::data_loading, HostActivity::annotation},
      {HostCause::allocation, HostActivity::runtime_call},
      {HostCause::module_loading, HostActivity::overhead},
      {HostCause::garbage_collection, HostActivity::annotation, 9},
      {HostCause::synchronizing_call, HostActivity::operation},
      {HostCause::other, HostActivity::annotation, 0, false},
  };
  Delay delay = kinds[random() % kinds.size()];
  delay.step = static_cast<int>(random() % steps);
  delay.before_kernel = static_cast<int>(random() % kernels_per_step);
  delay.length = static_cast<std::int64_t>(1500 + random() % 5000) * us;
  return delay;
}

}  // namespace

TEST_CASE("a delay of the host is found in its step under its cause", "[ledger]") {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Delay delay = random_delay(seed);
    Delay none = delay;
    none.length = 0;
    none.recorded = false;
    const auto with = Playback(seed, delay).ledger();
    const auto without = Playback(seed, none).ledger();
    const auto step = static_cast<std::size_t>(delay.step);
    // What the delay cost: the step got that much longer; the device's lead hid the rest.
    const std::int64_t cost =
        ((with[step].end - with[step].start) - (without[step].end - without[step].start)).count();
    const std::int64_t found = late(with[step], delay.cause) - late(without[step], delay.cause);
    CAPTURE(seed, delay.step, delay.before_kernel, delay.length);
    CAPTURE(word_of(delay.cause));
    // Where host and device meet again elsewhere some idle time changes its cause.
    CHECK(std::abs(found - cost) <= cost / 50 + 50 * us);
    for (std::size_t other = 0; other < with.size(); ++other) {
      if (other == step) continue;
      CHECK(std::abs(late(with[other], delay.cause) - late(without[other], delay.cause)) <=
            50 * us);
    }
  }
}
