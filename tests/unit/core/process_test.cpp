// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace scaleworth;

TEST_CASE("variables that change a measurement are recorded by name, others are not",
          "[environment]") {
  const FactSection section = allowed_variables({{"WORLD_SIZE", "4"},
                                                 {"HOME", "/home/me"},
                                                 {"OMP_NUM_THREADS", "8"},
                                                 {"NCCL_ALGO", "Ring=x"},
                                                 {"AWS_SECRET_ACCESS_KEY", "hush"},
                                                 {"OMP_", ""}});
  REQUIRE(section.name == "environment_variables");
  REQUIRE(section.facts.size() == 3);
  REQUIRE(section.facts[0].name == "NCCL_ALGO");
  REQUIRE(section.facts[0].value == Value(std::string("Ring=x")));
  REQUIRE(section.facts[0].source == "environment");
  REQUIRE(section.facts[1].name == "OMP_NUM_THREADS");
  REQUIRE(section.facts[2].name == "WORLD_SIZE");
}

TEST_CASE("the ranks of every supported launcher are recorded", "[environment]") {
  const std::array names{"RANK",
                         "LOCAL_RANK",
                         "MASTER_ADDR",
                         "SLURM_PROCID",
                         "OMPI_COMM_WORLD_RANK",
                         "PMIX_RANK",
                         "CUDA_VISIBLE_DEVICES"};
  REQUIRE(std::all_of(names.begin(), names.end(), may_record_variable));
}

TEST_CASE("what changes the work of GPUs is recorded", "[environment]") {
  const std::array names{"CUDA_VISIBLE_DEVICES",
                         "CUDA_DEVICE_ORDER",
                         "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                         "NVIDIA_TF32_OVERRIDE",
                         "NVIDIA_VISIBLE_DEVICES",
                         "NCCL_PROTO",
                         "CUBLAS_WORKSPACE_CONFIG",
                         "CUBLASLT_LOG_LEVEL"};
  REQUIRE(std::all_of(names.begin(), names.end(), may_record_variable));
  REQUIRE(!may_record_variable("CUDA_API_KEY"));
}

TEST_CASE("a secret is never recorded, not even under an allowed prefix", "[environment]") {
  const std::array names{"NCCL_AUTH_TOKEN",
                         "OMP_SECRET",
                         "HF_TOKEN",
                         "SLURM_JWT",
                         "OMPI_MCA_pass",
                         "PATH",
                         "LD_PRELOAD",
                         "RANK_KEY",
                         ""};
  REQUIRE(std::none_of(names.begin(), names.end(), may_record_variable));
}

TEST_CASE("an endless value is cut", "[environment]") {
  const FactSection section = allowed_variables({{"OMP_PLACES", std::string(5000, '0')}});
  REQUIRE(std::get<std::string>(*section.facts[0].value).size() == 1027);
}

TEST_CASE("the variables of this process are read", "[environment]") {
  REQUIRE(setenv("OPENBLAS_CORETYPE", "Haswell", 1) == 0);
  const FactSection section = allowed_variables(environment_variables());
  unsetenv("OPENBLAS_CORETYPE");
  REQUIRE(std::any_of(section.facts.begin(), section.facts.end(), [](const Fact& fact) {
    return fact.name == "OPENBLAS_CORETYPE" && fact.value == Value(std::string("Haswell"));
  }));
}

namespace {
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("without variables there is one process and no launcher", "[launch]") {
  const LaunchEnvironment launch = detect_launch({});
  REQUIRE(launch.launcher == Launcher::none);
  REQUIRE_FALSE(launch.rank);
  REQUIRE(describe_launch(launch) == "one process, no launcher detected");
}

TEST_CASE("torchrun's variables give rank, size, local rank and rendezvous", "[launch]") {
  const LaunchEnvironment launch = detect_launch({{"RANK", "3"},
                                                  {"WORLD_SIZE", "8"},
                                                  {"LOCAL_RANK", "1"},
                                                  {"LOCAL_WORLD_SIZE", "4"},
                                                  {"MASTER_ADDR", "node0"},
                                                  {"MASTER_PORT", "29500"}});
  REQUIRE(launch.launcher == Launcher::torchrun);
  REQUIRE(launch.local_size == 4);
  REQUIRE(launch.rank == 3);
  REQUIRE(launch.world_size == 8);
  REQUIRE(launch.local_rank == 1);
  REQUIRE(launch.rendezvous_host == "node0");
  REQUIRE(launch.rendezvous_port == 29500);
  REQUIRE(describe_launch(launch) == "rank 3 of 8, started by torchrun");
}

TEST_CASE("RANK alone is not taken for torchrun", "[launch]") {
  REQUIRE(detect_launch({{"RANK", "3"}}).launcher == Launcher::none);
}

TEST_CASE("flags win over every variable", "[launch]") {
  const LaunchEnvironment launch =
      detect_launch({{"RANK", "3"}, {"WORLD_SIZE", "8"}},
                    {.rank = 0, .world_size = 2, .rendezvous = "[::1]:1234"});
  REQUIRE(launch.launcher == Launcher::flags);
  REQUIRE(launch.world_size == 2);
  REQUIRE(launch.rendezvous_host == "[::1]");
  REQUIRE(launch.rendezvous_port == 1234);
}

TEST_CASE("a task of srun takes its step's size, not the allocation's", "[launch]") {
  const LaunchEnvironment launch = detect_launch({{"SLURM_PROCID", "1"},
                                                  {"SLURM_STEP_ID", "0"},
                                                  {"SLURM_NTASKS", "16"},
                                                  {"SLURM_STEP_NUM_TASKS", "4"},
                                                  {"SLURM_LOCALID", "1"}});
  REQUIRE(launch.launcher == Launcher::slurm);
  REQUIRE(launch.rank == 1);
  REQUIRE(launch.world_size == 4);
}

TEST_CASE("the shell of an interactive allocation is no task", "[launch]") {
  REQUIRE(detect_launch({{"SLURM_NTASKS", "16"}}).launcher == Launcher::none);
  // With use_interactive_step the shell is Slurm's own step 0xFFFFFFFA = 4294967290.
  REQUIRE(detect_launch(
              {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}, {"SLURM_STEP_ID", "4294967290"}})
              .launcher == Launcher::none);
}

TEST_CASE("a batch script outside of srun is no task, though it has a process id", "[launch]") {
  REQUIRE(detect_launch({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}).launcher ==
          Launcher::none);
}

TEST_CASE("an mpirun inside of a Slurm step is the launcher that counts", "[launch]") {
  const LaunchEnvironment launch = detect_launch({{"SLURM_PROCID", "0"},
                                                  {"SLURM_STEP_ID", "2"},
                                                  {"SLURM_STEP_NUM_TASKS", "1"},
                                                  {"OMPI_COMM_WORLD_RANK", "5"},
                                                  {"OMPI_COMM_WORLD_SIZE", "6"},
                                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "5"}});
  REQUIRE(launch.launcher == Launcher::open_mpi);
  REQUIRE(launch.rank == 5);
  REQUIRE(launch.world_size == 6);
}

TEST_CASE("PMIx announces a rank and no size", "[launch]") {
  const LaunchEnvironment launch = detect_launch({{"PMIX_RANK", "2"}});
  REQUIRE(launch.launcher == Launcher::pmi);
  REQUIRE(launch.rank == 2);
  REQUIRE_FALSE(launch.world_size);
  REQUIRE(describe_launch(launch) == "rank 2 of an unstated number, started by a PMI launcher");
}

TEST_CASE("a variable that is no number is named", "[launch]") {
  const auto detect = [](const char* rank, const char* size) {
    return error_of([=] { detect_launch({{"RANK", rank}, {"WORLD_SIZE", size}}); });
  };
  REQUIRE(contains(detect("one", "2"), "RANK is 'one'"));
  REQUIRE(contains(detect("0", "-2"), "WORLD_SIZE is '-2'"));
  REQUIRE(contains(detect("0", "2x"), "WORLD_SIZE is '2x'"));
  REQUIRE(contains(detect("0", ""), "WORLD_SIZE is ''"));
  REQUIRE(contains(detect("0", "99999999999"), "more than any job has"));
}

TEST_CASE("a rank outside of its world is refused", "[launch]") {
  REQUIRE(contains(error_of([] {
                     detect_launch({{"RANK", "2"}, {"WORLD_SIZE", "2"}});
                   }),
                   "rank 2 of 2"));
  REQUIRE(contains(error_of([] { detect_launch({}, {.rank = -1, .world_size = 2}); }), "negative"));
  REQUIRE(contains(error_of([] { detect_launch({}, {.rank = 0}); }), "--world-size"));
}

TEST_CASE("a rendezvous without a port is refused", "[launch]") {
  const auto rendezvous = [](const char* address) {
    return error_of(
        [=] { detect_launch({}, {.rank = 0, .world_size = 1, .rendezvous = address}); });
  };
  REQUIRE(contains(rendezvous("node0"), "host:port"));
  REQUIRE(contains(rendezvous(":29500"), "host:port"));
  REQUIRE(contains(rendezvous("node0:70000"), "65535"));
}

TEST_CASE("tasks that each see a world of one are told which flag to fix", "[launch]") {
  const auto check = [](Launcher launcher) {
    return error_of(
        [=] { check_world_size({.launcher = launcher, .rank = 0, .world_size = 4}, 1); });
  };
  REQUIRE(contains(check(Launcher::slurm), "announces 4 ranks, but MPI sees 1"));
  REQUIRE(contains(check(Launcher::slurm), "srun --mpi=pmix -n 4"));
  REQUIRE(contains(check(Launcher::open_mpi), "mpirun of the same MPI installation"));
  REQUIRE(contains(check(Launcher::torchrun), "mpirun -n 4"));
}

TEST_CASE("an unannounced or equal world size passes", "[launch]") {
  REQUIRE_NOTHROW(check_world_size({}, 1));
  REQUIRE_NOTHROW(check_world_size(detect_launch({{"PMIX_RANK", "2"}}), 4));
  REQUIRE_NOTHROW(check_world_size(detect_launch({{"RANK", "0"}, {"WORLD_SIZE", "4"}}), 4));
}

TEST_CASE("Slurm's tasks without PMIx are told before MPI starts", "[launch]") {
  const LaunchEnvironment slurm{.launcher = Launcher::slurm, .rank = 0, .world_size = 2};
  const std::string open_mpi = "Open MPI v4.1.4, package: Debian OpenMPI";
  REQUIRE(contains(startup_obstacle(slurm, {}, open_mpi), "srun --mpi=pmix -n 2"));
  REQUIRE(contains(startup_obstacle(slurm, {{"PMI_FD", "7"}}, open_mpi), "PMI2 serves only"));
  REQUIRE(startup_obstacle(slurm, {{"PMIX_NAMESPACE", "slurm.pmix.1.0"}}, open_mpi).empty());
  REQUIRE(startup_obstacle(slurm, {{"PMI_FD", "7"}}, "MPICH Version: 4.0.2").empty());
  REQUIRE(startup_obstacle({.launcher = Launcher::open_mpi}, {}, open_mpi).empty());
}

TEST_CASE("what Ctrl-C stops is interrupted, also where the launcher sends its own signal on",
          "[process]") {
  REQUIRE(std::string(Interrupted(SIGINT).what()) == "interrupted");
  REQUIRE(std::string(Interrupted(SIGUSR1).what()) == "interrupted");
  REQUIRE(std::string(Interrupted(SIGTERM).what()) == "interrupted by signal 15");
}

TEST_CASE("names and words in addresses are not recorded", "[process]") {
  const FactSection section =
      allowed_variables({{"NCCL_A", "http://me:word@host:80/x@y,https://z"}, {"NCCL_B", "a@b"}});
  CHECK(section.facts.at(0).value == Value(std::string("http://***@host:80/x@y,https://z")));
  CHECK(section.facts.at(1).value == Value(std::string("a@b")));
}

TEST_CASE("a signal that comes twice at once, as timeout sends it, is one wish to end in order",
          "[launch]") {
  const auto ending = [](std::chrono::milliseconds between) {
    const pid_t child = ::fork();
    if (child == 0) {
      install_interrupt_handlers();
      std::raise(SIGINT);
      std::this_thread::sleep_for(between);
      std::raise(SIGINT);
      ::_exit(interrupt_signal() == SIGINT ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  };
  CHECK(ending(std::chrono::milliseconds(0)) == 0);
  const int second_wish = ending(std::chrono::milliseconds(1200));
  CHECK(WIFSIGNALED(second_wish));
  CHECK(WTERMSIG(second_wish) == SIGINT);
}
