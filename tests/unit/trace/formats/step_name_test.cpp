// SPDX-License-Identifier: Apache-2.0
#include "trace/capture_settings.h"

#include "tests/catch.h"

using namespace scaleworth::trace;

TEST_CASE("Names of iterations give their kind and number", "[step_name]") {
  const auto profiler = parse_step_name("ProfilerStep#12");
  REQUIRE(profiler.has_value());
  CHECK(profiler->kind == "ProfilerStep");
  CHECK(profiler->number == 12);
  CHECK(profiler->preference == 0);
  CHECK(parse_step_name("train_iter_7")->number == 7);
  CHECK(parse_step_name("train_iter_7")->kind == "train_iter");
  CHECK(parse_step_name("Step: 3")->kind == "Step");
  CHECK(parse_step_name("step3")->number == 3);
  CHECK_FALSE(parse_step_name("train step")->number.has_value());
  CHECK(parse_step_name("batch 4")->preference > parse_step_name("iteration 4")->preference);
}

TEST_CASE("Names that only contain such a word are no iterations", "[step_name]") {
  for (const char* name : {"optimizer_step",
                           "Optimizer.step#Adam.step",
                           "micro_step 3",
                           "",
                           "12",
                           "steps",
                           "step 99999999999",
                           "lr_scheduler.step",
                           "dataloader batch"})
    CHECK_FALSE(parse_step_name(name).has_value());
}
