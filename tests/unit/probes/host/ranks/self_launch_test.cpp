// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/self_launch.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace scaleworth;
using namespace scaleworth::probes::host;
using namespace std::chrono_literals;

namespace {

/// An executable script in the place of mpirun; removed with its folder.
class FakeLauncher {
 public:
  explicit FakeLauncher(const std::string& body)
      : folder_(std::filesystem::temp_directory_path() /
                ("scaleworth-launcher-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ofstream(path()) << "#!/bin/sh\n" << body << '\n';
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  ~FakeLauncher() { std::filesystem::remove_all(folder_); }
  FakeLauncher(const FakeLauncher&) = delete;
  FakeLauncher& operator=(const FakeLauncher&) = delete;

  std::string path() const { return (folder_ / "mpirun").string(); }
  SelfLaunch job() const {
    SelfLaunch job;
    job.launcher = path();
    job.program = "/bin/true";
    return job;
  }

 private:
  std::filesystem::path folder_;
};

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string after(const std::vector<std::string>& words, const std::string& word) {
  const auto found = std::find(words.begin(), words.end(), word);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

SelfLaunch job_of(int ranks, int cores) {
  SelfLaunch job;
  job.ranks = ranks;
  job.usable_cores = cores;
  job.launcher = "/usr/bin/mpirun";
  job.program = "/opt/scaleworth";
  job.arguments = {"bench", "--suite", "quick"};
  return job;
}

}  // namespace

TEST_CASE("ranks with a core each are bound to it", "[self launch]") {
  const auto command = launch_command(job_of(2, 2), {});
  REQUIRE(command == std::vector<std::string>{"/usr/bin/mpirun",
                                              "-n",
                                              "2",
                                              "--bind-to",
                                              "core",
                                              "/opt/scaleworth",
                                              "bench",
                                              "--suite",
                                              "quick"});
}

TEST_CASE("more ranks than cores are allowed, yield and are not bound", "[self launch]") {
  const auto command = launch_command(job_of(4, 2), {});
  REQUIRE(has(command, "--oversubscribe"));
  REQUIRE(after(command, "mpi_yield_when_idle") == "1");
  REQUIRE(after(command, "--bind-to") == "none");
}

TEST_CASE("root, a restricted affinity and a forbidding container are respected", "[self launch]") {
  const LaunchHost host{.root = true, .affinity_restricted = true, .memory_shared_by_copy = false};
  const auto command = launch_command(job_of(2, 2), host);
  REQUIRE(has(command, "--allow-run-as-root"));
  REQUIRE(after(command, "--bind-to") == "none");
  REQUIRE(after(command, "btl_vader_single_copy_mechanism") == "none");
  REQUIRE_FALSE(has(launch_command(job_of(2, 2), {}), "--allow-run-as-root"));
}

TEST_CASE("options of Open MPI go to its launcher only", "[self launch]") {
  SelfLaunch job = job_of(4, 2);
  job.open_mpi = false;
  REQUIRE(launch_command(job, {.root = true}) ==
          std::vector<std::string>{
              "/usr/bin/mpirun", "-n", "4", "/opt/scaleworth", "bench", "--suite", "quick"});
}

TEST_CASE("an exit code beyond all signals is an exit code", "[self launch]") {
  const FakeLauncher launcher("exit 255");  // MPICH's for any failure
  REQUIRE(self_launch(launcher.job()) ==
          Finding(FindingId::ended_with_code, Finding(FindingId::some_rank), 255));
}

TEST_CASE("a missing launcher is a skip with a remedy", "[self launch]") {
  const auto found = find_launcher("no-such-mpirun");
  REQUIRE(std::get<Skipped>(found).reason ==
          "no-such-mpirun is not in PATH: apt install openmpi-bin, or name it with --mpirun");
  SelfLaunch job;
  job.launcher = "/nonexistent/mpirun";
  REQUIRE_THROWS_AS(self_launch(job), UserError);
}

TEST_CASE("a job that ends well has no failure", "[self launch]") {
  const FakeLauncher launcher("exit 0");
  REQUIRE_FALSE(self_launch(launcher.job()));
}

TEST_CASE("a rank killed by a signal is named", "[self launch]") {
  // The program's name in Open MPI 4 and from 5 on.
  for (const std::string name : {"mpirun", "prterun"}) {
    const FakeLauncher launcher("echo '" + name +
                                " noticed that process rank 3 with PID 0 on node n exited on "
                                "signal 9 (Killed).' >&2; exit 137");
    REQUIRE(self_launch(launcher.job()) ==
            Finding(FindingId::killed_by_signal, Finding(FindingId::rank_number, 3), 9, "Killed"));
  }
}

TEST_CASE("a rank that ends with an error code is named", "[self launch]") {
  const FakeLauncher launcher("echo '  Process name: [[20312,1],12]' >&2; exit 3");
  REQUIRE(self_launch(launcher.job()) ==
          Finding(FindingId::ended_with_code, Finding(FindingId::rank_number, 12), 3));
}

TEST_CASE("a killed launcher is told apart from a killed rank", "[self launch]") {
  const FakeLauncher launcher("kill -9 $$");
  REQUIRE(self_launch(launcher.job()) ==
          Finding(FindingId::killed_by_signal, Finding(FindingId::stated, "mpirun"), 9, "Killed"));
}

TEST_CASE("a job without end is stopped at its timeout", "[self launch]") {
  const FakeLauncher launcher("sleep 600");
  SelfLaunch job = launcher.job();
  job.timeout = 50ms;
  REQUIRE(self_launch(job) == Finding(FindingId::ranks_not_in_time));
}

TEST_CASE("a child that ignores every polite signal is killed", "[self launch]") {
  const FakeLauncher launcher("trap '' TERM USR1; while true; do sleep 0.01; done");
  const ChildOptions options{
      .timeout = 50ms, .end_signal = SIGUSR1, .grace = 50ms, .on_stderr = {}};
  const ChildEnding ending = run_child({launcher.path()}, options);
  REQUIRE(ending.timed_out);
  REQUIRE(ending.signal == SIGKILL);
}

TEST_CASE("a child that leaves a process with its output open does not hold us", "[self launch]") {
  const FakeLauncher launcher("sleep 3 >/dev/null & exit 5");
  std::string errors;
  const ChildEnding ending =
      run_child({launcher.path()},
                {.timeout = {}, .on_stderr = [&](std::string_view text) { errors += text; }});
  REQUIRE(ending.exit_code == 5);
}
