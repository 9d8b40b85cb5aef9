// SPDX-License-Identifier: Apache-2.0
/// Real processes with the capture library in them: however they end, the files say what they did.
#include "cuda/inject/session.h"
#include "tests/catch.h"
#include "tests/unit/cuda/inject/run_traced.h"

#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

#include <sys/wait.h>

namespace scaleworth::gpu {
namespace {

using trace::Recording;

std::size_t kernels(const Recording& recording) {
  return recording.device_events.size();
}

/// As the recorder wrote it.
bool has_remark(const Recording& recording, const std::string& part) {
  return std::ranges::any_of(recording.remarks, [&](const Finding& one) {
    return one.id == FindingId::stated &&
           std::get<std::string>(one.arguments.at(0).value).find(part) != std::string::npos;
  });
}

bool ended_by_itself(const Recording& recording) {
  return std::ranges::count(recording.remarks, Finding(FindingId::recording_not_ended)) == 0;
}

/// Without what the recorder saw of the program by itself.
std::int64_t calls(const Recording& recording) {
  return std::ranges::count_if(recording.host_events, trace::is_call);
}

TEST_CASE("a sleeping program is told from one that works", "[capture]") {
  const pid_t main_thread = ::gettid();
  std::atomic<bool> over{false};
  std::map<std::string, std::uint64_t> seen;  // ns by state
  std::thread watcher([&] {
    HostSampler sampler(main_thread);
    while (!over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (const auto stretch = sampler.sample()) seen[stretch->name] += stretch->row.duration_ns;
    }
    if (const auto stretch = sampler.end()) seen[stretch->name] += stretch->row.duration_ns;
  });
  const auto spin = [](std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  for (int turn = 0; turn < 3; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    spin(std::chrono::milliseconds(60));
  }
  over = true;
  watcher.join();
  // Of 180 ms each; where others take the cores, the work waits for one.
  REQUIRE(seen["scaleworth: asleep"] > 90'000'000);
  REQUIRE(seen["scaleworth: asleep"] < 230'000'000);
  REQUIRE(seen["scaleworth: computing"] + seen["scaleworth: no core"] > 60'000'000);
}

TEST_CASE("a sleep that lasts until the end is not lost, and known in parts before", "[capture]") {
  std::map<std::string, std::uint64_t> early;  // ns by state
  std::map<std::string, std::uint64_t> last;
  std::thread watcher([&, main_thread = ::gettid()] {
    HostSampler sampler(main_thread);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(330);
    while (std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (const auto stretch = sampler.sample()) early[stretch->name] += stretch->row.duration_ns;
    }
    if (const auto stretch = sampler.end()) last[stretch->name] += stretch->row.duration_ns;
    if (sampler.end()) last["twice"] = 1;
  });
  watcher.join();
  // At first the main thread starts the watcher and comes to its wait.
  REQUIRE(early["scaleworth: asleep"] >= 150'000'000);
  REQUIRE(last["scaleworth: asleep"] > 0);
  REQUIRE(last.size() == 1);
}

TEST_CASE("what all threads launched is in the file when the program returns", "[capture]") {
  const Traced traced = run_traced({"init", "threads"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(traced.recordings.size() == 1);
  const Recording& recording = traced.recordings.front();
  REQUIRE(kernels(recording) == 1500);
  REQUIRE(calls(recording) == 1500);
  REQUIRE(recording.threads.size() >= 3);  // and the recorder's own
  REQUIRE(recording.names.at(recording.device_events.front().name) == "gemm(float*)");
  REQUIRE(recording.names.at(std::ranges::find_if(recording.host_events, trace::is_call)->name) ==
          "cuLaunchKernelEx");
  REQUIRE(recording.losses.empty());
  REQUIRE(recording.origin.run == "a run");
  REQUIRE_FALSE(recording.origin.rank);
  REQUIRE(ended_by_itself(recording));
}

TEST_CASE("each rank's process has a file that knows its rank and its collectives", "[capture]") {
  const Traced traced = run_traced({"ranks"});
  REQUIRE(traced.recordings.size() == 3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const Recording& recording = traced.recordings[rank];  // by file name: rank0..., rank1...
    REQUIRE(recording.origin.rank == static_cast<std::int32_t>(rank));
    REQUIRE(recording.origin.world_size == 3);
    REQUIRE(recording.origin.rank_from == "RANK of the environment");
    REQUIRE(kernels(recording) == 1501);
    REQUIRE(recording.communications.size() == 1);
    const trace::Communication& all_reduce = recording.communications.front();
    REQUIRE(all_reduce.kind == CollectiveKind::all_reduce);
    REQUIRE(all_reduce.input_bytes == 2000);
    REQUIRE(all_reduce.sequence);
    REQUIRE(all_reduce.sequence == traced.recordings[0].communications.front().sequence);
    REQUIRE(recording.groups.at(all_reduce.group).size == 3);
  }
}

TEST_CASE("NCCL of the plugin interface before is understood too", "[capture]") {
  const Traced traced = run_traced({"init", "all_reduce_of_version_4"});
  const Recording& recording = traced.recordings.front();
  REQUIRE(recording.communications.size() == 1);
  REQUIRE(recording.communications.front().input_bytes == 2000);
  REQUIRE(recording.names.at(recording.communications.front().algorithm) == "RING");
  REQUIRE(recording.groups.begin()->second.size == 3);
}

TEST_CASE("a collective that a graph captures is left out, and its replays", "[capture]") {
  const Traced traced = run_traced({"init", "captured_all_reduce"});
  const Recording& recording = traced.recordings.front();
  REQUIRE(recording.communications.size() == 1);
  REQUIRE(recording.names.at(recording.communications.front().algorithm) == "RING");
  REQUIRE(recording.communications.front().channels == 2);
  REQUIRE_FALSE(recording.losses.contains("collective_calls_without_their_kernel"));
}

TEST_CASE("NCCL of version 6 is asked for collectives of copies", "[capture]") {
  const Traced traced = run_traced({"init", "all_reduce_of_version_6"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 0);
  REQUIRE(traced.recordings.front().communications.size() == 1);
}

TEST_CASE("SIGKILL leaves what was launched more than a period ago", "[capture]") {
  const Traced traced = run_traced({"init", "threads", "wait", "kill"});
  REQUIRE(WIFSIGNALED(traced.status));
  REQUIRE(WTERMSIG(traced.status) == SIGKILL);
  REQUIRE(traced.recordings.size() == 1);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
  REQUIRE_FALSE(ended_by_itself(traced.recordings.front()));
}

TEST_CASE("_exit, as Python's multiprocessing ends, leaves it too", "[capture]") {
  const Traced traced = run_traced({"init", "threads", "wait", "_exit"});
  REQUIRE(WEXITSTATUS(traced.status) == 5);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
}

TEST_CASE("SIGTERM ends the recording, then the process, by the signal", "[capture]") {
  const Traced traced = run_traced({"init", "threads", "term"});
  REQUIRE(WIFSIGNALED(traced.status));
  REQUIRE(WTERMSIG(traced.status) == SIGTERM);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
  REQUIRE(ended_by_itself(traced.recordings.front()));
}

TEST_CASE("SIGTERM ends it once, when driver and NCCL have both started it", "[capture]") {
  const Traced traced = run_traced({"init", "all_reduce", "all_reduce", "term"});
  REQUIRE(WIFSIGNALED(traced.status));
  REQUIRE(WTERMSIG(traced.status) == SIGTERM);
  REQUIRE(ended_by_itself(traced.recordings.front()));
}

TEST_CASE("a kind of record that CUPTI refuses is said, the others are recorded", "[capture]") {
  const Traced traced = run_traced({"init", "threads"}, {{"FAKE_CUPTI_REFUSES", "4"}});
  REQUIRE(kernels(traced.recordings.front()) == 1500);
  REQUIRE(calls(traced.recordings.front()) == 0);
  REQUIRE(has_remark(traced.recordings.front(), "refuses records of kind 4"));
}

TEST_CASE("the program's own handler of SIGTERM still decides", "[capture]") {
  const Traced traced = run_traced({"own_handler", "init", "threads", "term"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 7);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
  REQUIRE(ended_by_itself(traced.recordings.front()));
}

TEST_CASE("calls that the program's own handler interrupts still are", "[capture]") {
  const Traced traced = run_traced({"noting_handler", "init", "blocked_read"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 8);
}

TEST_CASE("a signal that the program ignores stays ignored", "[capture]") {
  const Traced traced = run_traced({"ignore", "init", "term_ignored", "threads", "exit_3"});
  REQUIRE(WEXITSTATUS(traced.status) == 3);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
}

TEST_CASE("a forked child neither writes nor hangs", "[capture]") {
  const Traced traced = run_traced({"init", "fork", "threads"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 0);
  REQUIRE(traced.recordings.size() == 1);
  REQUIRE(kernels(traced.recordings.front()) == 3500);
  REQUIRE(ended_by_itself(traced.recordings.front()));
}

TEST_CASE("a program that a process becomes by exec has a file of its own", "[capture]") {
  const Traced traced = run_traced({"init", "threads", "wait", "exec"});
  REQUIRE(traced.recordings.size() == 2);
  for (const Recording& recording : traced.recordings) REQUIRE(kernels(recording) == 1500);
}

TEST_CASE("another tool at CUPTI is named, and NCCL and ranges are recorded without it",
          "[capture]") {
  const Traced traced = run_traced({"init", "nvtx", "all_reduce", "exit_3"},
                                   {{"FAKE_CUPTI_TAKEN_BY", "CUPTI for Kineto"}});
  REQUIRE(WEXITSTATUS(traced.status) == 3);
  REQUIRE(traced.recordings.size() == 1);
  const Recording& recording = traced.recordings.front();
  REQUIRE(has_remark(recording, "CUPTI for Kineto listens to CUPTI in this process already"));
  REQUIRE(kernels(recording) == 0);
  REQUIRE(recording.step_marks.size() == 1);
  REQUIRE(recording.step_marks.front().number == 4);
  REQUIRE(recording.groups.size() == 1);
}

TEST_CASE("ranges before the first call of CUDA do not stop the program", "[capture]") {
  const Traced traced = run_traced({"nvtx", "init", "threads"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 0);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
}

TEST_CASE("ranges of a program whose NVTX is of version 1 are recorded by CUPTI", "[capture]") {
  const Traced traced = run_traced({"init", "nvtx_1", "exit_3"});
  REQUIRE(WEXITSTATUS(traced.status) == 3);
  REQUIRE(traced.recordings.front().step_marks.size() == 1);
}

TEST_CASE("ranges of a forked child do not go to CUPTI", "[capture]") {
  const Traced traced = run_traced({"init", "nvtx", "fork_range", "threads"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 0);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
  REQUIRE(traced.recordings.front().step_marks.size() == 1);
}

TEST_CASE("the first range of a forked child does not start CUPTI in it", "[capture]") {
  const Traced traced = run_traced({"init", "fork_range", "threads"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 0);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
}

TEST_CASE("ranges are recorded where they come first and CUPTI is refused later", "[capture]") {
  const Traced traced =
      run_traced({"nvtx", "init", "nvtx"}, {{"FAKE_CUPTI_TAKEN_BY", "CUPTI for Kineto"}});
  REQUIRE(WEXITSTATUS(traced.status) == 0);
  REQUIRE(traced.recordings.front().step_marks.size() == 1);
}

constexpr const char* of_cuda_12_8 =
    "lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12";
constexpr const char* of_cuda_13 = "lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13";

constexpr const char* of_newer_cuda =
    "lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.13";

/// A virtual environment with CUPTI of CUDA 12.8 and, searched later, of CUDA 13, both fakes, and
/// `more`; the program works with `used`.
Traced run_beside(const std::vector<std::string>& words,
                  const char* used,
                  bool named = false,
                  const char* more = of_cuda_13) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "scaleworth-cupti-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  for (const char* file : {of_cuda_12_8, of_cuda_13, more}) {
    fs::create_directories((fs::path(folder) / file).parent_path());
    fs::copy_file(FAKE_CUPTI, fs::path(folder) / file, fs::copy_options::overwrite_existing);
  }
  const std::string path = folder + "/" + used;
  Traced traced = run_traced(words,
                             {{"VIRTUAL_ENV", folder}, {"TRACED_CUPTI", path}},
                             [&](auto& settings) { settings.cupti = named ? path : ""; });
  fs::remove_all(folder);
  return traced;
}

TEST_CASE("an older CUPTI in the virtual environment does not hide a newer one", "[capture]") {
  const Traced traced = run_beside({"init", "threads"}, of_cuda_13);
  REQUIRE(traced.recordings.size() == 1);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
}

TEST_CASE("of two usable copies of CUPTI the newer one is taken, not the first", "[capture]") {
  const Traced traced = run_beside({"init", "threads"}, of_newer_cuda, false, of_newer_cuda);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
}

TEST_CASE("CUPTI of CUDA 12.8 is usable", "[capture]") {
  const Traced traced = run_beside({"init", "threads"}, of_cuda_12_8, true);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
}

TEST_CASE("CUPTI of CUDA 12.4 is usable, and what it does not say is said", "[capture]") {
  const Traced traced = run_traced({"init", "threads"}, {{"FAKE_CUPTI_VERSION", "22"}});
  REQUIRE(kernels(traced.recordings.front()) == 1500);
  REQUIRE(has_remark(traced.recordings.front(), "does not say for which event a wait waited"));
}

TEST_CASE("the program's own profiler does not share our copy of CUPTI", "[capture]") {
  const Traced traced = run_beside({"own_copy"}, of_cuda_13);
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 0);
}

TEST_CASE("buffers that another client has taken are said", "[capture]") {
  const Traced traced = run_traced({"init", "take_buffers", "all_reduce"});
  REQUIRE(has_remark(traced.recordings.front(), "CUPTI gave no records of them"));
  REQUIRE_FALSE(has_remark(run_traced({"init", "all_reduce"}).recordings.front(),
                           "CUPTI gave no records of them"));
}

TEST_CASE("CUPTI's first release of CUDA 13 is warned of", "[capture]") {
  const Traced traced = run_traced({"init", "threads"}, {{"FAKE_CUPTI_VERSION", "130000"}});
  REQUIRE(has_remark(traced.recordings.front(), "has defects"));
  REQUIRE(kernels(traced.recordings.front()) == 1500);
}

TEST_CASE("a call that a graph captures is left to the graph", "[capture]") {
  const Traced traced = run_traced({"init", "captured_all_reduce"});
  const Recording& recording = traced.recordings.front();
  REQUIRE(recording.communications.size() == 1);
  REQUIRE_FALSE(recording.losses.contains("collective_calls_without_their_kernel"));
}

TEST_CASE("a communicator that is not recorded leaves the others' events on", "[capture]") {
  const Traced traced = run_traced({"two_communicators"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 0);
}

TEST_CASE("steps that are started and ended open the window too", "[capture]") {
  const Traced traced = run_traced({"init", "started_steps"}, {}, [](auto& settings) {
    settings.window.steps = {1, 2};
  });
  REQUIRE(kernels(traced.recordings.front()) == 20);
}

TEST_CASE("steps whose names were registered in a domain open the window", "[capture]") {
  const Traced traced = run_traced({"init", "registered_steps"}, {}, [](auto& settings) {
    settings.window.steps = {1, 2};
  });
  REQUIRE(kernels(traced.recordings.front()) == 20);
  REQUIRE(traced.recordings.front().step_marks.size() == 2);
}

TEST_CASE("a range that is closed when its thread's variables are gone does no harm", "[capture]") {
  const Traced traced = run_traced({"init", "late_range", "threads"});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(WEXITSTATUS(traced.status) == 0);
  REQUIRE(kernels(traced.recordings.front()) == 1500);
}

TEST_CASE("records of another major version of CUPTI are refused with the reason", "[capture]") {
  const Traced traced = run_traced({"init", "threads"}, {{"FAKE_CUPTI_VERSION", "140000"}});
  REQUIRE(WIFEXITED(traced.status));
  REQUIRE(has_remark(traced.recordings.front(), "is not of CUDA 12.4 to 13"));
}

TEST_CASE("records that CUPTI lost are counted", "[capture]") {
  const Traced traced = run_traced({"init", "threads"}, {{"FAKE_CUPTI_DROPPED", "5"}});
  REQUIRE(traced.recordings.front().losses.at("dropped_records") == 5);
}

TEST_CASE("what work that never ended hides in CUPTI's buffer is counted", "[capture]") {
  const Traced traced = run_traced({"init", "threads", "unfinished"});
  const Recording& recording = traced.recordings.front();
  REQUIRE(recording.losses.at("dropped_rests_of_buffers") == 1);
  REQUIRE(kernels(recording) == 1500);
  REQUIRE_FALSE(run_traced({"init", "threads"})
                    .recordings.front()
                    .losses.contains("dropped_rests_of_buffers"));
}

TEST_CASE("only the steps that were asked for are recorded", "[capture]") {
  const Traced traced = run_traced({"init", "threads", "steps"}, {}, [](auto& settings) {
    settings.window.steps = {1, 2};
  });
  const Recording& recording = traced.recordings.front();
  REQUIRE(kernels(recording) == 20);
  REQUIRE(recording.step_marks.size() == 2);
  REQUIRE(recording.step_marks.front().number == 1);
}

TEST_CASE("only what lies between cudaProfilerStart and Stop is recorded", "[capture]") {
  const Traced traced = run_traced(
      {"init", "profiled"}, {}, [](auto& settings) { settings.window.profiler_api = true; });
  const Recording& recording = traced.recordings.front();
  REQUIRE(kernels(recording) == 1);
  REQUIRE(recording.names.at(recording.device_events.front().name) == "during()");
}

TEST_CASE("a window that never opened is said", "[capture]") {
  const Traced traced = run_traced(
      {"init", "threads"}, {}, [](auto& settings) { settings.window.range = "epoch 9"; });
  REQUIRE(kernels(traced.recordings.front()) == 0);
  REQUIRE(has_remark(traced.recordings.front(), "no NVTX range 'epoch 9' was seen"));
}

TEST_CASE("a directory that cannot be written leaves the program alone", "[capture]") {
  const Traced traced = run_traced({"init", "threads", "exit_3"}, {}, [](auto& settings) {
    settings.directory = "/proc/nowhere";
  });
  REQUIRE(WEXITSTATUS(traced.status) == 3);
  REQUIRE(traced.recordings.empty());
}

}  // namespace
}  // namespace scaleworth::gpu
