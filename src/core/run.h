// SPDX-License-Identifier: Apache-2.0
/// `Run`, `ProbeRecord`, `Point`, status words, lookups.
#pragma once

#include "src/core/estimate.h"
#include "src/core/figures/metric.h"
#include "src/core/figures/setting.h"
#include "src/core/finding.h"

#include <map>
#include <optional>
#include <variant>

namespace scaleworth {
// The in-memory form of run.json (docs/run.schema.json); statistics are never stored in it.

/// The run.json version that this build writes; a file with a larger number is refused.
inline constexpr int run_schema_version = 3;

using Value = std::variant<std::int64_t, double, std::string, bool>;

/// One fact about the machine or the software; the name carries the unit ("memory_bytes"). `source`
/// says where the value was read, or why it is absent.
struct Fact {
  std::string name;
  std::optional<Value> value;
  std::string source;
};

/// Sections are in print order.
struct FactSection {
  std::string name;  // "cpu", "memory", "limits", "software", "environment_variables", ...
  std::vector<Fact> facts;
};

/// Raw samples taken at one setting of a probe.
struct Point {
  Setting setting;
  /// Exactly known amounts of one sample: FLOPs, bytes moved, parameters, tokens.
  std::map<Metric, double> amounts;
  /// Series of one point that belong together (same index = same repetition) have equal length.
  std::map<Metric, Series> samples;
  std::vector<Finding> stop_reason{};  // why sampling ended, and how what was timed was chosen
  std::vector<Finding> warnings{};     // about the samples: drift, bimodality, contention
};

/// Where the ranks of a run stood.
struct RankPlacement {
  int ranks = 1;
  int nodes = 1;
  bool on_gpus = false;
};

/// What joins two GPUs of the node: nvlink with the number of links, peer (over PCIe), or
/// through_host.
struct GpuLink {
  int first = 0;  // ordinals
  int second = 0;
  LinkKind kind = LinkKind::unknown;
  int links = 0;  // NVLinks
};

/// What a run says about its machine.
struct MachineFacts {
  std::vector<FactSection> sections;
  std::vector<GpuLink> gpu_links;  // each pair of the node's GPUs once
};

enum class ProbeStatus {
  pending,  // asked for, not reached: the run ended before
  measured,
  skipped,  // cannot be measured here; `reason` says why
  failed    // was tried and broke; points measured before are kept
};
template <>
inline constexpr std::array word_list<ProbeStatus>{Word{"pending", "pending"},
                                                   Word{"measured", "measured"},
                                                   Word{"skipped", "skipped"},
                                                   Word{"failed", "failed"}};

/// One probe that was asked for, whatever became of it.
struct ProbeRecord {
  std::string name;
  ProbeStatus status = ProbeStatus::pending;
  std::optional<Finding> reason;
  double duration_s = 0.0;
  std::vector<Point> points;
  std::vector<Finding> warnings;
  /// Loss counters: discarded samples, dropped records, unattributed time. Units in the names.
  std::map<std::string, double> losses;
};

struct Run {
  std::string tool_version;
  std::string git_revision;
  std::string started_at;  // ISO 8601, UTC
  std::vector<std::string> command_line;
  std::string suite;
  bool complete = false;  // false until the last probe has ended: a killed run says so by itself
  std::optional<Finding> interruption;  // why it ended early
  std::vector<FactSection> environment;
  std::optional<RankPlacement> placement;  // absent where no ranks were asked
  std::vector<GpuLink> gpu_links;          // each pair once
  std::vector<ProbeRecord> probes;
  std::vector<Finding> warnings;
  /// Files beside run.json (traces, per-rank tables), relative to the run directory.
  std::vector<std::string> files;
};

const Fact* find_fact(const Run& run, const std::string& section, const std::string& name);
const ProbeRecord* find_probe(const Run& run, std::string_view name);
/// Of the probe of this name; none without it.
std::span<const Point> points_of(const Run& run, std::string_view name);

/// Whether the point adds to another of the same setting: the waits of a rank for one other, what a
/// library expects of one way. Others are settings that were measured.
bool adds_to_another(const Point& point);

/// Whether a check found elements of the result wrong. Such a point is in no fit and no repeat.
bool has_wrong_results(const Point& point);

// A point's parameter; throws UserError naming it when it is absent.
std::int64_t integer_parameter(const Point& point, Parameter parameter);
/// An integer that counts ranks, workers or GPUs, or numbers one of them: from 0 to a million.
int count_parameter(const Point& point, Parameter parameter);
/// A text, or the word of a symbol.
std::string text_parameter(const Point& point, Parameter parameter);
bool flag_parameter(const Point& point, Parameter parameter);
[[noreturn]] void lacks(Parameter parameter);
template <Vocabulary E>
E symbol_parameter(const Point& point, Parameter parameter) {
  if (const auto value = point.setting.symbol<E>(parameter)) return *value;
  lacks(parameter);
}
/// Throws UserError when the amount or series is absent.
double amount(const Point& point, Metric metric);
const Series& series(const Point& point, Metric metric);

/// The points of one setting that several runs measured as one point, which knows the run of each
/// sample; the parameter `run` is gone. Points with wrong elements are not joined with others.
/// Other points stay as they are.
Run join_runs(Run run);

/// Several runs of the same as one: points of one setting join, and know the run of each sample,
/// numbered on over all of them; points with wrong elements stay apart. What is said of the machine
/// is that of the first; warnings and losses are those of all. As `join_runs` left them; at least
/// one.
Run pool_runs(std::vector<Run> runs);
}  // namespace scaleworth

/// Names of the probes in run.json, for its writers and readers.
namespace scaleworth::probe_name {
inline constexpr const char* roofline_compute = "roofline.compute";
inline constexpr const char* roofline_memory = "roofline.memory";
inline constexpr const char* roofline_latency = "roofline.latency";
inline constexpr const char* roofline_gemm = "roofline.gemm";
inline constexpr const char* gpu_compute = "roofline.gpu.compute";
inline constexpr const char* gpu_memory = "roofline.gpu.memory";
inline constexpr const char* gpu_latency = "roofline.gpu.latency";
inline constexpr const char* gpu_gemm = "roofline.gpu.gemm";
inline constexpr const char* gpu_together = "roofline.gpu.together";
inline constexpr const char* gpu_transfer = "roofline.gpu.transfer";
inline constexpr const char* gpu_launch = "roofline.gpu.launch";
inline constexpr const char* comm_collectives = "comm.collectives";
inline constexpr const char* comm_nccl = "comm.nccl";
inline constexpr const char* step_training = "step.training";
inline constexpr const char* step_ledger = "step.ledger";
}  // namespace scaleworth::probe_name
