// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/session.h"

#include <exception>
#include <unordered_map>

#include <nvtx3/nvToolsExt.h>

namespace scaleworth::gpu {
namespace {

// Of each function that NVTX calls, CUPTI's stands behind ours. So the window opens before CUPTI
// makes the range's record, and outside of CUPTI's callbacks, in which no kinds are to be switched.
template <auto own>
std::atomic<decltype(own)> cupti_function{nullptr};
std::atomic<bool> by_cupti{false};

/// CUPTI's function; null where ranges are recorded here.
template <auto own>
decltype(own) next() {
  return by_cupti ? cupti_function<own>.load() : nullptr;
}

std::uint64_t number_of(nvtxDomainHandle_t domain) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(domain));
}

/// The ranges that this thread has pushed and not popped, over all domains in one list: pops of one
/// domain find the last of theirs. Null when the thread has given up its variables.
std::vector<std::pair<std::uint64_t, std::uint32_t>>* pushed() {
  thread_local bool ended = false;
  struct Ranges : std::vector<std::pair<std::uint64_t, std::uint32_t>> {
    ~Ranges() { ended = true; }
  };
  thread_local Ranges ranges;
  return ended ? nullptr : &ranges;
}

void note(std::uint32_t id, MarkPhase phase, std::string name) {
  Session* session = Session::existing();
  if (session == nullptr || !session->recording()) return;
  MarkRow row;
  row.time_ns = realtime_ns();
  row.id = id;
  row.thread = this_thread();
  row.phase = phase;
  session->inbox().add(ReportedMark{row, std::move(name)});
}

void describe_window(std::uint32_t id, const std::string* name) {
  Session* session = Session::existing();
  if (session == nullptr || !session->window().watches_ranges()) return;
  if (name != nullptr) {
    session->window().range_opened(*name, id);
  } else {
    session->window().range_closed(id);
  }
  session->follow_window();
}

/// `own`: without CUPTI, which would record it.
std::uint32_t open_range(const std::string& name, bool own) {
  static std::atomic<std::uint32_t> ids{1U << 31U};  // CUPTI's markers count from 1
  const std::uint32_t id = ++ids;
  describe_window(id, &name);
  if (own) note(id, MarkPhase::opened, name);
  return id;
}

void close_range(std::uint32_t id, bool own) {
  if (own) note(id, MarkPhase::closed, {});
  describe_window(id, nullptr);
}

/// What NVTX calls must not throw; a range for which memory is lacking is lost.
template <class Body>
auto quietly(Body body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception&) {
    return decltype(body())();
  }
}

struct Kept {
  std::mutex mutex;
  std::unordered_map<nvtxStringHandle_t, std::string> texts;      // that were registered
  std::unordered_map<nvtxRangeId_t, std::uint32_t> cupti_ranges;  // started, not ended
};
Kept& kept() {
  static Kept* const one = new Kept;
  return *one;
}

std::string message(const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr) return {};
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII && attributes->message.ascii != nullptr)
    return attributes->message.ascii;
  if (attributes->messageType != NVTX_MESSAGE_TYPE_REGISTERED) return {};
  const std::scoped_lock lock(kept().mutex);
  const auto found = kept().texts.find(attributes->message.registered);
  return found == kept().texts.end() ? std::string() : found->second;
}

template <auto own, class... Arguments>
int push(std::uint64_t domain, const std::string& name, Arguments... arguments) {
  const auto cupti = next<own>();
  auto* const ranges = pushed();
  if (ranges != nullptr) ranges->emplace_back(domain, open_range(name, cupti == nullptr));
  if (cupti != nullptr) return cupti(arguments...);
  return ranges == nullptr ? -1 : static_cast<int>(ranges->size()) - 1;
}

template <auto own, class... Arguments>
int pop(std::uint64_t domain, Arguments... arguments) {
  const auto cupti = next<own>();
  const int depth = cupti != nullptr ? cupti(arguments...) : -1;
  auto* const ranges = pushed();
  for (std::size_t i = ranges == nullptr ? 0 : ranges->size(); i-- > 0;) {
    const auto [of, id] = (*ranges)[i];
    if (of != domain) continue;
    ranges->erase(ranges->begin() + i);
    close_range(id, cupti == nullptr);
    return cupti != nullptr ? depth : static_cast<int>(i);
  }
  return depth;
}

/// A range that any thread may end.
template <auto own, class... Arguments>
nvtxRangeId_t start(const std::string& name, Arguments... arguments) {
  const auto cupti = next<own>();
  const std::uint32_t id = open_range(name, cupti == nullptr);
  if (cupti == nullptr) return id;
  const nvtxRangeId_t range = cupti(arguments...);
  const std::scoped_lock lock(kept().mutex);
  kept().cupti_ranges[range] = id;
  return range;
}

template <auto own, class... Arguments>
void end(nvtxRangeId_t range, Arguments... arguments) {
  const auto cupti = next<own>();
  if (cupti != nullptr) cupti(arguments...);
  {
    const std::scoped_lock lock(kept().mutex);
    if (const auto known = kept().cupti_ranges.extract(range)) range = known.mapped();
  }
  close_range(static_cast<std::uint32_t>(range), cupti == nullptr);
}

int NVTX_API push_text(const char* text) {
  return quietly([&] { return push<&push_text>(0, text == nullptr ? "" : text, text); });
}
int NVTX_API push_attributes(const nvtxEventAttributes_t* attributes) {
  return quietly([&] { return push<&push_attributes>(0, message(attributes), attributes); });
}
int NVTX_API push_in_domain(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return quietly([&] {
    return push<&push_in_domain>(number_of(domain), message(attributes), domain, attributes);
  });
}
int NVTX_API pop_default() {
  return quietly([] { return pop<&pop_default>(0); });
}
int NVTX_API pop_in_domain(nvtxDomainHandle_t domain) {
  return quietly([&] { return pop<&pop_in_domain>(number_of(domain), domain); });
}
nvtxRangeId_t NVTX_API start_text(const char* text) {
  return quietly([&] { return start<&start_text>(text == nullptr ? "" : text, text); });
}
nvtxRangeId_t NVTX_API start_attributes(const nvtxEventAttributes_t* attributes) {
  return quietly([&] { return start<&start_attributes>(message(attributes), attributes); });
}
nvtxRangeId_t NVTX_API start_in_domain(nvtxDomainHandle_t domain,
                                       const nvtxEventAttributes_t* attributes) {
  return quietly([&] { return start<&start_in_domain>(message(attributes), domain, attributes); });
}
void NVTX_API end_range(nvtxRangeId_t range) {
  quietly([&] { end<&end_range>(range, range); });
}
void NVTX_API end_in_domain(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
  quietly([&] { end<&end_in_domain>(range, domain, range); });
}
nvtxStringHandle_t NVTX_API register_text(nvtxDomainHandle_t domain, const char* text) {
  return quietly([&] {
    const auto cupti = next<&register_text>();
    // NVTX has no call that gives a text back.
    const auto handle = cupti != nullptr ? cupti(domain, text)
                                         : reinterpret_cast<nvtxStringHandle_t>(new std::string);
    const std::scoped_lock lock(kept().mutex);
    kept().texts[handle] = text == nullptr ? "" : text;
    return handle;
  });
}

/// The functions of one of NVTX's modules, and what they were before CUPTI.
class FunctionTable {
 public:
  FunctionTable(void* export_table, NvtxCallbackModule module) {
    if (export_table == nullptr) return;
    const auto table_of = reinterpret_cast<NvtxGetExportTableFunc_t>(export_table);
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(table_of(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr || callbacks->GetModuleFunctionTable == nullptr ||
        callbacks->GetModuleFunctionTable(module, &table_, &size_) == 0 || table_ == nullptr)
      size_ = 0;
    for (unsigned int i = 0; i < size_; ++i)
      before_.push_back(table_[i] == nullptr ? nullptr : *table_[i]);
  }
  bool found() const { return size_ > 0; }
  /// What CUPTI has left is NVTX's start, which would call ours again.
  template <auto own>
  void set(unsigned int index) const {
    if (index >= size_ || table_[index] == nullptr) return;
    if (*table_[index] != before_[index])
      cupti_function<own> = reinterpret_cast<decltype(own)>(*table_[index]);
    *table_[index] = reinterpret_cast<NvtxFunctionPointer>(own);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned int size_ = 0;
  std::vector<NvtxFunctionPointer> before_;
};

void listen_to_ranges(const FunctionTable& plain, const FunctionTable& domains) {
  plain.set<&push_text>(NVTX_CBID_CORE_RangePushA);
  plain.set<&push_attributes>(NVTX_CBID_CORE_RangePushEx);
  plain.set<&pop_default>(NVTX_CBID_CORE_RangePop);
  plain.set<&start_text>(NVTX_CBID_CORE_RangeStartA);
  plain.set<&start_attributes>(NVTX_CBID_CORE_RangeStartEx);
  plain.set<&end_range>(NVTX_CBID_CORE_RangeEnd);
  domains.set<&push_in_domain>(NVTX_CBID_CORE2_DomainRangePushEx);
  domains.set<&pop_in_domain>(NVTX_CBID_CORE2_DomainRangePop);
  domains.set<&start_in_domain>(NVTX_CBID_CORE2_DomainRangeStartEx);
  domains.set<&end_in_domain>(NVTX_CBID_CORE2_DomainRangeEnd);
  domains.set<&register_text>(NVTX_CBID_CORE2_DomainRegisterStringA);
}

/// Null where ranges have to do without it.
const Cupti* cupti_for_ranges() {
  const Session* session = Session::existing();
  const std::optional<bool> traces = session == nullptr ? std::nullopt : session->traces_device();
  if (traces == false || Session::refused()) return nullptr;
  std::vector<std::string> problems;
  const auto chosen =
      choose_cupti(from_variables(&std::getenv, problems).cupti, cupti_of_cuda_12_4);
  const auto* cupti = std::get_if<std::shared_ptr<const Cupti>>(&chosen);
  if (cupti == nullptr) return nullptr;
  return (*cupti)->version_number == defective_cupti && !traces ? nullptr : cupti->get();
}
}  // namespace

int start_ranges(void* export_table) {
  const FunctionTable plain(export_table, NVTX_CB_MODULE_CORE);
  const FunctionTable domains(export_table, NVTX_CB_MODULE_CORE2);
  const bool heard = plain.found() && domains.found();
  const Cupti* cupti = cupti_for_ranges();
  const bool filled = cupti != nullptr && cupti->nvtx_initialize != nullptr &&
                      cupti->nvtx_initialize(export_table) != 0;
  if (heard) listen_to_ranges(plain, domains);
  if (filled) by_cupti = true;
  // CUPTI may start the driver, and that the capture, which may have been refused since.
  if (cupti_for_ranges() == nullptr) by_cupti = false;
  return heard || filled ? 1 : 0;
}

int start_ranges_of_version_1(void* export_table) {
  const Cupti* cupti = cupti_for_ranges();
  if (cupti == nullptr || cupti->nvtx_1_initialize == nullptr) return 0;
  return cupti->nvtx_1_initialize(export_table);
}

int start_range_payloads(void* module) {
  const Cupti* cupti = cupti_for_ranges();
  if (cupti == nullptr || cupti->nvtx_extension_initialize == nullptr) return 0;
  return cupti->nvtx_extension_initialize(module);
}

void take_ranges_from_cupti() {
  by_cupti = false;
}
}  // namespace scaleworth::gpu
