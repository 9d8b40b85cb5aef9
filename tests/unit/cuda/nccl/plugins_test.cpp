// SPDX-License-Identifier: Apache-2.0
/// The plugins as NCCL would call them, on fabricated tables.
#include "cuda/nccl/plugins.h"

#include "tests/catch.h"

#include <array>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {
// The binary layout of NCCL's plugin interfaces, as plugin_interfaces.h cites them.
static_assert(sizeof(NcclFunction) == 4);
static_assert(sizeof(NcclTunerV5) == 4 * sizeof(void*));
static_assert(sizeof(NcclTunerV6) == 5 * sizeof(void*));
static_assert(offsetof(NcclTunerV5, get_collective_info) == 2 * sizeof(void*));
static_assert(offsetof(NcclCollectiveEvent, count) == 32);
static_assert(offsetof(NcclCollectiveEvent, type) == 48);
static_assert(offsetof(NcclCollectiveEvent, channels) == 56);
static_assert(offsetof(NcclCollectiveEvent, warps) == 57);
static_assert(offsetof(NcclCollectiveEvent, algorithm) == 64);
static_assert(offsetof(NcclPointToPointEvent, count) == 24);
static_assert(offsetof(NcclPointToPointEvent, peer) == 32);
static_assert(offsetof(NcclPointToPointEvent, channels) == 36);
static_assert(offsetof(NcclCollectiveApiEvent, captured) == 40);
static_assert(offsetof(NcclPointToPointApiEvent, captured) == 32);
static_assert(sizeof(NcclEventV4) ==
              offsetof(NcclEvent, collective) + offsetof(NcclCollectiveEvent, group));
static_assert(offsetof(NcclPointToPointEvent, group) <= offsetof(NcclCollectiveEvent, group));
static_assert(offsetof(NcclEvent, collective) == 24);
static_assert(offsetof(NcclEvent, point_to_point) == 24);
static_assert(sizeof(NcclEvent) == 112);
static_assert(sizeof(NcclProfilerV4) == 6 * sizeof(void*));
static_assert(sizeof(NcclProfilerV5) == 6 * sizeof(void*));

using Table = std::array<std::array<float, nccl_protocols>, nccl_algorithms>;

/// Tree LL 9 us, Ring LL 7 us and Simple 20 us, NVLS Simple 25 us; nothing else usable.
Table some_table() {
  Table table;
  for (auto& row : table) row.fill(-1.0F);
  table[0][0] = 9.0F;
  table[1][0] = 7.0F;
  table[1][2] = 20.0F;
  table[4][2] = 25.0F;
  return table;
}

void ask(Table& table, std::size_t bytes = 1024) {
  int channels = 0;
  const ncclResult_t status =
      ncclTunerPlugin_v5.get_collective_info(&plugin_state(),
                                             NcclFunction::all_reduce,
                                             bytes,
                                             1,
                                             reinterpret_cast<float**>(table.data()),
                                             nccl_algorithms,
                                             nccl_protocols,
                                             0,
                                             &channels);
  REQUIRE(status == ncclSuccess);
  REQUIRE(channels == 0);
}

void tell(const char* algorithm, const char* protocol, std::uint8_t channels) {
  NcclEvent event{};
  event.kind = nccl_event_collective;
  event.collective.algorithm = algorithm;
  event.collective.protocol = protocol;
  event.collective.channels = channels;
  event.collective.count = 256;
  void* handle = &event;
  REQUIRE(ncclProfiler_v5.start_event(&plugin_state(), &handle, &event) == ncclSuccess);
  REQUIRE(handle == nullptr);
}

/// Leaves the desk as it was found.
struct Quiet {
  ~Quiet() {
    plugin_state().force(std::nullopt);
    plugin_state().stop_watching();
  }
};

}  // namespace

TEST_CASE("the usable cells are recorded", "[nccl]") {
  const Quiet quiet;
  plugin_state().start_watching();
  Table table = some_table();
  ask(table);
  const NcclReport report = plugin_state().stop_watching();
  REQUIRE(report.tuner_called);
  REQUIRE(report.offered.size() == 4);
  CHECK(report.offered[0] == probes::CollectiveAlgorithm{"Tree", "LL"});
  CHECK(report.offered[1] == probes::CollectiveAlgorithm{"Ring", "LL"});
  CHECK(report.offered[3] == probes::CollectiveAlgorithm{"NVLS", "Simple"});
  CHECK(table == some_table());
}

TEST_CASE("forcing makes one cell free and leaves the others and the record alone", "[nccl]") {
  const Quiet quiet;
  plugin_state().start_watching();
  plugin_state().force(probes::CollectiveAlgorithm{"NVLS", "Simple"});
  Table table = some_table();
  ask(table);
  Table expected = some_table();
  expected[4][2] = 0.0F;
  CHECK(table == expected);
  const NcclReport report = plugin_state().stop_watching();
  CHECK_FALSE(report.refused);
  CHECK(report.offered.size() == 4);
}

TEST_CASE("a cell that NCCL cannot use is never forced", "[nccl]") {
  const Quiet quiet;
  plugin_state().start_watching();
  plugin_state().force(probes::CollectiveAlgorithm{"Ring", "LL128"});
  Table table = some_table();
  ask(table);
  CHECK(table == some_table());
  CHECK(plugin_state().stop_watching().refused);
}

TEST_CASE("the small all-reduce that aligns ranks is neither forced nor recorded", "[nccl]") {
  const Quiet quiet;
  plugin_state().start_watching();
  plugin_state().force(probes::CollectiveAlgorithm{"Ring", "Simple"});
  Table table = some_table();
  ask(table, PluginState::own_bytes);
  CHECK(table == some_table());
  CHECK_FALSE(plugin_state().stop_watching().tuner_called);
}

TEST_CASE("what ran is told in the tuner's words", "[nccl]") {
  const Quiet quiet;
  plugin_state().start_watching();
  tell("COLLNET_DIRECT", "SIMPLE", 3);
  tell("NVLS_TREE", "SIMPLE", 16);
  const NcclReport report = plugin_state().stop_watching();
  REQUIRE(report.ran);
  CHECK(report.ran->way == probes::CollectiveAlgorithm{"NVLSTree", "Simple"});
  CHECK(report.ran->channels == 16);
}

TEST_CASE("the profiler is on while watched only", "[nccl]") {
  const Quiet quiet;
  int mask = 1234;
  void* context = nullptr;
  REQUIRE(ncclProfiler_v5.init(&context, 1, &mask, "", 1, 2, 0, nullptr) == ncclSuccess);
  CHECK(context != nullptr);
  CHECK(mask == 0);
  plugin_state().start_watching();
  CHECK(mask == 2);
  plugin_state().stop_watching();
  CHECK(mask == 0);
  tell("RING", "LL", 1);
  CHECK_FALSE(plugin_state().stop_watching().ran);
  plugin_state().offer_mask(nullptr);
}

TEST_CASE("both plugins are found in this program as NCCL looks for them", "[nccl]") {
  void* program = ::dlopen(nullptr, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(program != nullptr);
  CHECK(::dlsym(program, "ncclTunerPlugin_v5") == &ncclTunerPlugin_v5);
  CHECK(::dlsym(program, "ncclProfiler_v5") == &ncclProfiler_v5);
  CHECK(::dlsym(program, "ncclTunerPlugin_v4") == &ncclTunerPlugin_v4);
  CHECK(::dlsym(program, "ncclTunerPlugin_v6") == &ncclTunerPlugin_v6);
  CHECK(::dlsym(program, "ncclProfiler_v4") == &ncclProfiler_v4);
  ::dlclose(program);
}

TEST_CASE("NCCL 2.30 is answered as 2.28 is, and keeps its own chunks", "[nccl]") {
  CHECK(ncclTunerPlugin_v6.init == ncclTunerPlugin_v5.init);
  CHECK(ncclTunerPlugin_v6.get_collective_info == ncclTunerPlugin_v5.get_collective_info);
  CHECK(ncclTunerPlugin_v6.get_chunk_size == nullptr);
}

TEST_CASE("NCCL 2.27 is answered by the versions before, with the same result", "[nccl]") {
  const Quiet quiet;
  void* context = nullptr;
  REQUIRE(ncclTunerPlugin_v4.init(2, 1, nullptr, &context) == ncclSuccess);
  CHECK(context == &plugin_state());
  CHECK(ncclTunerPlugin_v4.get_collective_info == ncclTunerPlugin_v5.get_collective_info);
  int mask = 1234;
  REQUIRE(ncclProfiler_v4.init(&context, &mask, "", 1, 1, 2, 0, nullptr) == ncclSuccess);
  plugin_state().start_watching();
  CHECK(mask == 2);
  NcclEvent event{};
  event.kind = nccl_event_collective;
  event.collective.algorithm = "RING";
  event.collective.protocol = "LL128";
  event.collective.channels = 6;
  NcclEventV4 older{};
  std::memcpy(static_cast<void*>(&older), &event, sizeof(older));
  void* handle = nullptr;
  REQUIRE(ncclProfiler_v4.start_event(context, &handle, &older) == ncclSuccess);
  const NcclReport report = plugin_state().stop_watching();
  REQUIRE(report.ran);
  CHECK(report.ran->channels == 6);
  plugin_state().offer_mask(nullptr);
}

TEST_CASE("a plugin of the user's stays, and what is lost is reported", "[nccl]") {
  ::setenv("NCCL_TUNER_PLUGIN", "/opt/theirs.so", 1);
  ::unsetenv("NCCL_PROFILER_PLUGIN");
  CHECK(offer_plugins() ==
        std::vector<Finding>{
            {FindingId::no_algorithm_forced, "NCCL_TUNER_PLUGIN", "/opt/theirs.so"}});
  CHECK(std::string(std::getenv("NCCL_TUNER_PLUGIN")) == "/opt/theirs.so");
  CHECK(std::string(std::getenv("NCCL_PROFILER_PLUGIN")) == "STATIC_PLUGIN");
  ::unsetenv("NCCL_TUNER_PLUGIN");
  CHECK(offer_plugins().empty());
}

TEST_CASE(
    "the capture library's tables have its own functions in a program that exports the same names",
    "[nccl][capture]") {
  REQUIRE(::dlsym(RTLD_DEFAULT, "ncclProfiler_v5") == &ncclProfiler_v5);
  void* library = ::dlopen(CAPTURE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  for (const char* name : {"ncclProfiler_v4", "ncclProfiler_v5", "ncclProfiler_v6"}) {
    INFO(name);
    void* symbol = ::dlsym(library, name);
    REQUIRE(symbol != nullptr);
    // A name and five functions in every version.
    std::array<void*, 6> table{};
    static_assert(sizeof(table) == sizeof(NcclProfilerV4) &&
                  sizeof(table) == sizeof(NcclProfilerV5));
    std::memcpy(table.data(), symbol, sizeof(table));
    for (void* const entry : table) {
      Dl_info place{};
      REQUIRE(entry != nullptr);
      REQUIRE(::dladdr(entry, &place) != 0);
      CHECK(std::string(place.dli_fname) == CAPTURE_LIBRARY);
    }
  }
  CHECK(ncclProfiler_v5.start_event != nullptr);  // and the program's stay its own
  Dl_info place{};
  REQUIRE(::dladdr(reinterpret_cast<void*>(ncclProfiler_v5.start_event), &place) != 0);
  CHECK(std::string(place.dli_fname) != CAPTURE_LIBRARY);
}
