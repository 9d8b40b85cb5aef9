// SPDX-License-Identifier: Apache-2.0
/// Where the time of NCCL's network operations goes, and what NCCL keeps for its events.
#include "cuda/inject/nccl/network_operation.h"

#include "cuda/inject/nccl/nccl_handle.h"
#include "cuda/nccl/plugins/profiler_interface.h"
#include "tests/catch.h"

namespace scaleworth::gpu {
namespace {

using trace::recording::NetworkRow;

TEST_CASE("an operation waits for what its oldest transfer waits for", "[capture]") {
  NetworkOperation operation({}, 100);
  auto* first = operation.begin_step(100);
  operation.enter(*first, NetworkWait::gpu, 0, 100);
  auto* second = operation.begin_step(110);
  operation.enter(*second, NetworkWait::gpu, 0, 110);
  operation.enter(*first, NetworkWait::peer, 0, 130);       // GPU: 100 to 130
  operation.enter(*first, NetworkWait::network, 512, 135);  // credit: 130 to 135
  operation.enter(*second, NetworkWait::network, 256, 140);
  operation.end_step(*first, 150);            // network: 135 to 150
  operation.end_step(*second, 170);           // the second is the oldest now: network again, to 170
  const NetworkRow row = operation.end(180);  // nothing under way: 170 to 180
  CHECK(row.gpu_wait_ns == 30);
  CHECK(row.peer_wait_ns == 5);
  CHECK(row.network_wait_ns == 35);
  CHECK(row.flush_wait_ns == 0);
  CHECK(row.duration_ns == 80);
  CHECK(row.lead_ns == 30);
  CHECK(row.steps == 2);
  CHECK(row.bytes == 768);
}

TEST_CASE("a transfer that ends before an older one changes nothing until that has ended",
          "[capture]") {
  NetworkOperation operation({}, 0);
  auto* first = operation.begin_step(0);
  auto* second = operation.begin_step(0);
  operation.enter(*first, NetworkWait::network, 0, 0);
  operation.enter(*second, NetworkWait::gpu, 0, 0);
  operation.end_step(*second, 10);
  operation.end_step(*first, 30);
  const NetworkRow row = operation.end(30);
  CHECK(row.network_wait_ns == 30);
  CHECK(row.gpu_wait_ns == 0);
}

TEST_CASE("the lead ends with the first transfer's first wait, once", "[capture]") {
  NetworkOperation operation({}, 0);
  auto* first = operation.begin_step(2);
  operation.enter(*first, NetworkWait::network, 0, 3);
  operation.enter(*first, NetworkWait::network, 0, 5);
  operation.end_step(*first, 9);
  for (int i = 0; i < 20; ++i) operation.end_step(*operation.begin_step(10), 11);
  CHECK(operation.end(20).lead_ns == 9);
}

TEST_CASE("transfers beyond those that are followed are passed over", "[capture]") {
  NetworkOperation operation({}, 0);
  NetworkOperation::Step* oldest = operation.begin_step(0);
  for (int i = 1; i < 16; ++i) REQUIRE(operation.begin_step(0) != nullptr);
  CHECK(operation.begin_step(0) == nullptr);
  operation.end_step(*oldest, 1);
  CHECK(operation.begin_step(1) != nullptr);
}

TEST_CASE("a clock that steps back takes nothing away", "[capture]") {
  NetworkOperation operation({}, 100);
  auto* step = operation.begin_step(100);
  operation.enter(*step, NetworkWait::flush, 0, 100);
  operation.enter(*step, NetworkWait::gpu, 0, 120);
  operation.end_step(*step, 90);
  const NetworkRow row = operation.end(95);
  CHECK(row.flush_wait_ns == 20);
  CHECK(row.gpu_wait_ns == 0);
  CHECK(row.duration_ns == 20);
}

TEST_CASE("NCCL's states are waits for GPU, peer, network or flush", "[capture]") {
  CHECK(network_wait(nccl_state_send_gpu) == NetworkWait::gpu);
  CHECK(network_wait(nccl_state_receive_gpu) == NetworkWait::gpu);
  CHECK(network_wait(nccl_state_send_peer) == NetworkWait::peer);
  CHECK(network_wait(nccl_state_send_network) == NetworkWait::network);
  CHECK(network_wait(nccl_state_receive_network) == NetworkWait::network);
  CHECK(network_wait(nccl_state_receive_flush) == NetworkWait::flush);
  CHECK_FALSE(network_wait(nccl_state_kernel_channel_end));
  CHECK_FALSE(network_wait(19));  // an operation is in progress
}

TEST_CASE("a handle tells what NCCL gives back", "[capture]") {
  const NcclHandle call(NcclHandle::of_call(7));
  CHECK(call.kind() == NcclHandle::Kind::call);
  CHECK(call.call() == 7);
  NetworkRow row;
  const NcclHandle object(NcclHandle::of(&row, NcclHandle::Kind::channel));
  CHECK(object.kind() == NcclHandle::Kind::channel);
  CHECK(object.object<NetworkRow>() == &row);
  CHECK(NcclHandle(nullptr).kind() == NcclHandle::Kind::none);
  CHECK(NcclHandle::of(static_cast<NetworkRow*>(nullptr), NcclHandle::Kind::step) == nullptr);
}

}  // namespace
}  // namespace scaleworth::gpu
