// SPDX-License-Identifier: Apache-2.0
#include "report/render_options.h"
#include "tests/golden/report/fixture.h"
#include "tests/golden/report/fixture_attribution.h"
#include "tests/golden/report/fixture_decide.h"
#include "tests/golden/report/fixture_mfu.h"
#include "tests/golden/report/fixture_serving.h"

#include <cstdlib>
#include <iostream>

using namespace scaleworth;
using namespace scaleworth::report;

namespace {
std::string page(const std::string& name) {
  const RenderOptions options = fixture::options(Format::html);
  if (name == "gpus") return render(fixture::gpu_run(), fixture::gpu_analysis(), options);
  if (name == "attribution") {
    return render_attribution(
        fixture::straggler_job(), fixture::gpu_price, fixture::attribution_options(Format::html));
  }
  if (name == "decide") {
    return render_decision(fixture::priced_decision(2.5, 0, 0),
                           fixture::table_options("runs.csv", Format::html));
  }
  if (name == "serving") {
    const auto question = fixture::loaded_server();
    return render_serving({question, model::serve(question), fixture::server_names(), options});
  }
  if (name == "mfu") {
    const model::TrainingRun run = fixture::gpt3_recomputing_run();
    return render_mfu({run, model::use_of_training(run), fixture::mfu_names(), options});
  }
  return render(fixture::complete_run(), fixture::two_core_analysis(name == "price"), options);
}
}  // namespace

/// Writes a fixture's HTML page to stdout, for the browser test: `write_page
/// price|no-price|gpus|attribution|decide|serving|mfu`, or `write_page decide PRICE VALUE_OF_TIME
/// DEADLINE_HOURS`.
int main(int argc, char** argv) {
  if (argc > 4)
    std::cout << render_decision(
        fixture::priced_decision(std::atof(argv[2]), std::atof(argv[3]), std::atof(argv[4])),
        fixture::table_options("runs.csv", Format::html));
  else
    std::cout << page(argc > 1 ? argv[1] : "no-price");
  return std::cout.good() ? 0 : 1;
}
