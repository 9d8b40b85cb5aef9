// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export_writer.h"

#include <bit>
#include <unordered_map>

namespace scaleworth::trace {
namespace {
// The few kinds of fields of Protocol Buffers that a timeline needs, as bytes.

/// A message under construction; `clear` keeps its memory.
class ProtobufMessage {
 public:
  void clear() { bytes_.clear(); }
  std::string_view bytes() const { return bytes_; }

  /// Negative ones take ten bytes.
  template <class Integer>
  void number(std::uint32_t field, Integer value) {
    tag(field, 0);
    varint(static_cast<std::uint64_t>(value));
  }
  void fixed(std::uint32_t field, std::uint64_t value) {
    tag(field, 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
  }
  void text(std::uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const ProtobufMessage& value) { text(field, value.bytes()); }

 private:
  void tag(std::uint32_t field, std::uint32_t type) { varint(field << 3U | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// Numbers of fields by message, as in google/perfetto protos/perfetto/trace.
constexpr std::uint32_t trace_packet_field = 1;  // of the file
struct TracePacket {
  enum : std::uint32_t { timestamp = 8, sequence = 10, track_event = 11, interned_data = 12 };
  enum : std::uint32_t { sequence_flags = 13, track_descriptor = 60 };
};
struct TrackEvent {
  enum : std::uint32_t { category_iid = 3, debug_annotation = 4, type = 9, name_iid = 10 };
  enum : std::uint32_t { track_uuid = 11, counter_value = 30, flow_id = 47 };
  enum : std::uint32_t { terminating_flow_id = 48 };
  enum Type : std::uint32_t { slice_begin = 1, slice_end = 2, counter = 4 };
};
struct DebugAnnotation {
  enum : std::uint32_t { name_iid = 1, integer = 4, real = 5, text = 6 };
};
struct TrackDescriptor {
  enum : std::uint32_t { uuid = 1, name = 2, process = 3, parent_uuid = 5, counter = 8 };
  enum : std::uint32_t { child_ordering = 11, sibling_order_rank = 12 };
  // Of its parts:
  enum : std::uint32_t { process_pid = 1, process_name = 6, counter_unit_name = 6 };
};
constexpr std::uint64_t explicit_ordering = 3;  // of TrackDescriptor::child_ordering
constexpr std::uint64_t needs_state = 2;        // SEQ_NEEDS_INCREMENTAL_STATE
constexpr std::uint64_t only_sequence = 1;

std::uint64_t process_uuid(std::int32_t process) {
  return static_cast<std::uint64_t>(process) << 32U;
}

class PerfettoWriter final : public ExportWriter {
 public:
  /// Times are written since `origin`.
  PerfettoWriter(Sink sink, nanoseconds origin) : sink_(std::move(sink)), origin_(origin) {}

  void add_process(std::int32_t process, std::string_view name) override {
    part_.clear();
    part_.number(TrackDescriptor::process_pid, process);
    part_.text(TrackDescriptor::process_name, name);
    event_.clear();
    event_.number(TrackDescriptor::uuid, process_uuid(process));
    event_.message(TrackDescriptor::process, part_);
    event_.number(TrackDescriptor::child_ordering, explicit_ordering);
    write_descriptor(event_);
  }

  TrackId add_track(std::int32_t process, std::string_view name) override {
    return add_track(process, name, nullptr);
  }

  TrackId add_counter(std::int32_t process, std::string_view name, std::string_view unit) override {
    part_.clear();
    part_.text(TrackDescriptor::counter_unit_name, unit);
    return add_track(process, name, &part_);
  }

  void end(TrackId track, nanoseconds time, std::optional<std::uint64_t> arrow_in) override {
    begin_event(time, track, TrackEvent::slice_end);
    // Here, not at the begin: where both ranks turn at one time, packets are taken in the order of
    // the file, in which the rank that waited may stand first.
    if (arrow_in) event_.fixed(TrackEvent::terminating_flow_id, *arrow_in);
    write_event();
  }

  void finish() override {}

 private:
  /// Names by number; a number is explained in the first packet that uses it.
  struct Interned {
    std::uint32_t field;  // of InternedData
    std::unordered_map<std::string, std::uint64_t> numbers;
  };

  void write_begin(TrackId track, const ExportSlice& slice) override {
    begin_event(slice.time.start, track, TrackEvent::slice_begin);
    event_.number(TrackEvent::name_iid, intern(names_, slice.name));
    event_.number(TrackEvent::category_iid, intern(categories_, slice.category));
    for (const Argument& argument : slice.arguments) add_argument(argument);
    for (const std::uint64_t arrow : slice.arrows_out) event_.fixed(TrackEvent::flow_id, arrow);
    write_event();
  }

  void write_count(TrackId counter, nanoseconds time, std::int64_t value) override {
    begin_event(time, counter, TrackEvent::counter);
    event_.number(TrackEvent::counter_value, value);
    write_event();
  }

  std::uint64_t intern(Interned& names, std::string_view name) {
    const auto [entry, added] = names.numbers.emplace(name, names.numbers.size() + 1);
    if (added) {
      part_.clear();
      part_.number(1, entry->second);
      part_.text(2, name);
      interned_.message(names.field, part_);
    }
    return entry->second;
  }

  void add_argument(const Argument& argument) {
    const std::uint64_t name = intern(argument_names_, argument.name);
    part_.clear();
    part_.number(DebugAnnotation::name_iid, name);
    if (const auto* integer = std::get_if<std::int64_t>(&argument.value))
      part_.number(DebugAnnotation::integer, *integer);
    else if (const auto* real = std::get_if<double>(&argument.value))
      part_.fixed(DebugAnnotation::real, std::bit_cast<std::uint64_t>(*real));
    else
      part_.text(DebugAnnotation::text, std::get<std::string_view>(argument.value));
    event_.message(TrackEvent::debug_annotation, part_);
  }

  void begin_event(nanoseconds time, TrackId track, TrackEvent::Type type) {
    interned_.clear();
    packet_.clear();
    packet_.number(TracePacket::timestamp, (time - origin_).count());
    event_.clear();
    event_.number(TrackEvent::type, type);
    event_.number(TrackEvent::track_uuid, tracks_.at(track));
  }

  void write_event() {
    packet_.message(TracePacket::track_event, event_);
    if (!interned_.bytes().empty()) packet_.message(TracePacket::interned_data, interned_);
    packet_.number(TracePacket::sequence_flags, needs_state);
    write_packet();
  }

  void write_descriptor(const ProtobufMessage& described) {
    packet_.clear();
    packet_.message(TracePacket::track_descriptor, described);
    if (first_flags_ != 0) packet_.number(TracePacket::sequence_flags, first_flags_);
    first_flags_ = 0;
    write_packet();
  }

  void write_packet() {
    packet_.number(TracePacket::sequence, only_sequence);
    frame_.clear();
    frame_.message(trace_packet_field, packet_);
    sink_(frame_.bytes());
  }

  TrackId add_track(std::int32_t process, std::string_view name, const ProtobufMessage* counter) {
    const auto track = static_cast<TrackId>(tracks_.size());
    tracks_.push_back(process_uuid(process) + track + 1);
    event_.clear();
    event_.number(TrackDescriptor::uuid, tracks_[track]);
    event_.text(TrackDescriptor::name, name);
    event_.number(TrackDescriptor::parent_uuid, process_uuid(process));
    if (counter) event_.message(TrackDescriptor::counter, *counter);
    event_.number(TrackDescriptor::sibling_order_rank, track);
    write_descriptor(event_);
    return track;
  }

  Sink sink_;
  nanoseconds origin_;
  std::uint64_t first_flags_ = 1;      // SEQ_INCREMENTAL_STATE_CLEARED, in the first packet
  std::vector<std::uint64_t> tracks_;  // uuid by TrackId
  Interned categories_{1, {}};
  Interned names_{2, {}};
  Interned argument_names_{3, {}};
  // Reused from packet to packet.
  ProtobufMessage packet_;
  ProtobufMessage event_;
  ProtobufMessage interned_;
  ProtobufMessage part_;
  ProtobufMessage frame_;
};
}  // namespace

std::unique_ptr<ExportWriter> perfetto_writer(Sink sink, nanoseconds origin) {
  return std::make_unique<PerfettoWriter>(std::move(sink), origin);
}
}  // namespace scaleworth::trace
