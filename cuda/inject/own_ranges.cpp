// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/session.h"

#include <exception>
#include <set>

#include <nvtx3/nvToolsExt.h>

namespace scaleworth::gpu {
namespace {
using trace::recording::MarkPhase;

std::uint64_t number_of(nvtxDomainHandle_t domain) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(domain));
}

/// The ranges that this thread has pushed and not popped, over all domains in one list: pops of one
/// domain find the last of theirs.
std::vector<std::pair<std::uint64_t, std::uint32_t>>& pushed() {
  thread_local std::vector<std::pair<std::uint64_t, std::uint32_t>> ranges;
  return ranges;
}

void note(std::uint32_t id, MarkPhase phase, std::string name) {
  Session* session = Session::existing();
  if (session == nullptr || !session->recording()) return;
  trace::recording::MarkRow row;
  row.time_ns = realtime_ns();
  row.id = id;
  row.thread = this_thread();
  row.phase = phase;
  session->inbox().add(ReportedMark{row, std::move(name)});
}

void describe_window(std::uint32_t id, const std::string* name) {
  Session* session = Session::existing();
  if (session == nullptr || !session->window().watches_ranges()) return;
  const RangeKey key{0, 0, id};
  if (name != nullptr) {
    session->window().range_opened(*name, key);
  } else {
    session->window().range_closed(key);
  }
  session->follow_window("NVTX range");
}

std::uint32_t open_range(const std::string& name) {
  static std::atomic<std::uint32_t> ids{1U << 31U};  // CUPTI's markers count from 1
  const std::uint32_t id = ++ids;
  describe_window(id, &name);
  note(id, MarkPhase::opened, name);
  return id;
}

void close_range(std::uint32_t id) {
  note(id, MarkPhase::closed, {});
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

/// Registered texts, whose addresses are the handles; one that CUPTI gave before is not among them.
/// NVTX has no call that gives a text back.
struct Registered {
  std::mutex mutex;
  std::set<const std::string*> texts;
};
Registered& registered() {
  static Registered* const one = new Registered;
  return *one;
}

std::string message(const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr) return {};
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII && attributes->message.ascii != nullptr)
    return attributes->message.ascii;
  if (attributes->messageType != NVTX_MESSAGE_TYPE_REGISTERED) return {};
  const auto* text = reinterpret_cast<const std::string*>(attributes->message.registered);
  const std::scoped_lock lock(registered().mutex);
  return registered().texts.contains(text) ? *text : std::string();
}

int push(std::uint64_t domain, const std::string& name) {
  pushed().emplace_back(domain, open_range(name));
  return static_cast<int>(pushed().size()) - 1;
}

int pop(std::uint64_t domain) {
  auto& ranges = pushed();
  for (std::size_t i = ranges.size(); i-- > 0;) {
    if (ranges[i].first != domain) continue;
    close_range(ranges[i].second);
    ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(i));
    return static_cast<int>(i);
  }
  return -1;
}

int NVTX_API push_text(const char* text) {
  return quietly([&] { return push(0, text == nullptr ? "" : text); });
}
int NVTX_API push_attributes(const nvtxEventAttributes_t* attributes) {
  return quietly([&] { return push(0, message(attributes)); });
}
int NVTX_API push_in_domain(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return quietly([&] { return push(number_of(domain), message(attributes)); });
}
int NVTX_API pop_default() {
  return quietly([] { return pop(0); });
}
int NVTX_API pop_in_domain(nvtxDomainHandle_t domain) {
  return quietly([&] { return pop(number_of(domain)); });
}
nvtxRangeId_t NVTX_API start_text(const char* text) {
  return quietly([&]() -> nvtxRangeId_t { return open_range(text == nullptr ? "" : text); });
}
nvtxRangeId_t NVTX_API start_attributes(const nvtxEventAttributes_t* attributes) {
  return quietly([&]() -> nvtxRangeId_t { return open_range(message(attributes)); });
}
nvtxRangeId_t NVTX_API start_in_domain(nvtxDomainHandle_t /*domain*/,
                                       const nvtxEventAttributes_t* attributes) {
  return start_attributes(attributes);
}
void NVTX_API end_range(nvtxRangeId_t id) {
  quietly([&] { close_range(static_cast<std::uint32_t>(id)); });
}
void NVTX_API end_in_domain(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t id) {
  end_range(id);
}
nvtxStringHandle_t NVTX_API register_text(nvtxDomainHandle_t /*domain*/, const char* text) {
  return quietly([&] {
    const std::scoped_lock lock(registered().mutex);
    auto* kept = new std::string(text == nullptr ? "" : text);
    registered().texts.insert(kept);
    return reinterpret_cast<nvtxStringHandle_t>(kept);
  });
}

class FunctionTable {
 public:
  FunctionTable(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    found_ = callbacks.GetModuleFunctionTable(module, &table_, &size_) != 0 && table_ != nullptr;
  }
  bool found() const { return found_; }
  template <class Function>
  void set(unsigned int index, Function function) const {
    if (index < size_ && table_[index] != nullptr)
      *table_[index] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned int size_ = 0;
  bool found_ = false;
};

int listen_to_ranges(void* export_table) {
  if (export_table == nullptr) return 0;
  const auto table_of = reinterpret_cast<NvtxGetExportTableFunc_t>(export_table);
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(table_of(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable == nullptr) return 0;
  const FunctionTable plain(*callbacks, NVTX_CB_MODULE_CORE);
  const FunctionTable domains(*callbacks, NVTX_CB_MODULE_CORE2);
  if (!plain.found() || !domains.found()) return 0;
  plain.set(NVTX_CBID_CORE_RangePushA, &push_text);
  plain.set(NVTX_CBID_CORE_RangePushEx, &push_attributes);
  plain.set(NVTX_CBID_CORE_RangePop, &pop_default);
  plain.set(NVTX_CBID_CORE_RangeStartA, &start_text);
  plain.set(NVTX_CBID_CORE_RangeStartEx, &start_attributes);
  plain.set(NVTX_CBID_CORE_RangeEnd, &end_range);
  domains.set(NVTX_CBID_CORE2_DomainRangePushEx, &push_in_domain);
  domains.set(NVTX_CBID_CORE2_DomainRangePop, &pop_in_domain);
  domains.set(NVTX_CBID_CORE2_DomainRangeStartEx, &start_in_domain);
  domains.set(NVTX_CBID_CORE2_DomainRangeEnd, &end_in_domain);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringA, &register_text);
  return 1;
}

/// The tables that CUPTI has, one for each library of the process with an NVTX of its own.
struct TablesOfCupti {
  std::recursive_mutex mutex;  // CUPTI may start the driver, which calls InitializeInjection
  std::vector<void*> tables;
};
TablesOfCupti& of_cupti() {
  static TablesOfCupti* const one = new TablesOfCupti;
  return *one;
}

/// Null where ranges have to do without it.
const Cupti* cupti_for_ranges() {
  const Session* session = Session::existing();
  const std::optional<bool> traces = session == nullptr ? std::nullopt : session->traces_device();
  if (traces == false || Session::refused()) return nullptr;
  std::vector<std::string> problems;
  const auto chosen = choose_cupti(trace::from_variables(&std::getenv, problems).cupti);
  const auto* cupti = std::get_if<std::shared_ptr<const Cupti>>(&chosen);
  if (cupti == nullptr) return nullptr;
  return (*cupti)->version_number == defective_cupti && !traces ? nullptr : cupti->get();
}
}  // namespace

int start_ranges(void* export_table) {
  const std::scoped_lock lock(of_cupti().mutex);
  const Cupti* cupti = cupti_for_ranges();
  if (cupti == nullptr || cupti->nvtx_initialize == nullptr ||
      cupti->nvtx_initialize(export_table) == 0)
    return listen_to_ranges(export_table);
  of_cupti().tables.push_back(export_table);
  return 1;
}

int start_range_payloads(void* module) {
  const Cupti* cupti = cupti_for_ranges();
  if (cupti == nullptr || cupti->nvtx_extension_initialize == nullptr) return 0;
  return cupti->nvtx_extension_initialize(module);
}

void take_ranges_from_cupti() {
  const std::scoped_lock lock(of_cupti().mutex);
  for (void* table : std::exchange(of_cupti().tables, {})) listen_to_ranges(table);
}
}  // namespace scaleworth::gpu
