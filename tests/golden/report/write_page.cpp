// SPDX-License-Identifier: Apache-2.0
#include "report/render_options.h"
#include "tests/golden/report/fixture.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

using namespace scaleworth;
using namespace scaleworth::report;

namespace {
std::string page(const std::string& name) {
  const RenderOptions options = fixture::options(Format::html);
  if (name == "gpus") return render(fixture::gpu_run(), fixture::gpu_analysis(), options);
  if (name == "attribution") {
    return render_attribution(
        fixture::straggler_job(), fixture::gpu_price, fixture::attribution_options(Format::html));
  }
  if (name == "decide") {
    return render_decision(fixture::priced_decision(2.5, 0, 0),
                           fixture::table_options("runs.csv", Format::html));
  }
  if (name == "serving") {
    const auto question = fixture::loaded_server();
    return render_serving({question, model::serve(question), fixture::server_names(), options});
  }
  if (name == "mfu") {
    const model::TrainingRun run = fixture::gpt3_recomputing_run();
    return render_mfu({run, model::use_of_training(run), fixture::mfu_names(), options});
  }
  return render(fixture::complete_run(), fixture::two_core_analysis(name == "price"), options);
}
/// A line of JSON per amount, [value, low, high, currency, text], over all magnitudes that are
/// printed, with ties, without an interval and with one of many widths and of arms that differ.
void print_amounts() {
  const auto print = [](const Number& amount, const char* currency) {
    const auto end = [&](double Interval<double>::*which) {
      return amount.interval ? fmt::format("{}", (*amount.interval).*which) : "null";
    };
    fmt::print("[{}, {}, {}, \"{}\", \"{}\"]\n",
               amount.value,
               end(&Interval<double>::low),
               end(&Interval<double>::high),
               currency,
               format_money(amount, currency));
  };
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> part(0.0, 1.0);
  for (const double value : {0.0, 0.125, 0.375, 1.005, 2.675, 0.5, 1.5, 2.5, 99.994, 99.996, 1e6})
    print(number(value), "USD");
  for (int i = 0; i < 4000; ++i) {
    const double value = (i % 5 == 0 ? -1.0 : 1.0) * std::pow(10.0, 16.0 * part(random) - 8.0);
    const double arm = std::abs(value) * std::pow(10.0, 6.0 * part(random) - 6.0);
    // Quarters of a cent are ties that binary fractions hold exactly.
    print(number(i % 2 == 0 ? value : std::round(400.0 * value) / 400.0), i % 3 ? "USD" : "EUR");
    print(Number{value, Interval<double>{value - arm * part(random), value + arm}, 6}, "USD");
  }
}
}  // namespace

/// Writes a fixture's HTML page to stdout, for the browser test: `write_page
/// price|no-price|gpus|attribution|decide|serving|mfu`, or `write_page decide PRICE VALUE_OF_TIME
/// DEADLINE_HOURS`. `write_page money`: amounts as the program prints them, for numbers_test.mjs.
int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "money") return print_amounts(), 0;
  if (argc > 4)
    std::cout << render_decision(
        fixture::priced_decision(std::atof(argv[2]), std::atof(argv[3]), std::atof(argv[4])),
        fixture::table_options("runs.csv", Format::html));
  else
    std::cout << page(argc > 1 ? argv[1] : "no-price");
  return std::cout.good() ? 0 : 1;
}
