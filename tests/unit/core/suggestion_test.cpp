// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;

namespace {

const std::vector<std::string> known = {"llama-2-7b", "llama-3.1-8b", "mistral-7b", "gpt3-175b"};

}  // namespace

TEST_CASE("a mistyped name is nearest to what was meant", "[suggestion]") {
  CHECK(suggestion("gpt-3-157b", known).starts_with("did you mean gpt3-175b,"));
  CHECK(suggestion("Llama 3.1 8B", known).starts_with("did you mean llama-3.1-8b,"));
  CHECK(suggestion("mistal", known).starts_with("did you mean mistral-7b,"));
}

TEST_CASE("a part of a name is nearer than any other name", "[suggestion]") {
  // "7b" is 6 letters from "gpt3175b" and 7 from "mistral7b", which has it within.
  CHECK(suggestion("7b", known).starts_with("did you mean llama-2-7b, mistral-7b or "));
}

TEST_CASE("a suggestion is a question of at most three names", "[suggestion]") {
  CHECK(suggestion("gpt3", {"gpt3-175b"}) == "did you mean gpt3-175b?");
  CHECK(suggestion("b", {"a", "b", "c", "d"}) == "did you mean b, a or c?");
  CHECK(suggestion("", {"a", "b"}) == "did you mean a or b?");
  CHECK(suggestion("a", {}) == "nothing is known");
}
