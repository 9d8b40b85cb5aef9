// SPDX-License-Identifier: Apache-2.0
/// Finds a vendor library, opens it and fills its table of functions; or says what was tried.
#pragma once

#include "cuda/libraries/open/library_search.h"
#include "cuda/libraries/open/shared_library.h"
#include "src/core/outcome.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace scaleworth::gpu {

/// What every table knows of its library.
struct OpenedLibrary {
  std::string version;
  std::string path;      // of the file really loaded
  std::string found_by;  // the search step: "--cublas-lib", "the loader's path", ...
};

/// Where to look; the default is this process's world.
struct SearchScope {
  Environment environment = search_environment();
  std::filesystem::path root = "/";
};

/// Opens the first candidate that `accept` takes; `accept` throws UnusableLibrary to refuse one.
/// With `user_path` (a file, or a folder that holds one of `names.files`) that alone is tried, and
/// anything wrong with it is Failed. Skipped says where was looked and what was wrong with the
/// files that were there. The accepted library stays in the process. The result has path and
/// found_by; its version is for `accept` to read.
Outcome<OpenedLibrary> open_library(const LibraryNames& names,
                                    const std::string& user_path,
                                    const SearchScope& scope,
                                    const std::function<void(const SharedLibrary&)>& accept);

/// Opens a library into a table derived from OpenedLibrary; `fill` sets its functions and version.
template <class Table>
Outcome<std::shared_ptr<const Table>> open_table(const LibraryNames& names,
                                                 const std::string& user_path,
                                                 const SearchScope& scope,
                                                 void (*fill)(const SharedLibrary&, Table&)) {
  auto table = std::make_shared<Table>();
  Outcome<OpenedLibrary> opened =
      open_library(names, user_path, scope, [&](const SharedLibrary& library) {
        *table = Table{};
        fill(library, *table);
      });
  if (auto* skipped = std::get_if<Skipped>(&opened)) return std::move(*skipped);
  if (auto* failed = std::get_if<Failed>(&opened)) return std::move(*failed);
  table->path = std::get<OpenedLibrary>(opened).path;
  table->found_by = std::get<OpenedLibrary>(opened).found_by;
  return std::shared_ptr<const Table>(std::move(table));
}

}  // namespace scaleworth::gpu
