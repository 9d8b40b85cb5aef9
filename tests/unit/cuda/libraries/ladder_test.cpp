// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/ladder.h"

#include "tests/catch.h"

#include <string>

using namespace scaleworth;

namespace {

constexpr int runtime_13_0 = 13000;

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

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
  REQUIRE(mentions(rung.reason, "supports CUDA 12.8 and is too old"));
  REQUIRE(mentions(rung.reason, "CUDA 13.0, 580.65.06 or later"));
}

TEST_CASE("a missing driver names the container flag and costs every probe", "[ladder]") {
  const auto rung = gpu::driver_rung(0, runtime_13_0, "");
  REQUIRE(rung.path.empty());
  REQUIRE(mentions(rung.reason, "no libcuda.so.1"));
  REQUIRE(mentions(rung.reason, "--gpus all"));
  REQUIRE(rung.lost == "every GPU probe");
}

TEST_CASE("a driver library that does not tell its version is missing", "[ladder]") {
  const auto rung = gpu::driver_rung(0, runtime_13_0, "/usr/lib/libcuda.so.1");
  REQUIRE(rung.path.empty());
  REQUIRE(mentions(rung.reason, "does not tell its version"));
}

TEST_CASE("the ladder has a rung per library, each with what is lost without it", "[ladder]") {
  const probes::VendorPaths broken{
      "/nonexistent/a", "/nonexistent/b", "/nonexistent/c", "/nonexistent/d"};
  const auto rungs = probes::vendor_libraries(broken);
  REQUIRE(rungs.size() == 5);
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    REQUIRE(rungs[i].path.empty());
    REQUIRE(mentions(rungs[i].reason, "/nonexistent/"));
    REQUIRE_FALSE(rungs[i].lost.empty());
  }
}
