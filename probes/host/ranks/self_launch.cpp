// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/self_launch.h"

#include "probes/host/ranks/child_process.h"
#include "probes/host/ranks/job_ending.h"
#include "src/core/error.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <variant>

#include <fmt/format.h>
#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

namespace scaleworth::probes::host {
namespace {

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

bool can_read_other_memory() {
  char from = 'a';
  char to = '\0';
  iovec local{&to, 1};
  iovec remote{&from, 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

}  // namespace

LaunchHost inspect_launch_host() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // Fails where there are more CPUs than the set holds; the set is then not restricted to few.
  const bool known = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  return {geteuid() == 0,
          known && CPU_COUNT(&allowed) < sysconf(_SC_NPROCESSORS_ONLN),
          can_read_other_memory()};
}

Outcome<std::string> find_launcher(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (is_program(name)) return std::filesystem::absolute(name).string();
    return Skipped{fmt::format("no program {}: name the mpirun to use with --mpirun", name)};
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto end = rest.find(':');
    const auto candidate = std::filesystem::path(rest.substr(0, end)) / name;
    if (is_program(candidate)) return std::filesystem::absolute(candidate).string();
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return Skipped{
      fmt::format("{} is not in PATH: apt install openmpi-bin, or name it with --mpirun", name)};
}

std::vector<std::string> launch_command(const SelfLaunch& job, const LaunchHost& host) {
  std::vector<std::string> command{job.launcher, "-n", std::to_string(job.ranks)};
  const auto add = [&](std::initializer_list<const char*> words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  if (host.root) add({"--allow-run-as-root"});
  const bool crowded = job.ranks > job.usable_cores;
  if (crowded) add({"--oversubscribe", "--mca", "mpi_yield_when_idle", "1"});
  add({"--bind-to", crowded || host.affinity_restricted ? "none" : "core"});
  // Open MPI falls back by itself, but complains at every message.
  if (!host.memory_shared_by_copy) add({"--mca", "btl_vader_single_copy_mechanism", "none"});
  command.push_back(job.program);
  command.insert(command.end(), job.arguments.begin(), job.arguments.end());
  return command;
}

JobEnding self_launch(const SelfLaunch& job) {
  const auto launcher = find_launcher(job.launcher);
  if (const auto* skipped = std::get_if<Skipped>(&launcher)) throw UserError(skipped->reason);
  SelfLaunch resolved = job;
  resolved.launcher = std::get<std::string>(launcher);
  LaunchErrors errors;
  ChildOptions options;
  options.timeout = job.timeout;
  // mpirun passes SIGUSR1 on to the ranks, who then finish in order; at SIGTERM it would kill them.
  options.end_signal = SIGUSR1;
  options.on_stderr = [&](std::string_view text) { errors.pass_on(text); };
  const ChildEnding ending = run_child(launch_command(resolved, inspect_launch_host()), options);
  return {describe_failure(ending, errors.lost_rank())};
}

}  // namespace scaleworth::probes::host
