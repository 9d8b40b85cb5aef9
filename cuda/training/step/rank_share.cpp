// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step/rank_share.h"

#include "src/core/error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace scaleworth::gpu {
namespace {

class Writer {
 public:
  template <class Value>
  void add(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void add(const std::string& value) {
    add(static_cast<std::uint64_t>(value.size()));
    text_ += value;
  }
  void add(const std::vector<double>& values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (const double value : values) add(value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool empty() const { return text_.empty(); }
  template <class Value>
  Value take() {
    Value value{};
    if (text_.size() < sizeof(value)) refuse();
    std::memcpy(&value, text_.data(), sizeof(value));
    text_.remove_prefix(sizeof(value));
    return value;
  }
  std::size_t count() {
    const auto count = take<std::uint64_t>();
    if (count > text_.size()) refuse();
    return count;
  }
  std::string string() {
    const std::size_t size = count();
    std::string value(text_.substr(0, size));
    text_.remove_prefix(size);
    return value;
  }
  std::vector<double> doubles() {
    std::vector<double> values(count());
    for (double& value : values) value = take<double>();
    return values;
  }

 private:
  [[noreturn]] static void refuse() {
    throw ProbeFailure(
        "a rank's report of its training steps is cut off: do all ranks run the same build?");
  }
  std::string_view text_;
};

void write_span(const Span& span, Writer& writer) {
  writer.add(span.step);
  writer.add(span.activity);
  writer.add(span.sequence);
  writer.add(std::int64_t{span.start.count()});
  writer.add(std::int64_t{span.end.count()});
  writer.add(span.name);
}

Span read_span(Reader& reader, Rank rank) {
  Span span;
  span.rank = rank;
  span.step = reader.take<std::int32_t>();
  span.activity = reader.take<Activity>();
  span.sequence = reader.take<std::int32_t>();
  span.start = std::chrono::nanoseconds(reader.take<std::int64_t>());
  span.end = std::chrono::nanoseconds(reader.take<std::int64_t>());
  span.name = reader.string();
  return span;
}

StepTimes read_times(Reader& reader) {
  StepTimes times;
  times.previous_end = reader.take<double>();
  times.start = reader.take<double>();
  times.stage_end = reader.doubles();
  times.sum_end = reader.doubles();
  times.end = reader.take<double>();
  return times;
}

}  // namespace

std::string shares_text(const std::vector<RankShare>& shares) {
  Writer writer;
  for (const RankShare& share : shares) {
    writer.add(share.rank.index);
    writer.add(share.clock);
    writer.add(share.clock_error_s);
    writer.add(share.fingerprint);
    writer.add(static_cast<std::uint64_t>(share.steps.size()));
    for (const StepTimes& times : share.steps) {
      writer.add(times.previous_end);
      writer.add(times.start);
      writer.add(times.stage_end);
      writer.add(times.sum_end);
      writer.add(times.end);
    }
    writer.add(share.dropped_records);
    writer.add(static_cast<std::uint64_t>(share.kernels.size()));
    for (const Span& span : share.kernels) write_span(span, writer);
  }
  return writer.take();
}

std::vector<RankShare> shares_of(std::string_view text) {
  std::vector<RankShare> shares;
  Reader reader(text);
  while (!reader.empty()) {
    RankShare share;
    share.rank.index = reader.take<int>();
    share.clock = reader.take<ClockMap>();
    share.clock_error_s = reader.take<double>();
    share.fingerprint = reader.take<std::uint64_t>();
    const std::size_t steps = reader.count();
    for (std::size_t i = 0; i < steps; ++i) share.steps.push_back(read_times(reader));
    share.dropped_records = reader.take<std::int64_t>();
    const std::size_t kernels = reader.count();
    for (std::size_t i = 0; i < kernels; ++i) {
      share.kernels.push_back(read_span(reader, share.rank));
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

Timeline timeline_of(const StepSchedule& schedule, const std::vector<RankShare>& shares) {
  Timeline timeline;
  timeline.ranks = static_cast<int>(shares.size());
  for (const RankShare& share : shares) {
    const auto error = std::chrono::nanoseconds(std::llround(share.clock_error_s * 1e9));
    // Two ranks may be wrong in opposite directions.
    if (shares.size() > 1) timeline.clock_error = std::max(timeline.clock_error, 2 * error);
    std::int32_t step = 0;
    for (const StepTimes& times : share.steps) {
      if (times.stage_end.size() != schedule.stages.size() ||
          times.sum_end.size() != schedule.posted_after.size()) {
        throw ProbeFailure(
            "ranks of a training disagree about its stages: do all run the same build?");
      }
      append_step_spans(schedule, times, share.clock, share.rank, step++, timeline.spans);
    }
  }
  return timeline;
}

std::optional<Timeline> kernel_timeline_of(const std::vector<RankShare>& shares) {
  // Ends of one kernel on several GPUs were seen 1 to 27 us apart.
  constexpr std::chrono::microseconds conversion_error{30};
  Timeline timeline;
  timeline.ranks = static_cast<int>(shares.size());
  timeline.clock_method = "CUPTI, which fits each GPU's clock to the host's real time";
  if (shares.size() > 1) timeline.clock_error = conversion_error;
  for (const RankShare& share : shares) {
    if (share.kernels.empty()) return std::nullopt;
    timeline.spans.insert(timeline.spans.end(), share.kernels.begin(), share.kernels.end());
  }
  return timeline;
}

}  // namespace scaleworth::gpu
