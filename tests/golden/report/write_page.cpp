// SPDX-License-Identifier: Apache-2.0
#include "report/render_options.h"
#include "tests/golden/report/fixture.h"
#include "tests/golden/report/fixture_attribution.h"
#include "tests/golden/report/fixture_decide.h"

#include <cstdlib>
#include <cstring>
#include <iostream>

using namespace scaleworth::report;

/// Writes a fixture's HTML page to stdout, for the browser test: `write_page
/// price|no-price|gpus|attribution`, `write_page decide PRICE VALUE_OF_TIME DEADLINE_HOURS`.
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
  if (argc > 4 && std::strcmp(argv[1], "decide") == 0) {
    std::cout << render_decision(
        fixture::priced_decision(std::atof(argv[2]), std::atof(argv[3]), std::atof(argv[4])),
        fixture::table_options("runs.csv", Format::html));
    return std::cout.good() ? 0 : 1;
  }
  const bool price = argc > 1 && std::strcmp(argv[1], "price") == 0;
  std::cout << render(
      fixture::complete_run(), fixture::two_core_analysis(price), fixture::options(Format::html));
  return std::cout.good() ? 0 : 1;
}
