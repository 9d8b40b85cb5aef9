// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/byte_source.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
constexpr std::size_t block = 512;
constexpr std::uint64_t longest_text = 1 << 20;  // of a long name or of pax records
constexpr std::uint64_t largest_size = std::uint64_t{1} << 62;

/// Where the fields of a header are, as POSIX.1-1988 and ustar have them.
struct Field {
  std::size_t at;
  std::size_t size;
};

constexpr Field name_field{0, 100};
constexpr Field size_field{124, 12};
constexpr Field checksum_field{148, 8};
constexpr std::size_t type_at = 156;
constexpr std::size_t magic_at = 257;
constexpr Field prefix_field{345, 155};

std::string_view bytes_of(std::string_view header, Field field) {
  return header.substr(field.at, field.size);
}

/// Up to the first zero byte.
std::string_view text_of(std::string_view header, Field field) {
  const std::string_view bytes = bytes_of(header, field);
  return bytes.substr(0, bytes.find('\0'));
}

/// Octal digits, or base 256 where the top bit of the first byte is set.
std::optional<std::uint64_t> number_of(std::string_view header, Field field) {
  const std::string_view bytes = bytes_of(header, field);
  std::uint64_t value = 0;
  if (static_cast<unsigned char>(bytes.front()) == 0x80U) {
    for (const char c : bytes.substr(1)) {
      if (value > (largest_size >> 8U)) return std::nullopt;
      value = value << 8U | static_cast<unsigned char>(c);
    }
    return value;
  }
  for (const char c : bytes) {
    if (c == ' ' && value == 0) continue;
    if (c == '\0' || c == ' ') break;
    if (c < '0' || c > '7' || value > (largest_size >> 3U)) return std::nullopt;
    value = value << 3U | static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

/// The sum of all bytes, with blanks in place of the sum itself.
bool checksum_holds(std::string_view header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block; ++i) {
    const bool own = i >= checksum_field.at && i < checksum_field.at + checksum_field.size;
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return number_of(header, checksum_field) == sum;
}

/// What pax records say of the member behind them.
struct PaxFacts {
  std::string path;
  std::optional<std::uint64_t> size;
};

/// Records are "length key=value\n", the length counting the whole record.
void read_pax(std::string_view records, PaxFacts& facts) {
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [after, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(after - records.data());
    if (error != std::errc() || length <= digits + 1 || length > records.size()) return;
    std::string_view record = records.substr(digits + 1, length - digits - 1);
    records.remove_prefix(length);
    if (record.ends_with('\n')) record.remove_suffix(1);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") facts.path = value;
    if (key == "size") {
      std::uint64_t size = 0;
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), size);
      if (parsed.ec == std::errc() && size < largest_size) facts.size = size;
    }
  }
}
}  // namespace

struct TarReader::Header {
  char type = '0';
  std::string path;
  std::uint64_t size = 0;
};

class TarReader::Member final : public ByteSource {
 public:
  Member(TarReader& reader, std::string name) : reader_(reader), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  std::size_t read(std::span<char> buffer) override { return reader_.read(buffer); }
  const std::string& damage() const override { return reader_.damage(); }

 private:
  TarReader& reader_;
  std::string name_;
};

TarReader::TarReader(ByteSource& archive) : archive_(archive) {}

bool TarReader::recognizes(std::string_view front) {
  return front.size() >= block && front.substr(magic_at, 5) == "ustar" &&
         checksum_holds(front.substr(0, block));
}

std::size_t TarReader::read(std::span<char> buffer) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), remaining_));
  const std::size_t got = archive_.read(buffer.first(wanted));
  position_ += got;
  remaining_ -= got;
  if (got < wanted) {
    damage_ = archive_.damage().empty()
                  ? fmt::format("the archive ends inside a file, at byte {}", position_)
                  : archive_.damage();
    remaining_ = 0;
    padding_ = 0;
  }
  return got;
}

void TarReader::skip(std::uint64_t bytes) {
  std::array<char, 64 * block> sink{};
  for (remaining_ = bytes; remaining_ > 0;)
    if (read(sink) == 0) return;
}

std::string TarReader::read_text(std::uint64_t size) {
  std::string text(std::min(size, longest_text), '\0');
  remaining_ = text.size();
  text.resize(read(text));
  return text;
}

/// Absent at the end of the archive and where it is damaged.
std::optional<TarReader::Header> TarReader::read_header() {
  std::array<char, block> bytes{};
  const std::uint64_t at = position_;
  const std::size_t got = archive_.read(bytes);
  position_ += got;
  const std::string_view header(bytes.data(), block);
  // Some writers leave out the two empty blocks at the end.
  if (got == 0 && archive_.damage().empty()) return std::nullopt;
  if (got == block && header.find_first_not_of('\0') == std::string_view::npos) return std::nullopt;
  const auto size = number_of(header, size_field);
  if (got < block || !checksum_holds(header) || !size) {
    damage_ = archive_.damage().empty()
                  ? fmt::format("the archive's header at byte {} is damaged", at)
                  : archive_.damage();
    return std::nullopt;
  }
  Header result{bytes[type_at], std::string(text_of(header, name_field)), *size};
  const std::string_view prefix = text_of(header, prefix_field);
  if (header.substr(magic_at, 6) == std::string_view("ustar\0", 6) && !prefix.empty())
    result.path = std::string(prefix) + "/" + result.path;
  return result;
}

std::unique_ptr<ByteSource> TarReader::next() {
  skip(remaining_ + padding_);
  padding_ = 0;
  PaxFacts facts;
  while (damage_.empty()) {
    const auto header = read_header();
    if (!header) return nullptr;
    const std::uint64_t size = facts.size.value_or(header->size);
    const std::uint64_t padding = (block - size % block) % block;
    if (header->type == 'x' || header->type == 'L') {
      const std::string text = read_text(size);
      if (header->type == 'x') read_pax(text, facts);
      if (header->type == 'L') facts.path = text.substr(0, text.find('\0'));
      skip(size - std::min<std::uint64_t>(size, longest_text) + padding);
      continue;
    }
    if (header->type == '0' || header->type == '\0' || header->type == '7') {
      remaining_ = size;
      padding_ = padding;
      const std::string& path = facts.path.empty() ? header->path : facts.path;
      return std::make_unique<Member>(*this, archive_.name() + ":" + path);
    }
    skip(size + padding);
    facts = {};
  }
  return nullptr;
}
}  // namespace scaleworth::trace
