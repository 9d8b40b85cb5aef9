// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/whole_number.h"
#include "trace/formats/export/export.h"
#include "trace/formats/export/export_writer.h"
#include "trace/formats/kineto.h"

#include <charconv>
#include <map>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace scaleworth::trace {
namespace {
constexpr std::size_t read_piece = 1 << 20;

/// The events of one rank, as text.
struct RankText {
  std::string distributed_info;
  std::string events;
};

class RankSource final : public ByteSource {
 public:
  RankSource(std::string name, std::string text, std::string damage)
      : name_(std::move(name)), text_(std::move(text)), damage_(std::move(damage)) {}
  const std::string& name() const override { return name_; }
  const std::string& damage() const override { return damage_; }
  std::size_t read(std::span<char> buffer) override {
    const std::size_t size = std::min(buffer.size(), text_.size() - taken_);
    std::copy_n(text_.data() + taken_, size, buffer.data());
    taken_ += size;
    return size;
  }

 private:
  std::string name_;
  std::string text_;
  std::string damage_;
  std::size_t taken_ = 0;
};

/// Sorts lines by the process that they begin with.
struct SortedLines {
  std::string head;
  std::map<std::int32_t, RankText> ranks;

  void add(std::string_view line) {
    if (head.empty()) {
      head = line;
      return;
    }
    while (line.ends_with(',') || line.ends_with('\r')) line.remove_suffix(1);
    while (line.starts_with(',')) line.remove_prefix(1);
    constexpr std::string_view begin = R"({"pid":)";
    if (!line.starts_with(begin)) return;
    std::int32_t process = 0;
    const auto [end, error] =
        std::from_chars(line.data() + begin.size(), line.data() + line.size(), process);
    if (error != std::errc()) return;
    RankText& rank = ranks[process];
    std::string_view rest = line.substr(static_cast<std::size_t>(end - line.data()));
    if (rest.starts_with(chrome_rank_line)) {
      rest.remove_prefix(chrome_rank_line.size());
      rank.distributed_info = rest.substr(0, rest.size() - std::min<std::size_t>(2, rest.size()));
      return;
    }
    if (!rank.events.empty()) rank.events += ",\n";
    rank.events += line;
  }
};

template <typename Value>
void restore(const nlohmann::json& own, const char* name, Value& value) {
  const auto found = own.find(name);
  if (found == own.end()) return;
  if constexpr (std::is_same_v<Value, std::string>) {
    if (found->is_string()) value = found->get<std::string>();
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (found->is_boolean()) value = found->get<bool>();
  } else {
    using Number = typename Value::value_type;
    if (found->is_number_unsigned())
      value = whole_number<Number>(found->get<std::uint64_t>());
    else if (found->is_number_integer())
      value = whole_number<Number>(found->get<std::int64_t>());
  }
}

/// What Kineto's files do not hold, from what the writer put beside it.
void restore_origin(const std::string& distributed_info, Recording& recording) {
  const auto info = nlohmann::json::parse(distributed_info, nullptr, false);
  const auto own = info.is_object() ? info.value("scaleworth", nlohmann::json()) : info;
  if (!own.is_object()) return;
  each_own_fact(recording, [&](const char* name, auto& value) { restore(own, name, value); });
  recording.origin.tool += ", exported";
  recording.origin.rank_from = "as exported: " + recording.origin.rank_from;
}

SortedLines sort_lines(ByteSource& source) {
  SortedLines lines;
  std::string pending;
  std::vector<char> buffer(read_piece);
  while (const std::size_t got = source.read(buffer)) {
    pending.append(buffer.data(), got);
    std::size_t begin = 0;
    for (std::size_t end = pending.find('\n'); end != std::string::npos;
         end = pending.find('\n', begin)) {
      lines.add(std::string_view(pending).substr(begin, end - begin));
      begin = end + 1;
    }
    pending.erase(0, begin);
  }
  lines.add(pending);
  return lines;
}
}  // namespace

bool is_chrome_export(std::string_view front) {
  return front.starts_with(chrome_export_begin);
}

std::vector<Recording> read_chrome_export(ByteSource& source, const RuleTable& rules) {
  const SortedLines lines = sort_lines(source);
  std::vector<Recording> recordings;
  for (const auto& [process, rank] : lines.ranks) {
    if (rank.distributed_info.empty()) continue;  // the verdict
    // The head opens the array of events; the member before it goes in front.
    RankSource text(source.name(),
                    fmt::format("{{\"distributedInfo\":{},{}{}]}}",
                                rank.distributed_info,
                                std::string_view(lines.head).substr(1),
                                rank.events),
                    source.damage());
    for (Recording& recording : read_kineto(text, rules)) {
      restore_origin(rank.distributed_info, recording);
      recordings.push_back(std::move(recording));
    }
  }
  if (recordings.empty())
    throw UserError("{} was exported by scaleworth and changed since: export it again",
                    source.name());
  return recordings;
}
}  // namespace scaleworth::trace
