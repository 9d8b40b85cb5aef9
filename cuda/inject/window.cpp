// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/session.h"

#include <generated_nvtx_meta.h>

namespace scaleworth::gpu {
bool WindowControl::conditions_hold() const {
  if (window_.profiler_api && !profiling_) return false;
  if (!window_.range.empty() && !range_) return false;
  if (!window_.steps) return true;
  return step_ && *step_ >= window_.steps->first && *step_ <= window_.steps->second;
}

std::optional<WindowControl::Time> WindowControl::end_of_duration() const {
  if (!window_.duration_s || !opened_) return std::nullopt;
  return *opened_ + std::chrono::duration_cast<Time::duration>(
                        std::chrono::duration<double>(*window_.duration_s));
}

bool WindowControl::open(Time now) {
  const std::scoped_lock lock(mutex_);
  if (!conditions_hold()) return false;
  if (!opened_) opened_ = now;
  const auto end = end_of_duration();
  return !end || now < *end;
}

void WindowControl::profiler(bool started) {
  const std::scoped_lock lock(mutex_);
  profiling_ = started;
}

void WindowControl::range_opened(std::string_view name, const RangeKey& key) {
  const std::scoped_lock lock(mutex_);
  if (!window_.range.empty() && name == window_.range && !range_) range_ = key;
  if (!window_.steps) return;
  const auto step = trace::parse_step_name(name);
  if (!step) return;
  step_ = step->number ? *step->number : bare_steps_++;
  step_range_ = key;
}

void WindowControl::range_closed(const RangeKey& key) {
  const std::scoped_lock lock(mutex_);
  if (range_ == key) range_.reset();
  // A step lasts until the next one begins; only the last one ends with its range.
  if (step_range_ != key) return;
  step_range_.reset();
  if (window_.steps && step_ == window_.steps->second) step_.reset();
}

std::optional<WindowControl::Time> WindowControl::deadline() {
  const std::scoped_lock lock(mutex_);
  return end_of_duration();
}

std::string WindowControl::never_opened() {
  const std::scoped_lock lock(mutex_);
  if (opened_) return {};
  std::string missing;
  if (window_.profiler_api) missing += "cudaProfilerStart was not called; ";
  if (!window_.range.empty()) missing += "no NVTX range '" + window_.range + "' was seen; ";
  if (window_.steps) missing += "no NVTX range named such a step ('step 12', 'ProfilerStep#12'); ";
  if (missing.size() > 2) missing.resize(missing.size() - 2);
  return missing;
}

namespace {
std::uint64_t number_of(const void* handle) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
}

/// How many ranges this thread has open, by domain; few domains, so a list.
std::uint64_t& depth_of(std::uint64_t domain) {
  thread_local std::vector<std::pair<std::uint64_t, std::uint64_t>> depths;
  for (auto& [known, depth] : depths)
    if (known == domain) return depth;
  return depths.emplace_back(domain, 0).second;
}

class Listener {
 public:
  explicit Listener(Session& session) : session_(session) {}

  void receive(CUpti_CallbackId id, const CUpti_NvtxData& data) {
    const void* call = data.functionParams;
    if (call == nullptr) return;
    switch (id) {
      case CUPTI_CBID_NVTX_nvtxRangePushA:
        return push(0, as<nvtxRangePushA_params>(call).message);
      case CUPTI_CBID_NVTX_nvtxRangePushEx:
        return push(0, message(as<nvtxRangePushEx_params>(call).eventAttrib));
      case CUPTI_CBID_NVTX_nvtxDomainRangePushEx: {
        const auto& domain_call = as<nvtxDomainRangePushEx_params>(call);
        return push(number_of(domain_call.domain), message(domain_call.core.eventAttrib));
      }
      case CUPTI_CBID_NVTX_nvtxRangeStartA:
        return start(as<nvtxRangeStartA_params>(call).message, data);
      case CUPTI_CBID_NVTX_nvtxRangeStartEx:
        return start(message(as<nvtxRangeStartEx_params>(call).eventAttrib), data);
      case CUPTI_CBID_NVTX_nvtxDomainRangeStartEx:
        return start(message(as<nvtxDomainRangeStartEx_params>(call).core.eventAttrib), data);
      case CUPTI_CBID_NVTX_nvtxRangeEnd:
        return close({0, 0, as<nvtxRangeEnd_params>(call).id});
      case CUPTI_CBID_NVTX_nvtxDomainRangeEnd:
        return close({0, 0, as<nvtxDomainRangeEnd_params>(call).core.id});
      case CUPTI_CBID_NVTX_nvtxRangePop:
        return pop(0);
      case CUPTI_CBID_NVTX_nvtxDomainRangePop:
        return pop(number_of(as<nvtxDomainRangePop_params>(call).domain));
      case CUPTI_CBID_NVTX_nvtxDomainRegisterStringA:
        return learn(as<nvtxDomainRegisterStringA_params>(call).string, data.functionReturnValue);
      default:
        return;
    }
  }

 private:
  template <class Parameters>
  static const Parameters& as(const void* call) {
    return *static_cast<const Parameters*>(call);
  }

  std::string message(const nvtxEventAttributes_t* attributes) {
    if (attributes == nullptr) return {};
    if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII && attributes->message.ascii != nullptr)
      return attributes->message.ascii;
    if (attributes->messageType != NVTX_MESSAGE_TYPE_REGISTERED) return {};
    const std::scoped_lock lock(mutex_);
    const auto found = registered_.find(attributes->message.registered);
    return found == registered_.end() ? std::string() : found->second;
  }

  void learn(const char* text, const void* result) {
    if (text == nullptr || result == nullptr) return;
    const std::scoped_lock lock(mutex_);
    registered_[*static_cast<const nvtxStringHandle_t*>(result)] = text;
  }

  void open(const std::string& name, const RangeKey& key) {
    if (name.empty()) return;
    session_.window().range_opened(name, key);
    session_.follow_window("NVTX range");
  }

  void close(const RangeKey& key) {
    session_.window().range_closed(key);
    session_.follow_window("NVTX range");
  }

  void push(std::uint64_t domain, const std::string& name) {
    const std::uint64_t depth = ++depth_of(domain);
    open(name, {this_thread(), domain, depth});
  }

  void pop(std::uint64_t domain) {
    std::uint64_t& depth = depth_of(domain);
    if (depth > 0) close({this_thread(), domain, depth--});
  }

  /// A range that any thread may end, known by the number that NVTX returned.
  void start(const std::string& name, const CUpti_NvtxData& data) {
    const auto* id = static_cast<const nvtxRangeId_t*>(data.functionReturnValue);
    if (id != nullptr) open(name, {0, 0, *id});
  }

  Session& session_;
  std::mutex mutex_;
  std::unordered_map<nvtxStringHandle_t, std::string> registered_;
};
}  // namespace

std::function<void(CUpti_CallbackId, const CUpti_NvtxData&)> range_listener(Session& session) {
  auto listener = std::make_shared<Listener>(session);
  return
      [listener](CUpti_CallbackId id, const CUpti_NvtxData& data) { listener->receive(id, data); };
}
}  // namespace scaleworth::gpu
