// SPDX-License-Identifier: Apache-2.0
#include "probes/ranks.h"

#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/core/lists.h"

#include <barrier>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include <unistd.h>

namespace scaleworth::probes {
std::string host_identity() {
  std::array<char, 256> name{};
  static_cast<void>(::gethostname(name.data(), name.size() - 1));
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return std::string(name.data()) + " " + boot;
}

std::vector<int> node_numbers(const std::vector<std::string>& hosts) {
  std::map<std::string, int> numbers;
  return mapped(hosts, [&](const std::string& host) {
    return numbers.emplace(host, static_cast<int>(numbers.size())).first->second;
  });
}

std::optional<std::string> nccl_word(std::span<const std::string_view> words,
                                     std::string_view written) {
  const auto plain = [](std::string_view word) {
    std::string letters = lower_case(word);
    std::erase(letters, '_');
    return letters;
  };
  for (const std::string_view word : words)
    if (plain(word) == plain(written)) return std::string(word);
  return std::nullopt;
}

std::vector<RankProcess> processes_here(RankGroup& group, double own_cpu_s) {
  const std::string here = host_identity();
  std::vector<RankProcess> processes;
  for (const std::string& text :
       group.exchange(fmt::format("{} {} {}", ::getpid(), own_cpu_s, here))) {
    std::istringstream words(text);
    RankProcess process;
    std::string host;
    if (!(words >> process.id >> process.cpu_s >> std::ws) || !std::getline(words, host)) {
      throw ProbeFailure("a rank described its process in a way that cannot be read");
    }
    if (host == here) processes.push_back(process);
  }
  return processes;
}

AtOnce run_at_once(std::size_t count, const std::function<void(std::size_t)>& action) {
  AtOnce result;
  result.failures.resize(count);
  if (count == 0) return result;
  std::mutex mutex;
  std::barrier start(static_cast<std::ptrdiff_t>(count));
  const auto guarded = [&](std::size_t i) {
    start.arrive_and_wait();
    try {
      action(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      result.failures[i] = std::current_exception();
      if (!result.first) result.first = result.failures[i];
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(guarded, i);
  guarded(0);
  threads.clear();
  return result;
}
}  // namespace scaleworth::probes
