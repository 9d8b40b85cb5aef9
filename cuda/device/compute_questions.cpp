// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions.h"
#include "cuda/kernels/fill.h"
#include "cuda/kernels/roofline.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

namespace scaleworth::gpu {
namespace {

template <class T>
T read_as(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

double number_at(NumberFormat format, const ArraySample& sample, std::size_t index) {
  const auto bytes = static_cast<std::size_t>(element_bytes(format));
  const std::byte* from = sample.bytes.data() + index * bytes;
  if (format == NumberFormat::fp64) return read_as<double>(from);
  if (format == NumberFormat::fp16) return fp16_value(read_as<std::uint16_t>(from));
  if (format == NumberFormat::bf16) return bf16_value(read_as<std::uint16_t>(from));
  return read_as<float>(from);
}

std::string capability_text(int compute_capability) {
  return fmt::format("{}.{}", compute_capability / 10, compute_capability % 10);
}

// What the questions about chains of multiply-adds share: formats, data and the check by the host.

/// fp32 for what is none of the four.
FmaFormat fma_format(NumberFormat format) {
  if (format == NumberFormat::fp64) return FmaFormat::fp64;
  if (format == NumberFormat::fp16) return FmaFormat::fp16;
  return format == NumberFormat::bf16 ? FmaFormat::bf16 : FmaFormat::fp32;
}

/// Throws NothingToMeasure with the reason unless the GPU's CUDA cores multiply and add in
/// `format`: fp64, fp32 and fp16 on all, bf16 from compute capability 8.0.
void require_chain_format(const DeviceDescription& description, NumberFormat format) {
  static_cast<void>(chain_constants(format));
  if (format == NumberFormat::bf16 && description.compute_capability < 80) {
    throw NothingToMeasure(
        "GPU {} has compute capability {}; its CUDA cores have no bf16 before 8.0",
        description.ordinal,
        capability_text(description.compute_capability));
  }
}

/// Queues: data[0..numbers) uniform in [-1, 1].
void fill_uniform(Workbench& bench, NumberFormat format, void* data, std::uint64_t numbers) {
  constexpr std::uint32_t seed = 1;
  check(launch_fill_uniform(fma_format(format), data, numbers, seed, bench.stream()));
}

/// Throws ProbeFailure unless each number in `after` is the one in `before` after `steps` of the
/// format's chain (chain_constants). Both were taken from arrays of the same layout.
void require_chains(const DeviceHealth& health,
                    NumberFormat format,
                    const std::vector<ArraySample>& before,
                    const std::vector<ArraySample>& after,
                    int steps,
                    const std::string& doing) {
  const ChainConstants constants = chain_constants(format);
  const auto bytes = static_cast<std::size_t>(element_bytes(format));
  // The host needs some 50 ns per step: a tenth of a second must do.
  constexpr std::size_t most_steps = 2'000'000;
  const std::size_t numbers = before.size() * before.front().bytes.size() / bytes;
  const std::size_t stride = 1 + numbers * static_cast<std::size_t>(steps) / most_steps;
  for (std::size_t s = 0; s < before.size(); ++s) {
    for (std::size_t i = 0; i < before[s].bytes.size() / bytes; i += stride) {
      const double wanted =
          rounded_chain(format, number_at(format, before[s], i), constants, steps);
      const double found = number_at(format, after.at(s), i);
      if (!(found == wanted)) wrong_result(health, doing, before[s].first + i, found, wanted);
    }
  }
}

constexpr int checked_iterations = 4;
constexpr int most_iterations = 1 << 20;

void check_chains(Workbench& bench,
                  NumberFormat format,
                  const FmaConstants& constants,
                  FmaData data,
                  std::uint64_t numbers) {
  const std::string doing = fmt::format("a chain of multiply-adds in {}", key_of(format));
  const auto bytes = static_cast<std::size_t>(element_bytes(format));
  const auto before = take_samples(bench, data.initial, numbers, bytes);
  check(cudaMemsetAsync(data.results, 0xff, numbers * bytes, bench.stream()));
  data.want_results = true;
  const int blocks = bench.description().multiprocessors * fma_blocks_per_multiprocessor;
  check(
      launch_fma(fma_format(format), blocks, checked_iterations, constants, data, bench.stream()));
  const auto after = take_samples(bench, data.results, numbers, bytes);
  require_chains(bench.health(), format, before, after, fma_steps * checked_iterations, doing);
}

constexpr std::size_t operand_bytes = std::size_t{tensor_block_threads} * tensor_operand_bytes;
constexpr std::size_t result_bytes = std::size_t{tensor_block_threads} * tensor_result_bytes;

struct TensorOperand {
  NumberFormat format;
  TensorFormat instruction;
  std::uint64_t
      constant_bits;  // 1/2 in the format, 2 in int8; as often as it fits into eight bytes
};
// Consumer chips keep one fp64 unit or two, and emulate the instruction.
constexpr std::array<TensorOperand, 6> tensor_operands{
    {{NumberFormat::fp64, TensorFormat::fp64, 0x3fe0'0000'0000'0000},
     {NumberFormat::tf32, TensorFormat::tf32, 0x3f00'0000'3f00'0000},
     {NumberFormat::bf16, TensorFormat::bf16, 0x3f00'3f00'3f00'3f00},
     {NumberFormat::fp16, TensorFormat::fp16, 0x3800'3800'3800'3800},
     {NumberFormat::int8, TensorFormat::int8, 0x0202'0202'0202'0202},
     {NumberFormat::fp8_e4m3, TensorFormat::fp8, 0x3030'3030'3030'3030}}};

const TensorOperand& tensor_operand(NumberFormat format) {
  const auto found = std::ranges::find(tensor_operands, format, &TensorOperand::format);
  if (found != tensor_operands.end()) return *found;
  throw NothingToMeasure(
      "the matrix instructions in {} are measured through the vendor's library only",
      key_of(format));
}

/// Throws NothingToMeasure unless this GPU has the instruction and this program code for it. Of two
/// in fp64 the wide one.
TensorFormat usable_format(const DeviceDescription& description, NumberFormat format) {
  if (format == NumberFormat::fp64) {
    TensorCode wide;
    check(tensor_code(TensorFormat::fp64_wide, &wide));
    if (has_tensor_code(TensorFormat::fp64_wide, wide)) return TensorFormat::fp64_wide;
  }
  const TensorFormat instruction = tensor_operand(format).instruction;
  if (!has_tensor_instruction(instruction, description.compute_capability)) {
    throw NothingToMeasure(
        "GPU {} has compute capability {}; the matrix instruction measured here in {} is one of {}",
        description.ordinal,
        capability_text(description.compute_capability),
        key_of(format),
        instruction == TensorFormat::fp8 ? "8.9 and of 12.0 and later" : "8.0 and later");
  }
  TensorCode code;
  check(tensor_code(instruction, &code));
  if (!has_tensor_code(instruction, code)) {
    throw NothingToMeasure(
        "what this program has for GPU {}, machine code of {} from {}, lacks the matrix "
        "instruction in {}: build it for {} (CMAKE_CUDA_ARCHITECTURES) or take the released one",
        description.ordinal,
        capability_text(code.machine),
        capability_text(code.virtual_architecture),
        key_of(format),
        capability_text(description.compute_capability));
  }
  return instruction;
}

void upload(Workbench& bench, void* to, const std::vector<std::uint64_t>& words) {
  check(cudaMemcpyAsync(to,
                        words.data(),
                        words.size() * sizeof(std::uint64_t),
                        cudaMemcpyHostToDevice,
                        bench.stream()));
  bench.timer().wait("preparing operands");
}

void upload_random(Workbench& bench, void* operands, std::uint64_t mask) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> words(operand_bytes / sizeof(std::uint64_t));
  for (std::uint64_t& word : words) word = random() & mask;
  upload(bench, operands, words);
}

void fill_operands(Workbench& bench, NumberFormat format, void* operands) {
  if (format == NumberFormat::int8) return upload_random(bench, operands, ~std::uint64_t{0});
  // Without the highest bit of the exponent: below 2 in magnitude, and no NaN.
  constexpr std::uint64_t small_e4m3 = 0xbfbf'bfbf'bfbf'bfbf;
  if (format == NumberFormat::fp8_e4m3) return upload_random(bench, operands, small_e4m3);
  const auto bytes = static_cast<std::size_t>(element_bytes(format));
  fill_uniform(bench, format, operands, operand_bytes / bytes);
}

double result_at(NumberFormat format, const std::byte* from) {
  if (format == NumberFormat::fp64) return read_as<double>(from);
  if (format == NumberFormat::int8) return read_as<std::int32_t>(from);
  return read_as<float>(from);
}

/// With constant operands every element of D is steps x k x their product, whatever lies in which
/// register.
void check_constants(Workbench& bench,
                     NumberFormat format,
                     TensorFormat instruction,
                     TensorData data,
                     void* operands) {
  upload(bench,
         operands,
         std::vector<std::uint64_t>(operand_bytes / sizeof(std::uint64_t),
                                    tensor_operand(format).constant_bits));
  check(cudaMemsetAsync(data.results, 0xff, result_bytes, bench.stream()));
  data.want_results = true;
  const int blocks = bench.description().multiprocessors * tensor_blocks_per_multiprocessor;
  check(launch_tensor(instruction, blocks, checked_iterations, data, bench.stream()));
  const double product_of_constants = format == NumberFormat::int8 ? 4.0 : 0.25;
  const double wanted = static_cast<double>(tensor_steps) * checked_iterations *
                        tensor_shape(instruction).k * product_of_constants;
  const std::size_t bytes = format == NumberFormat::fp64 ? 8 : 4;
  for (const ArraySample& sample : take_samples(bench, data.results, result_bytes / bytes, bytes)) {
    for (std::size_t i = 0; i < sample.bytes.size() / bytes; ++i) {
      const double found = result_at(format, sample.bytes.data() + i * bytes);
      if (!(found == wanted)) {
        wrong_result(bench.health(),
                     fmt::format("the matrix instruction in {}", key_of(format)),
                     sample.first + i,
                     found,
                     wanted);
      }
    }
  }
}
}  // namespace

DeviceMeasured time_cuda_cores(Workbench& bench, NumberFormat format, const Target& target) {
  require_chain_format(bench.description(), format);
  const auto [a, b] = chain_constants(format);
  const FmaConstants constants{a, b};
  // Formats of 16 bits are packed in pairs.
  const int at_once = format == NumberFormat::fp16 || format == NumberFormat::bf16 ? 2 : 1;
  const auto numbers = static_cast<std::uint64_t>(fma_block_threads * fma_chains * at_once);
  const std::size_t bytes = numbers * static_cast<std::size_t>(element_bytes(format));
  const DeviceBuffer initial = bench.allocate(bytes);
  const DeviceBuffer results = bench.allocate(bytes);
  fill_uniform(bench, format, initial.get(), numbers);
  const FmaData data{initial.get(), results.get(), false};
  check_chains(bench, format, constants, data, numbers);

  const int blocks = bench.description().multiprocessors * fma_blocks_per_multiprocessor;
  const auto work = [&](int iterations) {
    return BatchWork{.doing = fmt::format("multiply-adds in {}", key_of(format)),
                     .enqueue = [=](cudaStream_t stream, int) {
                       return launch_fma(
                           fma_format(format), blocks, iterations, constants, data, stream);
                     }};
  };
  const int iterations = bench.passes_for(work, most_iterations);
  DeviceMeasured measured = bench.time(work(iterations), target);
  measured.flops = Flops(2.0 * at_once * fma_chains * fma_steps * fma_block_threads *
                         static_cast<double>(blocks) * iterations);
  return measured;
}

DeviceMeasured time_tensor_cores(Workbench& bench, NumberFormat format, const Target& target) {
  const TensorFormat instruction = usable_format(bench.description(), format);
  const DeviceBuffer operands = bench.allocate(operand_bytes);
  const DeviceBuffer results = bench.allocate(result_bytes);
  const TensorData data{operands.get(), results.get(), false};
  check_constants(bench, format, instruction, data, operands.get());
  fill_operands(bench, format, operands.get());

  const int blocks = bench.description().multiprocessors * tensor_blocks_per_multiprocessor;
  const auto work = [&](int iterations) {
    return BatchWork{.doing = fmt::format("matrix instructions in {}", key_of(format)),
                     .enqueue = [=](cudaStream_t stream, int) {
                       return launch_tensor(instruction, blocks, iterations, data, stream);
                     }};
  };
  const int iterations = bench.passes_for(work, most_iterations);
  DeviceMeasured measured = bench.time(work(iterations), target);
  const TensorShape shape = tensor_shape(instruction);
  const double warps = static_cast<double>(blocks) * (tensor_block_threads / 32);
  measured.flops =
      Flops(2.0 * shape.m * shape.n * shape.k * shape.chains * tensor_steps * iterations * warps);
  if (has_faster_instruction(instruction, bench.description().compute_capability)) {
    measured.warnings.emplace_back(
        "mma.sync does not reach the rate of this GPU's own matrix instructions (wgmma, tcgen05): "
        "no ceiling here; the products of the vendor's library are");
  }
  return measured;
}

DeviceMeasured time_ladder(Workbench& bench, const LadderWork& work, const Target& target) {
  constexpr int vector_bytes = 16;
  require_chain_format(bench.description(), work.format);
  const auto vectors = static_cast<std::uint64_t>(work.working_set.value() / vector_bytes);
  if (vectors == 0 || work.fma_per_element < 1) {
    throw ProbeFailure("GPU {}: {} bytes and {} multiply-adds per element are no work",
                       bench.description().ordinal,
                       work.working_set.value(),
                       work.fma_per_element);
  }
  const auto element = static_cast<std::size_t>(element_bytes(work.format));
  const std::uint64_t elements = vectors * vector_bytes / element;
  const auto [a, b] = chain_constants(work.format);
  const LadderStep step{fma_format(work.format), work.fma_per_element, a, b};
  const std::string doing =
      fmt::format("{} multiply-adds per element in {}", work.fma_per_element, key_of(work.format));

  const DeviceBuffer data = bench.allocate(vectors * vector_bytes);
  fill_uniform(bench, work.format, data.get(), elements);
  int resident = 0;
  check(ladder_occupancy(step, &resident));
  const int blocks = std::max(1, resident) * bench.description().multiprocessors;
  const BatchWork batch{.doing = doing, .enqueue = [&](cudaStream_t stream, int) {
                          return launch_ladder(step, data.get(), vectors, blocks, stream);
                        }};
  const auto before = take_samples(bench, data.get(), elements, element);
  bench.timer().run_once(batch);
  const auto after = take_samples(bench, data.get(), elements, element);
  require_chains(bench.health(), work.format, before, after, work.fma_per_element, doing);

  DeviceMeasured measured = bench.time(batch, target);
  measured.flops = Flops(2.0 * work.fma_per_element * static_cast<double>(elements));
  measured.bytes = Bytes(2.0 * static_cast<double>(vectors) * vector_bytes);
  return measured;
}
}  // namespace scaleworth::gpu
