// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/library.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

namespace scaleworth::gpu {
namespace {
namespace fs = std::filesystem;

/// Folders in `parent` whose name begins with `start`, the newest version first.
std::vector<fs::path> versions(const fs::path& parent, const std::string& start) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(start)) found.push_back(entry->path());
  }
  // "3.9" before "3.11": by length first, as the versions have no leading zeros.
  std::ranges::sort(found, std::ranges::greater{}, [](const fs::path& path) {
    const std::string name = path.filename();
    return std::pair(name.size(), name);
  });
  return found;
}

void add_folder(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error) &&
      std::find(folders.begin(), folders.end(), folder) == folders.end()) {
    folders.push_back(folder);
  }
}

/// What an interpreter in `prefix`/bin imports from; Debian says dist-packages, and keeps pip's
/// under /usr/local for the interpreter in /usr.
void add_site_folders(std::vector<fs::path>& folders, const fs::path& prefix) {
  for (const fs::path& parent : {prefix / "local" / "lib", prefix / "lib", prefix / "lib64"}) {
    for (const fs::path& version : versions(parent, "python3")) {
      add_folder(folders, version / "site-packages");
      add_folder(folders, version / "dist-packages");
    }
  }
}

/// A link's target, which inside the root may be absolute; one step.
fs::path follow(const fs::path& link, const SearchScope& scope) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  if (error) return {};
  return (target.is_absolute() ? scope.below(target) : link.parent_path() / target)
      .lexically_normal();
}

/// pyenv puts shell scripts on PATH; the interpreter is in versions/<name>, named by a variable or
/// the file `version`.
fs::path pyenv_prefix(const fs::path& shims, const SearchScope& scope) {
  std::string name = scope.value("PYENV_VERSION");
  std::ifstream file(shims.parent_path() / "version");
  if (name.empty()) std::getline(file, name);
  return name.empty() ? fs::path()
                      : shims.parent_path() / "versions" / name.substr(0, name.find(':'));
}

/// The prefixes of the `python3` that a shell would start: where it lies (a virtual environment),
/// and where its links lead.
std::vector<fs::path> python_prefixes(const SearchScope& scope) {
  std::istringstream folders(scope.value("PATH"));
  std::error_code error;
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path file = scope.below(folder) / "python3";
    if (folder.empty() || !fs::exists(fs::symlink_status(file, error))) continue;
    if (file.parent_path().filename() == "shims") {
      return {pyenv_prefix(file.parent_path(), scope)};
    }
    std::vector<fs::path> prefixes;
    // Of symbolic links: a loop ends; installations have two or three.
    constexpr int longest_chain = 8;
    for (int link = 0; link < longest_chain && !file.empty(); ++link, file = follow(file, scope)) {
      prefixes.push_back(file.parent_path().parent_path());
    }
    return prefixes;
  }
  return {};
}

void add_files(std::vector<Candidate>& candidates,
               const fs::path& folder,
               const LibraryNames& names,
               const std::string& step) {
  std::error_code error;
  for (const std::string& name : names.files) {
    const Candidate candidate{(folder / name).string(), step};
    if (fs::exists(candidate.file, error) &&
        std::find(candidates.begin(), candidates.end(), candidate) == candidates.end()) {
      candidates.push_back(candidate);
    }
  }
}

void add_wheels(std::vector<Candidate>& candidates,
                const LibraryNames& names,
                const fs::path& site) {
  const std::string step = "pip's packages of the active Python";
  // From CUDA 13 on one folder per CUDA version holds the toolkit's libraries.
  if (!names.toolkit_folders.empty()) {
    for (const fs::path& version : versions(site / "nvidia", "cu")) {
      const std::string name = version.filename();
      if (name.size() > 2 && name.find_first_not_of("0123456789", 2) == std::string::npos) {
        add_files(candidates, version / "lib", names, step);
      }
    }
  }
  for (const std::string& folder : names.wheel_folders) {
    add_files(candidates, site / "nvidia" / folder, names, step);
  }
}
}  // namespace

std::vector<fs::path> python_site_folders(const SearchScope& scope) {
  std::vector<fs::path> folders;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = scope.value(name);
    if (!prefix.empty()) add_site_folders(folders, scope.below(prefix));
  }
  if (!scope.value("VIRTUAL_ENV").empty() || !scope.value("CONDA_PREFIX").empty()) return folders;
  const std::vector<fs::path> prefixes = python_prefixes(scope);
  const std::string home = scope.value("HOME");
  if (!prefixes.empty() && !home.empty()) add_site_folders(folders, scope.below(home) / ".local");
  for (const fs::path& prefix : prefixes) add_site_folders(folders, prefix);
  return folders;
}

std::vector<Candidate> library_candidates(const LibraryNames& names, const SearchScope& scope) {
  std::vector<Candidate> candidates;
  if (!names.wheel_folders.empty()) {
    for (const fs::path& site : python_site_folders(scope)) add_wheels(candidates, names, site);
    const std::string conda = scope.value("CONDA_PREFIX");
    if (!conda.empty()) {
      add_files(candidates, scope.below(conda) / "lib", names, "the conda environment");
    }
  }
  for (const std::string& file : names.files) candidates.push_back({file, "the loader's path"});
  for (const std::string& toolkit :
       {scope.value("CUDA_HOME"), scope.value("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (toolkit.empty()) continue;
    for (const std::string& folder : names.toolkit_folders) {
      add_files(candidates, scope.below(toolkit) / folder, names, "the toolkit's folder");
    }
  }
  return candidates;
}

std::string SearchScope::value(const std::string& name) const {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

Environment search_environment() {
  Environment environment;
  for (const char* name :
       {"VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_VERSION", "PATH", "HOME", "CUDA_HOME", "CUDA_PATH"}) {
    if (const char* text = std::getenv(name)) environment[name] = text;
  }
  return environment;
}
}  // namespace scaleworth::gpu
