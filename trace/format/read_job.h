// SPDX-License-Identifier: Apache-2.0
/// From files, directories, patterns and archives to the recordings of one job.
#pragma once

#include "trace/classify/rules.h"
#include "trace/timeline/recording.h"

#include <string>
#include <vector>

namespace scaleworth::trace {

struct ReadOptions {
  const RuleTable* rules = nullptr;  // which host operators to keep; must outlive the call
  unsigned threads = 0;              // files read at once; 0: as many as there are processors
};

/// Reads every recording that `inputs` name, in parallel, and puts them in the order of their ranks
/// (metadata, else file names, else order; Job::ranks_from says which). Throws UserError with file,
/// position and remedy when there is nothing to read, a file is of no known format, or recordings
/// of different runs are mixed.
Job read_job(const std::vector<std::string>& inputs, const ReadOptions& options);

}  // namespace scaleworth::trace
