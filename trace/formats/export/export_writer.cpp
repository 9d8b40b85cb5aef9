// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export_writer.h"

#include <chrono>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleworth::trace {
namespace {
/// With quotes. Bytes that are no UTF-8, which strict readers refuse, become U+FFFD.
void append_text(std::string& out, std::string_view text) {
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80U; })) {
    using nlohmann::json;
    out += json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20U) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Times are written as multiples of 2^-14 us, 0.06 ns, the next one up: of them, unlike of
/// thousandths, sums and differences of binary numbers are exact (up to 6 days). Viewers add begin
/// and duration, and count from the first event of a track; with thousandths some slices then end
/// behind the begin of the next, and speedscope loses both. Rounded, every time and duration is its
/// nanoseconds.
constexpr std::int64_t steps_per_us = 1 << 14;

std::int64_t steps_of(nanoseconds time) {
  const auto us = std::chrono::floor<std::chrono::microseconds>(time);
  const std::int64_t rest = (time - us).count();
  return us.count() * steps_per_us + (rest * steps_per_us + 999) / 1000;
}

void append_steps(std::string& out, std::int64_t steps) {
  fmt::format_to(std::back_inserter(out),
                 "{}",
                 static_cast<double>(steps) / static_cast<double>(steps_per_us));
}

void append_arguments(std::string& out, std::span<const Argument> arguments) {
  out += R"(,"args":{)";
  bool first = true;
  for (const Argument& argument : arguments) {
    if (!first) out += ',';
    first = false;
    append_text(out, argument.name);
    out += ':';
    if (const auto* integer = std::get_if<std::int64_t>(&argument.value))
      fmt::format_to(std::back_inserter(out), "{}", *integer);
    else
      append_text(out, std::get<std::string_view>(argument.value));
  }
  out += '}';
}

/// Perfetto takes thread 0 for the thread that has the number of its process.
TrackId thread_of(TrackId track) {
  return track + 1;
}
}  // namespace

ExportWriter::ExportWriter(Sink sink, nanoseconds origin, std::string_view begin)
    : sink_(std::move(sink)), origin_(origin) {
  sink_(fmt::format(
      R"({}"schemaVersion":1,"displayTimeUnit":"ns","baseTimeNanoseconds":{},"traceEvents":[)",
      begin,
      origin.count()));
}

void ExportWriter::add_process(std::int32_t process, std::string_view name) {
  std::string named = R"(,"args":{"name":)";
  append_text(named, name);
  metadata(process, "process_name", named + "}");
  metadata(process, "process_sort_index", fmt::format(R"(,"args":{{"sort_index":{}}})", process));
}

TrackId ExportWriter::add_track(std::int32_t process, std::string_view name) {
  const TrackId track = append(tracks_, {process, std::string(name)});
  std::string named = fmt::format(R"(,"tid":{},"args":{{"name":)", thread_of(track));
  append_text(named, name);
  metadata(process, "thread_name", named + "}");
  metadata(process,
           "thread_sort_index",
           fmt::format(R"(,"tid":{0},"args":{{"sort_index":{0}}})", thread_of(track)));
  return track;
}

void ExportWriter::finish() {
  sink_(arrow_ends_);
  sink_("\n]}\n");
}

void ExportWriter::add(TrackId track, const ExportSlice& slice) {
  ++counts_.slices;
  if (slice.arrow_in) ++counts_.arrows;
  begin_line(tracks_.at(track).process);
  fmt::format_to(std::back_inserter(line_), R"(,"tid":{},"ph":"X","cat":)", thread_of(track));
  append_text(line_, slice.category);
  line_ += R"(,"name":)";
  append_text(line_, slice.name);
  line_ += R"(,"ts":)";
  const std::int64_t start = steps_of(slice.time.start - origin_);
  append_steps(line_, start);
  line_ += R"(,"dur":)";
  // One step short of the next slice, which speedscope takes for the same where both are alike;
  // and never none: a slice without length would have to end before it begins there.
  append_steps(line_, std::max<std::int64_t>(steps_of(slice.time.end - origin_) - start - 1, 1));
  if (!slice.arguments.empty()) append_arguments(line_, slice.arguments);
  end_line();
  for (const std::uint64_t id : slice.arrows_out) {
    write_arrow('s', track, slice.time.start, id);
    end_line();
  }
  if (!slice.arrow_in) return;
  write_arrow('f', track, slice.time.start, *slice.arrow_in);
  line_ += R"(,"bp":"e"})";
  arrow_ends_ += line_;
}

void ExportWriter::metadata(std::int32_t process,
                            std::string_view what,
                            std::string_view arguments) {
  begin_line(process);
  fmt::format_to(std::back_inserter(line_), R"(,"ph":"M","name":"{}"{})", what, arguments);
  end_line();
}

/// Without the end of its line.
void ExportWriter::write_arrow(char phase, TrackId track, nanoseconds time, std::uint64_t id) {
  begin_line(tracks_.at(track).process);
  fmt::format_to(std::back_inserter(line_),
                 R"(,"tid":{},"ph":"{}","cat":"waits for","name":"waits for","id":{},"ts":)",
                 thread_of(track),
                 phase,
                 id);
  append_steps(line_, steps_of(time - origin_));
}

void ExportWriter::begin_line(std::int32_t process) {
  line_ = first_line_ ? "\n" : ",\n";
  first_line_ = false;
  fmt::format_to(std::back_inserter(line_), R"({{"pid":{})", process);
}

void ExportWriter::end_line() {
  line_ += '}';
  sink_(line_);
}
}  // namespace scaleworth::trace
