// SPDX-License-Identifier: Apache-2.0
/// Reads Perfetto's format back, independently of what writes it.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::trace {

struct ProtoField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;  // of varints and fixed64
  std::string_view bytes;   // of messages and strings
};

/// All fields of a message; throws when it is none.
inline std::vector<ProtoField> decode_message(std::string_view bytes) {
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes.empty()) throw std::runtime_error("message ends inside a number");
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("number of more than 64 bits");
  };
  const auto take = [&](std::size_t size) {
    if (bytes.size() < size) throw std::runtime_error("message ends inside a field");
    const std::string_view part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return part;
  };
  std::vector<ProtoField> fields;
  while (!bytes.empty()) {
    const std::uint64_t tag = varint();
    ProtoField field{static_cast<std::uint32_t>(tag >> 3), 0, {}};
    if ((tag & 7) == 0) {
      field.value = varint();
    } else if ((tag & 7) == 1) {
      std::memcpy(&field.value, take(8).data(), 8);
    } else if ((tag & 7) == 2) {
      field.bytes = take(varint());
    } else {
      throw std::runtime_error("field of unknown type");
    }
    fields.push_back(field);
  }
  return fields;
}

struct DecodedEvent {
  std::size_t place = 0;  // in the file
  std::uint64_t time = 0;
  std::uint64_t type = 0;
  std::string name;
  std::map<std::string, std::int64_t> integers;  // of its annotations
  std::vector<std::uint64_t> flows_out;
  std::vector<std::uint64_t> flows_in;
  std::int64_t counter = 0;
};

/// A file, in the order of its packets.
class PerfettoFile {
 public:
  explicit PerfettoFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    content_.assign(std::istreambuf_iterator<char>(file), {});
    for (const ProtoField& packet : decode_message(content_)) {
      if (packet.number != 1) throw std::runtime_error("not a packet");
      decode_packet(decode_message(packet.bytes));
    }
  }

  std::map<std::uint64_t, std::vector<DecodedEvent>> events;  // by track
  std::map<std::uint64_t, std::string> track_names;
  std::map<std::uint64_t, std::uint64_t> parents;
  std::map<std::uint64_t, std::string> process_names;  // by track of the process

 private:
  using Fields = std::vector<ProtoField>;

  void decode_packet(const Fields& packet) {
    for (const ProtoField& field : packet)
      if (field.number == 12) decode_interned(decode_message(field.bytes));
    std::uint64_t time = 0;
    for (const ProtoField& field : packet) {
      if (field.number == 8) time = field.value;
      if (field.number == 60) decode_descriptor(decode_message(field.bytes));
    }
    for (const ProtoField& field : packet)
      if (field.number == 11) decode_event(time, decode_message(field.bytes));
  }

  void decode_interned(const Fields& data) {
    for (const ProtoField& entry : data) {
      std::uint64_t number = 0;
      std::string name;
      for (const ProtoField& field : decode_message(entry.bytes))
        field.number == 1 ? void(number = field.value) : void(name = field.bytes);
      names_[entry.number][number] = name;
    }
  }

  void decode_descriptor(const Fields& descriptor) {
    std::uint64_t uuid = 0;
    for (const ProtoField& field : descriptor)
      if (field.number == 1) uuid = field.value;
    for (const ProtoField& field : descriptor) {
      if (field.number == 2) track_names[uuid] = field.bytes;
      if (field.number == 5) parents[uuid] = field.value;
      if (field.number == 3)
        for (const ProtoField& process : decode_message(field.bytes))
          if (process.number == 6) process_names[uuid] = process.bytes;
    }
  }

  void decode_event(std::uint64_t time, const Fields& event) {
    DecodedEvent decoded;
    decoded.place = place_++;
    decoded.time = time;
    std::uint64_t track = 0;
    for (const ProtoField& field : event) {
      if (field.number == 9) decoded.type = field.value;
      if (field.number == 10) decoded.name = names_.at(2).at(field.value);
      if (field.number == 11) track = field.value;
      if (field.number == 30) decoded.counter = static_cast<std::int64_t>(field.value);
      if (field.number == 47) decoded.flows_out.push_back(field.value);
      if (field.number == 48) decoded.flows_in.push_back(field.value);
      if (field.number == 4) decode_annotation(decode_message(field.bytes), decoded);
    }
    if (!track_names.contains(track)) throw std::runtime_error("event on an unknown track");
    events[track].push_back(std::move(decoded));
  }

  void decode_annotation(const Fields& annotation, DecodedEvent& event) {
    std::string name;
    for (const ProtoField& field : annotation) {
      if (field.number == 1) name = names_.at(3).at(field.value);
      if (field.number == 4) event.integers[name] = static_cast<std::int64_t>(field.value);
    }
  }

  std::string content_;
  std::size_t place_ = 0;
  std::map<std::uint32_t, std::map<std::uint64_t, std::string>> names_;  // by kind
};

}  // namespace scaleworth::trace
