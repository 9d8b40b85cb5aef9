// SPDX-License-Identifier: Apache-2.0
#include "report/render_options.h"
#include "tests/golden/report/fixture.h"
#include "tests/golden/report/fixture_attribution.h"

#include <cstring>
#include <iostream>

using namespace scaleworth::report;

/// Writes a fixture's HTML page to stdout, for the browser test: `write_page
/// price|no-price|gpus|attribution`.
int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "gpus") == 0) {
    std::cout << render(
        fixture::gpu_run(), fixture::gpu_analysis(), fixture::options(Format::html));
    return std::cout.good() ? 0 : 1;
  }
  if (argc > 1 && std::strcmp(argv[1], "attribution") == 0) {
    std::cout << render_attribution(
        fixture::straggler_job(), fixture::gpu_price, fixture::attribution_options(Format::html));
    return std::cout.good() ? 0 : 1;
  }
  const bool price = argc > 1 && std::strcmp(argv[1], "price") == 0;
  std::cout << render(
      fixture::complete_run(), fixture::two_core_analysis(price), fixture::options(Format::html));
  return std::cout.good() ? 0 : 1;
}
