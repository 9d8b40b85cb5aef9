// SPDX-License-Identifier: Apache-2.0
#include "trace/format/input/step_name.h"
#include "trace/format/nsight/contents.h"
#include "trace/format/nsight/payload.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <set>
#include <string_view>

namespace scaleworth::trace::nsight {
namespace {

/// NVTX_EVENTS.eventType: push/pop and start/end ranges, the latter two from imported text.
constexpr std::array<std::int64_t, 4> range_types = {59, 60, 70, 71};
constexpr std::int64_t domain_created = 75;

constexpr std::initializer_list<const char*> columns = {
    "start", "end", "globalTid", "eventType", "text", "textId", "domainId", "binaryData"};

enum RangeColumn : int { start, end, thread, type, text, text_id, domain, payload };

/// The text of a row, from the row itself or from the table of strings.
std::string text_of(Database& database, const Rows& row) {
  if (const auto own = row.text(text)) return std::string(*own);
  const auto id = row.integer(text_id);
  return id ? database.string(*id).value_or("") : std::string();
}

/// Domains that are certainly not NCCL's; which one is NCCL's is not told by trimmed files.
std::set<std::pair<std::int64_t, std::int64_t>> other_domains(Database& database) {
  std::set<std::pair<std::int64_t, std::int64_t>> domains;  // process, domain
  Rows row = database.select_where("NVTX_EVENTS", columns, "eventType", domain_created);
  while (row.next()) {
    if (text_of(database, row) == "NCCL") continue;
    domains.emplace(row.integer(thread).value_or(0) >> 24, row.integer(domain).value_or(0));
  }
  return domains;
}

/// emit_nvtx writes "aten::add, seq = 5, op_id = 7": its operators, each with a name of its own.
std::string_view without_numbers(std::string_view name) {
  for (const std::string_view mark : {", seq = ", ", op_id = ", ", sizes = "})
    name = name.substr(0, name.find(mark));
  return name;
}

std::int32_t narrow(std::int64_t value) {
  return value >= 0 && value <= std::numeric_limits<std::int32_t>::max()
             ? static_cast<std::int32_t>(value)
             : -1;
}

class RangeReader {
 public:
  explicit RangeReader(Contents& contents)
      : contents_(contents),
        schemas_(contents.database),
        others_(other_domains(contents.database)) {}

  void read(const Rows& row) {
    const std::int64_t kind = row.integer(type).value_or(range_types.front());
    if (std::find(range_types.begin(), range_types.end(), kind) == range_types.end()) return;
    const std::int64_t global_id = row.integer(thread).value_or(0);
    Process* process = contents_.process(global_id);
    if (!process) return;
    const auto time = contents_.interval(row, process->host.recording);
    if (!time) return;
    const std::string full = text_of(contents_.database, row);
    const std::string_view name = without_numbers(full);
    const std::uint32_t on = contents_.thread(*process, global_id);
    const bool foreign = others_.contains({global_id >> 24, row.integer(domain).value_or(0)});
    if (name.starts_with("nccl") && !foreign) read_nccl(*process, *time, on, name, row);
    if (auto step = parse_step_name(name))
      process->steps.push_back({std::move(step->kind), step->number, step->preference, *time, on});
    const bool operation = name.size() < full.size() || name.starts_with("aten::");
    if (operation && !contents_.rules.host(name)) return;
    HostEvent event;
    event.start = time->start;
    event.end = time->end;
    event.thread = on;
    event.name = process->host.recording.names.intern(name);
    event.activity = operation ? HostActivity::operation : HostActivity::annotation;
    process->host.recording.host_events.push_back(event);
  }

 private:
  void read_nccl(Process& process,
                 TimeInterval time,
                 std::uint32_t on,
                 std::string_view name,
                 const Rows& row) {
    const NcclPayload values = schemas_.parse(row.bytes(payload));
    if (auto call = nccl_call_named(name)) {
      call->time = time;
      call->thread = on;
      call->payload = values;
      process.nccl_calls.push_back(*call);
    } else if (values.communicator && values.ranks && values.rank) {
      CommunicatorStart joined{
          time.start, *values.communicator, narrow(*values.ranks), narrow(*values.rank), {}};
      if (values.device) joined.device = narrow(*values.device);
      if (joined.rank >= 0 && joined.rank < joined.ranks) process.communicators.push_back(joined);
    }
  }

  Contents& contents_;
  PayloadSchemas schemas_;
  std::set<std::pair<std::int64_t, std::int64_t>> others_;
};

}  // namespace

void read_ranges(Contents& contents) {
  if (!contents.database.has("NVTX_EVENTS")) return;
  RangeReader reader(contents);
  Rows row = contents.database.select("NVTX_EVENTS", columns);
  while (row.next()) reader.read(row);
}

}  // namespace scaleworth::trace::nsight
