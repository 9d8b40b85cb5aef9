// SPDX-License-Identifier: Apache-2.0
#include "src/core/span.h"

namespace scaleworth {

const char* activity_name(Activity activity) {
  switch (activity) {
    case Activity::step:
      return "step";
    case Activity::compute:
      return "compute";
    case Activity::optimizer:
      return "optimizer";
    case Activity::host:
      return "host";
    case Activity::post:
      return "post collective";
    case Activity::progress:
      return "progress communication";
    case Activity::collective_wait:
      return "collective wait";
  }
  return "unknown";
}

}  // namespace scaleworth
