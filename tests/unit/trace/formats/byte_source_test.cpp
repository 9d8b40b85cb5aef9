// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/trace/formats/text_source.h"

#include <vector>

#include <zlib.h>
#include <zstd.h>

using scaleworth::testing::TextSource;
using scaleworth::trace::ByteSource;
using scaleworth::trace::decompressed;

namespace {

std::string gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

/// Text that does not compress to nothing, longer than one piece of the readers.
std::string long_text() {
  std::string text;
  std::uint32_t state = 1;
  while (text.size() < 1'000'000) {
    state = state * 1664525U + 1013904223U;
    text += std::to_string(state) + ' ';
  }
  return text;
}

std::unique_ptr<ByteSource> stored(const std::string& bytes) {
  return decompressed(std::make_unique<TextSource>(bytes));
}

/// Everything in pieces of `piece` bytes.
std::string all_of(ByteSource& source, std::size_t piece) {
  std::string all;
  std::vector<char> buffer(piece);
  for (std::size_t got = piece; got == piece;) {
    got = source.read(buffer);
    all.append(buffer.data(), got);
  }
  return all;
}

}  // namespace

TEST_CASE("plain, gzip and zstd streams give the same bytes", "[trace][input]") {
  const auto text = long_text();
  for (const auto& bytes : {text, gzip(text), zstd(text), zstd(gzip(text))}) {
    const auto source = stored(bytes);
    CHECK(all_of(*source, 4097) == text);
    CHECK(source->damage().empty());
  }
}

TEST_CASE("members of gzip and frames of zstd follow each other", "[trace][input]") {
  const auto text = long_text();
  CHECK(all_of(*stored(gzip(text) + gzip("end")), 1 << 20) == text + "end");
  CHECK(all_of(*stored(zstd(text) + zstd("end")), 1 << 20) == text + "end");
  CHECK(all_of(*stored(gzip("") + gzip("end")), 1 << 20) == "end");
}

TEST_CASE("zeros behind a gzip stream are padding, other bytes are named", "[trace][input]") {
  const auto padded = stored(gzip("text") + std::string(512, '\0'));
  CHECK(all_of(*padded, 100) == "text");
  CHECK(padded->damage().empty());
  const auto more = stored(gzip("text") + "more");
  CHECK(all_of(*more, 100) == "text");
  CHECK(more->damage() == "what follows the gzip stream at byte " +
                              std::to_string(gzip("text").size()) +
                              " is not gzip and was not read");
}

TEST_CASE("a compressed stream that is cut off gives what was in it", "[trace][input]") {
  const auto text = long_text();
  for (const auto& whole : {gzip(text), zstd(text)}) {
    const auto source = stored(whole.substr(0, whole.size() / 2));
    const auto got = all_of(*source, 10'000);
    CHECK(got.size() > text.size() / 4);
    CHECK(text.starts_with(got));
    CHECK(source->damage().find("ends early, at its byte " + std::to_string(whole.size() / 2)) !=
          std::string::npos);
  }
}

TEST_CASE("damage inside of a compressed stream is named with its place", "[trace][input]") {
  const auto text = long_text();
  for (auto bytes : {gzip(text), zstd(text)}) {
    for (std::size_t i = 0; i < 64; ++i) bytes[bytes.size() / 2 + i] ^= '\x5a';
    const auto source = stored(bytes);
    CHECK(all_of(*source, 10'000) != text);
    CHECK(source->damage().find("is damaged at its byte") != std::string::npos);
  }
}

TEST_CASE("a file that is not there is the caller's mistake", "[trace][input]") {
  CHECK_THROWS_AS(scaleworth::trace::open_byte_source("/nonexistent/trace.json"),
                  scaleworth::UserError);
  CHECK_THROWS_AS(all_of(*scaleworth::trace::open_byte_source("/"), 10), scaleworth::UserError);
}

TEST_CASE("an empty file is an empty stream", "[trace][input]") {
  CHECK(all_of(*stored(""), 10).empty());
}

TEST_CASE("what grows a thousandfold is damaged, through layers of compression too",
          "[trace][input]") {
  std::string zeros;  // 512 MiB, as zstd a few kilobytes
  const std::string frame = zstd(std::string(std::size_t{32} << 20U, '\0'));
  for (int i = 0; i < 16; ++i) zeros += frame;
  for (const std::string& bytes : {zeros, gzip(zeros)}) {
    const auto source = stored(bytes);
    std::vector<char> buffer(std::size_t{1} << 20U);
    std::size_t all = 0;
    while (const std::size_t got = source->read(buffer)) all += got;
    CHECK(all < (std::size_t{300} << 20U));
    CHECK(source->damage().find("thousandfold") != std::string::npos);
  }
}
