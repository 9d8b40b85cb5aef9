// SPDX-License-Identifier: Apache-2.0
/// What NCCL told of its network operations and channels, by the call that they belong to.
#pragma once

#include "src/core/attribution/nccl_use.h"
#include "trace/format/recording/rows/rows.h"

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
  /// Absent when nothing was told of the call.
  std::optional<attribution::NcclUse> of(const CollectiveRow& call) const;
  /// Rows that contradict themselves, which are left out.
  std::int64_t impossible() const { return impossible_; }

 private:
  using Call = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;  // communicator, call, rank
  struct Network {
    Call call;
    attribution::NcclUse use;
  };
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
