// SPDX-License-Identifier: Apache-2.0
/// What NCCL told of its network operations and channels, by the call that they belong to.
#pragma once

#include "src/core/attribution/nccl_use.h"
#include "trace/format/recording/rows/rows.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace scaleworth::trace::recording {

class NcclUses {
 public:
  void add(std::span<const NetworkRow> rows);
  void add(std::span<const ChannelRow> rows);
  /// To be called after the last `add`, before `of`.
  void sort();
  /// Absent when nothing was told of the call. What operations waited for before the call's kernel
  /// began is left out: they begin when it is launched.
  std::optional<attribution::NcclUse> of(const CollectiveRow& call,
                                         std::chrono::nanoseconds kernel_start) const;
  /// Rows that contradict themselves, which are left out.
  std::int64_t impossible() const { return impossible_; }

 private:
  using Call = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;  // communicator, call, rank
  struct Network {
    Call call;
    attribution::NcclUse use;
    std::uint64_t start_ns;
    std::uint64_t lead_ns;
    bool sends;
  };
  static attribution::NcclUse since(const Network& network, std::chrono::nanoseconds kernel_start);

  struct Channel {
    Call call;
    std::uint64_t gpu_end_ns;
  };

  std::vector<Network> networks_;
  std::vector<Channel> channels_;
  std::int64_t impossible_ = 0;
};

/// Adds what was told of another call to `sum`; sums stop where they would run over.
void add_use(const attribution::NcclUse& more, attribution::NcclUse& sum);

}  // namespace scaleworth::trace::recording
