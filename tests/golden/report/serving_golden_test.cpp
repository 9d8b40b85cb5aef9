// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/report/fixture.h"
#include "tests/golden/report/require_golden.h"

using namespace scaleworth;
using namespace scaleworth::report;

TEST_CASE("the report on a loaded server is as committed", "[golden]") {
  const auto question = fixture::loaded_server();
  const auto answer = model::serve(question);
  const MfuNames names = fixture::server_names();
  require_golden("serving.txt", render_serving({question, answer, names, {}}));
  require_golden("serving_details.txt",
                 render_serving({question, answer, names, {Format::text, false, 100, true}}));
  require_golden("serving.md", render_serving({question, answer, names, {Format::markdown}}));
  require_golden("serving.csv", render_serving({question, answer, names, {Format::csv}}));
}

TEST_CASE("the report on a server that is too small is as committed", "[golden]") {
  const auto question = fixture::too_small_server();
  require_golden("serving_too_small.txt",
                 render_serving({question, model::serve(question), fixture::server_names(), {}}));
}

TEST_CASE("the report on a training budget is as committed", "[golden]") {
  const auto question = fixture::million_dollars();
  const auto plan = model::plan_training(question);
  const MfuNames names = fixture::budget_names();
  require_golden("training_budget.txt", render_budget({question, plan, names, {}}));
  require_golden("training_budget.csv", render_budget({question, plan, names, {Format::csv}}));
  require_golden("training_budget.json", render_budget({question, plan, names, {Format::json}}));
}
