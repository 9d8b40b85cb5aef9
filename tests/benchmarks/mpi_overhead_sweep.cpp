// SPDX-License-Identifier: Apache-2.0
/// How long the collective sweep takes against its estimate; run under mpirun.
#include "probes/collectives.h"
#include "probes/host/ranks/mpi_rank_group.h"
#include "src/core/run.h"

#include <chrono>
#include <map>
#include <string>
#include <variant>

#include <fmt/format.h>

namespace {

using namespace scaleworth;
using namespace scaleworth::probes;

/// Sums what each collective spent in its samples.
class SummingRecorder : public Recorder {
 public:
  void add(Point point) override {
    const auto bytes = integer_parameter(point, Parameter::message_bytes);
    const auto& times = series(point, Metric::time_s);
    double sum = 0.0;
    for (const double time : times) sum += time;
    auto& cell = mean_[text_parameter(point, Parameter::collective)]
                      [text_parameter(point, Parameter::mode)][bytes];
    cell = {sum / static_cast<double>(times.size()), times.size()};
  }
  void add_timeline(const Point&, Timeline) override {}
  void add_rows(const std::string&,
                const std::vector<std::string>&,
                const std::vector<std::vector<std::string>>& rows) override {
    rows_ += rows.size();
  }
  void warn(const Finding& warning) override {
    fmt::print("{}\n", finding_keys[index_of(warning.id)]);
  }
  void lose(const std::string&, double) override {}
  void progress(double, const std::string&) override {}

  void print() const {
    for (const auto& [collective, modes] : mean_) {
      for (const auto& [mode, sizes] : modes) {
        for (const auto& [bytes, cell] : sizes) {
          fmt::print("{:15} {:13} {:>10} B {:>12.2f} us {:>4} samples {:>8.2f} GB/s\n",
                     collective,
                     mode,
                     bytes,
                     cell.first * 1e6,
                     cell.second,
                     static_cast<double>(bytes) / cell.first * 1e-9);
        }
      }
    }
    fmt::print("{} timing rows\n", rows_);
  }

 private:
  using Sizes = std::map<std::int64_t, std::pair<double, std::size_t>>;
  std::map<std::string, std::map<std::string, Sizes>> mean_;
  std::size_t rows_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const auto opened = host::open_mpi();
  if (!std::holds_alternative<const host::MpiModule*>(opened)) {
    fmt::print(stderr, "skipped: no MPI module\n");
    return 77;
  }
  const host::MpiModule& mpi = *std::get<const host::MpiModule*>(opened);
  if (mpi.init() != 0) return 1;
  {
    PlanInputs setting;
    setting.suite = parse_suite(argc > 1 ? argv[1] : "quick");
    setting.max_ranks = mpi.size(mpi.world());
    setting.available_memory = Bytes(8e9 * setting.max_ranks);
    host::MpiRankGroup group(mpi, {.available_memory_per_rank = Bytes(8e9), .train = {}});
    SummingRecorder recorder;
    const auto start = std::chrono::steady_clock::now();
    measure_collectives(group, setting, recorder);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (group.rank() == Rank{0}) {
      recorder.print();
      fmt::print("{} suite on {}: estimated {:.1f} s, took {:.1f} s\n",
                 suite_name(setting.suite),
                 group.placement(),
                 estimate_collectives(setting).value(),
                 taken.count());
    }
  }
  return mpi.finalize();
}
