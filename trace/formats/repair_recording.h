// SPDX-License-Identifier: Apache-2.0
/// Takes out of a recording what no machine does, and counts it.
#pragma once

#include "trace/classify.h"
#include "trace/recording.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace scaleworth::trace {
/// The same fault of many recordings, as one finding.
class Faults {
 public:
  void add(std::int64_t count, FindingId what, bool contradiction, const std::string& file) {
    Fault& fault = by_what_[what];
    fault.count += count;
    fault.contradiction = contradiction;
    fault.files.insert(file);
  }
  void say(Job& job) const {
    for (const auto& [what, fault] : by_what_)
      (fault.contradiction ? job.contradictions : job.remarks)
          .emplace_back(
              what,
              fault.count,
              fault.files.size() == 1
                  ? Finding(FindingId::stated, *fault.files.begin())
                  : Finding(FindingId::and_more, *fault.files.begin(), fault.files.size() - 1));
  }

 private:
  struct Fault {
    std::int64_t count = 0;
    bool contradiction = false;  // every figure may be wrong
    std::set<std::string> files;
  };
  std::map<FindingId, Fault> by_what_;
};

/// Kernels without a time or of more than a day, sizes of collectives above 16 TiB, launches of
/// graphs of which no kernel is recorded, kernels that last beyond the next ones of their stream:
/// taken out or cut, counted in Recording::losses and in `faults`.
void drop_impossible(Recording& recording, Faults& faults);

/// Operators of a loader are no work: while they run, the host prepares data.
void drop_loading(Recording& recording, const RuleTable& rules);
}  // namespace scaleworth::trace
