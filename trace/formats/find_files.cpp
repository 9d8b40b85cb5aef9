// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "trace/formats/read_job.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include <glob.h>

namespace scaleworth::trace {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(
      folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename().string().starts_with('.')) {
      if (entry->is_directory(ignored)) entry.disable_recursion_pending();
    } else if (entry->is_regular_file(ignored)) {
      files.push_back(entry->path().string());
    }
  }
  if (error) throw UserError("{} cannot be listed ({}): check its rights", folder, error.message());
  std::ranges::sort(files, natural_less);
  return files;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t result{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &result) == 0)
    paths.assign(result.gl_pathv, result.gl_pathv + result.gl_pathc);
  globfree(&result);
  std::ranges::sort(paths, natural_less);
  return paths;
}
}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  return strverscmp(a.c_str(), b.c_str()) < 0;
}

std::vector<FoundFile> find_files(const std::vector<std::string>& inputs) {
  std::vector<FoundFile> found;
  std::set<std::string> seen;
  std::error_code error;
  const auto add_file = [&](const std::string& path, bool named) {
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (seen.insert(error ? path : canonical.string()).second) found.push_back({path, named});
  };
  const auto add = [&](const std::string& path) {
    if (!fs::is_directory(path, error)) return add_file(path, true);
    const auto files = files_below(path);
    if (files.empty())
      throw UserError("{} holds no files: name the folder with the recordings", path);
    for (const std::string& file : files) add_file(file, false);
  };
  for (const std::string& input : inputs) {
    if (fs::exists(input, error)) {
      add(input);
      continue;
    }
    const auto paths = matches(input);
    if (paths.empty()) throw UserError("{} names no file: check the path or pattern", input);
    for (const std::string& path : paths) add(path);
  }
  return found;
}
}  // namespace scaleworth::trace
