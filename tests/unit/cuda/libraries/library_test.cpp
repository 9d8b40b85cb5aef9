// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/library.h"

#include "tests/catch.h"
#include "tests/unit/core/temporary_directory.h"

#include <string>
#include <vector>

using namespace scaleworth;

namespace {
constexpr int runtime_13_0 = 13000;

}  // namespace

TEST_CASE("a driver of the runtime's major version serves, older or newer", "[ladder]") {
  const auto rung = gpu::driver_rung(13010, runtime_13_0, "/usr/lib/libcuda.so.1");
  REQUIRE(rung.version == "CUDA 13.1");
  REQUIRE(rung.path == "/usr/lib/libcuda.so.1");
  REQUIRE(gpu::driver_rung(13000, 13010, "/usr/lib/libcuda.so.1").version == "CUDA 13.0");
}

TEST_CASE("a driver of an older major version is refused with both versions", "[ladder]") {
  const auto rung = gpu::driver_rung(12080, runtime_13_0, "/usr/lib/libcuda.so.1");
  REQUIRE(rung.path.empty());
  REQUIRE(contains(rung.reason, "supports CUDA 12.8 and is too old"));
  REQUIRE(contains(rung.reason, "CUDA 13.0, 580.65.06 or later"));
}

TEST_CASE("a missing driver names the container flag and costs every probe", "[ladder]") {
  const auto rung = gpu::driver_rung(0, runtime_13_0, "");
  REQUIRE(rung.path.empty());
  REQUIRE(contains(rung.reason, "no libcuda.so.1"));
  REQUIRE(contains(rung.reason, "--gpus all"));
  REQUIRE(rung.lost == "every GPU probe");
}

TEST_CASE("a driver library that does not tell its version is missing", "[ladder]") {
  const auto rung = gpu::driver_rung(0, runtime_13_0, "/usr/lib/libcuda.so.1");
  REQUIRE(rung.path.empty());
  REQUIRE(contains(rung.reason, "does not report its version"));
}

TEST_CASE("the ladder has a rung per library, each with what is lost without it", "[ladder]") {
  const probes::VendorPaths broken{
      "/nonexistent/a", "/nonexistent/b", "/nonexistent/c", "/nonexistent/d"};
  const auto rungs = probes::vendor_libraries(broken);
  REQUIRE(rungs.size() == 5);
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    REQUIRE(rungs[i].path.empty());
    REQUIRE(contains(rungs[i].reason, "/nonexistent/"));
    REQUIRE_FALSE(rungs[i].lost.empty());
  }
}

using namespace scaleworth::gpu;

namespace {
const LibraryNames blas{"cuBLASLt",
                        "--cublas-lib",
                        "the toolkit",
                        {"libcublasLt.so.13", "libcublasLt.so.12"},
                        {"cublas/lib"},
                        {"lib64", "lib"}};
const LibraryNames driver_part{"NVML", "--nvml-lib", "the driver", {"libnvidia-ml.so.1"}, {}, {}};

/// A file system of empty files below a temporary folder.
class Tree {
 public:
  const std::filesystem::path& root() const { return directory_.path(); }
  void file(const std::string& path, const std::string& text = "") const {
    std::filesystem::create_directories(at(path).parent_path());
    std::ofstream(at(path)) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories(at(path).parent_path());
    std::filesystem::create_symlink(target, at(path));
  }
  /// What the search finds for `names`, as paths below the root; bare names as they are.
  std::vector<std::string> found(const LibraryNames& names, const Environment& environment) const {
    std::vector<std::string> files;
    for (const Candidate& candidate : library_candidates(names, {environment, root()})) {
      const bool bare = candidate.file.find('/') == std::string::npos;
      files.push_back(bare ? candidate.file : candidate.file.substr(root().string().size()));
    }
    return files;
  }
  std::vector<std::string> sites(const Environment& environment) const {
    std::vector<std::string> folders;
    for (const auto& folder : python_site_folders({environment, root()})) {
      folders.push_back(folder.string().substr(root().string().size()));
    }
    return folders;
  }

 private:
  std::filesystem::path at(const std::string& path) const { return root() / path.substr(1); }
  TemporaryDirectory directory_;
};

using Files = std::vector<std::string>;
}  // namespace

TEST_CASE("pip's packages of a virtual environment stand before the loader and the toolkit",
          "[library search]") {
  const Tree tree;
  tree.file("/venv/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.12");
  tree.file("/usr/local/cuda/lib64/libcublasLt.so.13");
  REQUIRE(tree.found(blas, {{"VIRTUAL_ENV", "/venv"}}) ==
          Files{"/venv/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.12",
                "libcublasLt.so.13",
                "libcublasLt.so.12",
                "/usr/local/cuda/lib64/libcublasLt.so.13"});
}

TEST_CASE("the layout of CUDA 13's packages stands before the older one", "[library search]") {
  const Tree tree;
  const std::string site = "/venv/lib/python3.12/site-packages/nvidia";
  tree.file(site + "/cublas/lib/libcublasLt.so.12");
  tree.file(site + "/cu13/lib/libcublasLt.so.13");
  tree.file(site + "/cudnn/lib/libcublasLt.so.13");
  const Files files = tree.found(blas, {{"VIRTUAL_ENV", "/venv"}});
  REQUIRE(files.at(0) == site + "/cu13/lib/libcublasLt.so.13");
  REQUIRE(files.at(1) == site + "/cublas/lib/libcublasLt.so.12");
  REQUIRE(files.size() == 4);  // and the two names for the loader
}

TEST_CASE("a conda environment has pip's packages and libraries of its own", "[library search]") {
  const Tree tree;
  tree.file("/conda/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.12");
  tree.file("/conda/lib/libcublasLt.so.12");
  const Files files = tree.found(blas, {{"CONDA_PREFIX", "/conda"}});
  REQUIRE(files.at(0) == "/conda/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.12");
  REQUIRE(files.at(1) == "/conda/lib/libcublasLt.so.12");
}

TEST_CASE("without an environment the first python3 on PATH decides, the user's packages first",
          "[library search]") {
  const Tree tree;
  tree.file("/usr/bin/python3.11");
  tree.link("/usr/bin/python3", "python3.11");
  tree.file("/opt/other/bin/python3");
  tree.file("/opt/other/lib/python3.12/site-packages/x");
  tree.file("/usr/lib/python3/dist-packages/x");
  tree.file("/usr/local/lib/python3.11/dist-packages/x");
  tree.file("/home/me/.local/lib/python3.11/site-packages/x");
  REQUIRE(tree.sites({{"PATH", "/nothing:/usr/bin:/opt/other/bin"}, {"HOME", "/home/me"}}) ==
          Files{"/home/me/.local/lib/python3.11/site-packages",
                "/usr/local/lib/python3.11/dist-packages",
                "/usr/lib/python3/dist-packages"});
}

TEST_CASE("an environment hides the python3 on PATH", "[library search]") {
  const Tree tree;
  tree.file("/usr/bin/python3");
  tree.file("/usr/lib/python3/dist-packages/x");
  tree.file("/venv/lib/python3.11/site-packages/x");
  REQUIRE(tree.sites({{"VIRTUAL_ENV", "/venv"}, {"PATH", "/usr/bin"}}) ==
          Files{"/venv/lib/python3.11/site-packages"});
}

TEST_CASE("a python3 that is a link belongs to where it lies and to where it leads",
          "[library search]") {
  const Tree tree;
  tree.file("/opt/python/bin/python3");
  tree.file("/opt/python/lib/python3.12/site-packages/x");
  tree.link("/srv/venv/bin/python3", "/opt/python/bin/python3");
  tree.file("/srv/venv/lib/python3.12/site-packages/x");
  REQUIRE(
      tree.sites({{"PATH", "/srv/venv/bin"}}) ==
      Files{"/srv/venv/lib/python3.12/site-packages", "/opt/python/lib/python3.12/site-packages"});
}

TEST_CASE("pyenv's script leads to the version that its file or its variable names",
          "[library search]") {
  const Tree tree;
  tree.file("/root/.pyenv/shims/python3");
  tree.file("/root/.pyenv/version", "3.11.7\n");
  tree.file("/root/.pyenv/versions/3.11.7/lib/python3.11/site-packages/x");
  tree.file("/root/.pyenv/versions/3.12.1/lib/python3.12/site-packages/x");
  const std::string path = "/root/.pyenv/shims";
  REQUIRE(tree.sites({{"PATH", path}}) ==
          Files{"/root/.pyenv/versions/3.11.7/lib/python3.11/site-packages"});
  REQUIRE(tree.sites({{"PATH", path}, {"PYENV_VERSION", "3.12.1"}}) ==
          Files{"/root/.pyenv/versions/3.12.1/lib/python3.12/site-packages"});
}

TEST_CASE("the newer of two Python versions comes first, by number", "[library search]") {
  const Tree tree;
  tree.file("/venv/lib/python3.9/site-packages/x");
  tree.file("/venv/lib/python3.11/site-packages/x");
  REQUIRE(tree.sites({{"VIRTUAL_ENV", "/venv"}}).at(0) == "/venv/lib/python3.11/site-packages");
}

TEST_CASE("CUDA_HOME stands before the usual folder, and no file is listed twice",
          "[library search]") {
  const Tree tree;
  tree.file("/opt/cuda/lib64/libcublasLt.so.12");
  tree.file("/usr/local/cuda/lib64/libcublasLt.so.13");
  REQUIRE(tree.found(blas, {{"CUDA_HOME", "/opt/cuda"}, {"CUDA_PATH", "/opt/cuda"}}) ==
          Files{"libcublasLt.so.13",
                "libcublasLt.so.12",
                "/opt/cuda/lib64/libcublasLt.so.12",
                "/usr/local/cuda/lib64/libcublasLt.so.13"});
}

TEST_CASE("the driver's library is looked for by the loader alone", "[library search]") {
  const Tree tree;
  tree.file("/usr/local/cuda/lib64/stubs/libnvidia-ml.so.1");
  tree.file("/usr/local/cuda/lib64/libnvidia-ml.so.1");
  tree.file("/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvidia-ml.so.1");
  REQUIRE(tree.found(driver_part, {{"VIRTUAL_ENV", "/venv"}}) == Files{"libnvidia-ml.so.1"});
}
