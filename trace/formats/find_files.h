// SPDX-License-Identifier: Apache-2.0
/// From what a person names (files, folders, patterns) to files.
#pragma once

#include <string>
#include <vector>

namespace scaleworth::trace {
struct FoundFile {
  std::string path;
  bool named = false;  // by itself, rather than found in a folder
};

/// Files as they are named; folders with all that is below them, without hidden files; patterns
/// with *, ? and [] where no file has that very name. In natural order ("rank-2" before "rank-10")
/// within each input, each file once. Throws UserError for a name that leads to no file.
std::vector<FoundFile> find_files(const std::vector<std::string>& inputs);

/// "rank-2" < "rank-10": runs of digits compare as numbers.
bool natural_less(const std::string& a, const std::string& b);
}  // namespace scaleworth::trace
