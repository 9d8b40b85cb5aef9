// SPDX-License-Identifier: Apache-2.0
/// The vendor's own libraries, as many versions as this machine has: those that the variable
/// SCALEWORTH_VENDOR_LIBRARIES lists, separated by ":". Without one the program is skipped.
#include "cuda/libraries/cupti.h"
#include "cuda/libraries/nccl.h"
#include "tests/catch.h"
#include "tests/run_catch.h"

#include <cstdlib>
#include <span>
#include <sstream>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {
/// The files whose names begin so.
std::vector<std::string> files(std::string_view name) {
  const char* listed = std::getenv("SCALEWORTH_VENDOR_LIBRARIES");
  std::istringstream list(listed == nullptr ? "" : listed);
  std::vector<std::string> found;
  for (std::string file; std::getline(list, file, ':');) {
    if (std::filesystem::path(file).filename().string().starts_with(name)) found.push_back(file);
  }
  return found;
}

struct Newer {
  const char* function;
  int since;
};

std::vector<std::string> absent_before(int version, std::span<const Newer> functions) {
  std::vector<std::string> absent;
  for (const Newer& one : functions) {
    if (version < one.since) absent.emplace_back(one.function);
  }
  return absent;
}

/// "2.22.3" as 22203.
int number_of(const std::string& version) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  char dot = '.';
  std::istringstream(version) >> major >> dot >> minor >> dot >> patch;
  return 10000 * major + 100 * minor + patch;
}
}  // namespace

TEST_CASE("each NCCL here has the functions of its version, and lacks no others", "[vendor]") {
  // In the order of the table; versions as in NVIDIA/nccl, src/nccl.h.in.
  constexpr std::array newer{Newer{"ncclAlltoAll", 22800},
                             Newer{"ncclGather", 22800},
                             Newer{"ncclScatter", 22800}};
  for (const std::string& file : files("libnccl.so")) {
    INFO(file);
    const auto opened = open_nccl(file);
    REQUIRE(reason_of(opened).empty());
    const Nccl& nccl = *std::get<std::shared_ptr<const Nccl>>(opened);
    WARN(file << ": NCCL " << nccl.version);
    CHECK(nccl.absent == absent_before(number_of(nccl.version), newer));
  }
}

TEST_CASE("each CUPTI here has the functions of its version, and lacks no others", "[vendor]") {
  // In the order of the table; versions of the API, by CUPTI's release notes.
  constexpr int cuda_12_5 = 23;
  constexpr std::array newer{Newer{"cuptiSubscribe_v2", cupti_of_cuda_13},
                             Newer{"cuptiActivityEnableRuntimeApi", cuda_12_5},
                             Newer{"cuptiActivityEnableDriverApi", cuda_12_5},
                             Newer{"cuptiActivityEnableAllSyncRecords", cupti_of_cuda_12_8},
                             Newer{"cuptiActivityGetNvtxExtPayloadAttr", cupti_of_cuda_13},
                             Newer{"InitializeInjectionNvtxExtension", cupti_of_cuda_13}};
  for (const std::string& file : files("libcupti.so")) {
    INFO(file);
    const auto opened = open_cupti(file);
    REQUIRE(reason_of(opened).empty());
    const Cupti& cupti = *std::get<std::shared_ptr<const Cupti>>(opened);
    WARN(file << ": CUPTI " << cupti.version);
    CHECK(cupti.absent == absent_before(static_cast<int>(cupti.version_number), newer));
  }
}

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  const bool lists = argc > 1 && std::string_view(argv[1]).starts_with("--list");
  if (!lists && files("lib").empty()) return skipped;
  return scaleworth::tests::run_catch(argc, argv);
}
