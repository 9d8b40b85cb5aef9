// SPDX-License-Identifier: Apache-2.0
#include "src/core/figures/setting.h"

#include "src/core/step_ledger.h"
#include "src/core/whole_number.h"

#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth {
namespace {
using enum ParameterType;
using enum Role;
using P = Parameter;

// In the order of the enumeration.
constexpr std::array parameters{
    ParameterInfo{P::scaling,
                  "scaling",
                  symbol,
                  asked,
                  "Whether the ranks divide one global batch (strong) or each has its own (weak).",
                  word_list<BatchScaling>},
    ParameterInfo{P::ranks, "ranks", count, asked, "Ranks that take part."},
    ParameterInfo{P::nodes, "nodes", count, asked, "Nodes that the ranks stand on."},
    ParameterInfo{P::rank, "rank", count, asked, "The rank that was measured."},
    ParameterInfo{P::waited_for, "waited_for", count, asked, "The rank that was waited for."},
    ParameterInfo{P::part, "part", symbol, asked, "Of a recorded step.", word_list<Part>},
    ParameterInfo{P::collective_kind,
                  "collective_kind",
                  symbol,
                  asked,
                  "What recorded communication kernels carry out.",
                  word_list<CollectiveKind>},
    ParameterInfo{P::global_batch_sequences,
                  "global_batch_sequences",
                  count,
                  ran,
                  "Sequences of one step, over all ranks."},
    ParameterInfo{P::layers, "layers", count, ran, "Layers of the reference transformer."},
    ParameterInfo{P::width, "width", count, ran, "Its hidden size."},
    ParameterInfo{P::heads, "heads", count, ran, "Its attention heads."},
    ParameterInfo{P::sequence, "sequence", count, ran, "Tokens of a sequence."},
    ParameterInfo{P::vocabulary, "vocabulary", count, ran, "Its vocabulary."},
    ParameterInfo{
        P::straggler_rank, "straggler_rank", count, asked, "The rank that was slowed on purpose."},
    ParameterInfo{P::straggler_per_mille,
                  "straggler_per_mille",
                  count,
                  asked,
                  "By what factor, in thousandths: with 1500 it computes 1.5 times as long."},
    ParameterInfo{P::step_variant,
                  "step_variant",
                  symbol,
                  asked,
                  "How the step's kernels reach the GPU.",
                  word_list<StepVariant>},
    ParameterInfo{
        P::collective, "collective", symbol, asked, "The operation.", word_list<Collective>},
    ParameterInfo{P::mode,
                  "mode",
                  symbol,
                  asked,
                  "How the operation is called and timed.",
                  word_list<CollectiveMode>},
    ParameterInfo{P::message_bytes,
                  "message_bytes",
                  count,
                  asked,
                  "As nccl-tests counts: one rank's buffer of all_reduce, broadcast, reduce and "
                  "send_receive, the sum over ranks of the others."},
    ParameterInfo{P::selection,
                  "selection",
                  symbol,
                  asked,
                  "Which of the ranks take part.",
                  word_list<RankSelection>},
    ParameterInfo{P::link,
                  "link",
                  symbol,
                  asked,
                  "What joins the ranks, where it is known.",
                  word_list<LinkKind>},
    ParameterInfo{P::link_rank,
                  "link_rank",
                  count,
                  asked,
                  "The driver's order among links of one kind, 0 is the fastest."},
    ParameterInfo{P::across_numa_nodes,
                  "across_numa_nodes",
                  flag,
                  asked,
                  "Whether a pair belongs to two NUMA nodes."},
    ParameterInfo{P::numa_node, "numa_node", count, asked, "The NUMA node of the ranks."},
    ParameterInfo{P::algorithm,
                  "algorithm",
                  text,
                  asked,
                  "Forced on the library, in its words; empty: its own choice."},
    ParameterInfo{P::protocol, "protocol", text, asked, "Likewise."},
    ParameterInfo{P::in_place, "in_place", flag, asked, "One buffer instead of two."},
    ParameterInfo{
        P::registered, "registered", flag, asked, "Buffers known to the library beforehand."},
    ParameterInfo{P::shared_gpu,
                  "shared_gpu",
                  flag,
                  asked,
                  "Several ranks on one GPU: no figure of an interconnect."},
    ParameterInfo{P::data_type, "data_type", text, asked, "Type of the elements: float, half."},
    ParameterInfo{P::reduction, "reduction", text, asked, "Operation on the elements: sum, max."},
    ParameterInfo{P::ran_algorithm,
                  "ran_algorithm",
                  text,
                  ran,
                  "What the library ran, in its words; absent where it does not report it."},
    ParameterInfo{P::ran_protocol, "ran_protocol", text, ran, "Likewise."},
    ParameterInfo{P::ran_channels, "ran_channels", count, ran, "Likewise."},
    ParameterInfo{P::predicted_algorithm,
                  "predicted_algorithm",
                  text,
                  asked,
                  "Of which the library says what it expects."},
    ParameterInfo{P::predicted_protocol, "predicted_protocol", text, asked, "Likewise."},
    ParameterInfo{P::gpu, "gpu", count, asked, "Ordinal of the GPU in this process."},
    ParameterInfo{P::isa, "isa", symbol, ran, "What executed the multiply-adds.", word_list<Isa>},
    ParameterInfo{P::precision,
                  "precision",
                  symbol,
                  asked,
                  "Format of the operands.",
                  word_list<NumberFormat>},
    ParameterInfo{P::workers, "workers", count, Role::machine, "Threads measured at once."},
    ParameterInfo{P::all_workers,
                  "all_workers",
                  flag,
                  Role::machine,
                  "Of a figure in place of their number: as many as there are cores, else one."},
    ParameterInfo{P::level,
                  "level",
                  symbol,
                  Role::machine,
                  "The cache or memory that holds the working set.",
                  word_list<MemoryLevelName>},
    ParameterInfo{
        P::kernel, "kernel", symbol, asked, "What is done to the memory.", word_list<MemoryKernel>},
    ParameterInfo{P::nontemporal,
                  "nontemporal",
                  flag,
                  asked,
                  "Stores that pass the caches; on GPUs cache-streaming accesses."},
    ParameterInfo{
        P::scope, "scope", symbol, asked, "Where the working set lies.", word_list<StreamScope>},
    ParameterInfo{P::grid,
                  "grid",
                  symbol,
                  ran,
                  "How the kernel's blocks walk over the data.",
                  word_list<StreamGrid>},
    ParameterInfo{P::block_threads, "block_threads", count, ran, "Threads of a block."},
    ParameterInfo{P::loads_at_once,
                  "loads_at_once",
                  count,
                  ran,
                  "Independent accesses of 16 bytes in flight per thread."},
    ParameterInfo{P::working_set_bytes,
                  "working_set_bytes",
                  count,
                  ran,
                  "All arrays together, per worker; scope multiprocessor or shared: of one."},
    ParameterInfo{P::stride_bytes, "stride_bytes", count, asked, "Between dependent loads."},
    ParameterInfo{P::fma_per_element,
                  "fma_per_element",
                  count,
                  asked,
                  "Multiply-adds on each element that is read and written."},
    ParameterInfo{P::family,
                  "family",
                  symbol,
                  asked,
                  "Where the product's shape comes from.",
                  word_list<ProductFamily>},
    ParameterInfo{P::name, "name", text, asked, "That the user gave to the product."},
    ParameterInfo{P::m, "m", count, asked, "Rows of the product."},
    ParameterInfo{P::n, "n", count, asked, "Columns of the product."},
    ParameterInfo{P::k, "k", count, asked, "Length of its dot products."},
    ParameterInfo{P::batch, "batch", count, asked, "Products in one call."},
    ParameterInfo{P::library, "library", text, ran, "What computed the product."},
    ParameterInfo{
        P::data, "data", symbol, asked, "What the operands hold.", word_list<OperandData>},
    ParameterInfo{P::heuristic_rank,
                  "heuristic_rank",
                  count,
                  ran,
                  "Place in the library's own order; 0 is what it would take by itself."},
    ParameterInfo{P::recipe, "recipe", text, ran, "How the library computes it, in its words."},
    ParameterInfo{P::tile_m, "tile_m", count, ran, "Rows of the output that one block computes."},
    ParameterInfo{P::tile_n, "tile_n", count, ran, "Columns likewise."},
    ParameterInfo{P::workspace_bytes, "workspace_bytes", count, ran, "Memory lent to the library."},
    ParameterInfo{P::fast_accumulation,
                  "fast_accumulation",
                  flag,
                  asked,
                  "Sums of fp8 products kept with fewer bits."},
    ParameterInfo{P::multiprocessors,
                  "multiprocessors",
                  count,
                  Role::machine,
                  "Used; the others are held by another kernel."},
    ParameterInfo{P::pass, "pass", symbol, asked, "In which part of the probe.", word_list<Pass>},
    ParameterInfo{
        P::source, "source", symbol, asked, "Where the bytes come from.", word_list<TransferEnd>},
    ParameterInfo{P::source_index,
                  "source_index",
                  count,
                  asked,
                  "Ordinal of that GPU, or NUMA node of that host memory."},
    ParameterInfo{P::target, "target", symbol, asked, "Where they go.", word_list<TransferEnd>},
    ParameterInfo{P::target_index, "target_index", count, asked, "Likewise."},
    ParameterInfo{
        P::engine, "engine", symbol, asked, "What moves them.", word_list<TransferEngine>},
    ParameterInfo{P::both_directions,
                  "both_directions",
                  flag,
                  asked,
                  "As many bytes go back at the same time, and count."},
    ParameterInfo{P::transfer_bytes, "transfer_bytes", count, asked, "In one direction."},
    ParameterInfo{P::launch, "launch", symbol, asked, "What is launched.", word_list<LaunchKind>},
    ParameterInfo{P::run, "run", count, ran, "Of several, each in processes of its own; from 1."}};

static_assert(ids_in_order(parameters) && parameters.back().id == P::run);
static_assert(std::ranges::all_of(parameters, [](const ParameterInfo& about) {
  return (about.type == symbol) == !about.words.empty();
}));

Parameter index_of_place(Parameter kind) {
  return kind == Parameter::source ? Parameter::source_index : Parameter::target_index;
}

/// A text as the symbol of which it is the key; other values as they are.
SettingValue typed(const ParameterInfo& about, SettingValue value) {
  const auto* given = std::get_if<std::string>(&value);
  if (given == nullptr || about.type != symbol) return value;
  const auto found = std::ranges::find(about.words, std::string_view(*given), &Word::key);
  if (found == about.words.end()) {
    throw std::invalid_argument(fmt::format("'{}' is no {}", *given, about.key));
  }
  return Symbol(about.words, static_cast<std::size_t>(found - about.words.begin()));
}

bool is_of(const ParameterInfo& about, const SettingValue& value) {
  return value.index() == static_cast<std::size_t>(about.type == count    ? 0
                                                   : about.type == flag   ? 1
                                                   : about.type == symbol ? 2
                                                                          : 3);
}
}  // namespace

const ParameterInfo& info(Parameter parameter) {
  return parameters.at(static_cast<std::size_t>(parameter));
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
  std::string text = word + ", " + setting.text(Parameter::link);
  if (const auto place = setting.count(Parameter::link_rank)) {
    text += fmt::format(" of rank {}", *place);
  }
  if (!setting.contains(Parameter::across_numa_nodes)) return text;
  return text + (setting.flag(Parameter::across_numa_nodes) ? ", across NUMA nodes"
                                                            : ", within a NUMA node");
}
}  // namespace scaleworth
