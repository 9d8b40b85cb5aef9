// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/roofline.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

using namespace scaleworth;
using namespace scaleworth::probes;

namespace {

/// 64 GiB and 50 MiB of L2, compute capability 9.0.
PlannedDevice planned_gpu(Suite suite, int ordinal = 0) {
  PlannedDevice planned;
  planned.description.ordinal = ordinal;
  planned.description.compute_capability = 90;
  planned.description.multiprocessors = 132;
  planned.description.memory = Bytes(64.0 * gibibyte);
  planned.description.l2_cache = Bytes(50.0 * mebibyte);
  planned.description.shared_per_multiprocessor = Bytes(228.0 * kibibyte);
  planned.suite = suite;
  planned.available = Bytes(60.0 * gibibyte);
  return planned;
}

DeviceSetting setting_of(Suite suite, int gpus) {
  DeviceSetting setting;
  setting.suite = suite;
  for (int i = 0; i < gpus; ++i) setting.devices.push_back(planned_gpu(suite, i).description);
  return setting;
}

template <class Work, class Size>
bool is_sorted_by_size(const std::vector<Work>& works, const Size& size) {
  return std::is_sorted(
      works.begin(), works.end(), [&](const Work& a, const Work& b) { return size(a) < size(b); });
}

}  // namespace

TEST_CASE("one GPU of each kind is measured in full, the others by a glance", "[gpu]") {
  for (const Suite suite : {Suite::quick, Suite::standard}) {
    DeviceSetting setting = setting_of(suite, 4);
    setting.devices[2].name = "another";
    const auto planned = planned_devices(setting);
    REQUIRE(planned[0].part == probes::Part::full);
    REQUIRE(planned[1].part == probes::Part::glance);
    REQUIRE(planned[2].part == probes::Part::full);
    REQUIRE(planned[3].part == probes::Part::glance);
    REQUIRE_THAT(planned[0].available.value(), WithinRel(0.9 * 64.0 * gibibyte, 1e-12));
  }
}

TEST_CASE("sizes are named in the unit that fits", "[gpu]") {
  REQUIRE(size_name(Bytes(128.0)) == "0.125 KiB");
  REQUIRE(size_name(Bytes(48.0 * kibibyte)) == "48 KiB");
  REQUIRE(size_name(Bytes(1.5 * mebibyte)) == "1.5 MiB");
  REQUIRE(size_name(Bytes(gibibyte)) == "1 GiB");
}

TEST_CASE("cc 9.0 is asked for four formats of CUDA cores", "[gpu]") {
  REQUIRE(device_compute_plan(planned_gpu(Suite::quick)).size() == 4);
}

TEST_CASE("cc 7.5 is asked for no format that it lacks", "[gpu]") {
  PlannedDevice planned = planned_gpu(Suite::standard);
  planned.description.compute_capability = 75;
  REQUIRE(device_compute_plan(planned) ==
          std::vector{NumberFormat::fp32, NumberFormat::fp64, NumberFormat::fp16});
}

TEST_CASE("a glance asks one read of memory and a copy each way", "[gpu]") {
  PlannedDevice planned = planned_gpu(Suite::quick);
  planned.part = probes::Part::glance;
  REQUIRE(device_compute_plan(planned).empty());
  REQUIRE(pilot_plan(planned).empty());
  REQUIRE(sweep_plan(planned, {}).size() == 1);
  REQUIRE(sweep_plan(planned, {}).front().working_set > Bytes(1000.0 * mebibyte));
  REQUIRE(chase_plan(planned).empty());
  REQUIRE(own_transfer_plan(planned, 2).size() == 2);
  REQUIRE(device_launch_plan(planned).empty());
}

TEST_CASE("sets of a GPU's streams go from a 32nd of L2 to 1 GiB in pages for three arrays",
          "[gpu]") {
  const auto sets = device_sets(planned_gpu(Suite::quick));
  REQUIRE(sets.front() <= Bytes(50.0 * mebibyte / 32.0));
  REQUIRE(sets.front() > Bytes(1.5 * mebibyte));
  REQUIRE(sets.back() <= Bytes(gibibyte));
  REQUIRE(sets.back() > Bytes(1023.0 * mebibyte));
  REQUIRE(std::is_sorted(sets.begin(), sets.end()));
  for (const Bytes set : sets) REQUIRE(std::fmod(set.value(), 3.0 * 4096.0) == 0.0);
  // log2(1 GiB / 1.5625 MiB) = 9.4.
  REQUIRE(sets.size() == 10);
  REQUIRE(device_sets(planned_gpu(Suite::standard)).size() == 20);
}

TEST_CASE("four times a large L2 cache is reached", "[gpu]") {
  PlannedDevice planned = planned_gpu(Suite::quick);
  planned.description.l2_cache = Bytes(400.0 * mebibyte);
  REQUIRE(device_sets(planned).back() > Bytes(1599.0 * mebibyte));
}

TEST_CASE("no plan asks for more memory than is available, and less is said", "[gpu]") {
  PlannedDevice planned = planned_gpu(Suite::standard);
  REQUIRE_FALSE(device_memory_shortage(planned));
  planned.available = Bytes(300.0 * mebibyte);
  REQUIRE(device_memory_shortage(planned));
  const Bytes half = 0.5 * planned.available;
  for (const StreamWork& work : pilot_plan(planned)) REQUIRE(work.working_set <= half);
  for (const StreamWork& work : sweep_plan(planned, {})) {
    REQUIRE(work.working_set <= half);
  }
  REQUIRE(whole_memory_work(planned, {})->working_set <= 0.9 * planned.available);
  for (const ChaseWork& work : chase_plan(planned)) REQUIRE(work.working_set <= half);
  for (const TransferWork& work : own_transfer_plan(planned, 2)) {
    REQUIRE(4.0 * work.bytes <= planned.available);
  }
}

TEST_CASE("pilots try every kernel by every variant, streaming ones in memory only", "[gpu]") {
  const auto planned = planned_gpu(Suite::standard);
  const auto works = pilot_plan(planned);
  // 4 kernels x 2 grids x 3 block sizes x 3 unrolls x (memory, memory streaming, cache).
  REQUIRE(works.size() == 4 * 18 * 3);
  for (const StreamWork& work : works) {
    if (region_of(planned, work.working_set) == Region::cache) {
      REQUIRE_FALSE(work.variant.streaming);
    }
  }
  REQUIRE(pilot_plan(planned_gpu(Suite::quick)).size() == 4 * (5 + 5 + 2));
}

TEST_CASE("variants are tried on the first GPU of a kind only", "[gpu]") {
  DeviceSetting setting = setting_of(Suite::standard, 3);
  setting.devices[1].multiprocessors = 114;
  const auto planned = planned_devices(setting);
  REQUIRE_FALSE(pilot_plan(planned[0]).empty());
  REQUIRE_FALSE(pilot_plan(planned[1]).empty());
  REQUIRE(pilot_plan(planned[2]).empty());
  REQUIRE(sweep_plan(planned[2], {}).size() == 1);
  REQUIRE(own_transfer_plan(planned[2], 1).size() < own_transfer_plan(planned[0], 1).size());
}

TEST_CASE("the sweep uses the fastest variant that the pilots saw in its region", "[gpu]") {
  const auto planned = planned_gpu(Suite::standard);
  const StreamVariant wide{StreamGrid::one_shot, 1024, 8, false};
  const StreamVariant narrow{StreamGrid::persistent, 256, 2, false};
  const StreamVariant streaming{StreamGrid::one_shot, 256, 8, true};
  VariantChoice choice;
  const auto see = [&](const StreamVariant& variant, Region region, double rate) {
    choice.saw({MemoryKernel::copy, Bytes(1e9), variant}, region, BytesPerSecond(rate));
  };
  see(narrow, Region::memory, 2.0);
  see(wide, Region::memory, 3.0);
  see(streaming, Region::memory, 1.0);
  see(narrow, Region::cache, 9.0);
  for (const StreamWork& work : sweep_plan(planned, choice)) {
    if (work.kernel != MemoryKernel::copy) continue;
    const bool cache = region_of(planned, work.working_set) == Region::cache;
    const StreamVariant& expected = work.variant.streaming ? streaming : cache ? narrow : wide;
    REQUIRE(word_of(work.variant) == word_of(expected));
  }
}

TEST_CASE("the sweep has every kernel at every set", "[gpu]") {
  const auto planned = planned_gpu(Suite::quick);
  const auto works = sweep_plan(planned, {});
  // 10 sets x 4 kernels, and streaming at the largest.
  REQUIRE(works.size() == 44);
  REQUIRE_FALSE(is_sorted_by_size(works, [](auto& work) { return work.working_set; }));
}

TEST_CASE("chases go up to four times L2 by lines", "[gpu]") {
  const auto works = chase_plan(planned_gpu(Suite::standard));
  std::set<double> by_line;
  for (const ChaseWork& work : works) {
    REQUIRE(std::fmod(work.working_set.value(), chase_stride.value()) == 0.0);
    by_line.insert(work.working_set.value());
  }
  REQUIRE(*by_line.begin() == 4096.0);
  REQUIRE(*by_line.rbegin() == 256.0 * mebibyte);  // more than 4 x 50 MiB
  REQUIRE_FALSE(is_sorted_by_size(works, [](auto& work) { return work.working_set; }));
  // 4 KiB to 256 MiB by 2.
  REQUIRE(chase_plan(planned_gpu(Suite::quick)).size() == 17);
}

TEST_CASE("transfers of one GPU have the GPU at one end and one point per setting", "[gpu]") {
  std::set<std::string> seen;
  const auto works = own_transfer_plan(planned_gpu(Suite::standard, 1), 2);
  for (const TransferWork& work : works) {
    REQUIRE((work.source.device == 1 || work.target.device == 1));
    seen.insert(word_of(place_of(work.source)) + word_of(place_of(work.target)) +
                word_of(work.engine) + (work.both_directions ? "2" : "1") + size_name(work.bytes));
  }
  REQUIRE(seen.size() == works.size());
  // 10 sizes x (2 engines + pageable) x 2 ways, 4 sizes from 16 MiB x 2 engines at once, 2 nodes x
  // 2 ways, 2 engines inside.
  REQUIRE(works.size() == 60 + 8 + 4 + 2);
}

TEST_CASE(
    "each pair of GPUs is asked both ways, that of the GPU in full by kernels and at once too",
    "[gpu]") {
  const auto planned = planned_devices(setting_of(Suite::standard, 3));
  std::size_t single = 0;
  std::size_t both = 0;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    for (const TransferWork& work : peer_transfer_plan(planned, i)) {
      const int asked = planned[i].description.ordinal;
      REQUIRE((work.source.device == asked || work.target.device == asked));
      REQUIRE(work.source.device != work.target.device);
      ++(work.both_directions ? both : single);
    }
  }
  // 6 ordered pairs: one copy; 2 of the GPU in full: a writing and a reading kernel, both engines.
  REQUIRE(single == 6 + 4);
  REQUIRE(both == 4);
  const auto quick = planned_devices(setting_of(Suite::quick, 3));
  REQUIRE(peer_transfer_plan(quick, 0).size() == 2);
  const auto of_last = peer_transfer_plan(quick, 2);
  REQUIRE(of_last.size() == 1);
  REQUIRE(of_last.front().target.device == 0);
}

TEST_CASE("all GPUs at once need several GPUs and the standard suite", "[gpu]") {
  REQUIRE(together_plan(planned_devices(setting_of(Suite::standard, 1))).empty());
  REQUIRE(together_plan(planned_devices(setting_of(Suite::quick, 4))).empty());
  const auto rows = together_plan(planned_devices(setting_of(Suite::standard, 4)));
  REQUIRE(rows.size() == 2);
  REQUIRE(rows.front().size() == 4);
}

TEST_CASE("plans are the same every time", "[gpu]") {
  const auto first = pilot_plan(planned_gpu(Suite::quick));
  const auto second = pilot_plan(planned_gpu(Suite::quick));
  for (std::size_t i = 0; i < first.size(); ++i) {
    REQUIRE(first[i].kernel == second[i].kernel);
    REQUIRE(word_of(first[i].variant) == word_of(second[i].variant));
  }
}

TEST_CASE("a bus of 5120 bits at 2619 MHz moves 3352 GB/s", "[gpu]") {
  DeviceDescription description;
  description.memory_clock_hz = 2619e6;
  description.memory_bus_bits = 5120;
  // 2 x 2.619e9 x 640 bytes.
  REQUIRE_THAT(presumed_memory_rate(description).value(), WithinRel(3352.32e9, 1e-9));
}
