// SPDX-License-Identifier: Apache-2.0
#include "probes/suite.h"

#include "src/core/error.h"

namespace scaleworth::probes {

const char* suite_name(Suite suite) {
  return suite == Suite::quick ? "quick" : "standard";
}

Suite parse_suite(const std::string& name) {
  if (name == "quick") return Suite::quick;
  if (name == "standard") return Suite::standard;
  throw UserError("unknown suite '" + name + "': use quick or standard");
}

}  // namespace scaleworth::probes
