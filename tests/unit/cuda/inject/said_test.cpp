// SPDX-License-Identifier: Apache-2.0
/// What NCCL's plugin calls, the environment and the inbox become.
#include "cuda/inject/nccl/nccl_events.h"
#include "cuda/inject/process/process_facts.h"
#include "cuda/inject/session/inbox.h"
#include "tests/catch.h"
#include "trace/format/recording/rows/encode.h"

#include <map>

namespace scaleworth::gpu {
namespace {

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

TEST_CASE("collectives of a communicator are numbered, their bytes counted", "[capture]") {
  NcclContext context;
  context.communicator = 5;
  REQUIRE(said_of_event(context, all_reduce(1, "ncclFloat32"), 10, 3)->row.sequence == 0);
  const auto second = said_of_event(context, all_reduce(1000, "ncclBfloat16"), 20, 3);
  REQUIRE(second->row.sequence == 1);
  REQUIRE(second->row.bytes == 2000);  // 1000 elements of 2 bytes
  REQUIRE(second->row.channels == 24);
  REQUIRE(second->algorithm == "NVLS");
  REQUIRE((second->row.fields & collective_has_root) == 0);
}

TEST_CASE("bytes of a type that is not known are absent", "[capture]") {
  NcclContext context;
  const auto said = said_of_event(context, all_reduce(1, "ncclFloat4"), 10, 3);
  REQUIRE((said->row.fields & collective_has_bytes) == 0);
}

TEST_CASE("a send knows its peer and takes no number", "[capture]") {
  NcclContext context;
  NcclEvent event{};
  event.kind = nccl_event_point_to_point;
  event.point_to_point = {"Send", nullptr, "ncclUint8", 64, 6, 2, nullptr};
  const auto said = said_of_event(context, event, 10, 3);
  REQUIRE(said->row.peer == 6);
  REQUIRE(said->row.bytes == 64);
  REQUIRE((said->row.fields & collective_has_sequence) == 0);
  REQUIRE(context.collectives == 0);
}

TEST_CASE("other events of NCCL are passed over", "[capture]") {
  NcclContext context;
  NcclEvent event{};
  event.kind = 1;
  REQUIRE_FALSE(said_of_event(context, event, 10, 3));
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
  inbox.add(SaidMark{{.time_ns = 4, .phase = MarkPhase::opened}, "step 1"});
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
