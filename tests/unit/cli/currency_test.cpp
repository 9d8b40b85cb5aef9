// SPDX-License-Identifier: Apache-2.0
#include "src/cli/currency.h"

#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::cli;

namespace {

std::string message_in(const std::string& currency) {
  try {
    in_currency(currency, []() -> int { throw UserError("give --price in USD per hour"); });
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the message of an error names the currency of the amounts", "[cli]") {
  CHECK(message_in("EUR") == "give --price in EUR per hour");
  CHECK(message_in("USD") == "give --price in USD per hour");
}

TEST_CASE("a body that does not throw keeps its exit code", "[cli]") {
  CHECK(in_currency("EUR", [] { return 3; }) == 3);
}
