// SPDX-License-Identifier: Apache-2.0
#include "probes/host/cpu_state.h"
#include "probes/host/proc_files.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::probes::host;

namespace {

double number(const Fact& fact) {
  REQUIRE(fact.value.has_value());
  return std::get<double>(*fact.value);
}

}  // namespace

TEST_CASE("/proc/stat's first line gives busy, idle and stolen seconds", "[facts]") {
  // At 100 ticks a second: busy (1000 + 200 + 300 + 10 + 20) / 100, idle (5000 + 500) / 100,
  // stolen 400 / 100.
  const auto times = parse_machine_times(
      "cpu  1000 200 300 5000 500 10 20 400 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n", 100.0);
  REQUIRE(times.has_value());
  CHECK_THAT(times->busy_s, WithinRel(15.3, 1e-12));
  CHECK(times->idle_s == 55.0);
  CHECK(times->steal_s == 4.0);
}

TEST_CASE("an old kernel has no steal column", "[facts]") {
  const auto times = parse_machine_times("cpu 100 0 0 300\n", 100.0);
  REQUIRE(times.has_value());
  CHECK(times->steal_s == 0.0);
  CHECK(times->total_s() == 4.0);
}

TEST_CASE("malformed /proc/stat is absent", "[facts]") {
  for (const char* text :
       {"", "cpu\n", "cpu 1 2 3\n", "cpu 1 2 x 4\n", "cpu -1 2 3 4\n", "cpu0 1 2 3 4\n"}) {
    INFO(text);
    CHECK_FALSE(parse_machine_times(text, 100.0).has_value());
  }
}

TEST_CASE("load between two readings separates us, others and the hypervisor", "[facts]") {
  // 20 CPU-seconds passed: 12 busy (10 of them ours: 7 + 3 of ranks started elsewhere), 4 stolen.
  const LoadReading start{MachineTimes{100.0, 1000.0, 5.0}, 2.0};
  const LoadReading end{MachineTimes{112.0, 1004.0, 9.0}, 9.0};
  const auto facts = load_facts(start, end, 3.0);
  REQUIRE(facts.size() == 5);
  CHECK_THAT(number(facts[0]), WithinRel(0.6, 1e-12));
  CHECK_THAT(number(facts[1]), WithinRel(0.5, 1e-12));
  CHECK_THAT(number(facts[2]), WithinRel(0.1, 1e-9));
  CHECK(facts[2].name == "other_cpu_fraction");
  CHECK_THAT(number(facts[3]), WithinRel(0.2, 1e-12));
  CHECK(facts[3].name == "steal_fraction");
  CHECK(number(facts[4]) == 20.0);
}

TEST_CASE("load is absent after too short a watch, without /proc/stat, or when impossible",
          "[facts]") {
  const LoadReading start{MachineTimes{1.0, 1.0, 0.0}, 0.0};
  const LoadReading soon{MachineTimes{1.2, 1.3, 0.0}, 0.1};
  CHECK(load_facts(start, soon, 0.0)[3].source.find("0.50 CPU-seconds") != std::string::npos);
  CHECK_FALSE(load_facts(start, {std::nullopt, 1.0}, 0.0)[0].value.has_value());
  // Ours is more than all: /proc/stat of another machine.
  const LoadReading other{MachineTimes{2.0, 20.0, 0.0}, 15.0};
  CHECK_FALSE(load_facts(start, other, 0.0)[2].value.has_value());
  // Ranks of a launcher that did not report: what they used would be taken for other programs.
  CHECK(contains(load_facts(start, other, std::nullopt)[2].source, "other ranks did not report"));
}

TEST_CASE("/proc/meminfo counts in KiB and pages", "[facts]") {
  const MemoryInfo info = parse_meminfo(
      "MemTotal:       24684096 kB\nMemAvailable:   100 kB\nHugePages_Total:       3\n"
      "Hugepagesize:       2048 kB\nSwapTotal: many kB\nMemTotalExtra: 5 kB\n");
  CHECK(info.at("MemTotal") == 24684096.0 * 1024.0);
  CHECK(available_memory(info) == Bytes(102400.0));
  CHECK(info.at("HugePages_Total") == 3.0);
  CHECK(info.at("Hugepagesize") == 2048.0 * 1024.0);
  CHECK_FALSE(info.contains("SwapTotal"));
  CHECK_FALSE(available_memory({}).has_value());
}

TEST_CASE("a sysfs choice is the word in brackets", "[facts]") {
  CHECK(chosen_word("always [madvise] never\n") == "madvise");
  CHECK_FALSE(chosen_word("always madvise never").has_value());
  CHECK_FALSE(chosen_word("] odd [").has_value());
}

TEST_CASE("the frequency says what it rests on", "[facts]") {
  const CpuInfo guest = parse_cpuinfo("cpu MHz : 2700.0\nflags : hypervisor\n");
  const auto nominal = frequency_facts(guest, "/nonexistent");
  CHECK(number(nominal[0]) == 2.7e9);
  CHECK_FALSE(nominal[1].value.has_value());
  CHECK(std::get<std::string>(*nominal[2].value) == "/proc/cpuinfo (nominal)");
  const auto unknown = frequency_facts({}, "/nonexistent");
  CHECK_FALSE(unknown[0].value.has_value());
  CHECK_FALSE(unknown[2].value.has_value());
}
