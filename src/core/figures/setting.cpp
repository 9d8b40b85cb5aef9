// SPDX-License-Identifier: Apache-2.0
#include "src/core/figures/setting.h"

#include "src/core/step_ledger.h"
#include "src/core/whole_number.h"

#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth {
namespace {
using P = Parameter;

constexpr ParameterInfo count(P id, const char* key, const char* text, Role role = Role::asked) {
  return {id, key, ParameterType::count, role, text};
}

constexpr ParameterInfo flag(P id, const char* key, const char* text, Role role = Role::asked) {
  return {id, key, ParameterType::flag, role, text};
}

constexpr ParameterInfo text(P id, const char* key, const char* text, Role role = Role::asked) {
  return {id, key, ParameterType::text, role, text};
}

template <Vocabulary E>
constexpr ParameterInfo symbol(P id, const char* key, const char* text, Role role = Role::asked) {
  return {id, key, ParameterType::symbol, role, text, word_list<E>};
}

// In the order of the enumeration.
constexpr std::array parameters{
    symbol<BatchScaling>(
        P::scaling,
        "scaling",
        "Whether the ranks divide one global batch (strong) or each has its own (weak)."),
    count(P::ranks, "ranks", "Ranks that take part."),
    count(P::nodes, "nodes", "Nodes that the ranks stand on."),
    count(P::rank, "rank", "The rank that was measured."),
    count(P::waited_for, "waited_for", "The rank that was waited for."),
    symbol<Part>(P::part, "part", "Of a recorded step."),
    symbol<CollectiveKind>(
        P::collective_kind, "collective_kind", "What recorded communication kernels carry out."),
    count(P::global_batch_sequences,
          "global_batch_sequences",
          "Sequences of one step, over all ranks."),
    count(P::layers, "layers", "Layers of the reference transformer."),
    count(P::width, "width", "Its hidden size."),
    count(P::heads, "heads", "Its attention heads."),
    count(P::sequence, "sequence", "Tokens of a sequence."),
    count(P::vocabulary, "vocabulary", "Its vocabulary."),
    count(P::straggler_rank, "straggler_rank", "The rank that was slowed on purpose."),
    count(P::straggler_per_mille,
          "straggler_per_mille",
          "By what factor, in thousandths: with 1500 it computes 1.5 times as long."),
    symbol<StepVariant>(P::step_variant, "step_variant", "How the step's kernels reach the GPU."),
    symbol<Collective>(P::collective, "collective", "The operation."),
    symbol<CollectiveMode>(P::mode, "mode", "How the operation is called and timed."),
    count(P::message_bytes,
          "message_bytes",
          "As nccl-tests counts: one rank's buffer of all_reduce, broadcast, reduce and "
          "send_receive, the sum over ranks of the others."),
    symbol<RankSelection>(P::selection, "selection", "Which of the ranks take part."),
    symbol<LinkKind>(P::link, "link", "What joins the ranks, where it is known."),
    count(
        P::link_rank, "link_rank", "The driver's order among links of one kind, 0 is the fastest."),
    flag(P::across_numa_nodes, "across_numa_nodes", "Whether a pair belongs to two NUMA nodes."),
    count(P::numa_node, "numa_node", "The NUMA node of the ranks."),
    text(P::algorithm, "algorithm", "Forced on the library, in its words; empty: its own choice."),
    text(P::protocol, "protocol", "Likewise."),
    flag(P::in_place, "in_place", "One buffer instead of two."),
    flag(P::registered,
         "registered",
         "Of runs of 0.1.0 and before: buffers known to the library beforehand."),
    flag(P::shared_gpu, "shared_gpu", "Several ranks on one GPU: no figure of an interconnect."),
    text(P::data_type, "data_type", "Type of the elements: float, half."),
    text(P::reduction, "reduction", "Operation on the elements: sum, max."),
    text(P::ran_algorithm,
         "ran_algorithm",
         "What the library ran, in its words; absent where it does not report it.",
         Role::ran),
    text(P::ran_protocol, "ran_protocol", "Likewise.", Role::ran),
    count(P::ran_channels, "ran_channels", "Likewise.", Role::ran),
    text(P::predicted_algorithm,
         "predicted_algorithm",
         "Of which the library says what it expects."),
    text(P::predicted_protocol, "predicted_protocol", "Likewise."),
    count(P::gpu, "gpu", "Ordinal of the GPU in this process."),
    symbol<Isa>(P::isa, "isa", "What executed the multiply-adds.", Role::ran),
    symbol<NumberFormat>(P::precision, "precision", "Format of the operands."),
    count(P::workers, "workers", "Threads measured at once.", Role::machine),
    flag(P::all_workers,
         "all_workers",
         "Of a figure in place of their number: as many as there are cores, else one.",
         Role::machine),
    symbol<MemoryLevelName>(
        P::level, "level", "The cache or memory that holds the working set.", Role::machine),
    symbol<MemoryKernel>(P::kernel, "kernel", "What is done to the memory."),
    flag(P::nontemporal,
         "nontemporal",
         "Stores that pass the caches; on GPUs cache-streaming accesses."),
    symbol<StreamScope>(P::scope, "scope", "Where the working set lies."),
    symbol<StreamGrid>(P::grid, "grid", "How the kernel's blocks walk over the data.", Role::ran),
    count(P::block_threads, "block_threads", "Threads of a block.", Role::ran),
    count(P::loads_at_once,
          "loads_at_once",
          "Independent accesses of 16 bytes in flight per thread.",
          Role::ran),
    count(P::working_set_bytes,
          "working_set_bytes",
          "All arrays together, per worker; scope multiprocessor or shared: of one.",
          Role::ran),
    count(P::stride_bytes, "stride_bytes", "Between dependent loads."),
    count(P::fma_per_element,
          "fma_per_element",
          "Multiply-adds on each element that is read and written."),
    symbol<ProductFamily>(P::family, "family", "Where the product's shape comes from."),
    text(P::name, "name", "That the user gave to the product."),
    count(P::m, "m", "Rows of the product."),
    count(P::n, "n", "Columns of the product."),
    count(P::k, "k", "Length of its dot products."),
    count(P::batch, "batch", "Products in one call."),
    text(P::library, "library", "What computed the product.", Role::ran),
    symbol<OperandData>(P::data, "data", "What the operands hold."),
    count(P::heuristic_rank,
          "heuristic_rank",
          "Place in the library's own order; 0 is what it would take by itself.",
          Role::ran),
    text(P::recipe, "recipe", "How the library computes it, in its words.", Role::ran),
    count(P::tile_m, "tile_m", "Rows of the output that one block computes.", Role::ran),
    count(P::tile_n, "tile_n", "Columns likewise.", Role::ran),
    count(P::workspace_bytes, "workspace_bytes", "Memory lent to the library.", Role::ran),
    flag(P::fast_accumulation, "fast_accumulation", "Sums of fp8 products kept with fewer bits."),
    count(P::multiprocessors,
          "multiprocessors",
          "Used; the others are held by another kernel.",
          Role::machine),
    symbol<Pass>(P::pass, "pass", "In which part of the probe."),
    symbol<TransferEnd>(P::source, "source", "Where the bytes come from."),
    count(P::source_index,
          "source_index",
          "Ordinal of that GPU, NUMA node of that host memory, or node of a pair of nodes."),
    symbol<TransferEnd>(P::target, "target", "Where they go."),
    count(P::target_index, "target_index", "Likewise."),
    symbol<TransferEngine>(P::engine, "engine", "What moves them."),
    flag(P::both_directions,
         "both_directions",
         "As many bytes go back at the same time, and count."),
    count(P::transfer_bytes, "transfer_bytes", "In one direction."),
    symbol<LaunchKind>(P::launch, "launch", "What is launched."),
    count(P::run,
          "run",
          "Of several, each in processes of its own, from 1; 0: of one, once more at its end.",
          Role::ran)};
static_assert(ids_in_order(parameters) && parameters.back().id == P::run);

Parameter index_of_place(Parameter kind) {
  return kind == Parameter::source ? Parameter::source_index : Parameter::target_index;
}

/// A text as the symbol of which it is the key; other values as they are.
SettingValue typed(const ParameterInfo& about, SettingValue value) {
  const auto* given = std::get_if<std::string>(&value);
  if (given == nullptr || about.type != ParameterType::symbol) return value;
  const auto found = std::ranges::find(about.words, std::string_view(*given), &Word::key);
  if (found == about.words.end()) {
    throw std::invalid_argument(fmt::format("'{}' is no {}", *given, about.key));
  }
  return Symbol(about.words, static_cast<std::size_t>(found - about.words.begin()));
}

bool is_of(const ParameterInfo& about, const SettingValue& value) {
  using enum ParameterType;
  // By place in the variant.
  return std::array{count, flag, symbol, text}.at(value.index()) == about.type;
}
}  // namespace

const ParameterInfo& info(Parameter parameter) {
  return parameters.at(index_of(parameter));
}

std::span<const ParameterInfo> all_parameters() {
  return parameters;
}

std::optional<Parameter> parameter_of_key(std::string_view key) {
  const auto* found = find_in(parameters, key, &ParameterInfo::key);
  return found == nullptr ? std::nullopt : std::optional(found->id);
}

Setting::Setting(std::initializer_list<Entry> entries) {
  for (const auto& [parameter, value] : entries) set(parameter, value);
}

void Setting::set(Parameter parameter, SettingValue value) {
  const ParameterInfo& about = info(parameter);
  value = typed(about, std::move(value));
  if (!is_of(about, value)) {
    throw std::invalid_argument(fmt::format("the value of '{}' has another type", about.key));
  }
  const auto place = std::ranges::lower_bound(entries_, parameter, {}, &Entry::first);
  if (place != entries_.end() && place->first == parameter) {
    place->second = std::move(value);
  } else {
    entries_.emplace(place, parameter, std::move(value));
  }
}

void Setting::set(const Setting& other) {
  for (const auto& [parameter, value] : other) set(parameter, value);
}

void Setting::erase(Parameter parameter) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.first == parameter; });
}

Setting Setting::without(std::initializer_list<Parameter> left_out) const {
  Setting rest = *this;
  for (const Parameter parameter : left_out) rest.erase(parameter);
  return rest;
}

Setting Setting::of_roles(std::initializer_list<Role> roles) const {
  Setting kept = *this;
  std::erase_if(kept.entries_, [&](const Entry& entry) {
    return std::ranges::find(roles, info(entry.first).role) == roles.end();
  });
  return kept;
}

const SettingValue* Setting::find(Parameter parameter) const {
  const auto place = std::ranges::lower_bound(entries_, parameter, {}, &Entry::first);
  return place != entries_.end() && place->first == parameter ? &place->second : nullptr;
}

std::string Setting::text(Parameter parameter) const {
  const SettingValue* value = find(parameter);
  if (value == nullptr) return {};
  if (const auto* symbol = std::get_if<Symbol>(value)) return symbol->word();
  const auto* text = std::get_if<std::string>(value);
  return text == nullptr ? std::string() : *text;
}

MemoryPlace Setting::place(Parameter kind) const {
  return {symbol<TransferEnd>(kind).value_or(TransferEnd::host_pinned),
          count(index_of_place(kind))};
}

void Setting::set_place(Parameter kind, const MemoryPlace& place) {
  set(kind, place.kind);
  if (place.index) set(index_of_place(kind), *place.index);
}

std::optional<StreamVariant> Setting::stream_variant() const {
  const auto grid = symbol<StreamGrid>(Parameter::grid);
  const auto threads = whole_number<int>(count(Parameter::block_threads));
  const auto loads = whole_number<int>(count(Parameter::loads_at_once));
  if (!grid || !threads || !loads) return std::nullopt;
  return StreamVariant{*grid, *threads, *loads, flag(Parameter::nontemporal)};
}

void Setting::set_stream_variant(const StreamVariant& variant) {
  set(Parameter::grid, variant.grid);
  set(Parameter::block_threads, std::int64_t{variant.block_threads});
  set(Parameter::loads_at_once, std::int64_t{variant.unroll});
  set(Parameter::nontemporal, variant.streaming);
}

std::string word_of(const MemoryPlace& place) {
  if (place.kind == TransferEnd::gpu) return fmt::format("gpu {}", place.index.value_or(0));
  const char* kind = place.kind == TransferEnd::host_pinned ? "pinned" : "pageable";
  return place.index ? fmt::format("host ({}, node {})", kind, *place.index)
                     : fmt::format("host ({})", kind);
}

std::string word_of(const StreamVariant& variant) {
  return fmt::format("{}, {} threads, {} at once{}",
                     word_of(variant.grid),
                     variant.block_threads,
                     variant.unroll,
                     variant.streaming ? ", streaming" : "");
}

std::string selection_text(const Setting& setting) {
  const auto selection =
      setting.symbol<RankSelection>(Parameter::selection).value_or(RankSelection::all);
  const std::string word = word_of(selection);
  const std::int64_t ranks = setting.count(Parameter::ranks).value_or(0);
  switch (selection) {
    case RankSelection::first:
      return fmt::format("first {} ranks", ranks);
    case RankSelection::nvlink_island:
      return fmt::format("{} of {}", word, ranks);
    case RankSelection::numa_node:
      return fmt::format("{} {}", word, setting.count(Parameter::numa_node).value_or(0));
    case RankSelection::pair:
      break;
    default:
      return word;
  }
  if (const auto node = setting.count(Parameter::source_index))
    return fmt::format(
        "nodes {} and {}", *node, setting.count(Parameter::target_index).value_or(0));
  std::string text = word + ", " + setting.text(Parameter::link);
  if (const auto place = setting.count(Parameter::link_rank)) {
    text += fmt::format(" of rank {}", *place);
  }
  if (!setting.contains(Parameter::across_numa_nodes)) return text;
  return text + (setting.flag(Parameter::across_numa_nodes) ? ", across NUMA nodes"
                                                            : ", within a NUMA node");
}
}  // namespace scaleworth
