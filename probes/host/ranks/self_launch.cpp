// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/self_launch.h"

#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/core/non_copyable.h"
#include "src/core/process.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <variant>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
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

using Clock = std::chrono::steady_clock;

constexpr int wake_ms = 100;       // between two looks at Ctrl-C: people do not notice
constexpr int cannot_start = 127;  // as shells and launchers say it

/// Both ends of a pipe, closed when this goes.
class Pipe : NonCopyable {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw ProbeFailure("cannot open a pipe: {}", std::strerror(errno));
    }
  }
  ~Pipe() {
    close(ends_[0]);
    close_writer();
  }
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Between fork and exec only async-signal-safe calls are allowed.
[[noreturn]] void become(char* const* arguments, int error_output, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(cannot_start);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(error_output, STDERR_FILENO);
  execv(arguments[0], arguments);
  constexpr std::string_view text = "scaleworth: the launcher cannot be started\n";
  (void)!write(STDERR_FILENO, text.data(), text.size());
  _exit(cannot_start);
}

pid_t start(const std::vector<std::string>& command, const Pipe& errors) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw ProbeFailure("cannot start {}: {}", command[0], std::strerror(errno));
  }
  if (child == 0) become(arguments.data(), errors.writer(), parent);
  setpgid(child, child);  // here too: a signal may have to be forwarded before it got that far
  return child;
}

/// Passes on what is there within `wait_ms`; false at the end of the stream.
bool pass_on(int reader, int wait_ms, const ChildOptions& options) {
  pollfd waiting{.fd = reader, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, wait_ms) <= 0) return true;
  std::array<char, 4096> piece{};  // a pipe passes a page whole
  const ssize_t length = read(reader, piece.data(), piece.size());
  if (length <= 0) return length < 0 && errno == EINTR;
  if (options.on_stderr) options.on_stderr({piece.data(), static_cast<std::size_t>(length)});
  return true;
}

/// Asks the job to end, first by `end_signal`, then ever more firmly.
class Patience {
 public:
  Patience(pid_t child, const ChildOptions& options) : child_(child), options_(options) {}

  void watch(ChildEnding& ending) {
    const auto now = Clock::now();
    if (steps_ == 0) {
      ending.forwarded = interrupt_signal();
      ending.timed_out = options_.timeout && now - begin_ > *options_.timeout;
      if (ending.forwarded != 0 || ending.timed_out) press(options_.end_signal, now);
    } else if (now - last_ > options_.grace) {
      press(steps_ == 1 ? SIGTERM : SIGKILL, now);
    }
  }

 private:
  void press(int signal, Clock::time_point now) {
    kill(-child_, signal);
    last_ = now;
    ++steps_;
  }

  pid_t child_;
  const ChildOptions& options_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_;
  int steps_ = 0;
};

constexpr std::size_t longest_line = 4096;  // of another program; longer comes in pieces

std::optional<int> number_after(std::string_view line, std::string_view before) {
  const auto found = line.find(before);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view number = line.substr(found + before.size());
  int value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<int> rank_named_as_lost(std::string_view line) {
  if (line.find("run noticed that process rank ") != line.npos)
    return number_after(line, "process rank ");
  const auto name = line.find("Process name: [[");
  return name == std::string_view::npos ? std::nullopt : number_after(line.substr(name), "],");
}

Finding killed(const Finding& who, int signal) {
  return {FindingId::killed_by_signal, who, signal, strsignal(signal)};
}

/// mpirun's stderr: goes on to ours, and is read for the rank that it names as lost.
class LaunchErrors {
 public:
  void pass_on(std::string_view text) {
    write_error(text);
    for (const char c : text) {
      if (c != '\n' && line_.size() < longest_line) {
        line_ += c;
      } else if (c == '\n') {
        if (const auto rank = rank_named_as_lost(line_)) lost_rank_ = rank;
        line_.clear();
      }
    }
  }

  /// Of Open MPI's lines "mpirun noticed that process rank 1 with PID 7 on node n exited on signal
  /// 9" ("prterun noticed" from version 5 on) and "Process name: [[20312,1],1]"; absent when it
  /// wrote none.
  std::optional<int> lost_rank() const { return lost_rank_; }

 private:
  std::string line_;
  std::optional<int> lost_rank_;
};

/// Open MPI's launchers end with 128 + signal when a signal killed a rank; MPICH's with 255 for any
/// failure. Absent for success.
std::optional<Finding> failure_of(const std::string& launcher,
                                  const ChildEnding& ending,
                                  std::optional<int> lost_rank) {
  constexpr int most_signals = 64;  // of Linux: shells end with 128 + signal
  if (ending.forwarded != 0)
    return Finding(FindingId::stated, Interrupted(ending.forwarded).what());
  if (ending.timed_out) return FindingId::ranks_not_in_time;
  const Finding rank =
      lost_rank ? Finding(FindingId::rank_number, *lost_rank) : Finding(FindingId::some_rank);
  if (ending.signal != 0) return killed({FindingId::stated, launcher}, ending.signal);
  if (ending.exit_code > 128 && ending.exit_code <= 128 + most_signals)
    return killed(rank, ending.exit_code - 128);
  if (ending.exit_code == cannot_start) return FindingId::ranks_not_started;
  if (ending.exit_code == 0) return std::nullopt;
  return Finding(FindingId::ended_with_code, rank, ending.exit_code);
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
  for (const std::string_view folder : words_between(path == nullptr ? "" : path, ":")) {
    const auto candidate = std::filesystem::path(folder) / name;
    if (is_program(candidate)) return std::filesystem::absolute(candidate).string();
  }
  return Skipped{
      fmt::format("{} is not in PATH: apt install openmpi-bin, or name it with --mpirun", name)};
}

std::vector<std::string> launch_command(const SelfLaunch& job, const LaunchHost& host) {
  std::vector<std::string> command{job.launcher, "-n", std::to_string(job.ranks)};
  const auto add_program = [&] {
    command.push_back(job.program);
    command.insert(command.end(), job.arguments.begin(), job.arguments.end());
    return command;
  };
  if (!job.open_mpi) return add_program();
  const auto add = [&](std::initializer_list<const char*> words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  if (host.root) add({"--allow-run-as-root"});
  const bool crowded = job.ranks > job.usable_cores;
  if (crowded) add({"--oversubscribe", "--mca", "mpi_yield_when_idle", "1"});
  add({"--bind-to", crowded || host.affinity_restricted ? "none" : "core"});
  // Open MPI falls back by itself, but complains at every message.
  if (!host.memory_shared_by_copy) add({"--mca", "btl_vader_single_copy_mechanism", "none"});
  return add_program();
}

ChildEnding run_child(const std::vector<std::string>& command, const ChildOptions& options) {
  Pipe errors;
  const pid_t child = start(command, errors);
  errors.close_writer();
  ChildEnding ending;
  Patience patience(child, options);
  bool open = true;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    if (open) {
      open = pass_on(errors.reader(), wake_ms, options);
    } else {
      poll(nullptr, 0, wake_ms);
    }
    patience.watch(ending);
  }
  // A grandchild may hold the pipe open: take what is there and do not wait for its end.
  fcntl(errors.reader(), F_SETFL, O_NONBLOCK);
  for (int i = 0; open && i < 64; ++i) open = pass_on(errors.reader(), 0, options);
  if (WIFSIGNALED(status)) {
    ending.signal = WTERMSIG(status);
  } else {
    ending.exit_code = WEXITSTATUS(status);
  }
  return ending;
}

std::optional<Finding> self_launch(const SelfLaunch& job) {
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
  return failure_of(
      std::filesystem::path(resolved.launcher).filename(), ending, errors.lost_rank());
}
}  // namespace scaleworth::probes::host
