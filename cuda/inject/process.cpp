// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/session.h"
#include "src/core/version.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <pthread.h>

namespace scaleworth::gpu {
namespace {
constexpr std::array watched{SIGTERM, SIGINT};
std::array<struct sigaction, watched.size()> earlier_actions{};

void on_signal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto index = static_cast<std::size_t>(signal == watched[0] ? 0 : 1);
  const struct sigaction& earlier = earlier_actions[index];
  Session* session = Session::existing();
  if ((earlier.sa_flags & SA_SIGINFO) != 0) {
    if (session != nullptr) session->write_soon();
    earlier.sa_sigaction(signal, info, context);
  } else if (earlier.sa_handler != SIG_DFL) {
    if (session != nullptr) session->write_soon();
    earlier.sa_handler(signal);
  } else if (session != nullptr) {
    session->finish_by_signal(signal);
  } else {
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  errno = error;
}

void watch(std::size_t index) {
  struct sigaction& earlier = earlier_actions[index];
  if (::sigaction(watched[index], nullptr, &earlier) != 0) return;
  if ((earlier.sa_flags & SA_SIGINFO) == 0 && earlier.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_sigaction = &on_signal;
  action.sa_mask = earlier.sa_mask;
  // A program with a handler of its own may count on its calls being interrupted, as Python does
  // for Ctrl-C; one without must not notice that it lives on for a moment.
  const bool has_handler = (earlier.sa_flags & SA_SIGINFO) != 0 || earlier.sa_handler != SIG_DFL;
  action.sa_flags =
      SA_SIGINFO |
      (has_handler ? earlier.sa_flags & (SA_ONSTACK | SA_NODEFER | SA_RESTART) : SA_RESTART);
  static_cast<void>(::sigaction(watched[index], &action, nullptr));
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

// As data/kernels.toml knows them.
constexpr const char* asleep_name = "scaleworth: asleep";
constexpr const char* no_core_name = "scaleworth: no core";
constexpr const char* computing_name = "scaleworth: computing";

/// The clock of a thread's time on a core, which any thread of its process may read: the layout is
/// the kernel's interface (include/linux/posix-timers_types.h, CPUCLOCK_PERTHREAD_MASK and _SCHED).
clockid_t core_clock(pid_t thread) {
  return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | 6U);
}
}  // namespace

HostSampler::HostSampler(pid_t main_thread)
    : main_thread_(main_thread),
      descriptor_(::open(("/proc/self/task/" + std::to_string(main_thread) + "/stat").c_str(),
                         O_RDONLY | O_CLOEXEC)) {}

HostSampler::~HostSampler() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

HostSampler::Reading HostSampler::read() const {
  return {realtime_ns(),
          nanoseconds_of(core_clock(main_thread_)),
          nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

bool HostSampler::runnable() const {
  std::array<char, 64> text{};  // "4242 (python) R 4241 ...": see proc(5)
  if (descriptor_ < 0 || ::pread(descriptor_, text.data(), text.size() - 1, 0) <= 0) return false;
  const char* name_end = std::strrchr(text.data(), ')');
  return name_end != nullptr && std::strncmp(name_end, ") R", 3) == 0;
}

const char* HostSampler::state_between(const Reading& before, const Reading& now) const {
  const auto half = [&](std::uint64_t Reading::*time) {
    return 2 * (now.*time - before.*time) >= now.time_ns - before.time_ns;
  };
  if (half(&Reading::main_ns)) return computing_name;
  if (runnable()) return no_core_name;
  return half(&Reading::all_ns) ? nullptr : asleep_name;
}

std::optional<ReportedStretch> HostSampler::sample() {
  // So that no more is lost of a long one where the process is killed.
  constexpr std::uint64_t longest_ns = 200'000'000;
  const Reading now = read();
  const std::optional<Reading> before = last_;
  // A clock that was set back says nothing of this millisecond.
  const bool usable = before && before->time_ns < now.time_ns;
  const char* state = usable ? state_between(*before, now) : nullptr;
  std::optional<ReportedStretch> ended;
  if (state != state_ || (usable && before->time_ns - since_ns_ >= longest_ns)) {
    ended = end();
    state_ = state;
    since_ns_ = usable ? before->time_ns : now.time_ns;
  }
  last_ = now;
  return ended;
}

std::optional<ReportedStretch> HostSampler::end() {
  const char* ended = std::exchange(state_, nullptr);
  const std::uint64_t end_ns = last_ ? last_->time_ns : since_ns_;
  last_.reset();
  if (ended == nullptr || end_ns <= since_ns_) return std::nullopt;
  return ReportedStretch{{since_ns_, end_ns - since_ns_, 0, this_thread()}, ended};
}

void watch_exit_paths() {
  static std::atomic<bool> watching{false};
  if (watching.exchange(true)) return;  // a handler chained to itself would never return
  static_cast<void>(std::atexit([] {
    if (Session* session = Session::existing()) session->finish();
  }));
  static_cast<void>(::pthread_atfork(nullptr, nullptr, [] {
    if (Session* session = Session::existing()) session->forked();
  }));
  for (std::size_t i = 0; i < watched.size(); ++i) watch(i);
}

void OutputFile::abandon() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

std::string OutputFile::create(const std::string& directory, const std::string& stem) {
  constexpr int most_tries = 1000;  // a process id comes back, or exec keeps it
  std::string path;
  for (int attempt = 1; attempt <= most_tries; ++attempt) {
    path =
        directory + "/" + stem + (attempt == 1 ? "" : "-" + std::to_string(attempt)) + ".swtrace";
    // Readable for all, as the program's own files.
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor_ >= 0) return {};
    if (errno != EEXIST) break;
  }
  return path + ": " + std::strerror(errno);
}

std::string OutputFile::append(std::string_view bytes) {
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const std::string reason = std::strerror(written < 0 ? errno : ENOSPC);
      // Half a frame would hide all that comes after it.
      const bool restored = ::ftruncate(descriptor_, static_cast<off_t>(whole_bytes_)) == 0 &&
                            ::lseek(descriptor_, static_cast<off_t>(whole_bytes_), SEEK_SET) >= 0;
      if (!restored) abandon();
      return reason;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  whole_bytes_ += bytes.size();
  return {};
}

std::vector<recording::Fact> process_facts(const RankFacts& rank, const std::string& run) {
  std::vector<recording::Fact> facts{{"tool", "scaleworth " + tool_version()},
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

std::uint32_t this_thread() {
  return static_cast<std::uint32_t>(::gettid());
}

std::uint64_t realtime_ns() {
  return nanoseconds_of(CLOCK_REALTIME);
}
}  // namespace scaleworth::gpu
