// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/open/open_library.h"

#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace scaleworth::gpu {
namespace {

namespace fs = std::filesystem;
using Accept = std::function<void(const SharedLibrary&)>;

OpenedLibrary open_candidate(const Candidate& candidate, const Accept& accept) {
  const SharedLibrary library(candidate.file);
  accept(library);
  library.keep();
  return {{}, library.path(), candidate.step};
}

/// The file that a flag names: a path, or a folder with one of the library's files.
fs::path named_file(const LibraryNames& names, const std::string& user_path) {
  // A bare name would send the loader to its own path instead of the file that was meant.
  const fs::path path = fs::absolute(user_path);
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  for (const std::string& file : names.files) {
    if (fs::exists(path / file, error)) return path / file;
  }
  return path / names.files.front();
}

Outcome<OpenedLibrary> open_named(const LibraryNames& names,
                                  const std::string& user_path,
                                  const Accept& accept) {
  const fs::path file = named_file(names, user_path);
  try {
    return open_candidate({file.string(), names.flag}, accept);
  } catch (const UnusableLibrary& refused) {
    return Failed{fmt::format(
        "{} {} is not usable as {}: {}; name another file, or leave the flag out to search",
        names.flag,
        user_path,
        names.name,
        refused.what())};
  }
}

/// Whether the loader merely did not find a bare name, which says nothing that the list of places
/// does not say.
bool only_absent(const Candidate& candidate, const std::string& reason) {
  return candidate.file.find('/') == std::string::npos &&
         reason.starts_with(candidate.file + ": cannot open shared object file");
}

std::string places(const LibraryNames& names) {
  std::vector<std::string> where;
  if (!names.wheel_folders.empty()) where.emplace_back("in the active Python's packages");
  where.emplace_back("on the loader's path");
  if (!names.toolkit_folders.empty()) where.emplace_back("in CUDA_HOME and /usr/local/cuda");
  return fmt::format("{}", fmt::join(where, ", "));
}

}  // namespace

Outcome<OpenedLibrary> open_library(const LibraryNames& names,
                                    const std::string& user_path,
                                    const SearchScope& scope,
                                    const Accept& accept) {
  if (!user_path.empty()) return open_named(names, user_path, accept);
  std::string refusals;
  for (const Candidate& candidate : library_candidates(names, scope.environment, scope.root)) {
    try {
      return open_candidate(candidate, accept);
    } catch (const UnusableLibrary& refused) {
      if (only_absent(candidate, refused.what())) continue;
      refusals += fmt::format("; {} ({}): {}", candidate.file, candidate.step, refused.what());
    }
  }
  return Skipped{fmt::format("no usable {} {}{}; it comes with {}, or name one with {}",
                             fmt::join(names.files, " or "),
                             places(names),
                             refusals,
                             names.comes_with,
                             names.flag)};
}

}  // namespace scaleworth::gpu
