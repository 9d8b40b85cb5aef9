// SPDX-License-Identifier: Apache-2.0
/// Open, fill the table of functions, failed calls, versions (in inject too).
#pragma once

#include "probes/gpu/registry.h"
#include "src/core/error.h"
#include "src/core/estimate.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace scaleworth::gpu {
using namespace probes;

/// A shared object that cannot be opened or is not the library that it should be; the message is
/// the reason, without the file's name.
struct UnusableLibrary : Message {
  using Message::Message;
};

/// The address of a function or variable, of the type that it is assigned to.
struct Symbol {
  void* address = nullptr;
  template <class Object>
  operator Object*() const {
    return reinterpret_cast<Object*>(address);
  }
};

/// A shared object opened at run time: closed again unless it is kept.
class SharedLibrary {
 public:
  /// `file` is a path or a bare name for the loader. Throws UnusableLibrary with the loader's
  /// words.
  explicit SharedLibrary(const std::string& file);

  /// Throws UnusableLibrary when there is none.
  Symbol need(const char* name) const;
  /// Null where this version has none, under its older name neither.
  Symbol take(const char* name, const char* older = nullptr) const;
  /// Of the file that the loader opened, links as it met them.
  std::string path() const;
  /// Leaves the library in the process for good: vendor libraries start threads and register exit
  /// handlers, which must not lose their code.
  void keep() const;

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle_;
};

// Where a vendor library is looked for, in which order: computed from the environment and the
// folders that exist, without opening anything.

/// How one vendor library is called and packaged.
struct LibraryNames {
  std::string name;                          // "cuBLASLt", for people
  std::string flag;                          // "--cublas-lib"
  std::string comes_with;                    // where people get it: "NVIDIA's driver"
  std::vector<std::string> files;            // "libcublasLt.so.13", ...: newest first
  std::vector<std::string> wheel_folders;    // pip's, below site-packages/nvidia: "cublas/lib"
  std::vector<std::string> toolkit_folders;  // below the toolkit: "lib64"; empty: not part of it
};

using Environment = std::map<std::string, std::string>;

/// The variables of this process that the search reads.
Environment search_environment();

/// Where to look; the default is this process's world.
struct SearchScope {
  Environment environment = search_environment();
  std::filesystem::path root = "/";  // before every path; tests: a folder

  std::string value(const std::string& name) const;  // empty for none
  std::filesystem::path below(const std::filesystem::path& path) const {
    return root / path.relative_path();
  }
};

/// One thing to try: `file` is a path, or a bare file name for the loader to find.
struct Candidate {
  std::string file;
  std::string step;  // "the Python environment", for people
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// The site-packages folders of the active Python, best first: of VIRTUAL_ENV and CONDA_PREFIX;
/// when neither is set, of the `python3` on PATH with the user's own (~/.local) before it. Python
/// is not run. Only folders that exist.
std::vector<std::filesystem::path> python_site_folders(const SearchScope& scope);

/// The candidates in order: pip's libraries in the active Python, libraries of a conda environment,
/// the loader's own search by file name (LD_LIBRARY_PATH, ld.so.cache), the toolkit (CUDA_HOME,
/// CUDA_PATH, /usr/local/cuda). Paths are of files that exist; the loader's entries are always
/// there.
std::vector<Candidate> library_candidates(const LibraryNames& names, const SearchScope& scope);

/// What every table of functions knows of its library. The functions of a derived table are looked
/// up by their initialisers, in their order; without a library they are null.
struct OpenedLibrary {
  std::string version{};
  std::string path{};                 // of the file really loaded
  std::string found_by{};             // the search step: "--cublas-lib", "the loader's path", ...
  std::vector<std::string> absent{};  // functions that may be null, and are in this version
  const SharedLibrary* library = nullptr;  // while the table is filled

 protected:
  Symbol need(const char* name) const {
    return library == nullptr ? Symbol{} : library->need(name);
  }
  Symbol take(const char* name, const char* older = nullptr) {
    if (library == nullptr) return {};
    const Symbol found = library->take(name, older);
    if (found.address == nullptr) absent.emplace_back(name);
    return found;
  }
};

/// A failed call of a library that was opened at run time. The message names the library, its words
/// for the error, the code and the line of the caller.
class LibraryError : public std::runtime_error {
 public:
  LibraryError(const std::string& library,
               const std::string& words,
               int code,
               std::source_location where);
  int code() const { return code_; }

 private:
  int code_;
};

/// A table whose functions answer with a `Status` that is 0 for success. It has a `name`, and
/// `words` for the others.
template <class Table, class Status>
struct CheckedLibrary : OpenedLibrary {
  /// Throws LibraryError naming the call site unless `status` is success.
  void check(Status status, std::source_location where = std::source_location::current()) const {
    if (status == Status{}) return;
    const Table& table = static_cast<const Table&>(*this);
    throw LibraryError(Table::name, table.words(status), static_cast<int>(status), where);
  }
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

/// Opens a library into a table derived from OpenedLibrary; `fill` makes it, with its version.
template <class Table>
Outcome<std::shared_ptr<const Table>> open_table(
    const LibraryNames& names,
    const std::string& user_path,
    const SearchScope& scope,
    const std::function<void(const SharedLibrary&, Table&)>& fill) {
  auto table = std::make_shared<Table>();
  Outcome<OpenedLibrary> opened =
      open_library(names, user_path, scope, [&](const SharedLibrary& library) {
        *table = Table{};
        fill(library, *table);
        table->library = nullptr;
      });
  return and_then(opened, [&](const OpenedLibrary& one) -> Outcome<std::shared_ptr<const Table>> {
    table->path = one.path;
    table->found_by = one.found_by;
    return std::shared_ptr<const Table>(std::move(table));
  });
}

/// Gives a handle back through the table that made it, which lives as long.
template <auto member>
struct DestroyThrough;
template <class Table, class Function, Function Table::*member>
struct DestroyThrough<member> {
  std::shared_ptr<const Table> library;
  template <class Handle>
  void operator()(Handle* handle) const noexcept {
    static_cast<void>(((*library).*member)(handle));
  }
};
template <class Handle, auto member>
using OwnedThrough = std::unique_ptr<std::remove_pointer_t<Handle>, DestroyThrough<member>>;

/// The version number that CUDA's libraries share, 10000 major + 100 minor + patch: "2.28.9" of
/// 22809.
std::string version_text(std::int64_t version);

/// "13.0" for 13000, as the CUDA runtime numbers versions: 1000 major + 10 minor.
std::string cuda_version_text(int version);

/// The driver's entry. `driver` and `runtime` are as cudaDriverGetVersion and cudaRuntimeGetVersion
/// report them (driver 0: none); `path` is the libcuda that was loaded, empty for none.
/// A runtime works with every driver of its major version or a later one (CUDA compatibility guide,
/// "minor version compatibility").
VendorLibrary driver_rung(int driver, int runtime, const std::string& path);

/// The libcuda.so.1 that the loader takes; empty: none.
std::string loaded_driver();
}  // namespace scaleworth::gpu
