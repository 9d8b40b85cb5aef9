// SPDX-License-Identifier: Apache-2.0
/// From nested ranges to disjoint ones: each instant belongs to the innermost range over it.
#pragma once

#include "trace/analysis/ledger/host_evidence.h"

#include <vector>

namespace scaleworth::trace {

/// Takes ranges in the order of their starts, outer ones first where starts agree. A range that
/// outlasts the one it began in takes the time from it. Linear in the number of ranges.
class InnermostStretches {
 public:
  void add(const HostStretch& range) {
    close_until(range.start);
    if (!open_.empty()) emit(range.start);
    from_ = range.start;
    open_.push_back(range);
  }

  std::vector<HostStretch> finish() {
    close_until(nanoseconds::max());
    return std::move(done_);
  }

 private:
  void close_until(nanoseconds time) {
    while (!open_.empty() && open_.back().end <= time) {
      emit(open_.back().end);
      open_.pop_back();
    }
  }

  void emit(nanoseconds end) {
    if (from_ < end) {
      done_.push_back({from_, end, open_.back().cause});
      from_ = end;
    }
  }

  std::vector<HostStretch> open_;
  std::vector<HostStretch> done_;
  nanoseconds from_{};
};

}  // namespace scaleworth::trace
