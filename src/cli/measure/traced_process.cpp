// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/traced_process.h"

#include "src/core/error.h"
#include "src/core/files/atomic_file.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace scaleworth::cli {
using namespace trace;

namespace {
// All but SIGCHLD are passed on.
constexpr std::array waited_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};

sigset_t set_of_waited_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : waited_signals) ::sigaddset(&set, signal);
  return set;
}

[[noreturn]] void become(const std::vector<std::string>& command,
                         const Variables& variables,
                         const sigset_t& mask,
                         int report) {
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> copies = command;
  std::vector<char*> words;
  words.reserve(copies.size() + 1);
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  std::signal(SIGXFSZ, SIG_DFL);  // ours is ignored, and that would be inherited
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(words.front(), words.data());
  const int error = errno;
  static_cast<void>(!::write(report, &error, sizeof(error)));
  ::_exit(127);  // as shells say "cannot be started"
}

/// The error number of a failed exec; 0 when the program runs.
int exec_error(int report) {
  int error = 0;
  ssize_t bytes = 0;
  do {
    bytes = ::read(report, &error, sizeof(error));
  } while (bytes < 0 && errno == EINTR);
  return bytes == sizeof(error) ? error : 0;
}

int wait_for(pid_t child, const sigset_t& waited) {
  while (true) {
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&waited, &info);
    if (signal > 0 && signal != SIGCHLD) {
      const bool from_terminal = info.si_code == SI_KERNEL;
      if (!from_terminal) ::kill(child, signal);
    }
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
  }
}

namespace fs = std::filesystem;

constexpr const char* library_name = "libscaleworth_inject.so";
constexpr const char* cuda_variable = "CUDA_INJECTION64_PATH";
constexpr const char* nvtx_variable = "NVTX_INJECTION64_PATH";
constexpr const char* nccl_variable = "NCCL_PROFILER_PLUGIN";

/// What a job's launcher calls it: equal in all of its processes, on all nodes.
constexpr std::array job_variables{
    "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"};

std::string job_name(const std::function<const char*(const char*)>& value,
                     const std::string& invocation) {
  for (const char* variable : job_variables) {
    const char* name = value(variable);
    // torchrun's default is no name.
    if (name != nullptr && *name != '\0' && std::string_view(name) != "none") return name;
  }
  const char* address = value("MASTER_ADDR");  // of a job without a name, such as Kubernetes'
  const char* port = value("MASTER_PORT");
  if (address != nullptr && port != nullptr) return fmt::format("{}:{}", address, port);
  return invocation;
}

CaptureWindow window_of(const TraceOptions& options) {
  CaptureWindow window;
  if (!options.steps.empty()) {
    window.steps = parse_steps(options.steps);
    if (!window.steps)
      throw UserError("--steps " + options.steps +
                      ": give FROM:TO, the first and the last step to record, or FROM:");
  }
  if (!options.duration.empty()) {
    window.duration_s = parse_duration(options.duration);
    if (!window.duration_s)
      throw UserError("--duration " + options.duration + ": give a positive number of seconds");
  }
  window.profiler_api = options.capture_range == profiler_api_word;
  if (!window.profiler_api) window.range = options.capture_range;
  return window;
}
}  // namespace

int run_child(const std::vector<std::string>& command, const Variables& variables) {
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0)
    throw UserError(std::string("no pipe for the program: ") + std::strerror(errno));
  const sigset_t waited = set_of_waited_signals();
  sigset_t before;
  std::signal(SIGCHLD, SIG_DFL);  // ignored, children would leave no status
  ::pthread_sigmask(SIG_BLOCK, &waited, &before);
  const pid_t child = ::fork();
  if (child == 0) become(command, variables, before, report[1]);
  ::close(report[1]);
  const int error = child < 0 ? errno : exec_error(report[0]);
  ::close(report[0]);
  const int status = child < 0 ? 0 : wait_for(child, waited);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    throw UserError(command.front() + " cannot be run: " + std::strerror(error) +
                    "; give the program and its arguments after --");
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);  // as shells do
}

fs::path find_capture_library(const std::string& named) {
  if (!named.empty()) {
    std::error_code error;
    const fs::path file = fs::absolute(named);
    if (!fs::is_regular_file(file, error))
      throw UserError("--library " + named + ": there is no such file");
    std::array<char, 4> magic{};
    std::ifstream(file, std::ios::binary).read(magic.data(), magic.size());
    if (std::string_view(magic.data(), magic.size()) != "\177ELF")
      throw UserError("--library " + named + ": this is no library; give libscaleworth_inject.so");
    return file;
  }
  if (fs::path file = find_installed(library_name); !file.empty()) return file;
  throw UserError(
      "the capture library {} lies neither beside the program nor in ../lib/scaleworth: it belongs "
      "to builds with CUDA (cmake --preset cuda), or name it with --library",
      library_name);
}

TracedEnvironment traced_environment(const TraceOptions& options,
                                     const fs::path& directory,
                                     const fs::path& library,
                                     const std::string& invocation,
                                     const std::function<const char*(const char*)>& value) {
  const std::string own = library.string();
  const auto of_another_tool = [&](const char* variable) -> std::string {
    const char* found = value(variable);
    return found == nullptr || found == own ? "" : found;
  };
  CaptureSettings settings;
  settings.directory = directory.string();
  settings.run = job_name(value, invocation);
  settings.invocation = invocation;
  settings.cupti =
      options.cupti_library.empty() ? "" : fs::absolute(options.cupti_library).string();
  settings.window = window_of(options);
  TracedEnvironment result;
  result.variables = to_variables(settings);
  for (const char* variable : {cuda_variable, nvtx_variable, nccl_variable}) {
    if (const std::string tool = of_another_tool(variable); !tool.empty() && tool != "none")
      result.warnings.push_back(
          fmt::format("{} was {}: that tool does not see this run", variable, tool));
    result.variables.emplace_back(variable, own);
  }
  constexpr std::size_t longest =
      254;  // NCCL cuts the rest (src/plugin/plugin_open.cc, 2.21 to 2.30)
  if (own.size() > longest)
    result.warnings.push_back(fmt::format(
        "NCCL opens no plugin whose path is longer than {} characters: its algorithms and sequence "
        "numbers are not recorded; install {} in a shorter folder",
        longest,
        library_name));
  return result;
}
}  // namespace scaleworth::cli
