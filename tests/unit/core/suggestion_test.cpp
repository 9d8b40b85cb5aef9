// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;

namespace {

const std::vector<std::string> known = {"llama-2-7b", "llama-3.1-8b", "mistral-7b", "gpt3-175b"};

}  // namespace

TEST_CASE("a mistyped name is nearest to what was meant", "[suggestion]") {
  CHECK(suggestion("gpt-3-157b", known) == "; did you mean gpt3-175b?");
  CHECK(suggestion("Llama 3.1 8B", known).starts_with("; did you mean llama-3.1-8b"));
  CHECK(suggestion("Llama-3.1-8B-Instruct", known) == "; did you mean llama-3.1-8b?");
  CHECK(suggestion("mistal", known) == "; did you mean mistral-7b?");
}

TEST_CASE("a part of a name is nearer than any other name", "[suggestion]") {
  // "7b" is 6 letters from "gpt3175b" and 7 from "mistral7b", which has it within.
  CHECK(suggestion("7b", known) == "; did you mean llama-2-7b or mistral-7b?");
}

TEST_CASE("a suggestion is a question of at most three names", "[suggestion]") {
  CHECK(suggestion("gpt3", {"gpt3-175b"}) == "; did you mean gpt3-175b?");
  CHECK(suggestion("b", {"b1", "b2", "b3", "b4"}) == "; did you mean b1, b2 or b3?");
}

TEST_CASE("what is near to nothing brings no suggestion", "[suggestion]") {
  CHECK(suggestion("b", {"a", "c"}).empty());
  CHECK(suggestion("frobnicate", {"decide", "report", "attribute"}).empty());
  CHECK(suggestion("", {"a", "b"}).empty());
  CHECK(suggestion("a", {}).empty());
}

TEST_CASE("text of a stranger shows no control character, and UTF-8 stays", "[printable]") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(printable("\x1b[31mred\x07\x7f") == bad + "[31mred" + bad + bad);
  CHECK(printable("a\nb\tc\r") == "a b c ");
  CHECK(printable("µs ± 数 \xF0\x9F\x98\x80") == "µs ± 数 \xF0\x9F\x98\x80");
  // Overlong, cut off, a lone continuation, a surrogate, beyond Unicode.
  CHECK(printable("\xC0\xAF") == bad + bad);
  CHECK(printable("a\xE2\x82") == "a" + bad + bad);
  CHECK(printable("\x80z") == bad + "z");
  CHECK(printable("\xED\xA0\x80") == bad + bad + bad);
  CHECK(printable("\xF4\x90\x80\x80") == bad + bad + bad + bad);
  // C1 controls, and marks that turn the direction of text.
  CHECK(printable("\xC2\x9B"
                  "2J") == bad + "2J");
  CHECK(printable("\xE2\x80\xAE"
                  "gpj.exe") == bad + "gpj.exe");
}
