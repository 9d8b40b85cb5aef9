// SPDX-License-Identifier: Apache-2.0
/// Sizes of a sweep that turned out to be too large for the memory.
#pragma once

#include "probes/ranks.h"
#include "src/core/units.h"

#include <map>
#include <string>
#include <vector>

namespace scaleworth::probes {

/// A limit for each line of the sweep: settings of a topology that differ in size only. A way that
/// finds no room for its own buffers tells nothing about the others.
class SizeLimits {
 public:
  /// `work` found no memory: neither does what is as large or larger.
  void lower(const std::string& topology, const CollectiveWork& work, const std::string& reason);
  /// Whether `work` is as large as one that found no memory; it counts as left out then.
  bool leaves_out(const std::string& topology, const CollectiveWork& work);
  /// "all_reduce, isolated, all ranks, NVLS/Simple: from 4294967296 B on no memory (3 sizes left
  /// out): rank 2: ...", per line with a limit.
  std::vector<std::string> sentences() const;

 private:
  struct Limit {
    Bytes smallest;  // that found no memory
    std::string reason;
    int left_out = 0;
  };
  std::map<std::string, Limit> limits_;  // by the line's name
};

}  // namespace scaleworth::probes
