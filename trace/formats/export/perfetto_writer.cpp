// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export_writer.h"

#include <cstring>
#include <unordered_map>

namespace scaleworth::trace {
namespace {
// The few kinds of fields of Protocol Buffers that a timeline needs, as bytes.

/// A message under construction; `clear` keeps its memory.
class ProtobufMessage {
 public:
  void clear() { bytes_.clear(); }
  std::string_view bytes() const { return bytes_; }

  void number(std::uint32_t field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
  }
  /// For fields of type int32 and int64: negative ones take ten bytes.
  void signed_number(std::uint32_t field, std::int64_t value) {
    number(field, static_cast<std::uint64_t>(value));
  }
  void fixed(std::uint32_t field, std::uint64_t value) {
    tag(field, 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
  }
  void real(std::uint32_t field, double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    fixed(field, bits);
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

namespace trace_file {
constexpr std::uint32_t packet = 1;
}  // namespace trace_file

namespace trace_packet {
constexpr std::uint32_t timestamp = 8;
constexpr std::uint32_t sequence = 10;
constexpr std::uint32_t track_event = 11;
constexpr std::uint32_t interned_data = 12;
constexpr std::uint32_t sequence_flags = 13;
constexpr std::uint32_t track_descriptor = 60;
}  // namespace trace_packet

namespace track_event {
constexpr std::uint32_t category_iid = 3;
constexpr std::uint32_t debug_annotation = 4;
constexpr std::uint32_t type = 9;
constexpr std::uint32_t name_iid = 10;
constexpr std::uint32_t track_uuid = 11;
constexpr std::uint32_t counter_value = 30;
constexpr std::uint32_t flow_id = 47;
constexpr std::uint32_t terminating_flow_id = 48;
constexpr std::uint64_t slice_begin = 1;
constexpr std::uint64_t slice_end = 2;
constexpr std::uint64_t counter = 4;
}  // namespace track_event

namespace annotation {
constexpr std::uint32_t name_iid = 1;
constexpr std::uint32_t integer = 4;
constexpr std::uint32_t real = 5;
constexpr std::uint32_t text = 6;
}  // namespace annotation

namespace descriptor {
constexpr std::uint32_t uuid = 1;
constexpr std::uint32_t name = 2;
constexpr std::uint32_t process = 3;
constexpr std::uint32_t process_pid = 1;
constexpr std::uint32_t process_name = 6;
constexpr std::uint32_t parent_uuid = 5;
constexpr std::uint32_t counter = 8;
constexpr std::uint32_t counter_unit_name = 6;
constexpr std::uint32_t child_ordering = 11;
constexpr std::uint32_t sibling_order_rank = 12;
constexpr std::uint64_t explicit_ordering = 3;
}  // namespace descriptor

constexpr std::uint64_t needs_state = 2;  // SEQ_NEEDS_INCREMENTAL_STATE
constexpr std::uint64_t only_sequence = 1;

std::uint64_t process_uuid(std::int32_t process) {
  return static_cast<std::uint64_t>(process) << 32U;
}

/// Field numbers are those of google/perfetto protos/perfetto/trace.
class PerfettoWriter final : public ExportWriter {
 public:
  /// Times are written since `origin`. `file` must outlive the writer.
  PerfettoWriter(OutputFile& file, nanoseconds origin) : file_(file), origin_(origin) {}

  bool is_read_back() const override { return false; }
  void add_process(const ExportProcess& process) override {
    part_.clear();
    part_.signed_number(descriptor::process_pid, process.number);
    part_.text(descriptor::process_name, process.name);
    event_.clear();
    event_.number(descriptor::uuid, process_uuid(process.number));
    event_.message(descriptor::process, part_);
    event_.number(descriptor::child_ordering, descriptor::explicit_ordering);
    write_descriptor(event_);
  }

  TrackId add_track(std::int32_t process, std::string_view name) override {
    const TrackId track = next_track(process);
    event_.clear();
    event_.number(descriptor::uuid, tracks_[track]);
    event_.text(descriptor::name, name);
    event_.number(descriptor::parent_uuid, process_uuid(process));
    event_.number(descriptor::sibling_order_rank, track);
    write_descriptor(event_);
    return track;
  }

  TrackId add_counter(std::int32_t process, std::string_view name, std::string_view unit) override {
    const TrackId track = next_track(process);
    part_.clear();
    part_.text(descriptor::counter_unit_name, unit);
    event_.clear();
    event_.number(descriptor::uuid, tracks_[track]);
    event_.text(descriptor::name, name);
    event_.number(descriptor::parent_uuid, process_uuid(process));
    event_.message(descriptor::counter, part_);
    event_.number(descriptor::sibling_order_rank, track);
    write_descriptor(event_);
    return track;
  }

  void finish() override {}

 private:
  /// Names by number; a number is explained in the first packet that uses it.
  struct Interned {
    std::uint32_t field;  // of InternedData
    std::unordered_map<std::string, std::uint64_t> numbers;
  };

  void write_begin(TrackId track, const ExportSlice& slice) override {
    begin_event(slice.start, track, track_event::slice_begin);
    event_.number(track_event::name_iid, intern(names_, slice.name));
    event_.number(track_event::category_iid, intern(categories_, slice.category));
    for (const Argument& argument : slice.arguments) add_argument(argument);
    for (const std::uint64_t arrow : slice.arrows_out) event_.fixed(track_event::flow_id, arrow);
    if (slice.arrow_in) event_.fixed(track_event::terminating_flow_id, *slice.arrow_in);
    write_event();
  }

  void write_end(TrackId track, nanoseconds time) override {
    begin_event(time, track, track_event::slice_end);
    write_event();
  }

  void write_count(TrackId counter, nanoseconds time, std::int64_t value) override {
    begin_event(time, counter, track_event::counter);
    event_.signed_number(track_event::counter_value, value);
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
    part_.number(annotation::name_iid, name);
    if (const auto* integer = std::get_if<std::int64_t>(&argument.value))
      part_.signed_number(annotation::integer, *integer);
    else if (const auto* real = std::get_if<double>(&argument.value))
      part_.real(annotation::real, *real);
    else
      part_.text(annotation::text, std::get<std::string_view>(argument.value));
    event_.message(track_event::debug_annotation, part_);
  }

  void begin_event(nanoseconds time, TrackId track, std::uint64_t type) {
    interned_.clear();
    packet_.clear();
    packet_.number(trace_packet::timestamp, static_cast<std::uint64_t>((time - origin_).count()));
    event_.clear();
    event_.number(track_event::type, type);
    event_.number(track_event::track_uuid, tracks_.at(track));
  }

  void write_event() {
    packet_.message(trace_packet::track_event, event_);
    if (!interned_.bytes().empty()) packet_.message(trace_packet::interned_data, interned_);
    packet_.number(trace_packet::sequence_flags, needs_state);
    write_packet();
  }

  void write_descriptor(const ProtobufMessage& described) {
    packet_.clear();
    packet_.message(trace_packet::track_descriptor, described);
    if (first_flags_ != 0) packet_.number(trace_packet::sequence_flags, first_flags_);
    first_flags_ = 0;
    write_packet();
  }

  void write_packet() {
    packet_.number(trace_packet::sequence, only_sequence);
    frame_.clear();
    frame_.message(trace_file::packet, packet_);
    file_.write(frame_.bytes());
  }

  TrackId next_track(std::int32_t process) {
    tracks_.push_back(process_uuid(process) + tracks_.size() + 1);
    return static_cast<TrackId>(tracks_.size() - 1);
  }

  OutputFile& file_;
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

std::unique_ptr<ExportWriter> perfetto_writer(OutputFile& file, nanoseconds origin) {
  return std::make_unique<PerfettoWriter>(file, origin);
}
}  // namespace scaleworth::trace
