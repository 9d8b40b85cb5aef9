// SPDX-License-Identifier: Apache-2.0
/// `Setting`: what a measurement was asked for, as typed parameters; the key of every point and
/// figure.
#pragma once

#include "src/core/figures/vocabulary.h"

#include <initializer_list>
#include <string>
#include <variant>

namespace scaleworth {
/// In the order in which files and tables have them. Keys, units and sentences: `info()`.
enum class Parameter : std::uint8_t {
  // A job and its step.
  scaling,
  ranks,
  nodes,
  rank,
  waited_for,
  part,
  collective_kind,
  global_batch_sequences,
  layers,
  width,
  heads,
  sequence,
  vocabulary,
  straggler_rank,
  straggler_per_mille,
  step_variant,
  // Collectives.
  collective,
  mode,
  message_bytes,
  selection,
  link,
  link_rank,
  across_numa_nodes,
  numa_node,
  algorithm,
  protocol,
  in_place,
  registered,
  shared_gpu,
  data_type,
  reduction,
  ran_algorithm,
  ran_protocol,
  ran_channels,
  predicted_algorithm,
  predicted_protocol,
  // Kernels and products.
  gpu,
  isa,
  precision,
  workers,
  all_workers,
  level,
  kernel,
  nontemporal,
  scope,
  grid,
  block_threads,
  loads_at_once,
  working_set_bytes,
  stride_bytes,
  fma_per_element,
  family,
  name,
  m,
  n,
  k,
  batch,
  library,
  data,
  heuristic_rank,
  recipe,
  tile_m,
  tile_n,
  workspace_bytes,
  fast_accumulation,
  multiprocessors,
  pass,
  // Transfers and launches.
  source,
  source_index,
  target,
  target_index,
  engine,
  both_directions,
  transfer_bytes,
  launch,
  // Of several runs that were measured as one.
  run
};

/// What a parameter does when the figures of two machines are compared.
enum class Role : std::uint8_t {
  asked,    // the question: figures are compared where these are equal
  machine,  // relative to the machine, such as its number of cores: compared where equal
  ran       // how the machine answered: told, and free to differ
};

enum class ParameterType : std::uint8_t { count, flag, text, symbol };

struct ParameterInfo {
  Parameter id;
  const char* key;
  ParameterType type;
  Role role;
  const char* sentence;
  /// Of a symbol: its vocabulary. Empty for other types.
  std::span<const Word> words{};
};
const ParameterInfo& info(Parameter parameter);
/// Every parameter, in the order of the enumeration.
std::span<const ParameterInfo> all_parameters();
/// Absent for what is no key.
std::optional<Parameter> parameter_of_key(std::string_view key);

/// No floating-point numbers: settings are compared for equality. A factor is per mille.
using SettingValue = std::variant<std::int64_t, bool, Symbol, std::string>;

/// One end of a transfer: the memory of a GPU by its ordinal, or of this node, where it may be that
/// of a NUMA node.
struct MemoryPlace {
  TransferEnd kind = TransferEnd::host_pinned;
  std::optional<std::int64_t> index{};
  friend auto operator<=>(const MemoryPlace&, const MemoryPlace&) = default;
};
/// "gpu 1", "host (pinned, node 0)".
std::string word_of(const MemoryPlace& place);

/// How a streaming kernel walks: 16-byte accesses, `unroll` independent ones per thread and turn.
struct StreamVariant {
  StreamGrid grid = StreamGrid::persistent;
  int block_threads = 512;  // 256, 512 or 1024
  int unroll = 4;           // 1, 2, 4 or 8
  bool streaming = false;   // cache-streaming loads and stores
};
/// "persistent, 512 threads, 4 at once".
std::string word_of(const StreamVariant& variant);

class Setting;
/// The ranks of a collective: "all ranks", "pair, NVLink", "NUMA node 1".
std::string selection_text(const Setting& setting);

/// Parameters with their values, in the order of `Parameter`.
class Setting {
 public:
  using Entry = std::pair<Parameter, SettingValue>;

  Setting() = default;
  Setting(std::initializer_list<Entry> entries);

  /// Adds the parameter or replaces its value; a text becomes the symbol of which it is the key.
  /// Throws std::invalid_argument where the value is not of the parameter's type.
  void set(Parameter parameter, SettingValue value);
  /// Adds and replaces those of `other`.
  void set(const Setting& other);
  void erase(Parameter parameter);
  /// A copy without these.
  Setting without(std::initializer_list<Parameter> parameters) const;
  /// A copy with the parameters of these roles only.
  Setting of_roles(std::initializer_list<Role> roles) const;

  bool contains(Parameter parameter) const { return find(parameter) != nullptr; }
  /// Null where it is absent.
  const SettingValue* find(Parameter parameter) const;
  std::optional<std::int64_t> count(Parameter parameter) const {
    return as<std::int64_t>(parameter);
  }
  /// False where it is absent.
  bool flag(Parameter parameter) const { return as<bool>(parameter).value_or(false); }
  template <Vocabulary E>
  std::optional<E> symbol(Parameter parameter) const {
    const auto found = as<Symbol>(parameter);
    return found ? found->template as<E>() : std::nullopt;
  }
  /// A text, or the word of a symbol; empty where it is absent.
  std::string text(Parameter parameter) const;

  /// Of `source` or `target`.
  MemoryPlace place(Parameter kind) const;
  void set_place(Parameter kind, const MemoryPlace& place);
  /// Absent where the kernel's walk is not recorded.
  std::optional<StreamVariant> stream_variant() const;
  void set_stream_variant(const StreamVariant& variant);

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  friend bool operator==(const Setting&, const Setting&) = default;
  friend bool operator<(const Setting& a, const Setting& b) { return a.entries_ < b.entries_; }

 private:
  template <class T>
  std::optional<T> as(Parameter parameter) const {
    const SettingValue* found = find(parameter);
    const T* value = found == nullptr ? nullptr : std::get_if<T>(found);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }

  std::vector<Entry> entries_;  // sorted by parameter
};
}  // namespace scaleworth
