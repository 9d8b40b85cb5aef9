// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/ledger/one_rank.h"

using namespace scaleworth;
using namespace scaleworth::trace;
using attribution::HostCause;
using attribution::StepLedger;
using attribution::WorkClass;

namespace {

constexpr std::int64_t us = 1000;

/// Kernel 1 runs [10,100) us, launched early. Kernel 2 runs [1000,1100) us.
OneRank two_kernels() {
  OneRank rank;
  rank.step(10 * us, 1100 * us);
  rank.work(WorkClass::gemm, 10 * us, 100 * us, 1);
  rank.work(WorkClass::gemm, 1000 * us, 1100 * us, 2);
  rank.launch(1, 0, 5 * us);
  return rank;
}

}  // namespace

TEST_CASE("before the launch the host is late, after it there is a launch gap", "[ledger]") {
  OneRank rank = two_kernels();
  rank.launch(2, 985 * us, 990 * us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::host_late) == 890 * us);  // [100,990)
  CHECK(part(step, Part::launch_gap) == 10 * us);  // [990,1000)
  // The launch call itself; before it the thread pauses for 980 us, longer than dispatching takes.
  CHECK(late(step, HostCause::launch_bound) == 5 * us);
  CHECK(late(step, HostCause::other) == 885 * us);
}

TEST_CASE("a host that only dispatches is launch bound", "[ledger]") {
  OneRank rank = two_kernels();
  rank.launch(0, 480 * us, 490 * us);  // pauses of 475 and 490 us
  rank.launch(2, 980 * us, 1000 * us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::host_late) == 900 * us);
  CHECK(late(step, HostCause::launch_bound) == 900 * us);
}

TEST_CASE("the innermost event of the launching thread names the cause", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::annotation, 50 * us, 400 * us, HostCause::data_loading);
  rank.host(HostActivity::runtime_call, 200 * us, 250 * us, HostCause::allocation);
  rank.host(HostActivity::annotation, 0, 1100 * us, HostCause::synchronizing_call, 5);  // elsewhere
  rank.launch(2, 990 * us, 1000 * us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(late(step, HostCause::data_loading) == 250 * us);  // [100,200) and [250,400)
  CHECK(late(step, HostCause::allocation) == 50 * us);
  CHECK(late(step, HostCause::synchronizing_call) == 0);
  // Calls end at 250 and begin at 990: the pause is too long for dispatching.
  CHECK(late(step, HostCause::launch_bound) == 10 * us);
  CHECK(late(step, HostCause::other) == 590 * us);
}

TEST_CASE("dispatching after a synchronizing call is due to it", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::runtime_call, 6 * us, 110 * us, HostCause::synchronizing_call);
  rank.launch(0, 480 * us, 490 * us);
  rank.launch(2, 980 * us, 1000 * us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(late(step, HostCause::synchronizing_call) == 900 * us);
  CHECK(late(step, HostCause::launch_bound) == 0);
}

TEST_CASE("garbage collection on any thread stops the launching one", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::annotation, 150 * us, 450 * us, HostCause::garbage_collection, 3);
  rank.launch(2, 990 * us, 1000 * us);
  CHECK(late(rank.ledger().at(0), HostCause::garbage_collection) == 300 * us);
}

TEST_CASE("the profiler's own work is told from that of the program", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::overhead, 120 * us, 220 * us);
  rank.host(HostActivity::overhead, 300 * us, 320 * us, HostCause::module_loading);
  rank.launch(2, 940 * us, 950 * us);
  rank.host(HostActivity::overhead, 960 * us, 990 * us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::profiler_overhead) == 130 * us);
  CHECK(late(step, HostCause::module_loading) == 20 * us);
  // [950,1000) less the profiler's 30 us: launched, not running, too long for a launch, no reason.
  CHECK(part(step, Part::unattributed) == 20 * us);
}

TEST_CASE("the pause between two kernels of a stream is a launch gap", "[ledger]") {
  OneRank rank;
  rank.step(0, 202 * us);
  rank.work(WorkClass::gemm, 0, 100 * us, 1);
  rank.work(WorkClass::gemm, 102 * us, 202 * us, 2);
  rank.launch(2, 10 * us, 15 * us);
  CHECK(part(rank.ledger().at(0), Part::launch_gap) == 2 * us);
}

TEST_CASE("work that was launched and whose stream was free waited for another", "[ledger]") {
  OneRank rank;
  rank.step(0, 203 * us);
  rank.work(WorkClass::gemm, 0, 50 * us, 1, 7);
  rank.work(WorkClass::copy, 0, 100 * us, 2, 9);
  rank.work(WorkClass::gemm, 103 * us, 203 * us, 3, 7);
  rank.launch(3, 10 * us, 15 * us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::dependency_idle) == 3 * us);

  // Launched only 5 us before it began: an ordinary launch.
  OneRank other;
  other.step(0, 203 * us);
  other.work(WorkClass::copy, 0, 100 * us, 2, 9);
  other.work(WorkClass::gemm, 103 * us, 203 * us, 3, 7);
  other.launch(3, 90 * us, 98 * us);
  CHECK(part(other.ledger().at(0), Part::launch_gap) == 3 * us);
}

TEST_CASE("a stream that was told to wait explains a long pause", "[ledger]") {
  OneRank rank = two_kernels();
  rank.launch(2, 20 * us, 25 * us);
  CHECK(part(rank.ledger().at(0), Part::unattributed) == 900 * us);
  OneRank told = two_kernels();
  told.stream_waits(7, 15 * us);
  told.launch(2, 20 * us, 25 * us);
  CHECK(part(told.ledger().at(0), Part::dependency_idle) == 900 * us);
  OneRank before = two_kernels();
  before.stream_waits(7, 2 * us);  // before the launch of the work ahead of it
  before.launch(2, 20 * us, 25 * us);
  CHECK(part(before.ledger().at(0), Part::unattributed) == 900 * us);
}

TEST_CASE("without a launch only what the host shows is attributed", "[ledger]") {
  OneRank rank = two_kernels();
  rank.host(HostActivity::runtime_call, 150 * us, 250 * us, HostCause::allocation);
  const StepLedger step = rank.ledger().at(0);
  CHECK(late(step, HostCause::allocation) == 100 * us);
  CHECK(part(step, Part::unattributed) == 800 * us);
}

TEST_CASE("idle time at the ends of a step belongs to it", "[ledger]") {
  OneRank rank;
  rank.step(0, 500 * us);
  rank.work(WorkClass::gemm, 100 * us, 200 * us, 1);
  rank.host(HostActivity::annotation, 0, 80 * us, HostCause::data_loading);
  rank.launch(1, 90 * us, 100 * us);
  rank.host(HostActivity::runtime_call, 250 * us, 300 * us, HostCause::synchronizing_call);
  rank.host(HostActivity::annotation, 310 * us, 400 * us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(late(step, HostCause::data_loading) == 80 * us);
  CHECK(late(step, HostCause::synchronizing_call) == 50 * us);
  // [80,90) no call for long before it, [200,250), and [300,400) where the host's events go on.
  CHECK(late(step, HostCause::other) == 160 * us);
  CHECK(late(step, HostCause::launch_bound) == 10 * us);
  CHECK(part(step, Part::unattributed) == 100 * us);
}

TEST_CASE("nodes of a graph share the launch of the graph", "[ledger]") {
  OneRank rank;
  rank.step(0, 104 * us);
  rank.work(WorkClass::gemm, 10 * us, 50 * us, 1);
  rank.work(WorkClass::gemm, 52 * us, 104 * us, 1);
  rank.launch(1, 0, 6 * us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::host_late) == 6 * us);
  CHECK(part(step, Part::launch_gap) == 6 * us);  // [6,10) and [50,52)
}

TEST_CASE("a kernel that begins before its launch ends the lateness there", "[ledger]") {
  OneRank rank = two_kernels();
  rank.launch(2, 1005 * us, 1010 * us);
  const StepLedger step = rank.ledger().at(0);
  CHECK(part(step, Part::host_late) == 900 * us);
}
