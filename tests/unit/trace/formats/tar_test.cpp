// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/byte_source.h"

#include "tests/catch.h"
#include "tests/unit/trace/formats/tar_writer.h"
#include "tests/unit/trace/formats/text_source.h"

#include <array>

using namespace scaleworth::trace;
using scaleworth::testing::TextSource;

namespace {

std::string content(ByteSource& source) {
  std::string text;
  std::array<char, 100> buffer{};
  while (const std::size_t got = source.read(buffer)) text.append(buffer.data(), got);
  return text;
}

}  // namespace

TEST_CASE("An archive gives its files with their names, whether they are read or not", "[tar]") {
  const std::string large(1300, 'x');
  TextSource archive(TarWriter()
                         .folder("traces/")
                         .file("traces/0.json", large)
                         .file("traces/empty", "")
                         .file("traces/1.json", "one")
                         .end());
  TarReader reader(archive);
  auto member = reader.next();
  REQUIRE(member);
  CHECK(member->name() == "text:traces/0.json");
  std::array<char, 10> some{};
  CHECK(member->read(some) == 10);  // the rest is passed over
  REQUIRE(reader.next()->name() == "text:traces/empty");
  member = reader.next();
  REQUIRE(member);
  CHECK(content(*member) == "one");
  CHECK(reader.next() == nullptr);
  CHECK(reader.damage().empty());
}

TEST_CASE("Long names are read as pax, GNU and ustar write them", "[tar]") {
  const std::string folder(120, 'd');
  TextSource archive(TarWriter()
                         .pax_path(folder + "/pax.json")
                         .file("short", "1")
                         .gnu_long_name(folder + "/gnu.json")
                         .file("short", "2")
                         .file("ustar.json", "3", folder)
                         .end());
  TarReader reader(archive);
  for (const char* name : {"/pax.json", "/gnu.json", "/ustar.json"}) {
    const auto member = reader.next();
    REQUIRE(member);
    CHECK(member->name() == "text:" + folder + name);
  }
  CHECK(reader.next() == nullptr);
}

TEST_CASE("An archive that was cut off says where, and gives the bytes before", "[tar]") {
  const std::string whole = TarWriter().file("a", std::string(2000, 'a')).end();
  TextSource archive(whole.substr(0, 1000));
  TarReader reader(archive);
  const auto member = reader.next();
  REQUIRE(member);
  CHECK(content(*member).size() == 488);  // 1000 less the header
  CHECK(reader.damage() == "the archive is damaged near its byte 1000 (Truncated tar archive)");
  CHECK(reader.next() == nullptr);
}

TEST_CASE("A header whose checksum is wrong ends the archive", "[tar]") {
  std::string bytes = TarWriter().file("a", "1").file("b", "2").end();
  CHECK(TarReader::recognizes(bytes));
  bytes[1024] = 'c';
  TextSource archive(bytes);
  TarReader reader(archive);
  CHECK(reader.next() != nullptr);
  CHECK(reader.next() == nullptr);
  CHECK(reader.damage() == "the archive is damaged near its byte 1536 (Damaged tar archive)");
  CHECK_FALSE(TarReader::recognizes(bytes.substr(1)));
}
