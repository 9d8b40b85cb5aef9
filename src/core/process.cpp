// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"

#include "src/core/files/csv.h"
#include "src/core/lists.h"
#include "src/core/non_copyable.h"
#include "src/core/whole_number.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace scaleworth {
namespace {
/// One launcher that announces itself by plain variables.
struct Convention {
  Launcher launcher;
  const char* rank;
  const char* world_size;  // null: not announced
  const char* local_rank;
  const char* local_size;
  bool needs_world_size;  // a lone rank is then not taken for this launcher
};

constexpr std::array conventions{
    Convention{Launcher::torchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", true},
    Convention{Launcher::open_mpi,
               "OMPI_COMM_WORLD_RANK",
               "OMPI_COMM_WORLD_SIZE",
               "OMPI_COMM_WORLD_LOCAL_RANK",
               "OMPI_COMM_WORLD_LOCAL_SIZE",
               true},
    Convention{
        Launcher::slurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr, false},
    Convention{Launcher::pmi, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", false},
    Convention{Launcher::pmi, "PMIX_RANK", nullptr, nullptr, nullptr, false},
};

// Step ids from here on are Slurm's own: the batch script, the interactive shell, the extern step.
constexpr std::int64_t first_special_step = 0xFFFFFFF0;

std::optional<std::int64_t> number(const EnvironmentVariables& variables, const char* name) {
  const auto found = name == nullptr ? variables.end() : variables.find(name);
  if (found == variables.end()) return std::nullopt;
  const auto value = parse_number<std::int64_t>(found->second);
  if (value && *value >= 0) return value;
  throw UserError(
      "the launch variable {} is '{}', no whole number: correct or unset it", name, found->second);
}

std::optional<int> small_number(const EnvironmentVariables& variables, const char* name) {
  const auto value = number(variables, name);
  const auto small = whole_number<int>(value, 0, most_ranks);
  if (value && !small) {
    throw UserError(
        "the launch variable {} is {}, more than any job has: correct or unset it", name, *value);
  }
  return small;
}

bool in_job_step(const EnvironmentVariables& variables) {
  auto step = number(variables, "SLURM_STEP_ID");
  if (!step) step = number(variables, "SLURM_STEPID");
  return step && *step < first_special_step;
}

bool applies(const Convention& convention, const EnvironmentVariables& variables) {
  if (!variables.contains(convention.rank)) return false;
  if (convention.needs_world_size && !variables.contains(convention.world_size)) return false;
  return convention.launcher != Launcher::slurm || in_job_step(variables);
}

void check_range(const LaunchEnvironment& launch) {
  if (launch.world_size && *launch.world_size < 1) {
    throw UserError("{} announces {} ranks: at least 1 is needed",
                    launcher_name(launch.launcher),
                    *launch.world_size);
  }
  if (launch.rank && launch.world_size && *launch.rank >= *launch.world_size) {
    throw UserError("{} announces rank {} of {}: ranks count from 0 to {}",
                    launcher_name(launch.launcher),
                    *launch.rank,
                    *launch.world_size,
                    *launch.world_size - 1);
  }
}

void set_rendezvous(const std::string& address, LaunchEnvironment& launch) {
  const auto colon = address.rfind(':');
  const EnvironmentVariables port{
      {"--rendezvous", colon == std::string::npos ? "" : address.substr(colon + 1)}};
  const auto value = colon == std::string::npos ? std::nullopt : number(port, "--rendezvous");
  if (colon == 0 || !value || *value < 1 || *value > 65535) {
    throw UserError("--rendezvous is '{}': write host:port, port 1 to 65535", address);
  }
  launch.rendezvous_host = address.substr(0, colon);
  launch.rendezvous_port = static_cast<int>(*value);
}

LaunchEnvironment from_flags(const LaunchFlags& flags) {
  if (!flags.rank || !flags.world_size) {
    throw UserError("--rank and --world-size belong together: give both or neither");
  }
  LaunchEnvironment launch{
      .launcher = Launcher::flags, .rank = flags.rank, .world_size = flags.world_size};
  if (*flags.rank < 0) throw UserError("--rank is negative: ranks count from 0");
  if (!flags.rendezvous.empty()) set_rendezvous(flags.rendezvous, launch);
  return launch;
}

LaunchEnvironment from_convention(const Convention& convention,
                                  const EnvironmentVariables& variables) {
  LaunchEnvironment launch{.launcher = convention.launcher};
  launch.rank = small_number(variables, convention.rank);
  launch.world_size = small_number(variables, convention.world_size);
  launch.local_rank = small_number(variables, convention.local_rank);
  launch.local_size = small_number(variables, convention.local_size);
  // Old Slurm releases announce the step's size under the job's name only.
  if (convention.launcher == Launcher::slurm && !launch.world_size) {
    launch.world_size = small_number(variables, "SLURM_NTASKS");
  }
  if (const auto host = variables.find("MASTER_ADDR"); host != variables.end()) {
    launch.rendezvous_host = host->second;
    launch.rendezvous_port = small_number(variables, "MASTER_PORT");
  }
  return launch;
}

/// What to change so that the launcher's tasks find each other as MPI ranks.
std::string remedy(Launcher launcher, int ranks) {
  if (launcher == Launcher::slurm) {
    return fmt::format("start with srun --mpi=pmix -n {} (srun --mpi=list shows what is installed)",
                       ranks);
  }
  if (launcher == Launcher::open_mpi) {
    return "use the mpirun of the same MPI installation that the MPI module is linked with";
  }
  if (launcher == Launcher::pmi) {
    return "use the mpirun or srun --mpi type of the MPI that the MPI module is linked with";
  }
  return fmt::format("CPU ranks talk over MPI, start them with mpirun -n {}", ranks);
}

// A signal handler may only write to a lock-free global.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t received_signal = 0;

// Of the first of each signal, by the monotonic clock in ms; 0: none yet.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::array<std::atomic<std::int64_t>, 65> first_received_ms{};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// timeout(1), and launchers that signal a process and its group, send each signal twice at once.
constexpr std::int64_t one_wish_ms = 1000;

extern "C" void remember_signal(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t now_ms = 1000 * now.tv_sec + now.tv_nsec / 1'000'000;
  auto& first_ms = first_received_ms[signal];
  std::int64_t none = 0;
  if (!first_ms.compare_exchange_strong(none, now_ms) && now_ms - none > one_wish_ms) {
    std::signal(signal, SIG_DFL);  // a second wish is taken literally
    std::raise(signal);
  }
  received_signal = signal;
}

using namespace std::string_view_literals;

constexpr std::array prefixes{
    "OMP_"sv, "GOMP_"sv, "KMP_"sv, "OPENBLAS_"sv, "NCCL_"sv, "CUDA_"sv, "CUBLAS_"sv, "CUBLASLT_"sv};

/// Between blanks.
constexpr std::string_view names =
    " GOTO_NUM_THREADS GROUP_RANK LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT "
    "MKL_NUM_THREADS NODE_RANK NVIDIA_DRIVER_CAPABILITIES NVIDIA_TF32_OVERRIDE "
    "NVIDIA_VISIBLE_DEVICES OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE "
    "OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_UNIVERSE_SIZE PMI_RANK PMI_SIZE PMIX_RANK RANK "
    "SLURM_CPUS_ON_NODE SLURM_CPUS_PER_TASK SLURM_CPU_BIND SLURM_GPUS_ON_NODE SLURM_JOB_NUM_NODES "
    "SLURM_LOCALID SLURM_MEM_PER_NODE SLURM_NNODES SLURM_NODEID SLURM_NTASKS "
    "SLURM_NTASKS_PER_NODE SLURM_PROCID WORLD_SIZE ";

constexpr std::array secrets{"KEY"sv, "TOKEN"sv, "SECRET"sv, "PASS"sv, "CREDENTIAL"sv, "AUTH"sv};

// Of a variable: the longest that matter (lists of devices and hosts) are shorter. Presumed.
constexpr std::size_t longest_value = 1024;

/// "http://user:word@host" as "http://***@host".
std::string without_credentials(std::string value) {
  for (std::size_t at = value.find("://"); at != std::string::npos; at = value.find("://", at)) {
    at += 3;
    const std::size_t end = value.find_first_of("/ ,;", at);
    const std::size_t name_end = value.substr(0, end).rfind('@');
    if (name_end != std::string::npos && name_end >= at) value.replace(at, name_end - at, "***");
  }
  return value;
}

constexpr int patience_ms = 1000;  // with a stream that takes nothing now

/// While it lives SIGPIPE does not reach this thread, and none that came meanwhile stays behind.
class PipeSignalBlock : NonCopyable {
 public:
  PipeSignalBlock() noexcept {
    sigset_t waiting;
    sigpending(&waiting);
    was_waiting_ = sigismember(&waiting, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlock() {
    constexpr timespec now{};
    if (!was_waiting_)
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_waiting_ = false;
};
}  // namespace

const char* launcher_name(Launcher launcher) {
  // In the order of the enumeration.
  return std::array{
      "no launcher", "flags", "torchrun", "Slurm (srun)", "Open MPI (mpirun)", "a PMI launcher"}
      .at(index_of(launcher));
}

EnvironmentVariables environment_variables() {
  EnvironmentVariables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

LaunchEnvironment detect_launch(const EnvironmentVariables& variables, const LaunchFlags& flags) {
  LaunchEnvironment launch;
  if (flags.rank || flags.world_size || !flags.rendezvous.empty()) {
    launch = from_flags(flags);
  } else if (const auto* convention = std::ranges::find_if(
                 conventions, [&](const Convention& c) { return applies(c, variables); });
             convention != conventions.end()) {
    launch = from_convention(*convention, variables);
  }
  check_range(launch);
  return launch;
}

std::string describe_launch(const LaunchEnvironment& launch) {
  if (launch.launcher == Launcher::none) return "one process, no launcher detected";
  return fmt::format("rank {} of {}, started by {}",
                     launch.rank.value_or(0),
                     launch.world_size ? fmt::to_string(*launch.world_size) : "an unstated number",
                     launcher_name(launch.launcher));
}

void check_world_size(const LaunchEnvironment& launch, int mpi_world_size) {
  if (!launch.world_size || *launch.world_size == mpi_world_size) return;
  throw UserError("{} announces {} ranks, but MPI sees {}: {}",
                  launcher_name(launch.launcher),
                  *launch.world_size,
                  mpi_world_size,
                  remedy(launch.launcher, *launch.world_size));
}

std::string startup_obstacle(const LaunchEnvironment& launch,
                             const EnvironmentVariables& variables,
                             std::string_view library) {
  const bool pmix = variables.contains("PMIX_NAMESPACE") || variables.contains("PMIX_RANK");
  if (launch.launcher != Launcher::slurm || pmix || library.find("Open MPI") == library.npos)
    return {};
  const int ranks = launch.world_size.value_or(2);
  return fmt::format(
      "Slurm started {} tasks without PMIx, by which Open MPI finds them{}: {}, or in an "
      "allocation "
      "(salloc -n {}, sbatch) mpirun -n {}",
      ranks,
      variables.contains("PMI_FD") ? " (PMI2 serves only an Open MPI built with it)" : "",
      remedy(launch.launcher, ranks),
      ranks,
      ranks);
}

Interrupted::Interrupted(int signal)
    : std::runtime_error(signal == SIGINT || signal == SIGUSR1
                             ? "interrupted"
                             : "interrupted by signal " + std::to_string(signal)),
      signal_(signal) {}

void install_interrupt_handlers() {
  for (const int signal : std::array{SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction action {};
    action.sa_handler = remember_signal;
    sigemptyset(&action.sa_mask);
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal == SIGHUP && before.sa_handler == SIG_IGN)
      continue;                           // nohup: to outlive the terminal
    sigaction(signal, &action, nullptr);  // without SA_RESTART: a blocked read or wait returns
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

int interrupt_signal() {
  return received_signal;
}

void check_interrupt() {
  if (received_signal != 0) throw Interrupted(received_signal);
}

bool may_record_variable(std::string_view name) {
  const auto contained = [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (std::ranges::any_of(secrets, contained)) return false;
  return (!contained(" ") && names.find(fmt::format(" {} ", name)) != std::string_view::npos) ||
         std::ranges::any_of(prefixes, [&](std::string_view prefix) {
           return name.size() > prefix.size() && name.starts_with(prefix);
         });
}

FactSection allowed_variables(const EnvironmentVariables& variables) {
  FactSection section{"environment_variables", {}};
  for (const auto& [name, value] : variables) {
    if (!may_record_variable(name)) continue;
    const std::string open = without_credentials(value);
    const bool whole = open.size() <= longest_value;
    const std::string shown = whole ? open : open.substr(0, longest_value) + "...";
    section.facts.push_back({name, shown, "environment"});
  }
  return section;
}

void keep_standard_descriptors() noexcept {
  // The wrong way round: reading from stdin and writing to the others fails, as on a closed one.
  for (const auto& [descriptor, mode] :
       {std::pair(STDIN_FILENO, O_WRONLY), {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDONLY}}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    const int opened = open("/dev/null", mode);  // the lowest number that is free
    if (opened < 0 || opened == descriptor) continue;
    dup2(opened, descriptor);
    close(opened);
  }
}

void write_error(std::string_view text) noexcept {
  const PipeSignalBlock block;
  const int before = errno;
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      if (poll(&ready, 1, patience_ms) <= 0) break;
    } else if (errno != EINTR) {
      break;
    }
  }
  errno = before;
}
}  // namespace scaleworth
