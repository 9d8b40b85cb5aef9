// SPDX-License-Identifier: Apache-2.0
/// How fast Kineto's JSON is read: ours against simdjson's own walk over the same bytes.
///   kineto_read write FILE EVENTS   writes a file with that many events, varied as real ones are
///   kineto_read ours FILE           reads it (plain, gzip or zstd) into a recording
///   kineto_read inflate FILE        decompresses it and looks at nothing
///   kineto_read simdjson FILE       walks a plain file with simdjson alone, all of it in memory
/// Prints the time that passed, CPU seconds of all threads, GB of JSON per second of either, and
/// the peak of memory as a share of the JSON.
#include "src/core/error.h"
#include "trace/formats/kineto.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>
#include <sys/resource.h>

namespace {

/// Events in the proportions and with the fields of a training job's recording.
class Writer {
 public:
  explicit Writer(const std::string& path) : file_(path) {}

  void all(std::int64_t events) {
    file_
        << R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8},
  "traceEvents": [)";
    for (std::int64_t i = 0; i < events; ++i) {
      file_ << (i == 0 ? "\n  " : ",\n  ") << event(i);
      time_ns_ += 1500 + static_cast<std::int64_t>(random_() % 3000);
    }
    file_ << "\n  ],\n  \"baseTimeNanoseconds\": 1711964646000000000\n}\n";
    if (!file_.flush()) throw scaleworth::UserError("the file cannot be written");
  }

 private:
  std::string event(std::int64_t index) {
    const auto kind = random_() % 100;
    if (kind < 45) return operation(index);
    if (kind < 67) return call(index);
    if (kind < 82) return kernel(index);
    if (kind < 84) return copy(index);
    return flow(index);
  }

  std::string time() const { return fmt::format("{}.{:03}", time_ns_ / 1000, time_ns_ % 1000); }

  std::string operation(std::int64_t index) {
    return fmt::format(
        R"({{
    "ph": "X", "cat": "cpu_op", "name": "aten::operation_{}", "pid": 59811, "tid": {},
    "ts": {}, "dur": {}.{:03},
    "args": {{
      "External id": {},"Record function id": {}, "Sequence number": {}, "Fwd thread id": 1, "Ev Idx": {}
    }}
  }})",
        random_() % 300,
        59811 + random_() % 4,
        time(),
        random_() % 90,
        random_() % 1000,
        index,
        index,
        index / 3,
        index);
  }

  std::string call(std::int64_t index) {
    return fmt::format(
        R"({{
    "ph": "X", "cat": "cuda_runtime", "name": "{}", "pid": 59811, "tid": 59811,
    "ts": {}, "dur": {}.{:03},
    "args": {{
      "External id": {}, "cbid": 211, "correlation": {}
    }}
  }})",
        random_() % 4 == 0 ? "cudaMemcpyAsync" : "cudaLaunchKernel",
        time(),
        random_() % 9,
        random_() % 1000,
        index,
        index);
  }

  std::string kernel(std::int64_t index) {
    const auto number = random_() % 120;
    return fmt::format(
        R"x({{
    "ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<{0}, at::native::functor_{1}<float>, at::detail::Array<char*, {0}> >(int, at::native::functor_{1}<float>, at::detail::Array<char*, {0}>)", "pid": 0, "tid": {2},
    "ts": {3}, "dur": {4}.{5:03},
    "args": {{
      "External id": {6},
      "queued": 0, "device": 0, "context": 1,
      "stream": {2}, "correlation": {6},
      "registers per thread": 32,
      "shared memory": 0,
      "blocks per SM": 11.851852,
      "warps per SM": 47.407410,
      "grid": [1280, 1, 1],
      "block": [128, 1, 1],
      "est. achieved occupancy %": 75
    }}
  }})x",
        2 + number % 7,
        number,
        number % 5 == 0 ? 20 : 7,
        time(),
        random_() % 200,
        random_() % 1000,
        index);
  }

  std::string copy(std::int64_t index) {
    return fmt::format(
        R"x({{
    "ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)", "pid": 0, "tid": 7,
    "ts": {}, "dur": 1.{:03},
    "args": {{
      "External id": {}, "device": 0, "context": 1, "stream": 7, "correlation": {}, "bytes": {}, "memory bandwidth (GB/s)": 0.5
    }}
  }})x",
        time(),
        random_() % 1000,
        index,
        index,
        random_() % 100000);
  }

  std::string flow(std::int64_t index) {
    return fmt::format(
        R"({{
    "ph": "{}", "id": {}, "pid": 59811, "tid": 59811, "ts": {},
    "cat": "ac2g", "name": "ac2g"{}
  }})",
        random_() % 2 == 0 ? "s" : "f",
        index,
        time(),
        index % 2 == 0 ? "" : R"(, "bp": "e")");
  }

  std::ofstream file_;
  std::mt19937_64 random_{1};
  std::int64_t time_ns_ = 4458676522690655;
};

/// Counts bytes on their way.
class CountedSource final : public scaleworth::trace::ByteSource {
 public:
  explicit CountedSource(ByteSource& source) : source_(source) {}
  const std::string& name() const override { return source_.name(); }
  const std::string& damage() const override { return source_.damage(); }
  std::size_t read(std::span<char> buffer) override {
    const auto got = source_.read(buffer);
    bytes_ += got;
    return got;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  ByteSource& source_;
  std::size_t bytes_ = 0;
};

struct Read {
  std::size_t json_bytes = 0;
  std::size_t events = 0;  // that were kept
};

Read read_ours(const std::string& path) {
  const auto source = scaleworth::trace::open_byte_source(path);
  CountedSource counted(*source);
  const auto recordings =
      scaleworth::trace::read_kineto(counted, [](std::string_view) { return false; });
  const auto& recording = recordings.front();
  return {counted.bytes(), recording.device_events.size() + recording.host_events.size()};
}

Read inflate(const std::string& path) {
  const auto source = scaleworth::trace::open_byte_source(path);
  Read read;
  std::vector<char> buffer(std::size_t{1} << 20U);
  while (const std::size_t got = source->read(buffer)) read.json_bytes += got;
  return read;
}

/// The least that a reader must look at: phase, category, name, times, and stream and correlation
/// of GPU work; nothing is kept but sums.
Read walk_simdjson(const std::string& path) {
  const auto json = simdjson::padded_string::load(path).value();
  simdjson::ondemand::parser parser;
  auto document = parser.iterate(json);
  Read read{json.size(), 0};
  double sum = 0.0;
  for (auto event : document.find_field("traceEvents")) {
    auto object = event.get_object();
    const std::string_view phase = object["ph"];
    if (phase != "X") continue;
    const std::string_view category = object["cat"];
    if (category == "cpu_op") continue;
    const std::string_view name = object["name"];
    sum += static_cast<double>(name.size()) + double(object["ts"]) + double(object["dur"]);
    auto arguments = object["args"].get_object();
    if (category == "kernel" || category == "gpu_memcpy")
      sum += static_cast<double>(std::int64_t(arguments["stream"]));
    sum += static_cast<double>(std::int64_t(arguments["correlation"]));
    ++read.events;
  }
  if (sum < 0.0) std::abort();  // keeps the sums
  return read;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Of the processor's time too, because others may use the machine.
void tell(const std::string& who, const Read& read, double passed) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double time = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  const double peak = 1024.0 * static_cast<double>(usage.ru_maxrss);
  const double gigabytes = static_cast<double>(read.json_bytes) / 1e9;
  fmt::print("{}: {} events kept of {:.0f} MB; {:.2f} s passed = {:.2f} GB/s; ",
             who,
             read.events,
             1e3 * gigabytes,
             passed,
             gigabytes / passed);
  fmt::print("{:.2f} s of CPU time = {:.2f} GB/s; peak memory {:.0f} MB = {:.2f} of the JSON\n",
             time,
             gigabytes / time,
             peak / 1e6,
             peak / 1e9 / gigabytes);
}

struct Way {
  const char* name;
  Read (*read)(const std::string& path);
};

constexpr std::array ways = {
    Way{"ours", read_ours}, Way{"inflate", inflate}, Way{"simdjson", walk_simdjson}};

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what == "write" && argc == 4) {
    Writer(argv[2]).all(std::atoll(argv[3]));
    return 0;
  }
  for (const Way& way : ways) {
    if (what != way.name) continue;
    const auto start = std::chrono::steady_clock::now();
    const Read read = way.read(argv[2]);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    tell(what, read, passed.count());
    return 0;
  }
  fmt::print(stderr,
             "usage: kineto_read write FILE EVENTS | ours FILE | inflate FILE | simdjson FILE\n");
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
