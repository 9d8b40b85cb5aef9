// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/nccl_profiler.h"

#include <algorithm>

namespace scaleworth::gpu {
NetworkWait network_wait(int state) {
  switch (state) {
    case nccl_state_send_gpu:
    case nccl_state_receive_gpu:
      return &NetworkRow::gpu_wait_ns;
    case nccl_state_send_peer:
      return &NetworkRow::peer_wait_ns;
    case nccl_state_send_network:
    case nccl_state_receive_network:
      return &NetworkRow::network_wait_ns;
    case nccl_state_receive_flush:
      return &NetworkRow::flush_wait_ns;
    default:
      return nullptr;
  }
}

void NetworkOperation::account(std::uint64_t now_ns) {
  const std::uint64_t passed = now_ns > accounted_ns_ ? now_ns - accounted_ns_ : 0;
  accounted_ns_ = std::max(accounted_ns_, now_ns);
  if (oldest_ == begun_) return;
  if (const NetworkWait wait = step(oldest_).wait) row_.*wait += passed;
}

NetworkOperation::Step* NetworkOperation::begin_step(std::uint64_t now_ns) {
  if (begun_ - oldest_ == steps_.size()) return nullptr;
  account(now_ns);
  Step& begun = step(begun_++);
  begun = {this, nullptr, true};
  ++row_.steps;
  return &begun;
}

void NetworkOperation::end_lead(const Step& step) {
  if (!leads_ || &step != &steps_.front() || step.wait == nullptr) return;
  leads_ = false;
  row_.lead_ns = accounted_ns_ - began_ns_;
}

void NetworkOperation::enter(Step& step,
                             NetworkWait wait,
                             std::uint64_t bytes,
                             std::uint64_t now_ns) {
  account(now_ns);
  if (step.wait != wait) end_lead(step);
  step.wait = wait;
  row_.bytes += bytes;
}

void NetworkOperation::end_step(Step& ended, std::uint64_t now_ns) {
  account(now_ns);
  end_lead(ended);
  leads_ = leads_ && &ended != &steps_.front();  // its place is used again
  ended.under_way = false;
  while (oldest_ < begun_ && !step(oldest_).under_way) ++oldest_;
}

NetworkRow NetworkOperation::end(std::uint64_t now_ns) {
  account(now_ns);
  row_.duration_ns = accounted_ns_ - began_ns_;
  return row_;
}
}  // namespace scaleworth::gpu
