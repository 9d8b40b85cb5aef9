// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/cublas_lt.h"
#include "cuda/libraries/cupti.h"
#include "cuda/libraries/library.h"
#include "cuda/libraries/nccl.h"
#include "cuda/libraries/nvml.h"
#include "tests/catch.h"
#include "tests/unit/core/temporary_directory.h"

#include <cstdlib>
#include <string>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {

/// No file of this machine can be among the candidates, but for the loader's.
const LibraryNames fictive{"Fictive",
                           "--fictive-lib",
                           "nothing",
                           {"libscaleworth-fictive.so.2", "libscaleworth-fictive.so"},
                           {"fictive/lib"},
                           {"lib64"}};
const std::string wheel_folder = "venv/lib/python3.11/site-packages/nvidia/fictive/lib";

/// A copy, because the loader takes two names of one file for one library.
std::string copy_to(const std::filesystem::path& target, const char* fake) {
  std::filesystem::create_directories(target.parent_path());
  std::filesystem::copy_file(fake, target);
  return target.string();
}

SearchScope scope_of(const TemporaryDirectory& root) {
  return {{{"VIRTUAL_ENV", "/venv"}, {"CUDA_HOME", "/cuda"}}, root.path()};
}

void accept_nvml(const SharedLibrary& library) {
  library.need("nvmlInit_v2");
}

Outcome<OpenedLibrary> open_fictive(const TemporaryDirectory& root, const std::string& flag = {}) {
  return open_library(fictive, flag, scope_of(root), &accept_nvml);
}

const OpenedLibrary& opened(const Outcome<OpenedLibrary>& outcome) {
  return std::get<OpenedLibrary>(outcome);
}

}  // namespace

TEST_CASE("the first library of the search is opened, and its path and step are told",
          "[open library]") {
  const TemporaryDirectory root;
  const auto wheel =
      copy_to(root.path() / wheel_folder / "libscaleworth-fictive.so.2", SCALEWORTH_FAKE_NVML_GOOD);
  copy_to(root.path() / "cuda/lib64/libscaleworth-fictive.so.2", SCALEWORTH_FAKE_NVML_GOOD);
  const auto outcome = open_fictive(root);
  REQUIRE(opened(outcome).path == wheel);
  REQUIRE(opened(outcome).found_by == "pip's packages of the active Python");
}

TEST_CASE("a library that is refused gives way to the next place", "[open library]") {
  const TemporaryDirectory root;
  copy_to(root.path() / wheel_folder / "libscaleworth-fictive.so.2", SCALEWORTH_FAKE_INCOMPLETE);
  const auto toolkit =
      copy_to(root.path() / "cuda/lib64/libscaleworth-fictive.so", SCALEWORTH_FAKE_NVML_GOOD);
  const auto outcome = open_fictive(root);
  REQUIRE(opened(outcome).path == toolkit);
  REQUIRE(opened(outcome).found_by == "the toolkit's folder");
}

TEST_CASE("a flag wins over everything that the search would find", "[open library]") {
  const TemporaryDirectory root;
  copy_to(root.path() / wheel_folder / "libscaleworth-fictive.so.2", SCALEWORTH_FAKE_NVML_GOOD);
  const auto named = copy_to(root.path() / "mine/any-name.so", SCALEWORTH_FAKE_NVML_GOOD);
  const auto outcome = open_fictive(root, named);
  REQUIRE(opened(outcome).path == named);
  REQUIRE(opened(outcome).found_by == "--fictive-lib");
}

TEST_CASE("a flag may name the folder of the library", "[open library]") {
  const TemporaryDirectory root;
  const auto file =
      copy_to(root.path() / "mine/libscaleworth-fictive.so", SCALEWORTH_FAKE_NVML_GOOD);
  REQUIRE(opened(open_fictive(root, (root.path() / "mine").string())).path == file);
}

TEST_CASE("a flag that names no usable library is a failure, whatever else is there",
          "[open library]") {
  const TemporaryDirectory root;
  copy_to(root.path() / wheel_folder / "libscaleworth-fictive.so.2", SCALEWORTH_FAKE_NVML_GOOD);
  const std::string absent = std::get<Failed>(open_fictive(root, "/nonexistent/lib.so")).reason;
  REQUIRE(contains(absent, "--fictive-lib /nonexistent/lib.so"));
  REQUIRE(contains(absent, "No such file"));
  const std::string wrong = std::get<Failed>(open_fictive(root, SCALEWORTH_FAKE_INCOMPLETE)).reason;
  REQUIRE(contains(wrong, "no function nvmlInit_v2"));
}

TEST_CASE("a missing library names the places, the refused files and the flag", "[open library]") {
  const TemporaryDirectory root;
  const auto refused =
      copy_to(root.path() / "cuda/lib64/libscaleworth-fictive.so.2", SCALEWORTH_FAKE_INCOMPLETE);
  const std::string reason = std::get<Skipped>(open_fictive(root)).reason;
  REQUIRE(contains(reason, "no usable libscaleworth-fictive.so.2 or libscaleworth-fictive.so"));
  REQUIRE(contains(reason, "in the active Python's packages, on the loader's path"));
  REQUIRE(contains(reason, refused + " (the toolkit's folder): it has no function nvmlInit_v2"));
  REQUIRE(contains(reason, "--fictive-lib"));
  REQUIRE_FALSE(contains(reason, "cannot open shared object file"));
}

TEST_CASE("versions that are too old are refused with both versions", "[open library]") {
  const std::string old = SCALEWORTH_FAKE_OLD_VERSIONS;
  const std::string blas = std::get<Failed>(open_cublas_lt(old)).reason;
  REQUIRE(contains(blas, "version 11.11.3 is too old, 12.0.0 is needed"));
  const std::string nccl = std::get<Failed>(open_nccl(old)).reason;
  REQUIRE(contains(nccl, "version number 21701 is too old, 2.18.0 is needed"));
  const std::string cupti = std::get<Failed>(open_cupti(old)).reason;
  REQUIRE(contains(cupti, "version API 18 is too old"));
}

TEST_CASE("a cuBLASLt without its functions is refused by the first that is missing",
          "[open library]") {
  const std::string reason = std::get<Failed>(open_cublas_lt(SCALEWORTH_FAKE_INCOMPLETE)).reason;
  REQUIRE(contains(reason, "it has no function cublasLtGetStatusName"));
}

TEST_CASE("NVML is initialised while somebody owns it", "[open library]") {
  const SharedLibrary fake(SCALEWORTH_FAKE_NVML_GOOD);
  const int* open_count = fake.need("fake_nvml_open_count");
  {
    const auto outcome = open_nvml(SCALEWORTH_FAKE_NVML_GOOD);
    const auto& nvml = std::get<std::shared_ptr<const Nvml>>(outcome);
    REQUIRE(*open_count == 1);
    REQUIRE(nvml->version == "13.580.65.06");
    REQUIRE(nvml->driver_version == "580.65.06");
  }
  REQUIRE(*open_count == 0);
}

TEST_CASE("NVML's older name of the clock-event reasons serves, and what is absent is null",
          "[open library]") {
  const auto outcome = open_nvml(SCALEWORTH_FAKE_NVML_GOOD);
  const auto& nvml = std::get<std::shared_ptr<const Nvml>>(outcome);
  unsigned long long reasons = 0;
  nvml->check(nvml->clock_event_reasons(nullptr, &reasons));
  REQUIRE(reasons == 4);
  REQUIRE(nvml->total_energy == nullptr);
}

TEST_CASE("a failed call of NVML names the library, its words and the call site",
          "[open library]") {
  const auto outcome = open_nvml(SCALEWORTH_FAKE_NVML_GOOD);
  const auto& nvml = std::get<std::shared_ptr<const Nvml>>(outcome);
  const std::string message =
      message_of<LibraryError>([&] { nvml->check(nvml::Result::not_supported); });
  REQUIRE(contains(message, "NVML: Not Supported (code 3)"));
  REQUIRE(contains(message, "open_library_test.cpp"));
}

TEST_CASE("an NVML without its driver is refused with the driver's words", "[open library]") {
  const std::string reason = std::get<Failed>(open_nvml(SCALEWORTH_FAKE_NVML_NO_DRIVER)).reason;
  REQUIRE(contains(reason, "nvmlInit_v2 says \"Driver Not Loaded\" (code 9)"));
}

TEST_CASE(
    "our own tracing takes the newest CUPTI that fits, as the capture does, and not the first",
    "[cupti]") {
  const TemporaryDirectory root;
  const auto folder = root.path() / "lib";
  copy_to(folder / "python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12",
          SCALEWORTH_FAKE_CUPTI);  // as of CUDA 12.8; searched first
  const std::string newer =
      copy_to(folder / "python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.13",
              SCALEWORTH_FAKE_CUPTI);
  ::setenv("VIRTUAL_ENV", root.path().c_str(), 1);
  const auto rungs = probes::vendor_libraries({"/nonexistent", "/nonexistent", "/nonexistent", {}});
  const auto chosen = choose_cupti({}, cupti_of_cuda_12_0);
  ::unsetenv("VIRTUAL_ENV");
  REQUIRE(rungs.back().name == "CUPTI");
  CHECK(rungs.back().path == newer);
  // What was opened for the list is no other user's: no copy is made of it.
  CHECK(std::get<std::shared_ptr<const Cupti>>(chosen)->path == newer);
}

TEST_CASE("of a CUPTI that the program has in use a copy is opened, once", "[cupti]") {
  const TemporaryDirectory root;
  const std::string used = copy_to(root.path() / "libcupti.so.13", SCALEWORTH_FAKE_CUPTI);
  const SharedLibrary profiler(used);
  const auto chosen = choose_cupti(used, cupti_of_cuda_12_0);
  const auto& cupti = std::get<std::shared_ptr<const Cupti>>(chosen);
  CHECK(cupti->path == used);
  CHECK(cupti->found_by == "--cupti-lib");
  CHECK(reinterpret_cast<void*>(cupti->subscribe) != profiler.need("cuptiSubscribe").address);
  const auto again = choose_cupti(used, cupti_of_cuda_12_0);
  CHECK(std::get<std::shared_ptr<const Cupti>>(again) == cupti);
}
