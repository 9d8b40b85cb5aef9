// SPDX-License-Identifier: Apache-2.0
#include "src/cli/application.h"

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

TEST_CASE("failures and instances are asked for by flags that say what is wrong with them",
          "[cli]") {
  for (const char* hours : {"50700", "published", "none", "0"}) {
    CHECK(told({"--price", "2", "--mtbf-hours", hours, "--checkpoint-s", "30"}) == exit_done);
  }
  for (const char* hours : {"-1", "often", "nan"}) {
    CHECK(told({"--price", "2", "--mtbf-hours", hours}) == exit_usage);
  }
  const std::vector<std::string> spot{
      "--price", "2", "--spot-price", "1", "--preemption-per-hour", "0", "--reacquire-s", "60"};
  CHECK(told(spot) == exit_done);
  CHECK(told({"--price", "2", "--ranks-per-instance", "8"}) == exit_usage);
  CHECK(told({"--price", "2", "--reacquire-s", "60"}) == exit_usage);
}

TEST_CASE("a threshold in per cent and a work of nothing are refused", "[cli]") {
  CHECK(told({"--efficiency-threshold", "70"}) == exit_usage);
  CHECK(told({"--efficiency-threshold", "0.7"}) == exit_done);
  CHECK(told({"--work", "0"}) == exit_usage);
}

namespace mfu_command_test {
using namespace scaleworth::cli;

namespace {
/// Exit code of `scaleworth mfu` with these words.
int told(std::vector<std::string> words) {
  words.insert(words.begin(), {"scaleworth", "mfu"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return run_application(static_cast<int>(arguments.size()), arguments.data());
}

const std::vector<std::string> run_of_gpt3{
    "--model", "gpt3-175b", "--gpu", "a100-80gb", "--gpus", "1024", "--tokens-per-second", "1e5"};
const std::vector<std::string> budget{"--budget-flops", "1e21"};
const std::vector<std::string> server{"--inference", "--model", "gpt3-175b", "--gpu", "a100-80gb"};

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}
}  // namespace

TEST_CASE("a run, a budget and a server are each told", "[cli]") {
  CHECK(told(run_of_gpt3) == exit_done);
  CHECK(told(budget) == exit_done);
  CHECK(told(with(server, {"--gpus", "8"})) == exit_done);
}

TEST_CASE("a flag that would change nothing is refused", "[cli]") {
  CHECK(told(with(run_of_gpt3, {"--mfu", "0.4"})) == exit_usage);
  CHECK(told(with(budget, {"--tokens", "300e9"})) == exit_usage);
  CHECK(told(with(budget, {"--convention", "palm"})) == exit_usage);
  CHECK(told(with(server, {"--recompute", "full"})) == exit_usage);
  CHECK(told(with(server, {"--mtp-layers", "1"})) == exit_usage);
  CHECK(told(with(run_of_gpt3, {"--mtp-layers", "1"})) == exit_done);
  CHECK(told(with(run_of_gpt3, {"--mtp-layers", "-1"})) == exit_usage);
}

TEST_CASE("a request longer than the model has positions for is refused", "[cli]") {
  CHECK(told(with(server, {"--prompt", "1800", "--output", "248"})) == exit_done);
  CHECK(told(with(server, {"--prompt", "1800", "--output", "249"})) == exit_usage);
}

TEST_CASE("nothing asked is wrong usage", "[cli]") {
  CHECK(told({}) == exit_usage);
}

}  // namespace mfu_command_test
