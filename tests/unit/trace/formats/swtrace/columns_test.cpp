// SPDX-License-Identifier: Apache-2.0
/// Rows as columns: nothing is lost, and a launched kernel stays under 40 bytes.
#include "tests/catch.h"
#include "trace/formats/swtrace/rows.h"

#include <limits>
#include <random>

namespace scaleworth::trace::recording {
namespace {

std::string written(const std::vector<KernelRow>& rows) {
  std::string bytes;
  put_rows(std::span<const KernelRow>(rows), KernelRow::Columns{}, bytes);
  return bytes;
}

TEST_CASE("numbers of one to ten bytes come back", "[recording]") {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}}) {
    char bytes[longest_varint];
    std::string_view view(bytes, static_cast<std::size_t>(put_varint(bytes, value) - bytes));
    REQUIRE(take_varint(view) == value);
    REQUIRE(view.empty());
  }
}

TEST_CASE("a number that does not end, or has more than 64 bits, is none", "[recording]") {
  std::string_view open = "\x80\x80";
  REQUIRE_FALSE(take_varint(open));
  std::string_view large = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
  REQUIRE_FALSE(take_varint(large));
}

TEST_CASE("differences of either sign fold into small numbers", "[recording]") {
  REQUIRE(fold_sign(0) == 0);
  REQUIRE(fold_sign(static_cast<std::uint64_t>(-1)) == 1);
  REQUIRE(fold_sign(1) == 2);
  REQUIRE(unfold_sign(fold_sign(static_cast<std::uint64_t>(-123456789))) ==
          static_cast<std::uint64_t>(-123456789));
}

TEST_CASE("extreme values and backward differences survive the columns", "[recording]") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::vector<KernelRow> rows{{.start_ns = most, .duration_ns = most, .graph_node = 1},
                                    {.start_ns = 0, .correlation = 0xffffffffU, .stream = 9},
                                    {.start_ns = most / 2, .graph_node = most, .shape = 3}};
  std::vector<KernelRow> again;
  REQUIRE(take_rows(written(rows), KernelRow::Columns{}, again));
  REQUIRE(again.size() == 3);
  REQUIRE(again[0].start_ns == most);
  REQUIRE(again[0].duration_ns == most);
  REQUIRE(again[1].start_ns == 0);
  REQUIRE(again[1].correlation == 0xffffffffU);
  REQUIRE(again[2].graph_node == most);
  REQUIRE(again[2].shape == 3);
}

TEST_CASE("a column that an earlier writer had not is zero, one of a later writer is passed over",
          "[recording]") {
  using Early = ColumnList<Delta<&KernelRow::start_ns>, Plain<&KernelRow::duration_ns>>;
  const std::vector<KernelRow> rows{{.start_ns = 5, .duration_ns = 6, .name = 7}};
  std::string early;
  put_rows(std::span<const KernelRow>(rows), Early{}, early);
  std::vector<KernelRow> again;
  REQUIRE(take_rows(early, KernelRow::Columns{}, again));
  REQUIRE(again.front().duration_ns == 6);
  REQUIRE(again.front().name == 0);
  std::vector<KernelRow> by_early_reader;
  REQUIRE(take_rows(written(rows), Early{}, by_early_reader));
  REQUIRE(by_early_reader.front().start_ns == 5);
}

TEST_CASE("a count that the bytes cannot hold is refused before memory is asked for",
          "[recording]") {
  std::string bytes;
  char digits[longest_varint];
  bytes.append(digits, put_varint(digits, std::uint64_t{1} << 60U));
  bytes += "\x01";
  std::vector<KernelRow> rows;
  REQUIRE_FALSE(take_rows(bytes, KernelRow::Columns{}, rows));
  REQUIRE(rows.empty());
}

/// As a training process records it: kernels of 2 to 500 us back to back on a few streams, each
/// launched by one runtime and one driver call some 100 us ahead.
Batch a_launched_stretch(std::size_t kernels) {
  Batch batch;
  std::mt19937_64 random(20251121);
  std::uint64_t device_time = 1'763'000'000'000'000'000U;
  for (std::size_t i = 0; i < kernels; ++i) {
    const std::uint64_t length = 2000 + random() % 498'000;
    const auto correlation = static_cast<std::uint32_t>(100'000 + 3 * i);
    batch.kernels.push_back({.start_ns = device_time,
                             .duration_ns = length,
                             .correlation = correlation,
                             .name = static_cast<std::uint32_t>(1 + random() % 300),
                             .stream = static_cast<std::uint32_t>(7 + random() % 4),
                             .device = 3,
                             .shape = static_cast<std::uint32_t>(1 + random() % 400)});
    const std::uint64_t launched = device_time - 100'000 - random() % 10'000;
    batch.calls.push_back({.start_ns = launched,
                           .duration_ns = 3000 + random() % 5000,
                           .correlation = correlation,
                           .name = 301,
                           .thread = 1'904'233});
    batch.calls.push_back({.start_ns = launched + 500,
                           .duration_ns = 2000 + random() % 4000,
                           .correlation = correlation,
                           .name = 302,
                           .thread = 1'904'233,
                           .layer = CallLayer::driver});
    device_time += length + 800 + random() % 2000;
  }
  return batch;
}

TEST_CASE("a kernel with its runtime and driver call takes at most 40 bytes", "[recording]") {
  constexpr std::size_t kernels = 20'000;
  std::string bytes;
  append_batch(a_launched_stretch(kernels), bytes);
  REQUIRE(bytes.size() <= 40 * kernels);
}

}  // namespace
}  // namespace scaleworth::trace::recording
