// SPDX-License-Identifier: Apache-2.0
#include "src/cli/application.h"
#include "src/cli/exit_code.h"
#include "tests/catch.h"

#include <string>
#include <vector>

using namespace scaleworth::cli;

namespace {

/// Exit code of `scaleworth decide` on a curve, with more words.
int told(const std::vector<std::string>& more) {
  std::vector<std::string> words{"scaleworth", "decide", "--serial", "0.03", "--comm", "0.0015"};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return run_application(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

TEST_CASE("a companion flag without the one that it explains is refused", "[cli]") {
  CHECK(told({"--deadline-probability", "0.9"}) == exit_usage);
  CHECK(told({"--deadline-probability", "0.9", "--deadline-hours", "0.2"}) == exit_done);
  CHECK(told({"--latency", "p99"}) == exit_usage);
  CHECK(told({"--price", "2", "--checkpoint-s", "30"}) == exit_usage);
  CHECK(told({"--idle-watts-fraction", "0.4", "--watts-per-rank", "700"}) == exit_done);
}

TEST_CASE("a threshold in per cent and a work of nothing are refused", "[cli]") {
  CHECK(told({"--efficiency-threshold", "70"}) == exit_usage);
  CHECK(told({"--efficiency-threshold", "0.7"}) == exit_done);
  CHECK(told({"--work", "0"}) == exit_usage);
}
