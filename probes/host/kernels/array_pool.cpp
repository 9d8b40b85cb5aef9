// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/memory.h"
#include "src/core/error.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>

namespace scaleworth::probes::host {
namespace {
constexpr std::int64_t source_period = 256;  // values of a byte: sums are known and exact in fp64
constexpr std::size_t small_page = 4096;  // of x86-64 and most of ARM; larger ones only align less
// The usual one; where it is another, pages are small.
constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void fill_source(const Mapping& mapping) {
  auto* values = static_cast<double*>(mapping.data());
  const auto count = static_cast<std::int64_t>(mapping.size() / sizeof(double));
  for (std::int64_t i = 0; i < count; ++i) values[i] = source_value(i);
}
}  // namespace

Mapping::Mapping(std::size_t bytes) {
  // A huge page needs its own alignment, which mmap does not promise: map more, cut both ends off.
  const std::size_t unit = bytes >= huge_page ? huge_page : small_page;
  const std::size_t size = round_up(bytes, unit);
  const std::size_t slack = unit - small_page;
  void* mapped =
      mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw ProbeFailure(
        "{:.1f} MiB of memory cannot be had ({}): raise the memory limit or free some",
        static_cast<double>(size) / mebibyte,
        std::strerror(errno));
  }
  auto* begin = static_cast<char*>(mapped);
  const std::size_t head =
      round_up(reinterpret_cast<std::size_t>(begin), unit) - reinterpret_cast<std::size_t>(begin);
  if (head > 0) munmap(begin, head);
  if (slack > head) munmap(begin + head + size, slack - head);
  memory_ = {begin + head, Unmap{size}};
  madvise(data(), size, MADV_HUGEPAGE);  // advice: where it is refused, small pages do
}

void Unmap::operator()(void* memory) const {
  munmap(memory, size);
}

double source_value(std::int64_t index) {
  // 167 is odd, so every residue of 256 appears once per period, in no simple order.
  return static_cast<double>((index * 167) % source_period) / source_period;
}

double source_sum(std::int64_t first, std::int64_t last) {
  const std::int64_t periods = (last - first) / source_period;
  double sum = 127.5 * static_cast<double>(periods);  // of a period: (0 + 1 + ... + 255) / 256
  for (std::int64_t i = first + periods * source_period; i < last; ++i) sum += source_value(i);
  return sum;
}

void ArrayPool::reserve(WorkerTeam& team, std::size_t source_bytes, std::size_t target_bytes) {
  const auto workers = static_cast<std::size_t>(team.size());
  if (regions_.size() < workers) regions_.resize(workers);
  std::vector<char> new_source(workers);
  std::vector<char> new_target(workers);
  try {
    for (std::size_t worker = 0; worker < workers; ++worker) {
      Regions& regions = regions_[worker];
      if (regions.source.size() < source_bytes) {
        regions.source = Mapping();  // the old one goes first: both may not fit
        regions.source = Mapping(source_bytes);
        new_source[worker] = 1;
      }
      if (regions.target.size() < target_bytes) {
        regions.target = Mapping();
        regions.target = Mapping(target_bytes);
        new_target[worker] = 1;
      }
    }
  } catch (const ProbeFailure& failure) {
    release();
    throw ProbeFailure("{} workers with {:.1f} MiB each: {}",
                       workers,
                       static_cast<double>(source_bytes + target_bytes) / mebibyte,
                       failure.what());
  }
  team.run([&](int index) {
    const auto worker = static_cast<std::size_t>(index);
    if (new_source[worker] != 0) fill_source(regions_[worker].source);
    if (new_target[worker] != 0)
      std::memset(regions_[worker].target.data(), 1, regions_[worker].target.size());
  });
}

const double* ArrayPool::source(int worker) const {
  return static_cast<const double*>(regions_[worker].source.data());
}

void* ArrayPool::target(int worker) const {
  return regions_[worker].target.data();
}

}  // namespace scaleworth::probes::host
