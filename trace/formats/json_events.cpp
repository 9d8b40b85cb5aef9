// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/json_events.h"

#include "src/core/process.h"

namespace scaleworth::trace {
namespace {
/// The part of a byte stream that is in memory: it moves along, and grows for what does not fit.
class JsonWindow {
 public:
  /// `bytes` in memory, growing to `most`.
  JsonWindow(ByteSource& source, std::size_t bytes, std::size_t most)
      : source_(source), most_(most), buffer_(front_slack + bytes + back_slack, ' ') {}

  /// What is in memory and not consumed. `front_slack` bytes before it and `back_slack` after it
  /// may be written to; `data` is its first byte. Valid until `more`.
  std::string_view rest() const { return {buffer_.data() + begin_, end_ - begin_}; }
  char* data() { return buffer_.data() + begin_; }
  static constexpr std::size_t front_slack = 1;
  static constexpr std::size_t back_slack = 128;  // simdjson reads 64 bytes beyond

  void consume(std::size_t bytes) {
    bytes = std::min(bytes, end_ - begin_);
    begin_ += bytes;
    position_ += bytes;
  }

  /// Brings in more behind what is there; false when the stream has ended or the window is as
  /// large as it may become and full.
  bool more() {
    if (ended_) return false;
    if (begin_ > front_slack) {
      std::memmove(buffer_.data() + front_slack, data(), end_ - begin_);
      end_ -= begin_ - front_slack;
      begin_ = front_slack;
    }
    if (end_ + back_slack >= buffer_.size()) {
      buffer_.resize(front_slack + std::min(2 * (end_ - begin_), most_) + back_slack, ' ');
      if (end_ + back_slack >= buffer_.size()) return false;
    }
    const std::size_t room = buffer_.size() - back_slack - end_;
    const auto got = source_.read({buffer_.data() + end_, room});
    ended_ = got < room;
    end_ += got;
    return got > 0;
  }
  bool ended() const { return ended_; }
  /// Of the first byte of `rest` in the stream.
  std::uint64_t position() const { return position_; }

 private:
  ByteSource& source_;
  std::size_t most_;
  std::vector<char> buffer_;
  std::size_t begin_ = front_slack;
  std::size_t end_ = front_slack;
  std::uint64_t position_ = 0;
  bool ended_ = false;
};

/// A search that goes over each part of a stream once, however often it is asked for: a file that
/// is damaged everywhere costs no more than its length.
class OnwardSearch {
 public:
  /// next_event or events_end: the first of something whose `}` stands at `from` or behind it.
  using Find = std::size_t (*)(std::string_view text, std::size_t from);
  explicit OnwardSearch(Find find) : find_(find) {}

  /// The first in what is in memory; not_found when there is none.
  std::size_t first(const JsonWindow& window) {
    const auto begin = window.position();
    const auto text = window.rest();
    if (found_ && searched_ > begin) return searched_ - begin;
    const std::size_t from = searched_ > begin ? searched_ - begin : 0;
    const auto at = find_(text, from);
    found_ = at != not_found;
    // What was not found may begin at the last brace, and go on behind what is in memory.
    const auto rest = text.substr(std::min(from, text.size()));
    const auto brace = found_ ? at - from : rest.rfind('}');
    searched_ = begin + from + std::min(brace, rest.size());
    return at;
  }

 private:
  Find find_;
  std::uint64_t searched_ = 0;  // position in the stream: of what was found, else where to go on
  bool found_ = false;
};

/// A run of events in memory, parsed at once.
class EventBatch {
 public:
  explicit EventBatch(TraceReader& reader) : reader_(reader) {}

  struct Parsed {
    /// All events went to the reader. Else an error stands at the first event behind `bytes`.
    bool well = false;
    std::size_t bytes = 0;     // that are done with, from the front
    std::size_t events = 0;    // among them
    bool array_ended = false;  // the `]` of the events was among them
  };
  /// Parses `text`, events with commas between them, of `bytes`. Those before it by
  /// JsonWindow::front_slack and behind it by back_slack belong to the caller's buffer; they are
  /// the same again on return.
  Parsed parse(char* text, std::size_t bytes) {
    const char before = text[-1];
    const char behind = text[bytes];
    text[-1] = '[';
    text[bytes] = ']';
    const auto parsed = walk(text - 1, bytes + 2);
    text[-1] = before;
    text[bytes] = behind;
    return parsed;
  }

 private:
  Parsed walk(const char* text, std::size_t bytes) {
    namespace od = simdjson::ondemand;
    Parsed parsed;
    const simdjson::padded_string_view padded(text, bytes, bytes + simdjson::SIMDJSON_PADDING);
    od::document document;
    od::array events;
    if (parser_.iterate(padded).get(document) != simdjson::SUCCESS) return parsed;
    if (document.get_array().get(events) != simdjson::SUCCESS) return parsed;
    std::size_t start = 1;
    bool done = false;  // with the event at start
    const auto failed = [&] {
      if (done) {
        const auto end = value_end({text, bytes}, start);
        start = std::min(end, bytes - 1);
      }
      parsed.bytes = start - 1;
      return parsed;
    };
    for (auto element : events) {
      od::value value;
      od::object event;
      if (element.get(value) != simdjson::SUCCESS) return failed();
      start = static_cast<std::size_t>(value.raw_json_token().data() - text);
      done = false;
      if (value.get_object().get(event) != simdjson::SUCCESS) return failed();
      const auto use = reader_.event(event);
      if (use == TraceReader::Use::malformed) return failed();
      done = use == TraceReader::Use::kept;
      ++parsed.events;
    }
    parsed.well = true;
    parsed.bytes = bytes - 2;
    const char* behind = nullptr;
    if (document.current_location().get(behind) == simdjson::SUCCESS && behind < text + bytes - 1) {
      parsed.array_ended = true;
      parsed.bytes = static_cast<std::size_t>(behind - text) - 1;
    }
    return parsed;
  }

  simdjson::ondemand::parser parser_;  // keeps its memory from batch to batch
  TraceReader& reader_;
};

constexpr std::size_t largest_member = std::size_t{16} << 20;
// How far behind the next event the end of a value is looked for: values hold others like events.
constexpr std::size_t farthest_end = 64 * 1024;

class Walk {
 public:
  Walk(ByteSource& source, TraceReader& reader, Recording& recording, const WalkOptions& options)
      : source_(source), reader_(reader), recording_(recording), options_(options) {}

  void all() {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    next();
    if (window_.rest().starts_with(byte_order_mark)) window_.consume(byte_order_mark.size());
    const char first = next();
    if (first == '{') {
      object();
    } else if (first == '[') {
      window_.consume(1);
      events();
    }
    if (!source_.damage().empty())
      recording_.remarks.emplace_back(FindingId::read_as_far_as_possible, source_.damage());
    if (!found_events_)
      throw UserError("{} holds no traceEvents{}: give a trace in Chrome's JSON format.",
                      source_.name(),
                      source_.damage().empty() ? "" : " (" + source_.damage() + ")");
  }

 private:
  void object() {
    window_.consume(1);
    while (member()) check_interrupt();
    if (next() == '\0' && !cut_off_) cut_off();
  }

  void events() {
    found_events_ = true;
    array_ended_ = false;
    while (!array_ended_ && at_event()) {
      check_interrupt();
      fill();
      const auto end =
          window_.rest().front() == '{' ? last_event_end(window_.rest(), batch_bytes_) : not_found;
      if (end == not_found) {
        one_event();
        batch_bytes_ = std::min(batch_bytes_ * 2, options_.batch_bytes);
        continue;
      }
      const auto parsed = batch_.parse(window_.data(), end);
      window_.consume(parsed.bytes);
      if (parsed.well) {
        batch_bytes_ = std::min(batch_bytes_ * 2, options_.batch_bytes);
      } else {
        constexpr std::size_t smallest = 1024;
        batch_bytes_ = std::max(batch_bytes_ / 8, smallest);
        if (parsed.events > 0 || batch_bytes_ == smallest) one_event();
      }
      array_ended_ = array_ended_ || parsed.array_ended;
    }
  }

  /// One `"key": value,` of the outermost object; false at its end.
  bool member() {
    while (next() == ',') window_.consume(1);
    if (next() == '{' && found_events_) {  // the array seemed to end in the middle: damage
      events();
      return true;
    }
    if (next() != '"') return false;
    const auto key_end = end_of_value();
    if (key_end == not_found) return cut_off();
    const std::string key(window_.rest().substr(1, key_end - 2));
    window_.consume(key_end);
    if (next() == ':') window_.consume(1);
    if (key == "traceEvents" && next() == '[') {
      window_.consume(1);
      events();
      return true;
    }
    const auto end = next() == '\0' ? not_found : end_of_value();
    if (end == not_found) return cut_off();
    if (end <= largest_member) reader_.member(key, window_.rest().substr(0, end));
    window_.consume(end);
    return true;
  }

  /// Whether an element of the array is next; the `]` is consumed.
  bool at_event() {
    while (next() == ',') window_.consume(1);
    if (next() == ']') {
      window_.consume(1);
      return false;
    }
    return next() != '\0';
  }

  /// The next element, or it is left out.
  void one_event() {
    if (!at_event()) return;
    fill();
    if (window_.rest().front() != '{') return lose_malformed(end_of_value());
    // Up to what looks like the next event first: damage may leave the end of a value anywhere.
    const auto follower = follower_.first(window_);
    if (follower != not_found) {
      const auto bytes = window_.rest().rfind('}', follower) + 1;
      if (bytes > 0 && try_event(bytes)) return;
    }
    const auto end = follower == not_found
                         ? end_of_value()
                         : value_end(window_.rest().substr(0, follower + farthest_end), 0);
    if (end != not_found && try_event(end)) return;
    if (follower != not_found) return lose_malformed(follower);
    last_event(end);
  }

  /// What no other event follows and cannot be parsed as it is; `end` where it seems to end.
  void last_event(std::size_t end) {
    const auto bracket = window_.ended() ? bracket_.first(window_) : not_found;
    if (bracket != not_found) {
      // Nothing but what is next is known to be damaged.
      end = std::min(end, bracket);
    }
    lose_malformed(end);
  }

  /// Parses what is next up to `bytes` by itself, and consumes it when that went well.
  bool try_event(std::size_t bytes) {
    const auto parsed = batch_.parse(window_.data(), bytes);
    window_.consume(parsed.bytes);
    array_ended_ = array_ended_ || parsed.array_ended;
    return parsed.bytes > 0;
  }

  /// The next element, or all that is left when it has no end.
  void lose_malformed(std::size_t bytes) {
    if (bytes == not_found) {
      cut_off();
      return;
    }
    if (recording_.losses["malformed_events"]++ == 0)
      recording_.remarks.emplace_back(FindingId::first_malformed_event, window_.position());
    window_.consume(bytes);
  }

  /// False, as nothing is left.
  bool cut_off() {
    cut_off_ = true;
    recording_.losses[loss_name::truncated_bytes] +=
        static_cast<std::int64_t>(window_.rest().size());
    recording_.remarks.emplace_back(FindingId::file_ends_early,
                                    window_.position() + window_.rest().size());
    window_.consume(window_.rest().size());
    return false;
  }

  /// The next character that is no white space, 0 at the end of the file.
  char next() {
    do {
      window_.consume(skip_space(window_.rest(), 0));
    } while (window_.rest().empty() && window_.more());
    return window_.rest().empty() ? '\0' : window_.rest().front();
  }

  /// Brings a batch into memory, if there is so much.
  void fill() {
    while (window_.rest().size() < options_.batch_bytes + 1 && window_.more()) {
    }
  }

  /// value_end of what is next, with as much more of the file as that needs.
  std::size_t end_of_value() {
    auto end = value_end(window_.rest(), 0);
    while (end == not_found && window_.more()) end = value_end(window_.rest(), 0);
    return end;
  }

  ByteSource& source_;
  TraceReader& reader_;
  Recording& recording_;
  WalkOptions options_;
  JsonWindow window_{source_, options_.window_bytes, options_.most_bytes};
  EventBatch batch_{reader_};
  OnwardSearch follower_{next_event};
  OnwardSearch bracket_{events_end};
  // Smaller after damage: what is around it is parsed again only once.
  std::size_t batch_bytes_ = options_.batch_bytes;
  bool found_events_ = false;
  bool array_ended_ = false;
  bool cut_off_ = false;
};
}  // namespace

void walk_trace(ByteSource& source,
                TraceReader& reader,
                Recording& recording,
                const WalkOptions& options) {
  Walk(source, reader, recording, options).all();
}
}  // namespace scaleworth::trace
