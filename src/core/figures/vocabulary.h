// SPDX-License-Identifier: Apache-2.0
/// The words of settings: each enumeration that a measurement is asked by, once, with the key that
/// files use and the word that reports print.
#pragma once

#include "src/core/lists.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace scaleworth {
/// tf32: 32-bit operands multiplied with 10 bits of mantissa. fp8_block: e4m3 with one fp32 scale
/// per block of 128 (cc 9.0). mxfp8: e4m3 with one power of two per 32; nvfp4: e2m1 with one e4m3
/// scale per 16 (both cc 10.0 and later).
enum class NumberFormat : std::uint8_t {
  fp64,
  fp32,
  tf32,
  bf16,
  fp16,
  fp8_e4m3,
  fp8_e5m2,
  fp8_block,
  int8,
  mxfp8,
  nvfp4
};

/// What executes multiply-adds: a vector instruction set of the host, or a unit of a GPU.
enum class Isa : std::uint8_t { sse2, avx2, avx512, neon, cuda_cores, tensor_cores };

/// read: s += a[i]; write: a[i] = s; copy: a[i] = b[i]; triad: a[i] = b[i] + s c[i].
enum class MemoryKernel : std::uint8_t { read, write, copy, triad };

/// The part of the memory that holds a working set, by the machine's own names. shared: shared
/// memory of a GPU's multiprocessor.
enum class MemoryLevelName : std::uint8_t { l1, l2, l3, memory, shared };

/// Where a stream's working set lies. device: one array over all multiprocessors, so L2 or memory
/// by its size; multiprocessor: each one rereads a private part (L1 by its size); shared: shared
/// memory.
enum class StreamScope : std::uint8_t { device, multiprocessor, shared };

/// persistent: a grid of a few blocks per multiprocessor that loops; one_shot: one block per piece.
enum class StreamGrid : std::uint8_t { persistent, one_shot };

/// copy_engine: cudaMemcpyAsync; kernel: loads and stores by the asked GPU's multiprocessors.
enum class TransferEngine : std::uint8_t { copy_engine, kernel };

/// The kind of memory at one end of a transfer.
enum class TransferEnd : std::uint8_t { gpu, host_pageable, host_pinned };

/// empty_kernel, graph_node: time per launch in a long queue; synchronise: launch, wait, seen
/// by the host.
enum class LaunchKind : std::uint8_t { empty_kernel, graph_node, synchronise };

/// Why the driver holds a GPU's clock down under load.
/// Source: NVML API reference, nvmlClocksEventReasons.
enum class ClockReason : std::uint8_t {
  application_clocks,
  power_cap,
  hardware_slowdown,
  sync_boost,
  thermal_software,
  thermal_hardware,
  power_brake
};

/// What operands hold: uniform in [-1, 1), normal of variance 1 (as torch.randn), or zero. Fewer
/// bits that change draw less power, and the clock stays higher.
enum class OperandData : std::uint8_t { uniform, normal, zero };

/// In which part of a probe a point was measured. Products: coarse, fine, trial (search); burst
/// (near the highest clock, after a pause), steady (sustained), alone, together; contention: of
/// runs of 0.1.0 and before. Streams: pilot (few samples, to choose the kernel), sweep. Transfers:
/// alone, together (all GPUs at once).
enum class Pass : std::uint8_t {
  coarse,
  fine,
  trial,
  burst,
  steady,
  contention,
  alone,
  together,
  pilot,
  sweep
};

/// Where a product's shape comes from. On the host: square, tokens, rank_k, batched, free (given by
/// the user). On GPUs: cube (the reference), search (the best shape found), own (given by the
/// user).
enum class ProductFamily : std::uint8_t {
  square,
  tokens,
  rank_k,
  batched,
  free,
  cube,
  search,
  own
};

/// As nccl-tests names its programs; send_receive is its sendrecv.
enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_receive,
  reduce,
  gather,
  scatter
};

/// isolated: barrier, one operation, clock: the latency a program sees.
/// back_to_back: many operations between two clock readings, divided: throughput of pipelined
/// calls.
/// graph: the same many operations, captured once and replayed as a CUDA graph; GPUs only.
enum class CollectiveMode : std::uint8_t { isolated, back_to_back, graph };

/// What lies between two ranks.
enum class LinkKind : std::uint8_t {
  same_gpu,      // two ranks share one GPU: no link at all
  nvlink,        // direct access with atomics: NVLink, through a switch or not
  peer,          // direct access over PCIe
  through_host,  // staged in host memory
  network,       // on different nodes
  unknown
};

/// Which of the ranks take part in a collective on GPUs.
enum class RankSelection : std::uint8_t {
  all,
  first,          // the first `ranks` of them
  node,           // those of the first node
  pair,           // two, joined by a link of one kind
  nvlink_island,  // `ranks` of a node, each two of which are linked by NVLink
  numa_node       // those of one NUMA node
};

/// strong: one global batch, divided over the ranks; weak: a batch per rank.
enum class BatchScaling : std::uint8_t { strong, weak };

/// Of runs of 0.1.0 and before: the reference step's kernels launched one by one, replayed from
/// graphs, launched and traced by CUPTI.
enum class StepVariant : std::uint8_t { launched, graphs, traced };

/// `key` stands in files and never changes; `word` is printed.
struct Word {
  const char* key;
  const char* word;
};

/// Of an enumeration that has no words.
constexpr std::nullptr_t enum_words(...) {
  return nullptr;
}
/// Lists of `Word` in the order of each enumeration. One of another namespace has its own beside
/// it: `constexpr auto enum_words(Kind) { return std::array{Word{"one", "one"}, ...}; }`.
template <class E>
inline constexpr auto word_list = enum_words(E{});
template <>
inline constexpr std::array word_list<NumberFormat>{Word{"fp64", "fp64"},
                                                    Word{"fp32", "fp32"},
                                                    Word{"tf32", "tf32"},
                                                    Word{"bf16", "bf16"},
                                                    Word{"fp16", "fp16"},
                                                    Word{"fp8_e4m3", "fp8_e4m3"},
                                                    Word{"fp8_e5m2", "fp8_e5m2"},
                                                    Word{"fp8_block", "fp8_block"},
                                                    Word{"int8", "int8"},
                                                    Word{"mxfp8", "mxfp8"},
                                                    Word{"nvfp4", "nvfp4"}};
template <>
inline constexpr std::array word_list<Isa>{Word{"sse2", "sse2"},
                                           Word{"avx2", "avx2"},
                                           Word{"avx512", "avx512"},
                                           Word{"neon", "neon"},
                                           Word{"cuda_cores", "cuda cores"},
                                           Word{"tensor_cores", "tensor cores"}};
template <>
inline constexpr std::array word_list<MemoryKernel>{
    Word{"read", "read"}, Word{"write", "write"}, Word{"copy", "copy"}, Word{"triad", "triad"}};
template <>
inline constexpr std::array word_list<MemoryLevelName>{Word{"l1", "L1"},
                                                       Word{"l2", "L2"},
                                                       Word{"l3", "L3"},
                                                       Word{"memory", "memory"},
                                                       Word{"shared", "shared"}};
template <>
inline constexpr std::array word_list<StreamScope>{
    Word{"device", "device"}, Word{"multiprocessor", "multiprocessor"}, Word{"shared", "shared"}};
template <>
inline constexpr std::array word_list<StreamGrid>{Word{"persistent", "persistent"},
                                                  Word{"one_shot", "one shot"}};
template <>
inline constexpr std::array word_list<TransferEngine>{Word{"copy_engine", "copy engine"},
                                                      Word{"kernel", "kernel"}};
template <>
inline constexpr std::array word_list<TransferEnd>{Word{"gpu", "gpu"},
                                                   Word{"host_pageable", "host (pageable)"},
                                                   Word{"host_pinned", "host (pinned)"}};
template <>
inline constexpr std::array word_list<LaunchKind>{Word{"empty_kernel", "empty kernel"},
                                                  Word{"graph_node", "graph node"},
                                                  Word{"launch_and_wait", "launch and wait"}};
template <>
inline constexpr std::array word_list<OperandData>{
    Word{"uniform", "uniform"}, Word{"normal", "normal"}, Word{"zero", "zero"}};
template <>
inline constexpr std::array word_list<Pass>{Word{"coarse", "coarse"},
                                            Word{"fine", "fine"},
                                            Word{"trial", "trial"},
                                            Word{"burst", "burst"},
                                            Word{"steady", "steady"},
                                            Word{"contention", "contention"},
                                            Word{"alone", "alone"},
                                            Word{"together", "together"},
                                            Word{"pilot", "pilot"},
                                            Word{"sweep", "sweep"}};
template <>
inline constexpr std::array word_list<ProductFamily>{Word{"square", "square"},
                                                     Word{"tokens", "tokens"},
                                                     Word{"rank_k", "rank-k"},
                                                     Word{"batched", "batched"},
                                                     Word{"free", "free"},
                                                     Word{"cube", "cube"},
                                                     Word{"search", "search"},
                                                     Word{"own", "own"}};
template <>
inline constexpr std::array word_list<Collective>{Word{"all_reduce", "all reduce"},
                                                  Word{"all_gather", "all gather"},
                                                  Word{"reduce_scatter", "reduce scatter"},
                                                  Word{"all_to_all", "all to all"},
                                                  Word{"broadcast", "broadcast"},
                                                  Word{"send_receive", "send receive"},
                                                  Word{"reduce", "reduce"},
                                                  Word{"gather", "gather"},
                                                  Word{"scatter", "scatter"}};
template <>
inline constexpr std::array word_list<CollectiveMode>{
    Word{"isolated", "isolated"}, Word{"back_to_back", "back to back"}, Word{"graph", "graph"}};
template <>
inline constexpr std::array word_list<LinkKind>{Word{"same_gpu", "same GPU"},
                                                Word{"nvlink", "NVLink"},
                                                Word{"pcie_peer", "PCIe peer"},
                                                Word{"through_host", "through host"},
                                                Word{"network", "network"},
                                                Word{"unknown", "unknown link"}};
template <>
inline constexpr std::array word_list<RankSelection>{Word{"all", "all ranks"},
                                                     Word{"first", "first ranks"},
                                                     Word{"node", "one node"},
                                                     Word{"pair", "pair"},
                                                     Word{"nvlink_island", "NVLink island"},
                                                     Word{"numa_node", "NUMA node"}};
template <>
inline constexpr std::array word_list<BatchScaling>{Word{"strong", "strong"}, Word{"weak", "weak"}};
template <>
inline constexpr std::array word_list<StepVariant>{
    Word{"launched", "launched"}, Word{"graphs", "graphs"}, Word{"traced", "traced"}};

template <>
inline constexpr std::array word_list<ClockReason>{Word{"application_clocks", "application clocks"},
                                                   Word{"power_cap", "power cap"},
                                                   Word{"hardware_slowdown", "hardware slowdown"},
                                                   Word{"sync_boost", "sync boost"},
                                                   Word{"thermal_software", "thermal, software"},
                                                   Word{"thermal_hardware", "thermal, hardware"},
                                                   Word{"power_brake", "power brake"}};

/// An enumeration with a list of words.
template <class E>
concept Vocabulary =
    std::is_enum_v<E> && !std::is_null_pointer_v<std::remove_cv_t<decltype(word_list<E>)>>;

template <Vocabulary E>
constexpr const char* key_of(E value) {
  return word_list<E>.at(index_of(value)).key;
}
template <Vocabulary E>
constexpr const char* word_of(E value) {
  return word_list<E>.at(index_of(value)).word;
}
/// Absent for what is no key.
template <Vocabulary E>
constexpr std::optional<E> from_key(std::string_view key) {
  for (std::size_t i = 0; i < word_list<E>.size(); ++i) {
    if (key == word_list<E>[i].key) return static_cast<E>(i);
  }
  return std::nullopt;
}
/// Every value, in the order of the enumeration.
template <Vocabulary E>
inline constexpr auto every = [] {
  std::array<E, word_list<E>.size()> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<E>(i);
  return values;
}();

/// Bytes of one element in memory, block scales left out.
constexpr double element_bytes(NumberFormat format) {
  constexpr std::array bytes{8.0, 4.0, 4.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5};
  return bytes.at(index_of(format));
}

/// Of one element of a product's output.
constexpr double output_element_bytes(NumberFormat format) {
  constexpr std::array bytes{8.0, 4.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0, 4.0, 2.0, 2.0};
  return bytes.at(index_of(format));
}

/// A value of some vocabulary. Which one is told by its list of words.
class Symbol {
 public:
  template <Vocabulary E>
  constexpr Symbol(E value)
      : words_(word_list<E>.data()), value_(static_cast<std::uint8_t>(value)) {}
  /// The value number `value` of `words`.
  constexpr Symbol(std::span<const Word> words, std::size_t value)
      : words_(words.data()), value_(static_cast<std::uint8_t>(value)) {}

  const char* key() const { return words_[value_].key; }
  const char* word() const { return words_[value_].word; }
  /// Absent for a value of another vocabulary.
  template <Vocabulary E>
  std::optional<E> as() const {
    return words_ == word_list<E>.data() ? std::optional(static_cast<E>(value_)) : std::nullopt;
  }
  friend bool operator==(const Symbol&, const Symbol&) = default;
  /// By place in the vocabulary: two symbols that are compared belong to one parameter.
  friend auto operator<=>(const Symbol& a, const Symbol& b) { return a.value_ <=> b.value_; }

 private:
  const Word* words_;
  std::uint8_t value_;
};

/// Losses that another layer asks for than the one that counts them; of others the name is printed.
namespace loss_name {
inline constexpr const char* truncated_bytes = "truncated_bytes";
inline constexpr const char* damaged_rows = "damaged_rows";
inline constexpr const char* ended_early = "ended_early";
}  // namespace loss_name
}  // namespace scaleworth
