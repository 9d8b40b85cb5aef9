// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/library.h"

#include <system_error>

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <link.h>

namespace scaleworth::gpu {
namespace {
namespace fs = std::filesystem;
using Accept = std::function<void(const SharedLibrary&)>;

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown error of the loader" : text;
}

OpenedLibrary open_candidate(const Candidate& candidate, const Accept& accept) {
  const SharedLibrary library(candidate.file);
  accept(library);
  library.keep();
  return {.path = library.path(), .found_by = candidate.step};
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
  for (const Candidate& candidate : library_candidates(names, scope)) {
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

void SharedLibrary::Close::operator()(void* handle) const {
  dlclose(handle);
}

SharedLibrary::SharedLibrary(const std::string& file)
    : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) throw UnusableLibrary(loader_error());
}

std::string SharedLibrary::path() const {
  const link_map* map = nullptr;
  if (dlinfo(handle_.get(), RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  return map->l_name;
}

void SharedLibrary::keep() const {
  void* again = dlopen(path().c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  if (again == nullptr) throw UnusableLibrary(loader_error());
  dlclose(again);
}

Symbol SharedLibrary::take(const char* name, const char* older) const {
  const Symbol found{dlsym(handle_.get(), name)};
  return found.address == nullptr && older != nullptr ? take(older) : found;
}

Symbol SharedLibrary::need(const char* name) const {
  const Symbol found = take(name);
  if (found.address == nullptr) throw UnusableLibrary("it has no function {}", name);
  return found;
}

LibraryError::LibraryError(const std::string& library,
                           const std::string& words,
                           int code,
                           std::source_location where)
    : std::runtime_error(fmt::format(
          "{}: {} (code {}) at {}:{}", library, words, code, where.file_name(), where.line())),
      code_(code) {}

std::string version_text(std::int64_t version) {
  // NVIDIA's libraries: 10000 major + 100 minor + patch.
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}
}  // namespace scaleworth::gpu
