// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/steps/repetition.h"

#include "tests/catch.h"

#include <random>

using namespace scaleworth::trace;

namespace {

/// Kernels of 10 ns, 1 ns apart; "|" is a pause of 50 ns.
Recording kernels(const std::vector<std::string>& names) {
  Recording recording;
  std::int64_t now = 0;
  for (const std::string& name : names) {
    if (name == "|") {
      now += 50;
      continue;
    }
    DeviceEvent event;
    event.start = nanoseconds(now);
    event.end = nanoseconds(now + 10);
    event.name = recording.names.intern(name);
    recording.device_events.push_back(event);
    now += 11;
  }
  return recording;
}

void append(std::vector<std::string>& names, std::initializer_list<const char*> more, int times) {
  for (int i = 0; i < times; ++i) names.insert(names.end(), more.begin(), more.end());
}

/// Layers forward and back, loss and update once per step.
std::vector<std::string> training(int steps, int layers) {
  std::vector<std::string> names;
  for (int step = 0; step < steps; ++step) {
    append(names, {"|", "embedding"}, 1);
    append(names, {"norm", "attention", "gemm"}, layers);
    append(names, {"loss"}, 1);
    append(names, {"gemm_back", "attention_back"}, layers);
    append(names, {"update"}, 1);
  }
  return names;
}

}  // namespace

TEST_CASE("iterations are found, not the layers within them", "[steps]") {
  const auto found = find_repetition(kernels(training(6, 24)));
  REQUIRE(found);
  CHECK(found->anchor == "embedding");  // the device pauses before it
  CHECK(found->begins.size() == 6);
  CHECK(found->period == 3 + 5 * 24);
  CHECK(found->agreement == 1.0);
}

TEST_CASE("a kernel now and then does not hide the iterations", "[steps]") {
  auto names = training(40, 3);
  for (std::size_t at = 10; at < names.size(); at += 190)
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(at), "log");
  const auto found = find_repetition(kernels(names));
  REQUIRE(found);
  CHECK(found->begins.size() == 40);
}

TEST_CASE("one kernel is enough where layers break off at it", "[steps]") {
  std::vector<std::string> names;
  for (int step = 0; step < 10; ++step) {
    append(names, {"norm", "attention", "gemm", "relu"}, 16);
    append(names, {"update", "update", "update"}, 1);
    append(names, {"clip"}, 1);
  }
  const auto found = find_repetition(kernels(names));
  REQUIRE(found);
  CHECK(found->anchor == "clip");
  CHECK(found->begins.size() == 10);
}

TEST_CASE("iterations that vary a little still repeat", "[steps]") {
  std::mt19937 random(1);
  std::vector<std::string> names;
  for (int step = 0; step < 20; ++step) {
    append(names, {"load"}, 1);
    append(names, {"gemm", "relu"}, 20 + static_cast<int>(random() % 2));
    append(names, {"update"}, 1);
  }
  const auto found = find_repetition(kernels(names));
  REQUIRE(found);
  CHECK(found->begins.size() == 20);
  CHECK(found->agreement < 1.0);
  CHECK(found->agreement > 0.9);
}

TEST_CASE("what does not come back regularly is no repetition", "[steps]") {
  CHECK(!find_repetition(kernels({})));
  CHECK(!find_repetition(kernels({"a", "b", "a", "b", "a", "b"})));  // three times is too few
  std::mt19937 random(2);
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i)
    names.push_back(std::string(1, static_cast<char>('a' + random() % 20)));
  CHECK(!find_repetition(kernels(names)));
  CHECK(!find_repetition(kernels(std::vector<std::string>(100, "same"))));
}

TEST_CASE("a repetition over a small part of the recording does not count", "[steps]") {
  auto names = training(5, 4);
  for (int i = 0; i < 400; ++i) names.push_back("other" + std::to_string(i));
  CHECK(!find_repetition(kernels(names)));
}

TEST_CASE("another rank's anchor is looked for by name", "[steps]") {
  const auto found = repetition_of(kernels(training(6, 8)), "update");
  REQUIRE(found);
  CHECK(found->begins.size() == 6);
  CHECK(!repetition_of(kernels(training(6, 8)), "gemm_back"));
  CHECK(!repetition_of(kernels(training(6, 8)), "absent"));
}
