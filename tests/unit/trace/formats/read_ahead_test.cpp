// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/trace/formats/text_source.h"
#include "trace/formats/byte_source.h"

#include <atomic>
#include <string>
#include <vector>

using scaleworth::UserError;
using scaleworth::trace::bytes_before_reading_ahead;
using scaleworth::trace::bytes_read_ahead;
using scaleworth::trace::ByteSource;
using scaleworth::trace::read_ahead;

namespace {

/// What the test sees of a source that another thread reads.
struct Seen {
  std::atomic<std::size_t> bytes{0};
  std::atomic<bool> gone{false};
};

/// Numbers counted upwards, four bytes each, which then end, with damage, or by an exception.
class Numbers final : public ByteSource {
 public:
  enum class End { plain, damaged, thrown };
  Numbers(std::size_t bytes, End end, Seen& seen) : left_(bytes), end_(end), seen_(seen) {}
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers() override { seen_.gone = true; }
  const std::string& name() const override { return name_; }
  const std::string& damage() const override { return damage_; }
  std::size_t read(std::span<char> buffer) override {
    if (left_ == 0 && end_ == End::thrown) throw UserError("the disk is gone");
    const auto bytes = std::min(buffer.size(), left_);
    for (std::size_t i = 0; i < bytes; ++i, ++at_)
      buffer[i] = static_cast<char>(at_ / 4 >> 8 * (at_ % 4));
    left_ -= bytes;
    seen_.bytes += bytes;
    if (bytes < buffer.size() && end_ == End::damaged) damage_ = "ends early";
    return bytes;
  }

 private:
  std::string name_ = "numbers";
  std::string damage_;
  std::size_t left_;
  std::size_t at_ = 0;
  End end_;
  Seen& seen_;
};

std::string read_all(ByteSource& source, std::size_t piece) {
  std::string all;
  std::vector<char> buffer(piece);
  for (std::size_t got = piece; got == piece;) {
    got = source.read(buffer);
    all.append(buffer.data(), got);
  }
  return all;
}

std::unique_ptr<ByteSource> ahead(std::size_t bytes, Numbers::End end, Seen& seen) {
  return read_ahead(std::make_unique<Numbers>(bytes, end, seen));
}

}  // namespace

TEST_CASE("a stream read ahead is the same stream", "[trace][input]") {
  const std::size_t turn = bytes_before_reading_ahead;  // where the thread takes over
  for (const std::size_t bytes :
       {std::size_t{0}, turn - 1, turn, turn + 1, 3 * turn, 3 * turn + 7}) {
    Seen plain;
    Seen seen;
    Numbers expected(bytes, Numbers::End::plain, plain);
    const auto text = read_all(expected, 1 << 20);
    for (const std::size_t piece : {std::size_t{4099}, 2 * turn}) {
      const auto source = ahead(bytes, Numbers::End::plain, seen);
      const auto same = read_all(*source, piece) == text;  // megabytes: not to be printed
      CHECK(same);
      CHECK(source->damage().empty());
      std::vector<char> more(10);
      CHECK(source->read(more) == 0);
    }
  }
}

TEST_CASE("reading ahead is bounded and ends with its reader", "[trace][input]") {
  Seen seen;
  const auto taken = bytes_before_reading_ahead + 100;
  {
    const auto source = ahead(std::size_t{1} << 40, Numbers::End::plain, seen);
    std::vector<char> buffer(taken);
    REQUIRE(source->read(buffer) == taken);
  }
  CHECK(seen.gone);
  CHECK(seen.bytes >= taken);
  CHECK(seen.bytes <= taken + bytes_read_ahead);
}

TEST_CASE("what is short is not read ahead", "[trace][input]") {
  Seen seen;
  const auto source = ahead(std::size_t{1} << 40, Numbers::End::plain, seen);
  std::vector<char> buffer(bytes_before_reading_ahead - 1);
  REQUIRE(source->read(buffer) == buffer.size());
  CHECK(seen.bytes == buffer.size());
}

TEST_CASE("damage behind what was read ahead is told at its end", "[trace][input]") {
  Seen seen;
  const auto bytes = 2 * bytes_before_reading_ahead;
  const auto source = ahead(bytes, Numbers::End::damaged, seen);
  std::vector<char> buffer(bytes);
  REQUIRE(source->read(buffer) == bytes);
  CHECK(source->damage().empty());
  CHECK(source->read(buffer) == 0);
  CHECK(source->damage() == "ends early");
}

TEST_CASE("an exception reaches the reader behind the bytes before it", "[trace][input]") {
  Seen seen;
  const auto bytes = 2 * bytes_before_reading_ahead;
  const auto source = ahead(bytes, Numbers::End::thrown, seen);
  std::vector<char> buffer(bytes);
  CHECK(source->read(buffer) == bytes);
  CHECK_THROWS_AS(source->read(buffer), UserError);
  CHECK_THROWS_AS(source->read(buffer), UserError);
}
