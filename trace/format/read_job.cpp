// SPDX-License-Identifier: Apache-2.0
#include "trace/format/read_job.h"

#include "src/core/error.h"
#include "src/core/interrupt.h"
#include "trace/format/input/find_files.h"
#include "trace/format/ranks/assign_ranks.h"
#include "trace/format/ranks/lone_process.h"
#include "trace/format/read_file.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <set>
#include <thread>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

constexpr std::size_t most_remarks = 5;  // about single files; the others are counted

/// What became of one file.
struct Result {
  FileContent content;
  std::string refusal;         // of a UserError
  std::exception_ptr failure;  // anything else: it ends the job
};

Result read_one(const std::string& path, const RuleTable& rules) {
  Result result;
  try {
    check_interrupt();
    result.content = read_file(path, rules);
  } catch (const UserError& error) {
    result.refusal = error.what();
  } catch (...) {
    result.failure = std::current_exception();
  }
  return result;
}

std::vector<Result> read_all(const std::vector<FoundFile>& files, const ReadOptions& options) {
  std::vector<Result> results(files.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size() && !failed; i = next++) {
      results[i] = read_one(files[i].path, *options.rules);
      if (results[i].failure) failed = true;
    }
  };
  const unsigned wanted =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < std::min<std::size_t>(wanted, files.size()); ++i)
      pool.emplace_back(work);
    work();
  }
  for (const Result& result : results)
    if (result.failure) std::rethrow_exception(result.failure);
  return results;
}

/// Analyses know ranks, not GPUs: what that means for a process that drives several is said.
void tell_several_devices(Recording& recording) {
  std::set<std::uint16_t> devices;
  std::uint16_t last = 0;
  for (const DeviceEvent& event : recording.device_events) {
    if (!devices.empty() && event.device == last) continue;
    devices.insert(event.device);
    last = event.device;
  }
  if (devices.size() > 1)
    recording.remarks.push_back(
        fmt::format("its process drives {} GPUs, which count as one rank: an instant belongs to "
                    "the first class of work that is active on any of them",
                    devices.size()));
}

/// An export beside the report that it was made of says everything already.
void drop_exported_reports(std::vector<FoundFile>& files) {
  std::erase_if(files, [](const FoundFile& file) {
    std::filesystem::path path = file.path;
    if (file.named || path.extension() != ".nsys-rep") return false;
    return std::filesystem::exists(path.replace_extension(".sqlite"));
  });
}

/// Why files are not in the job: some in words, the rest as a number.
class LeftOut {
 public:
  void add(const std::string& reason) {
    if (first_.empty()) first_ = reason;
    if (told_.size() < most_remarks)
      told_.push_back("left out: " + reason);
    else
      ++more_;
  }
  const std::string& first() const { return first_; }
  void tell(std::vector<std::string>& remarks) const {
    remarks.insert(remarks.end(), told_.begin(), told_.end());
    if (more_ > 0) remarks.push_back(fmt::format("left out: {} more files", more_));
  }

 private:
  std::string first_;
  std::vector<std::string> told_;
  std::size_t more_ = 0;
};

}  // namespace

Job read_job(const std::vector<std::string>& inputs, const ReadOptions& options) {
  std::vector<FoundFile> files = find_files(inputs);
  drop_exported_reports(files);
  std::vector<Result> results = read_all(files, options);
  Job job;
  LeftOut left_out;
  std::size_t foreign = 0;  // found in folders beside recordings: logs, tables, pictures
  for (std::size_t i = 0; i < results.size(); ++i) {
    FileContent& content = results[i].content;
    if (content.foreign && !files[i].named) {
      ++foreign;
      continue;
    }
    if (!results[i].refusal.empty()) left_out.add(results[i].refusal);
    for (const std::string& reason : content.left_out) left_out.add(reason);
    for (Recording& recording : content.recordings) {
      if (recording.device_events.empty())
        left_out.add(fmt::format("{} holds no work on a GPU: record with CUDA activity on",
                                 recording.origin.file));
      else
        job.recordings.push_back(std::move(recording));
    }
    content = {};
  }
  if (job.recordings.empty()) {
    if (!left_out.first().empty()) throw UserError(left_out.first());
    throw UserError(fmt::format(
        "{} holds no recording: give files of scaleworth trace, of the PyTorch profiler "
        "or of nsys export --type sqlite",
        inputs.empty() ? "the input" : inputs.front()));
  }
  left_out.tell(job.remarks);
  if (foreign > 0)
    job.remarks.push_back(fmt::format("{} other files in the folders are no recordings", foreign));
  split_lone_process(job, *options.rules);
  for (Recording& recording : job.recordings) tell_several_devices(recording);
  refuse_mixed_runs(job);
  assign_ranks(job);
  return job;
}

}  // namespace scaleworth::trace
