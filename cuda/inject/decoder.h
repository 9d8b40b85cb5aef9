// SPDX-License-Identifier: Apache-2.0
/// CUPTI's activity records as the rows of a recording.
#pragma once

#include "cuda/libraries/newer_cupti.h"
#include "trace/formats/swtrace/rows.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cupti.h>

namespace scaleworth::gpu {
using namespace trace;
using namespace trace::recording;

struct PayloadField;  // one of those that NCCL attaches to its NVTX ranges

struct PayloadPlace {
  const PayloadField* field = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;  // 4 or 8
};
using PayloadLayout = std::vector<PayloadPlace>;

/// Where a schema of NCCL's has the fields that we know, by their names ("NCCL communicator ID").
/// Empty for a schema of others. Source: NVIDIA/nccl, src/include/nvtx_payload_schemas.h.
PayloadLayout nccl_layout(const cupti::PayloadSchema& schema);

/// Fills the fields that `layout` has and `payload` is long enough for.
void read_payload(const PayloadLayout& layout,
                  std::span<const std::byte> payload,
                  CollectiveRow& row);

/// What the decoder asks of the CUPTI that made the records; the functions may be empty.
struct DecoderQuestions {
  /// The name of a call by domain and number; empty when it is not known.
  std::function<std::string(CUpti_CallbackDomain, CUpti_CallbackId)> call_name;
  /// The schema of an NVTX payload by domain and schema; null when there is none.
  std::function<const cupti::PayloadSchema*(std::uint32_t, std::uint64_t)> schema;
  /// Records are laid out as its headers have them, whichever headers this build has.
  std::uint32_t version = cupti_of_cuda_13;
};

/// Keeps names and launch shapes of one file. Used by one thread.
class RecordDecoder {
 public:
  explicit RecordDecoder(DecoderQuestions questions = {}) : questions_(std::move(questions)) {}
  void ask(DecoderQuestions questions) { questions_ = std::move(questions); }

  /// Appends what `record` says to `batch`; one without times counts as lost, one of a kind that
  /// was not asked for is passed over. Frees what CUPTI leaves to its client to free.
  void add(const CUpti_Activity& record, Batch& batch);
  std::uint32_t name(std::string_view text, Batch& batch) { return names_.intern(text, batch); }

 private:
  void add_kernel(const CUpti_ActivityKernel9& record, Batch& batch);
  void add_wait(const CUpti_ActivitySynchronization& record, Batch& batch);
  void add_event(const CUpti_ActivityCudaEvent& record, Batch& batch);
  void add_call(const CUpti_ActivityAPI& record, Batch& batch);
  void add_marker(const CUpti_ActivityMarker2& record, Batch& batch);
  void add_marker_data(const cupti::MarkerData2& record, Batch& batch);
  void add_overhead(const CUpti_ActivityOverhead3& record, Batch& batch);
  std::uint32_t kernel_name(const char* name, Batch& batch);
  std::uint32_t call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id, Batch& batch);
  std::uint32_t shape(const CUpti_ActivityKernel9& record, Batch& batch);

  DecoderQuestions questions_;
  NameIndex names_;
  /// By CUPTI's pointer, which all records of a kernel share; the text is compared, because a
  /// pointer of an unloaded module may come back for another kernel.
  struct KnownName {
    std::string text;
    std::uint32_t number = 0;
  };
  std::unordered_map<const char*, KnownName> kernel_names_;
  std::vector<std::uint32_t> call_names_[2];  // by layer and callback id; 0 for not asked yet
  struct ShapeHash {
    std::size_t operator()(const ShapeRow& shape) const;
  };
  std::unordered_map<ShapeRow, std::uint32_t, ShapeHash> shapes_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, PayloadLayout> layouts_;
};
}  // namespace scaleworth::gpu
