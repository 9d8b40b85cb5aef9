// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/trace/formats/nsight/nsys_file.h"
#include "trace/formats/nsight/contents.h"

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

std::vector<Recording> read(const NsysFile& file) {
  return read_nsight(file.path(), RuleTable::built_in());
}

std::string refusal(const std::string& path) {
  try {
    read_nsight(path, RuleTable::built_in());
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A file with nothing but kernels is enough", "[nsight]") {
  NsysFile file;
  file.sql("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT)");
  file.sql("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(20, 30, 0), (10, 15, 0)");
  const auto recordings = read(file);
  REQUIRE(recordings.size() == 1);
  REQUIRE(recordings[0].device_events.size() == 2);
  CHECK(recordings[0].device_events[0].start == nanoseconds(10));
  CHECK(recordings[0].origin.rank == 0);
  CHECK(recordings[0].remarks == std::vector<Finding>{FindingId::capture_time_not_stated});
}

TEST_CASE("Rows that cannot be events are counted by what is wrong with them", "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").kernel(10, 20, 1, 1);
  file.kernel(0, 0, 1, 2).kernel(30, 25, 1, 3);
  file.sql(
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, globalPid) VALUES"
      " (9223372036854775807, 9223372036854775807, 0, 281474976710656 + 167772160),"
      " ('soon', 40, 0, 281474976710656 + 167772160)");
  const auto recordings = read(file);
  REQUIRE(recordings.size() == 1);
  CHECK(recordings[0].device_events.size() == 1);
  CHECK(recordings[0].losses ==
        std::map<std::string, std::int64_t>{{"events_without_times", 2},
                                            {"events_ending_before_their_start", 1},
                                            {"times_out_of_range", 1},
                                            {"values_of_wrong_type", 1}});
}

TEST_CASE("One process with two devices gives two recordings with the host's threads of each",
          "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").name(2, "cudaLaunchKernel_v7000");
  file.call(1, 2, 2, 1, 10, 1).kernel(10, 20, 1, 1, 10, 0);
  file.call(3, 4, 2, 2, 10, 2).kernel(12, 22, 1, 2, 10, 1);
  file.range(0, 5, "setup", 10, "NULL", 3);
  const auto recordings = read(file);
  REQUIRE(recordings.size() == 2);
  CHECK(recordings[1].origin.device == 1);
  CHECK(recordings[1].origin.rank == 1);
  REQUIRE(recordings[1].host_events.size() == 2);  // the other device's launch is not here
  CHECK(recordings[1].names.at(recordings[1].host_events[0].name) == "setup");
  CHECK(recordings[1].names.at(recordings[1].host_events[1].name) == "cudaLaunchKernel");
  CHECK(recordings[1].threads.at(recordings[1].host_events[1].thread) == "10/2");
}

TEST_CASE("Kernels keep grid and block", "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").kernel(10, 20, 1, 1).kernel(30, 40, 1, 2);
  for (const char* column : {"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"})
    file.sql(fmt::format("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD {} INT", column));
  file.sql(
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 4, gridY = 2, gridZ = 1, blockX = 128,"
      " blockY = 1, blockZ = 1 WHERE start = 10");
  const auto recordings = read(file);
  REQUIRE(recordings.at(0).device_events.size() == 2);
  CHECK(recordings[0].shapes.at(NameId{recordings[0].device_events[0].shape}) ==
        "[4, 2, 1] [128, 1, 1]");
  CHECK(recordings[0].device_events[1].shape == 0);
}

TEST_CASE("A device on which a process only copies belongs to the device with its kernels",
          "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").kernel(10, 20, 1, 1, 10, 3);
  file.sql(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, globalPid INT,"
      " bytes INT, copyKind INT)");
  file.sql(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1, 2, 0, {}, 512, 1)",
                       NsysFile::global_id(10)));
  const auto recordings = read(file);
  REQUIRE(recordings.size() == 1);
  CHECK(recordings[0].origin.device == 3);
  REQUIRE(recordings[0].device_events.size() == 2);
  const DeviceEvent& copied = recordings[0].device_events[0];
  CHECK(copied.device == 0);
  CHECK(recordings[0].names.at(copied.name) == "Memcpy HtoD");
  CHECK(recordings[0].copies.at(copied.copy).bytes == 512);
}

TEST_CASE("A process that only copies is no rank beside processes with kernels", "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").kernel(10, 20, 1, 1, 11, 0);
  file.sql(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INT, end INT, deviceId INT, globalPid INT)");
  file.sql(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(1, 2, 0, {})",
                       NsysFile::global_id(10)));
  const auto recordings = read(file);
  REQUIRE(recordings.size() == 1);
  CHECK(recordings[0].origin.process == 11);
  CHECK(recordings[0].remarks.back() == Finding(FindingId::helper_left_out, 10));
}

TEST_CASE("Ranges named as iterations mark the steps, and operators with numbers do not stay",
          "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").kernel(10, 20, 1, 1);
  file.range(0, 50, "step 7").range(50, 90, "step 8").range(10, 20, "forward");
  file.range(11, 12, "aten::add, seq = 4, op_id = 3").range(60, 70, "optimizer_step");
  const auto recordings = read(file);
  REQUIRE(recordings.size() == 1);
  CHECK(recordings[0].step_marks_from == "NVTX range 'step'");
  REQUIRE(recordings[0].step_marks.size() == 2);
  CHECK(recordings[0].step_marks[1].number == 8);
  CHECK(recordings[0].step_marks[1].start == nanoseconds(50));
  CHECK(recordings[0].host_events.size() == 4);
}

TEST_CASE("Steps are counted where their numbers start over", "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").kernel(10, 20, 1, 1);
  file.range(0, 10, "batch 0").range(10, 20, "batch 1").range(20, 30, "batch 0");
  const auto recordings = read(file);
  REQUIRE(recordings[0].step_marks.size() == 3);
  CHECK(recordings[0].step_marks[2].number == 2);
  CHECK(recordings[0].remarks.back().id == FindingId::step_numbers_do_not_rise);
}

TEST_CASE("NCCL's payloads give rank, communicator, bytes and root", "[nsight]") {
  NsysFile file;
  file.tables()
      .name(1, "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgs)")
      .name(2, "cuLaunchKernelEx");
  file.sql(
      "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId INT, schemaId INT, idx INT, type INT,"
      " name TEXT, offset INT)");
  file.sql(
      "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES"
      " (1, 5, 0, 18, 'NCCL communicator ID', NULL), (1, 5, 1, 5, 'No. of ranks', 8),"
      " (1, 5, 2, 5, 'Rank', 12), (1, 5, 3, 5, 'CUDA device', 16),"
      " (1, 6, 0, 18, 'NCCL communicator ID', NULL), (1, 6, 1, 22, 'Message size [bytes]', 8),"
      " (1, 6, 2, 5, 'Root', 16)");
  const std::int64_t hash = 0x5F;
  for (const int rank : {0, 1}) {
    const int pid = 20 - rank;  // the order of processes is not that of ranks
    const PayloadBlob start = PayloadBlob(5).add(hash).add(2).add(rank).add(0);
    const PayloadBlob broadcast = PayloadBlob(6).add(hash).add(std::int64_t{4096}).add(1);
    file.range(1, 2, "ncclCommInitRank", pid, start.literal());
    file.range(10, 20, "ncclBroadcast", pid, broadcast.literal());
    file.call(15, 16, 2, 77, pid).kernel(100, 120, 1, 77, pid);
  }
  const auto recordings = read(file);
  REQUIRE(recordings.size() == 2);
  const Recording& first = recordings[0];
  CHECK(first.origin.process == 19);
  CHECK(first.origin.rank == 1);
  CHECK(first.origin.rank_from == "NCCL communicator");
  CHECK(first.origin.world_size == 2);
  CHECK(first.origin.run == "communicator 0x5f");
  REQUIRE(first.communications.size() == 1);
  const Communication& communication = first.communications[0];
  CHECK(communication.kind == CollectiveKind::broadcast);
  CHECK(first.names.at(communication.group) == "communicator 0x5f");
  CHECK(communication.input_bytes == 4096);
  CHECK(communication.root == 1);
  CHECK(first.groups.at(communication.group).ranks == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("A group launches all its calls with the end of the outermost group", "[nsight]") {
  NsysFile file;
  file.tables().name(1, "ncclDevKernel_SendRecv").name(2, "cuLaunchKernelEx").name(3, "gemm");
  file.range(0, 1, "ncclGroupStart").range(2, 3, "ncclGroupStart").range(4, 5, "ncclSend");
  file.range(6, 7, "ncclRecv").range(8, 9, "ncclGroupEnd").range(10, 20, "ncclGroupEnd");
  file.call(12, 13, 2, 1).kernel(30, 40, 1, 1);
  file.call(14, 15, 2, 2).kernel(31, 41, 3, 2);  // launched inside, but no communication
  file.call(25, 26, 2, 3).kernel(50, 60, 1, 3);  // outside of all ranges
  file.range(30, 40, "ncclAllReduce")
      .call(35, 36, 2, 4, 10, 2)
      .kernel(70, 80, 1, 4);  // other thread
  const auto recordings = read(file);
  REQUIRE(recordings[0].communications.size() == 1);
  CHECK(recordings[0].communications[0].kind == CollectiveKind::send_receive);
  CHECK(recordings[0].communications[0].group == NameId::none);
  REQUIRE(recordings[0].device_events.size() == 4);
  CHECK(recordings[0].device_events[0].communication == 0);
  for (const std::size_t other : {1, 2, 3})
    CHECK(recordings[0].device_events[other].communication == no_index);
}

TEST_CASE("Waits take their thread from the call and their stream from the event's record",
          "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").name(2, "cudaStreamWaitEvent").kernel(10, 20, 1, 1);
  file.call(30, 35, 2, 5, 10, 4);
  file.sql(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT, end INT, globalPid INT,"
      " correlationId INT, syncType INT, streamId INT, eventSyncId INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(globalPid INT, eventSyncId INT,"
      " streamId INT, correlationId INT)");
  const std::int64_t pid = NsysFile::global_id(10);
  file.sql(
      fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
                  " (31, 34, {0}, 5, 2, 24, 99), (40, 50, {0}, 6, 4, 4294967295, 0)",
                  pid));
  file.sql(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES({}, 99, 13, 3)", pid));
  const auto recordings = read(file);
  const Recording& recording = recordings[0];
  REQUIRE(recording.host_events.size() == 3);
  CHECK(recording.threads.at(recording.host_events[1].thread) == "10/4");
  REQUIRE(recording.synchronizations.size() == 2);
  CHECK(recording.synchronizations[0].kind == Synchronization::Kind::stream_wait_event);
  CHECK(recording.synchronizations[0].stream == 24U);
  CHECK(recording.synchronizations[0].waits_on == 13U);
  CHECK(recording.synchronizations[0].event_record == 3U);
  CHECK(recording.synchronizations[1].kind == Synchronization::Kind::context);
  CHECK_FALSE(recording.synchronizations[1].stream.has_value());
}

TEST_CASE("The driver's own work is told from the profiler's", "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").name(2, "CUPTI Buffer flush").kernel(10, 20, 1, 1);
  file.sql(
      "CREATE TABLE PROFILER_OVERHEAD(start INT, end INT, globalTid INT, nameId INT,"
      " overheadType INT)");
  file.sql(fmt::format("INSERT INTO PROFILER_OVERHEAD VALUES(1, 2, {0}, 2, 3), (3, 4, {0}, 2, 7)",
                       NsysFile::global_id(10, 1)));
  const auto recordings = read(file);
  const Recording& recording = recordings[0];
  REQUIRE(recording.host_events.size() == 2);
  CHECK(recording.host_events[0].activity == HostActivity::overhead);
  CHECK(recording.host_events[1].activity == HostActivity::operation);
  CHECK(recording.names.at(recording.host_events[1].name) == "Lazy Function Loading");
}

TEST_CASE("Every kind of the driver's own work has a cause among the host rules", "[nsight]") {
  const RuleTable rules = RuleTable::built_in();
  NsysFile file;
  file.tables().name(1, "kernel").kernel(10, 20, 1, 1);
  file.sql(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD(start INT, end INT, globalTid INT,"
      " overheadType INT)");
  for (const int type : {2, 6, 7, 8})
    file.sql(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES({}, {}, {}, {})",
                         type,
                         type + 1,
                         NsysFile::global_id(10, 1),
                         type));
  const auto recordings = read_nsight(file.path(), rules);
  REQUIRE(recordings[0].host_events.size() == 4);
  for (const HostEvent& event : recordings[0].host_events)
    CHECK(rules.host(recordings[0].names.at(event.name)).has_value());
}

TEST_CASE("Ranges of a domain that is another's are not NCCL's calls", "[nsight]") {
  NsysFile file;
  file.tables().name(1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL").name(2, "cuLaunchKernelEx");
  file.range(0, 10, "ncclAllReduce").call(5, 6, 2, 1).kernel(20, 30, 1, 1);
  SECTION("its name is not told") {
    CHECK(read(file)[0].communications.size() == 1);
  }
  SECTION("it is NCCL's") {
    file.sql(fmt::format("INSERT INTO NVTX_EVENTS VALUES(0, NULL, 75, 'NCCL', {}, NULL, 1, NULL)",
                         NsysFile::global_id(10)));
    CHECK(read(file)[0].communications.size() == 1);
  }
  SECTION("it is another's") {
    file.sql(fmt::format("INSERT INTO NVTX_EVENTS VALUES(0, NULL, 75, 'mine', {}, NULL, 1, NULL)",
                         NsysFile::global_id(10)));
    CHECK(read(file)[0].communications.empty());
  }
}

TEST_CASE("The launcher's variables give the rank of a file with a single process", "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel").kernel(10, 20, 1, 1);
  file.sql("CREATE TABLE META_DATA_CAPTURE(name TEXT, value TEXT)");
  file.sql(
      "INSERT INTO META_DATA_CAPTURE VALUES"
      " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'OMPI_COMM_WORLD_RANK=\"5\"'),"
      " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'OMPI_COMM_WORLD_SIZE=\"16\"')");
  SECTION("of one process") {
    const auto recordings = read(file);
    CHECK(recordings[0].origin.rank == 5);
    CHECK(recordings[0].origin.world_size == 16);
    CHECK(recordings[0].origin.rank_from == "environment variable OMPI_COMM_WORLD_RANK");
  }
  SECTION("but not of two") {
    const auto recordings = read(file.kernel(10, 20, 1, 1, 11));
    CHECK(recordings[0].origin.rank == 0);
    CHECK(recordings[0].origin.rank_from == "order of process and device");
  }
}

TEST_CASE("What is no database is refused with what to do instead", "[nsight]") {
  const TestFolder folder;
  CHECK(contains(refusal(folder.file("absent.sqlite")), "cannot be opened"));
  folder.write("empty.sqlite", "");
  CHECK(contains(refusal(folder.file("empty.sqlite")), "is empty"));
  folder.write("run.nsys-rep", "anything");
  CHECK(contains(refusal(folder.file("run.nsys-rep")), "nsys export --type sqlite"));
  folder.write("text.sqlite", "SQLite is not what this is");
  CHECK(contains(refusal(folder.file("text.sqlite")), "no SQLite database"));
  folder.write("encrypted.sqlite",
               std::string("SQLite format 3\0", 16) + std::string(4096, '\x5a'));
  CHECK(contains(refusal(folder.file("encrypted.sqlite")), "encrypted or damaged"));
}

TEST_CASE("A database without work on a GPU says how to record some", "[nsight]") {
  NsysFile file;
  file.tables();
  CHECK(contains(refusal(file.path()), "nsys profile --trace=cuda,nvtx"));
}

TEST_CASE("A truncated database gives the rows before the damage and says where it ends",
          "[nsight]") {
  NsysFile file;
  file.tables().name(1, "kernel");
  file.sql("BEGIN");
  for (int i = 0; i < 2000; ++i) file.kernel(10 * i + 1, 10 * i + 5, 1, i + 1);
  file.sql("COMMIT");
  const auto whole = read(file);
  REQUIRE(whole[0].device_events.size() == 2000);
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
  const auto half = read(file);
  CHECK(half[0].device_events.size() > 100);
  CHECK(half[0].device_events.size() < 1900);
  CHECK(half[0].losses.at("damaged_tables") >= 1);
  CHECK(contains(std::get<std::string>(half[0].remarks.back().arguments.at(0).value),
                 "CUPTI_ACTIVITY_KIND_KERNEL ends after"));
}
