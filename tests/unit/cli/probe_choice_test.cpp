// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/probe_choice.h"

#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::cli;

TEST_CASE("leading words choose a group of probes at any depth", "[choice]") {
  REQUIRE(is_asked_for("roofline.gpu.memory", {}));
  REQUIRE(is_asked_for("roofline.gpu.memory", {"roofline"}));
  REQUIRE(is_asked_for("roofline.gpu.memory", {"comm", "roofline.gpu"}));
  REQUIRE(is_asked_for("roofline.gpu.memory", {"roofline.gpu.memory"}));
  REQUIRE_FALSE(is_asked_for("roofline.gpu.memory", {"roofline.gpu.mem"}));
  REQUIRE_FALSE(is_asked_for("roofline.gpu.memory", {"roofline.memory"}));
}

TEST_CASE("a word that means no probe is refused with the known ones and the remedy", "[choice]") {
  REQUIRE_NOTHROW(check_words({"comm"}, {"comm.nccl", "step.training"}));
  try {
    check_words({"roofline"}, {"comm.nccl", "step.training"}, " (or else)");
    FAIL("not refused");
  } catch (const UserError& error) {
    REQUIRE(std::string(error.what()) ==
            "--only roofline: no such probe; known: comm.nccl, step.training (or else)");
  }
}
