// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/analysis/one_rank.h"

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

constexpr std::int64_t idle_us = 1000;

/// Kernel 1 runs [10,100) us, launched early. Kernel 2 runs [1000,1100) us.
OneRank two_kernels() {
  OneRank rank;
  rank.step(10 * idle_us, 1100 * idle_us);
  rank.work(WorkClass::gemm, 10 * idle_us, 100 * idle_us, 1);
  rank.work(WorkClass::gemm, 1000 * idle_us, 1100 * idle_us, 2);
  rank.launch(1, 0, 5 * idle_us);
  return rank;
}

}  // namespace

TEST_CASE("before the launch the host is late, after it there is a launch gap", "[ledger]") {
  OneRank rank = two_kernels();
  rank.launch(2, 985 * idle_us, 990 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::host_late) == 890 * idle_us);  // [100,990)
  CHECK(part(step, Part::launch_gap) == 10 * idle_us);  // [990,1000)
  // The launch call itself; before it the thread pauses for 980 us, longer than dispatching
  // takes.
  CHECK(late(step, HostCause::launch_bound) == 5 * idle_us);
  CHECK(late(step, HostCause::other) == 885 * idle_us);
}

TEST_CASE("a host that only dispatches is launch bound", "[ledger]") {
  OneRank rank = two_kernels();
  rank.launch(0, 480 * idle_us, 490 * idle_us);  // pauses of 475 and 490 us
  rank.launch(2, 980 * idle_us, 1000 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::host_late) == 900 * idle_us);
  CHECK(late(step, HostCause::launch_bound) == 900 * idle_us);
}

TEST_CASE("the innermost event of the launching thread names the cause", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::annotation, 50 * idle_us, 400 * idle_us, HostCause::data_loading);
  rank.host(HostActivity::runtime_call, 200 * idle_us, 250 * idle_us, HostCause::allocation);
  rank.host(
      HostActivity::annotation, 0, 1100 * idle_us, HostCause::synchronizing_call, 5);  // elsewhere
  rank.launch(2, 990 * idle_us, 1000 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(late(step, HostCause::data_loading) == 250 * idle_us);  // [100,200) and [250,400)
  CHECK(late(step, HostCause::allocation) == 50 * idle_us);
  CHECK(late(step, HostCause::synchronizing_call) == 0);
  // Calls end at 250 and begin at 990: the pause is too long for dispatching.
  CHECK(late(step, HostCause::launch_bound) == 10 * idle_us);
  CHECK(late(step, HostCause::other) == 590 * idle_us);
}

TEST_CASE("dispatching after a synchronizing call is due to it", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::runtime_call, 6 * idle_us, 110 * idle_us, HostCause::synchronizing_call);
  rank.launch(0, 480 * idle_us, 490 * idle_us);
  rank.launch(2, 980 * idle_us, 1000 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  // The call had waited for 94 us when the gap began, and the rest of it: without it the host would
  // have come so much earlier.
  CHECK(late(step, HostCause::synchronizing_call) == 104 * idle_us);
  CHECK(late(step, HostCause::launch_bound) == 796 * idle_us);
}

TEST_CASE("garbage collection on any thread stops the launching one", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(
      HostActivity::annotation, 150 * idle_us, 450 * idle_us, HostCause::garbage_collection, 3);
  rank.launch(2, 990 * idle_us, 1000 * idle_us);
  CHECK(late(rank.ledger().at(0), HostCause::garbage_collection) == 300 * idle_us);
}

TEST_CASE("what the recorder saw of the program counts where nothing else says what it did",
          "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::overhead, 150 * idle_us, 500 * idle_us, HostCause::asleep, 7);
  rank.host(HostActivity::overhead, 500 * idle_us, 900 * idle_us, HostCause::computing, 7);
  rank.host(HostActivity::annotation, 450 * idle_us, 550 * idle_us);  // a range of the thread
  rank.host(HostActivity::annotation, 600 * idle_us, 700 * idle_us, HostCause::data_loading);
  rank.launch(2, 990 * idle_us, 1000 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(late(step, HostCause::asleep) == 300 * idle_us);     // [150,450)
  CHECK(late(step, HostCause::computing) == 250 * idle_us);  // [550,600) and [700,900)
  CHECK(late(step, HostCause::data_loading) == 100 * idle_us);
  CHECK(late(step, HostCause::other) == 240 * idle_us);  // [100,150), the range, [900,990)
  CHECK(part(step, Part::profiler_overhead) == 0);
}

TEST_CASE("the profiler's own work is told from that of the program", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::overhead, 120 * idle_us, 220 * idle_us);
  rank.host(HostActivity::overhead, 300 * idle_us, 320 * idle_us, HostCause::module_loading);
  rank.launch(2, 940 * idle_us, 950 * idle_us);
  rank.host(HostActivity::overhead, 960 * idle_us, 990 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::profiler_overhead) == 130 * idle_us);
  CHECK(late(step, HostCause::module_loading) == 20 * idle_us);
  // [950,1000) less the profiler's 30 us: launched, not running, too long for a launch, no
  // reason.
  CHECK(part(step, Part::unattributed) == 20 * idle_us);
}

TEST_CASE("the pause between two kernels of a stream is a launch gap", "[ledger]") {
  OneRank rank;
  rank.step(0, 202 * idle_us);
  rank.work(WorkClass::gemm, 0, 100 * idle_us, 1);
  rank.work(WorkClass::gemm, 102 * idle_us, 202 * idle_us, 2);
  rank.launch(2, 10 * idle_us, 15 * idle_us);
  CHECK(part(rank.ledger().at(0), Part::launch_gap) == 2 * idle_us);
}

TEST_CASE("work that was launched and whose stream was free waited for another", "[ledger]") {
  OneRank rank;
  rank.step(0, 203 * idle_us);
  rank.work(WorkClass::gemm, 0, 50 * idle_us, 1, 7);
  rank.work(WorkClass::copy, 0, 100 * idle_us, 2, 9);
  rank.work(WorkClass::gemm, 103 * idle_us, 203 * idle_us, 3, 7);
  rank.launch(3, 10 * idle_us, 15 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::dependency_idle) == 3 * idle_us);

  // Launched only 5 us before it began: an ordinary launch.
  OneRank other;
  other.step(0, 203 * idle_us);
  other.work(WorkClass::copy, 0, 100 * idle_us, 2, 9);
  other.work(WorkClass::gemm, 103 * idle_us, 203 * idle_us, 3, 7);
  other.launch(3, 90 * idle_us, 98 * idle_us);
  CHECK(part(other.ledger().at(0), Part::launch_gap) == 3 * idle_us);
}

TEST_CASE("a stream that was told to wait explains a long pause", "[ledger]") {
  OneRank rank = two_kernels();
  rank.launch(2, 20 * idle_us, 25 * idle_us);
  CHECK(part(rank.ledger().at(0), Part::unattributed) == 900 * idle_us);
  OneRank told = two_kernels();
  told.stream_waits(7, 15 * idle_us);
  told.launch(2, 20 * idle_us, 25 * idle_us);
  CHECK(part(told.ledger().at(0), Part::dependency_idle) == 900 * idle_us);
  OneRank before = two_kernels();
  before.stream_waits(7, 2 * idle_us);  // before the launch of the work ahead of it
  before.launch(2, 20 * idle_us, 25 * idle_us);
  CHECK(part(before.ledger().at(0), Part::unattributed) == 900 * idle_us);
}

TEST_CASE("without a launch only what the host shows is attributed", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::runtime_call, 150 * idle_us, 250 * idle_us, HostCause::allocation);
  const StepLedger step = rank.ledger().at(0);
  CHECK(late(step, HostCause::allocation) == 100 * idle_us);
  CHECK(part(step, Part::unattributed) == 800 * idle_us);
}

TEST_CASE("idle time at the ends of a step belongs to it", "[ledger]") {
  OneRank rank;
  rank.step(0, 500 * idle_us);
  rank.work(WorkClass::gemm, 100 * idle_us, 200 * idle_us, 1);
  rank.host(HostActivity::annotation, 0, 80 * idle_us, HostCause::data_loading);
  rank.launch(1, 90 * idle_us, 100 * idle_us);
  rank.host(
      HostActivity::runtime_call, 250 * idle_us, 300 * idle_us, HostCause::synchronizing_call);
  rank.host(HostActivity::annotation, 310 * idle_us, 400 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(late(step, HostCause::data_loading) == 80 * idle_us);
  CHECK(late(step, HostCause::synchronizing_call) == 50 * idle_us);
  // [80,90) no call for long before it, [200,250), and [300,400) where the host's events go on.
  CHECK(late(step, HostCause::other) == 160 * idle_us);
  CHECK(late(step, HostCause::launch_bound) == 10 * idle_us);
  CHECK(part(step, Part::unattributed) == 100 * idle_us);
}

TEST_CASE("nodes of a graph share the launch of the graph", "[ledger]") {
  OneRank rank;
  rank.step(0, 104 * idle_us);
  rank.work(WorkClass::gemm, 10 * idle_us, 50 * idle_us, 1);
  rank.work(WorkClass::gemm, 52 * idle_us, 104 * idle_us, 1);
  rank.launch(1, 0, 6 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::host_late) == 6 * idle_us);
  CHECK(part(step, Part::launch_gap) == 6 * idle_us);  // [6,10) and [50,52)
}

TEST_CASE("a kernel that begins before its launch ends the lateness there", "[ledger]") {
  OneRank rank = two_kernels();
  rank.launch(2, 1005 * idle_us, 1010 * idle_us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::host_late) == 900 * idle_us);
}
