// SPDX-License-Identifier: Apache-2.0
/// From files, directories, patterns and archives to the recordings of one job.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/classify.h"
#include "trace/recording.h"

#include <cstdint>
#include <optional>

namespace scaleworth::trace {
/// Times behind this (September 2001) count from 1970, so that recordings of any host compare.
inline constexpr std::chrono::nanoseconds wall_clock_begins{1'000'000'000'000'000'000};

/// Reads every recording that `inputs` name, in parallel, and puts them in the order of their ranks
/// (metadata, else file names, else order; Job::ranks_from says which). Throws UserError with file,
/// position and remedy when there is nothing to read, a file is of no known format, or recordings
/// of different runs are mixed. `rules` say which host operators to keep; `threads` files are read
/// at once, 0: as many as there are processors.
Job read_job(const std::vector<std::string>& inputs,
             const RuleTable& rules,
             std::size_t threads = 0);

/// Whether a file of this name, whose content, decompressed, begins so, is a recording, an archive,
/// or what read_job refuses as another tool's. JSON is one by the words of trace viewers.
bool is_recording(std::string_view name, std::string_view front);

/// From what a person names (files, folders, patterns) to files (find_files.cpp).
struct FoundFile {
  std::string path;
  bool named = false;  // by itself, rather than found in a folder
};

/// Files as they are named; folders with all that is below them, without hidden files; patterns
/// with *, ? and [] where no file has that very name. In natural order ("rank-2" before "rank-10")
/// within each input, each file once. Throws UserError for a name that leads to no file.
std::vector<FoundFile> find_files(const std::vector<std::string>& inputs);

/// "rank-2" < "rank-10", as strverscmp of glibc: numbers that are padded with zeros come before
/// others.
bool natural_less(const std::string& a, const std::string& b);

/// Sorts the job's recordings by rank and says in Job::ranks_from how the ranks were found: from
/// metadata; where it lacks or contradicts itself, from the file names; else from the order of the
/// files. A remark names the missing ranks. Throws UserError when two recordings claim one rank and
/// their names do not help.
void assign_ranks(Job& job);

/// Throws UserError, naming two files, when recordings are certainly of different runs: other sizes
/// of the job, other communicators of all ranks, or times on the wall clock that do not meet.
void refuse_mixed_runs(const Job& job);

/// The number behind the word "rank" in a file's name: "rank3.json", "trace_rank-12.json.gz". Any
/// other number is a process, a host, a time, a model or a try, and states no rank. A path or an
/// archive's member may stand before the name.
std::optional<std::int32_t> file_name_rank(std::string_view path);

/// From the first start to the last end of the work on GPUs; `no_time` without any.
TimeInterval device_span(const Recording& recording);

/// Recordings of one process (tool, host, pid, GPU), one after the other, become one: a profiler
/// that records every so many steps writes a file each time. Says so. Left as they are where they
/// overlap or state different ranks; without a host also where ten minutes lie between them.
void join_cycles(Job& job);

/// Splits the only recording of a job into one per GPU, ranks counted in the order of the GPUs, and
/// says so, where the kernels show that each GPU is a rank: all GPUs run the same kinds of
/// collectives in the same order, at least three, and in nine of ten all GPUs are in it at one
/// time. Left as it is where it is a rank of a larger job. Call before assign_ranks.
void split_lone_process(Job& job, const RuleTable& rules);
}  // namespace scaleworth::trace
