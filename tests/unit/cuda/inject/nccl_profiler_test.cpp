// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/nccl_profiler.h"

#include "cuda/inject/session.h"
#include "cuda/nccl/plugin_interfaces.h"
#include "tests/catch.h"

#include <map>

namespace scaleworth::gpu {
namespace {
// What NCCL's plugin calls, the environment and the inbox become.

using namespace trace::recording;

NcclEvent all_reduce(std::size_t count, const char* type) {
  NcclEvent event{};
  event.kind = nccl_event_collective;
  event.collective = {};
  event.collective.function = "AllReduce";
  event.collective.count = count;
  event.collective.type = type;
  event.collective.channels = 24;
  event.collective.algorithm = "NVLS";
  event.collective.protocol = "SIMPLE";
  return event;
}

TEST_CASE("collectives have NCCL's number, which counts each function apart", "[capture]") {
  NcclContext context;
  NcclEvent event = all_reduce(1000, "ncclBfloat16");
  const auto first = report_of_event(context, event, 10, 3);
  REQUIRE(first->row.bytes == 2000);  // 1000 elements of 2 bytes
  REQUIRE(first->row.channels == 24);
  REQUIRE(first->algorithm == "NVLS");
  REQUIRE((first->row.fields & collective_has_root) == 0);
  event.collective.function = "ReduceScatter";  // both are the first of their function
  const auto other = report_of_event(context, event, 20, 3);
  REQUIRE(other->row.sequence != first->row.sequence);
  event.collective.function = "AllReduce";
  event.collective.sequence = 7;
  NcclContext of_another_rank;  // that has not seen the same events, as at replays of graphs
  REQUIRE(report_of_event(context, event, 30, 3)->row.sequence ==
          report_of_event(of_another_rank, event, 30, 3)->row.sequence);
  REQUIRE(report_of_event(context, event, 30, 3)->row.sequence != first->row.sequence);
}

TEST_CASE("a collective that runs as copies is reported with its bytes and so named", "[capture]") {
  NcclContext context;
  NcclEvent event{};
  event.kind = nccl_event_copy_engine;
  event.collective.function = "AllGather";
  event.collective.count = 500;
  event.collective.type = "ncclFloat32";
  event.collective.algorithm = reinterpret_cast<const char*>(std::uintptr_t{7});  // other fields
  event.collective.channels = 9;
  const auto report = report_of_event(context, event, 10, 3);
  REQUIRE(report->function == "AllGather");
  REQUIRE(report->algorithm == copy_engine_word);
  REQUIRE(report->row.bytes == 2000);
  REQUIRE(report->row.channels == 0);
  int wanted = 0;
  void* nothing = nullptr;  // no session here: no context, so no events
  REQUIRE(nccl_profiler<6>().init(&nothing, 1, &wanted, nullptr, 1, 2, 0, nullptr) == ncclSuccess);
  REQUIRE(wanted == 0);
}

TEST_CASE("bytes of a type that is not known are absent", "[capture]") {
  NcclContext context;
  const auto said = report_of_event(context, all_reduce(1, "ncclFloat4"), 10, 3);
  REQUIRE((said->row.fields & collective_has_bytes) == 0);
}

TEST_CASE("a send knows its peer and takes no number", "[capture]") {
  NcclContext context;
  NcclEvent event{};
  event.kind = nccl_event_point_to_point;
  event.point_to_point = {"Send", nullptr, "ncclUint8", 64, 6, 2, nullptr};
  const auto said = report_of_event(context, event, 10, 3);
  REQUIRE(said->row.peer == 6);
  REQUIRE(said->row.bytes == 64);
  REQUIRE((said->row.fields & collective_has_sequence) == 0);
}

TEST_CASE("other events of NCCL are passed over", "[capture]") {
  NcclContext context;
  NcclEvent event{};
  event.kind = 1;
  REQUIRE_FALSE(report_of_event(context, event, 10, 3));
}

RankFacts facts_of(const std::map<std::string, std::string>& variables) {
  return rank_facts([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST_CASE("the rank is that of the innermost launcher", "[capture]") {
  REQUIRE(facts_of({{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"SLURM_PROCID", "0"}}).rank == "3");
  const RankFacts mpi = facts_of({{"OMPI_COMM_WORLD_RANK", "1"}, {"SLURM_PROCID", "0"}});
  REQUIRE(mpi.source == "OMPI_COMM_WORLD_RANK");
  REQUIRE(facts_of({{"SLURM_PROCID", "2"}, {"SLURM_STEP_ID", "0"}}).rank == "2");
}

TEST_CASE("a batch script of Slurm is no rank, and a word is none either", "[capture]") {
  REQUIRE(facts_of({{"SLURM_PROCID", "0"}}).rank.empty());
  REQUIRE(facts_of({{"RANK", "first"}}).rank.empty());
  REQUIRE(facts_of({}).rank.empty());
}

TEST_CASE("names of the inbox become numbers, remarks stand once", "[capture]") {
  Inbox inbox;
  NameIndex names;
  const auto number = [&](std::string_view text, Batch& to) { return names.intern(text, to); };
  inbox.add(ReportedMark{{.time_ns = 4, .phase = MarkPhase::opened}, "step 1"});
  inbox.remark("once");
  inbox.remark("once");
  Batch batch;
  inbox.empty_into(batch, number);
  REQUIRE(batch.marks.front().name == 1);
  REQUIRE(batch.names == std::vector<std::string>{"step 1"});
  REQUIRE(batch.facts.size() == 1);
  Batch later;
  inbox.remark("once");
  inbox.empty_into(later, number);
  REQUIRE(later.facts.empty());
}

}  // namespace
}  // namespace scaleworth::gpu
