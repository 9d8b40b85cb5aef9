// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/formats/kineto_text.h"
#include "trace/formats/kineto.h"

#include <algorithm>

using namespace scaleworth::trace;
using scaleworth::CollectiveKind;
using scaleworth::testing::kineto_file;
using scaleworth::testing::kineto_kernel;
using scaleworth::testing::read_kineto_text;
using std::chrono::nanoseconds;

TEST_CASE("times count from the base, wherever it stands in the file", "[trace][kineto]") {
  const auto kernel = kineto_kernel("k", "4458676981028.392", "2.5", 1);
  const std::string base = R"("baseTimeNanoseconds": 1711964646000000000)";
  const auto first = read_kineto_text(kineto_file(kernel, base + ", "));
  const auto last = read_kineto_text(R"({"traceEvents": [)" + kernel + "], " + base + "}");
  // 1711964646000000000 + 4458676981028392
  CHECK(first.device_events.at(0).start == nanoseconds(1716423322981028392));
  CHECK(first.device_events.at(0).end == nanoseconds(1716423322981030892));
  CHECK(last.device_events.at(0).start == first.device_events.at(0).start);
}

TEST_CASE("a bare array of events is a trace too, closed or not", "[trace][kineto]") {
  const auto kernels = kineto_kernel("a", "1", "1", 1) + ",\n" + kineto_kernel("b", "3", "1", 2);
  CHECK(read_kineto_text("[" + kernels + "]").device_events.size() == 2);
  CHECK(read_kineto_text("\xef\xbb\xbf [" + kernels + ",]").device_events.size() == 2);
  CHECK(read_kineto_text("[" + kernels).device_events.size() == 2);
}

TEST_CASE("old names of categories mean the same", "[trace][kineto]") {
  const auto recording = read_kineto_text(kineto_file(R"x(
    {"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10, "dur": 2, "args": {}},
    {"ph": "X", "cat": "Memcpy", "name": "Memcpy DtoH (Device -> Pinned)", "pid": "0", "tid": "9",
     "ts": 20, "dur": 2, "args": {"bytes": 8}},
    {"ph": "X", "cat": "Memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 30, "dur": 2},
    {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 6, "ts": 9, "dur": 1,
     "args": {"correlation": 3}},
    {"ph": "X", "cat": "Operator", "name": "aten::add", "pid": 5, "tid": 6, "ts": 8, "dur": 3},
    {"ph": "s", "cat": "async_gpu", "name": "launch", "id": 3, "pid": 5, "tid": 6, "ts": 9}
  )x"));
  REQUIRE(recording.device_events.size() == 3);
  CHECK(recording.device_events[0].operation == DeviceOperation::kernel);
  CHECK(recording.device_events[0].stream == 7);
  CHECK(recording.device_events[1].operation == DeviceOperation::copy);
  CHECK(recording.device_events[1].stream == 9);
  CHECK(recording.device_events[2].operation == DeviceOperation::fill);
  REQUIRE(recording.host_events.size() == 1);
  CHECK(recording.host_events[0].activity == HostActivity::runtime_call);
}

TEST_CASE("operators mark steps where no annotation does", "[trace][kineto]") {
  const std::string kernel = kineto_kernel("k", "1", "1", 1);
  const std::string old_mark =
      R"(, {"ph": "X", "cat": "Operator", "name": "ProfilerStep#3", "pid": 5, "tid": 6, "ts": 0, "dur": 9})";
  const std::string mark =
      R"(, {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 5, "tid": 6, "ts": 1, "dur": 8})";
  const auto old = read_kineto_text(kineto_file(kernel + old_mark));
  REQUIRE(old.step_marks.size() == 1);
  CHECK(old.step_marks[0].number == 3);
  // Both, as some versions write: one step.
  const auto both = read_kineto_text(kineto_file(kernel + old_mark + mark));
  REQUIRE(both.step_marks.size() == 1);
  CHECK(both.step_marks[0].start == nanoseconds(1000));
}

TEST_CASE("fields come in any order", "[trace][kineto]") {
  const auto recording = read_kineto_text(kineto_file(
      R"({"args": {"stream": 20, "device": 1, "correlation": 9}, "dur": 3, "ts": 5, "tid": 1, "pid": 2,
          "name": "a\"b", "cat": "kernel", "ph": "X"},
         {"args": {"name": "python"}, "tid": 0, "pid": 2, "name": "process_name", "ph": "M"},
         {"tid": 8, "pid": 2, "ts": 1, "dur": 1, "name": "cuLaunchKernelEx", "cat": "cuda_driver", "ph": "X"})"));
  REQUIRE(recording.device_events.size() == 1);
  CHECK(recording.device_events[0].stream == 20);
  CHECK(recording.device_events[0].device == 1);
  CHECK(recording.device_events[0].correlation == 9);
  CHECK(recording.names.at(recording.device_events[0].name) == "a\"b");
  REQUIRE(recording.host_events.size() == 1);
  CHECK(recording.host_events[0].activity == HostActivity::driver_call);
  CHECK(recording.threads.at(recording.host_events[0].thread) == "python 2/8");
}

TEST_CASE("kernels keep grid, block and the inputs of the operator that launched them",
          "[trace][kineto]") {
  const auto kernel = [](int number, const std::string& arguments) {
    return R"(,{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )" +
           std::to_string(number) + R"(, "dur": 1, "args": {"correlation": )" +
           std::to_string(number) + arguments + "}}";
  };
  const std::string launch = R"(, "grid": [4, 2, 1], "block": [128, 1, 1])";
  const auto recording = read_kineto_text(kineto_file(
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
          "args": {"External id": 17, "Input Dims": [[8, 64], [64, 8]], "Input type": ["float", "float"]}},
         {"ph": "X", "cat": "cpu_op", "name": "aten::zero_", "pid": 1, "tid": 1, "ts": 2, "dur": 1,
          "args": {"External id": 18, "Input Dims": []}})" +
      kernel(1, R"(, "External id": 17)" + launch) + kernel(2, R"(, "External id": 18)" + launch) +
      kernel(3, launch) + kernel(4, R"(, "External id": 17)") +
      kernel(5, R"(, "grid": [1, 1, 1])")));
  REQUIRE(recording.device_events.size() == 5);
  const auto shape = [&](std::size_t i) {
    return recording.shapes.at(NameId{recording.device_events[i].shape});
  };
  CHECK(shape(0) == "[4, 2, 1] [128, 1, 1] [[8, 64], [64, 8]]");
  CHECK(shape(1) == "[4, 2, 1] [128, 1, 1]");
  CHECK(recording.device_events[2].shape == recording.device_events[1].shape);
  CHECK(recording.device_events[3].shape == 0);
  CHECK(shape(4) == "[1, 1, 1]");
  CHECK(recording.losses.empty());
}

TEST_CASE("equal launches are equal however the file spells and orders them", "[trace][kineto]") {
  const std::string first = R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
      "ts": 1, "dur": 1, "args": {"External id": 17, "Input Dims": [[8, 64], [64, 8]]}})";
  const std::string second = R"({"args": {"External id": 1.7e1, "correlation": 2,
      "block": [128,1,1], "grid": [ 4, 2,
        1.0 ]}, "dur": 1, "ts": 2, "tid": 7, "pid": 0, "name": "k", "cat": "kernel", "ph": "X"})";
  const std::string third =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 4,
      "dur": 1, "args": {"External id": 17, "correlation": 3, "grid": [4, 2, 1], "block": [128, 1, 1]}})";
  for (const std::string& text :
       {first + "," + second + "," + third, third + "," + second + "," + first}) {
    const auto recording = read_kineto_text(kineto_file(text));
    REQUIRE(recording.device_events.size() == 2);
    CHECK(recording.names.at(recording.device_events[0].name) == "k");
    CHECK(recording.device_events[0].shape == recording.device_events[1].shape);
    CHECK(recording.shapes.at(NameId{recording.device_events[0].shape}) ==
          "[4, 2, 1] [128, 1, 1] [[8, 64], [64, 8]]");
  }
}

TEST_CASE("an operator of id 0 gives its inputs to kernels of id 0, not to those without one",
          "[trace][kineto]") {
  const auto kernel = [](const std::string& id) {
    return R"(,{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 1,
        "args": {"grid": [1, 1, 1])" +
           id + "}}";
  };
  const auto operators = [](const std::string& more) {
    return R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1,
        "args": {"External id": 0, "Input Dims": [[8]]}})" +
           more;
  };
  const auto shapes = [&](const std::string& events) {
    const auto recording = read_kineto_text(kineto_file(events));
    std::vector<std::string> texts;
    for (const DeviceEvent& event : recording.device_events)
      texts.emplace_back(recording.shapes.at(NameId{event.shape}));
    std::ranges::sort(texts);
    return texts;
  };
  CHECK(shapes(operators("") + kernel(R"(, "External id": 0)") + kernel("")) ==
        std::vector<std::string>{"[1, 1, 1]", "[1, 1, 1] [[8]]"});
  // Two operators of one id: which of them launched is not known.
  const std::string other = R"(,{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
      "ts": 2, "dur": 1, "args": {"External id": 0, "Input Dims": [[9]]}})";
  CHECK(shapes(operators(other) + kernel(R"(, "External id": 0)")) ==
        std::vector<std::string>{"[1, 1, 1]"});
}

TEST_CASE("more launch shapes than 16 bits count are not recorded", "[trace]") {
  Recording recording;
  for (int i = 1; i <= 0xffff; ++i)
    REQUIRE(shape_number(recording, std::to_string(i)) == static_cast<std::uint16_t>(i));
  CHECK(shape_number(recording, "one more") == 0);
  CHECK(shape_number(recording, "7") == 7);
}

TEST_CASE("missing, infinite and negative durations end where they start, and count",
          "[trace][kineto]") {
  const auto recording = read_kineto_text(kineto_file(
      R"({"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": "10.5"},)" +
      kineto_kernel("b", "20", "NaN", 2) + "," + kineto_kernel("c", "3e1", "-5", 3) + "," +
      kineto_kernel("d", "-Infinity", "1", 4)));
  REQUIRE(recording.device_events.size() == 3);
  CHECK(recording.device_events[0].start == nanoseconds(10500));
  CHECK(recording.device_events[2].start == nanoseconds(30000));
  for (const auto& event : recording.device_events) CHECK(event.start == event.end);
  CHECK(recording.losses ==
        std::map<std::string, std::int64_t>{{"events_ending_before_their_start", 1},
                                            {"events_without_duration", 2},
                                            {"events_without_time", 1}});
}

TEST_CASE("identifiers that ran over 32 bits still join kernel and launch", "[trace][kineto]") {
  const auto recording = read_kineto_text(kineto_file(
      kineto_kernel("k", "10", "1", -2147483640) +
      R"(,{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": -7, "ts": 20,
           "dur": 1, "args": {"correlation": -2147483640}})"));
  CHECK(recording.device_events.at(0).correlation == recording.host_events.at(0).correlation);
  // The launch ends after its kernel: both are kept as they are.
  CHECK(recording.host_events.at(0).start == nanoseconds(20000));
}

TEST_CASE("of operators only those that a rule names are kept", "[trace][kineto]") {
  const auto recording = read_kineto_text(kineto_file(R"(
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"a": [1, {"b": 2}]}},
    {"ph": "X", "cat": "cpu_op", "name": "enumerate(DataLoader)#_Next", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": {}},
    {"ph": "X", "cat": "python_function", "name": "forward", "pid": 1, "tid": 1, "ts": 3, "dur": 1, "args": {}}
  )"));
  REQUIRE(recording.host_events.size() == 1);
  CHECK(recording.host_events[0].activity == HostActivity::operation);
  CHECK(recording.losses.empty());
}

TEST_CASE("step markers are no annotations, and the host's go before the GPU's",
          "[trace][kineto]") {
  const std::string gpu =
      R"({"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#7", "pid": 0, "tid": 7, "ts": 4, "dur": 9})";
  const std::string host =
      R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 1, "dur": 9})";
  const auto both = read_kineto_text(kineto_file(gpu + "," + host + "," + host));
  REQUIRE(both.step_marks.size() == 1);
  CHECK(both.step_marks[0].number == 7);
  CHECK(both.step_marks[0].start == nanoseconds(1000));
  CHECK(both.step_marks_from == "ProfilerStep");
  CHECK(both.host_events.empty());
  const auto only_gpu = read_kineto_text(kineto_file(gpu));
  REQUIRE(only_gpu.step_marks.size() == 1);
  CHECK(only_gpu.step_marks_from == "ProfilerStep on the GPU");
}

TEST_CASE("an event that stands twice in the file is kept once", "[trace][kineto]") {
  const auto kernel = kineto_kernel("k", "10", "1", 5);
  const auto other = kineto_kernel("k", "10", "1", 6);
  const auto recording = read_kineto_text(kineto_file(kernel + "," + other + "," + kernel));
  CHECK(recording.device_events.size() == 2);
}

TEST_CASE("a wait's stream is its argument, not the row it is drawn on", "[trace][kineto]") {
  const auto recording = read_kineto_text(kineto_file(R"(
    {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 1000007, "ts": 1, "dur": 1,
     "args": {"cuda_sync_kind": "Stream Sync", "stream": 7, "correlation": 1}},
    {"ph": "X", "cat": "cuda_sync", "name": "Event Sync", "pid": 0, "tid": -1, "ts": 3, "dur": 1,
     "args": {"cuda_sync_kind": "Event Sync", "wait_on_stream": 4294967295, "stream": 4294967295, "correlation": 2}}
  )"));
  REQUIRE(recording.synchronizations.size() == 2);
  CHECK(recording.synchronizations[0].stream == 7);
  CHECK_FALSE(recording.synchronizations[1].stream);
  CHECK_FALSE(recording.synchronizations[1].waits_on);
}

TEST_CASE("a send tells its peer, its number and a group that is listed in part",
          "[trace][kineto]") {
  const auto recording = read_kineto_text(kineto_file(R"(
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "pid": 0, "tid": 7, "ts": 1, "dur": 1,
     "args": {"stream": 7, "Collective name": "send", "In msg nelems": 10, "Out msg nelems": 10, "Group size": 64,
              "dtype": "BFloat16", "Process Group Name": "pp", "Process Group Ranks": "[0, 1, ...]",
              "Src Rank": 3, "Dst Rank": 4, "Seq": 17}}
  )"));
  REQUIRE(recording.communications.size() == 1);
  const auto& send = recording.communications[0];
  CHECK(send.kind == CollectiveKind::send);
  CHECK(send.peer == 4);
  CHECK(send.sequence == 17);
  CHECK(send.input_bytes == 20);
  CHECK(recording.groups.at(send.group).size == 64);
  CHECK(recording.groups.at(send.group).ranks.empty());
}

TEST_CASE("collectives are known in each spelling of their names", "[trace][kineto]") {
  using enum CollectiveKind;
  CHECK(parse_collective_name("allreduce_coalesced") == all_reduce);
  CHECK(parse_collective_name("_allgather_base") == all_gather);
  CHECK(parse_collective_name("reduce_scatter_tensor_coalesced") == reduce_scatter);
  CHECK(parse_collective_name("all_to_allv") == all_to_all);
  CHECK(parse_collective_name("_broadcast_oop") == broadcast);
  CHECK(parse_collective_name("recv") == receive);
  CHECK(parse_collective_name("wait") == unknown);
  CHECK(element_bytes("Float8_e4m3fn") == 1);
  CHECK(element_bytes("QInt8") == 1);
  CHECK(element_bytes("UInt16") == 2);
  CHECK(element_bytes("long int") == 8);
  CHECK(element_bytes("c10::BFloat16") == 2);
  CHECK(element_bytes("unsigned char") == 1);
  CHECK_FALSE(element_bytes("Generic"));
}
