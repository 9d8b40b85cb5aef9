// SPDX-License-Identifier: Apache-2.0
/// Where a vendor library is looked for, in which order: computed from the environment and the
/// folders that exist, without opening anything.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace scaleworth::gpu {

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

/// One thing to try: `file` is a path, or a bare file name for the loader to find.
struct Candidate {
  std::string file;
  std::string step;  // "the Python environment", for people
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// The site-packages folders of the active Python, best first: of VIRTUAL_ENV and CONDA_PREFIX;
/// when neither is set, of the `python3` on PATH with the user's own (~/.local) before it. Python
/// is not run. `root` stands before every path (tests: a folder; else "/"). Only folders that
/// exist.
std::vector<std::filesystem::path> python_site_folders(const Environment& environment,
                                                       const std::filesystem::path& root);

/// The candidates in order: pip's libraries in the active Python, libraries of a conda environment,
/// the loader's own search by file name (LD_LIBRARY_PATH, ld.so.cache), the toolkit (CUDA_HOME,
/// CUDA_PATH, /usr/local/cuda). Paths are of files that exist; the loader's entries are always
/// there.
std::vector<Candidate> library_candidates(const LibraryNames& names,
                                          const Environment& environment,
                                          const std::filesystem::path& root);

/// The variables of this process that the search reads.
Environment search_environment();

}  // namespace scaleworth::gpu
