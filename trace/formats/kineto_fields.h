// SPDX-License-Identifier: Apache-2.0
/// One event of the PyTorch profiler as text: its category and those of its fields that are read.
#pragma once

#include "trace/formats/json_events.h"
#include "trace/formats/kineto.h"

#include <array>

namespace scaleworth::trace {
template <class Kind>
bool is(const KinetoCategory& category, Kind kind) {
  const auto* own = std::get_if<Kind>(&category);
  return own && *own == kind;
}

/// Of args, grouped by first letter, which is what is compared first; those of operators in front.
constexpr std::array<std::string_view, 27> argument_keys = {
    "External id",
    "Input Dims",
    "Input dims",
    "Input type",
    "Concrete Inputs",
    "correlation",
    "cuda_sync_kind",
    "device",
    "dtype",
    "stream",
    "bytes",
    "block",
    "graph node id",
    "grid",
    "wait_on_stream",
    "wait_on_cuda_event_record_corr_id",
    "Collective name",
    "In msg nelems",
    "Out msg nelems",
    "Process Group Name",
    "Process Group Description",
    "Process Group Ranks",
    "Group size",
    "Src Rank",
    "Dst Rank",
    "Root Rank",
    "Seq",
};

/// The place of a key among argument_keys, found by the compiler.
struct ArgumentKey {
  consteval ArgumentKey(const char* key) {
    while (argument_keys.at(index) != key) ++index;
  }
  std::size_t index = 0;
};
constexpr std::size_t operator_keys = ArgumentKey("Input dims").index + 1;

/// JSON text of the fields, strings with their quotes; empty where they are missing.
struct KinetoFields {
  KinetoCategory category = OtherEvent::unused;
  char phase = '\0';
  bool has_category = false;
  bool in_python = false;       // a function of Python, not an operator
  bool arguments_left = false;  // they stood before what says which of them are needed
  std::string_view name;        // without quotes and escapes
  std::string_view process;
  std::string_view thread;
  std::string_view start;
  std::string_view duration;
  std::string_view label;  // from the args of metadata: without quotes
  std::array<std::string_view, argument_keys.size()> arguments;

  std::string_view operator[](ArgumentKey key) const { return arguments[key.index]; }
};

/// Reads `event` as far as its category needs; `fields.category` is `unused` for others.
/// The views are valid as long as the text that `event` is of. False where simdjson met an error.
bool read_fields(simdjson::ondemand::object& event, KinetoFields& fields);

/// What operators say of one process: of calls of communication, for kernels that do not say it
/// themselves, and, where a process has no GPU, of the work, which they then are.
class KinetoOperators {
 public:
  /// A call of record_param_comms; of no known kind it is left out.
  void add_call(nanoseconds start, Communication communication);
  /// An operator of a process without a GPU, or the range in which a library communicates.
  void add(const KinetoFields& fields,
           TimeInterval span,
           NameId name,
           std::uint32_t thread,
           NameId inputs);
  bool empty() const { return operators_.empty(); }
  bool saw_backend() const { return saw_backend_; }
  void clear() { operators_ = {}; }

  /// The innermost operators of each thread, or those around them that do most of their work
  /// themselves, become device events, the thread as their stream.
  /// `threads`: the new number of each; `inputs`: texts of dimensions.
  void become_work(Recording& recording,
                   const std::vector<std::uint32_t>& threads,
                   const NameTable& inputs);
  /// Kernels of NCCL, RCCL and the like without metadata (RCCL's Generic, without a correlation)
  /// get those of the calls, in order, where kernels and calls fit in one way only.
  void describe_kernels(Recording& recording) const;

 private:
  struct Call {
    nanoseconds start{};
    Communication communication;
  };
  struct Operator {
    nanoseconds start{};
    nanoseconds end{};
    NameId name = NameId::none;
    std::uint32_t thread = 0;
    NameId inputs = NameId::none;
    std::uint32_t communication = no_index;  // into communications_
  };

  std::size_t behind_inner(std::size_t i) const;
  bool works_itself(std::size_t i, std::size_t behind) const;
  void find_peers(const Recording& recording);
  static void pair(const std::vector<DeviceEvent*>& kernels,
                   const std::vector<const Call*>& calls,
                   Recording& recording);

  std::vector<Call> calls_;
  std::vector<Operator> operators_;
  std::vector<Communication> communications_;
  bool saw_backend_ = false;
};
}  // namespace scaleworth::trace
