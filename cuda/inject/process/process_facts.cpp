// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/process/process_facts.h"

#include "src/core/version.h"

#include <array>
#include <cerrno>
#include <ctime>

#include <unistd.h>

namespace scaleworth::gpu {
namespace {

struct Launcher {
  const char* rank;
  const char* world_size;
  const char* only_with;  // counts only where this is set too; null for always
};
constexpr std::array<Launcher, 5> launchers{
    {{"RANK", "WORLD_SIZE", nullptr},
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
     {"PMI_RANK", "PMI_SIZE", nullptr},
     {"PMIX_RANK", "PMIX_SIZE", nullptr}}};

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

RankFacts rank_facts(const std::function<const char*(const char*)>& value) {
  const auto text = [&](const char* variable) {
    const char* found = variable == nullptr ? nullptr : value(variable);
    return std::string(found == nullptr ? "" : found);
  };
  for (const Launcher& launcher : launchers) {
    const std::string rank = text(launcher.rank);
    if (!is_number(rank)) continue;
    if (launcher.only_with != nullptr && text(launcher.only_with).empty()) continue;
    const std::string size = text(launcher.world_size);
    return {rank, is_number(size) ? size : std::string(), launcher.rank};
  }
  return {};
}

std::vector<trace::recording::Fact> process_facts(const RankFacts& rank, const std::string& run) {
  std::vector<trace::recording::Fact> facts{{"tool", "scaleworth " + tool_version()},
                                            {"host", host_name()},
                                            {"process", std::to_string(::getpid())},
                                            {"parent", std::to_string(::getppid())},
                                            {"program", program_invocation_short_name},
                                            {"clock", "CLOCK_REALTIME"},
                                            {"run", run}};
  if (!rank.rank.empty()) {
    facts.emplace_back("rank", rank.rank);
    facts.emplace_back("rank_from", rank.source + " of the environment");
  }
  if (!rank.world_size.empty()) facts.emplace_back("world_size", rank.world_size);
  return facts;
}

std::string file_stem(const RankFacts& rank) {
  const std::string process = host_name() + "." + std::to_string(::getpid());
  return rank.rank.empty() ? process : "rank" + rank.rank + "." + process;
}

std::uint64_t realtime_ns() {
  return nanoseconds_of(CLOCK_REALTIME);
}

trace::recording::ClockRow read_clocks() {
  const std::uint64_t before = realtime_ns();
  const std::uint64_t raw = nanoseconds_of(CLOCK_MONOTONIC_RAW);
  const std::uint64_t after = realtime_ns();
  const std::uint64_t between = after > before ? after - before : 0;
  return {before + between / 2, raw, between};
}

}  // namespace scaleworth::gpu
