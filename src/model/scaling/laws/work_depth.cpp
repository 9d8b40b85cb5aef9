// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/laws/work_depth.h"

#include "src/core/error.h"

#include <algorithm>

namespace scaleworth::model {
namespace {

void check(const WorkDepth& of) {
  if (!(of.depth.value() > 0.0) || !(of.work >= of.depth)) {
    throw UserError("work and depth must be above 0, and the depth is a part of the work");
  }
}

}  // namespace

Interval<Seconds> work_depth_bounds(const WorkDepth& of, int ranks) {
  check(of);
  if (ranks < 1) throw UserError("work is shared among one rank or more");
  const Seconds share = of.work / static_cast<double>(ranks);
  return {std::max(share, of.depth), share + of.depth};
}

double parallelism(const WorkDepth& of) {
  check(of);
  return of.work.value() / of.depth.value();
}

}  // namespace scaleworth::model
