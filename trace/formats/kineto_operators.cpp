// SPDX-License-Identifier: Apache-2.0
#include "src/core/whole_number.h"
#include "trace/formats/kineto_fields.h"

#include <map>
#include <set>

namespace scaleworth::trace {
namespace {
/// What communication libraries of processors name their work in PyTorch's recordings.
constexpr std::array<std::string_view, 4> backends{"gloo:", "mpi:", "ucc:", "ccl:"};

bool is_backend(std::string_view name) {
  return std::ranges::any_of(backends, [&](std::string_view one) { return name.starts_with(one); });
}

/// The third of `["", "", "1", "0"]`: to or from which rank c10d::send and c10d::recv_ are.
std::optional<std::int32_t> third_number(std::string_view list) {
  for (int i = 0; i < 2 && !list.empty(); ++i)
    list.remove_prefix(std::min(list.find(',') + 1, list.size()));
  return rank_number(parse_integer(list.substr(0, list.find(','))));
}

/// Of the tensors in "[[64, 512], []]" the first, or those of a list of tensors.
std::optional<std::int64_t> elements(std::string_view dimensions) {
  const std::size_t begin = dimensions.find_first_of("0123456789");
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view list = dimensions.substr(begin, dimensions.find(']', begin) - begin);
  std::int64_t product = 1;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const auto one = parse_integer(list.substr(0, comma));
    if (!one || *one < 0 || __builtin_mul_overflow(product, *one, &product)) return std::nullopt;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return product;
}

/// An operator that computes, not one that only calls others or waits for them.
bool is_kernel(std::string_view name) {
  return name.find("::") != std::string_view::npos && !name.starts_with("autograd::") &&
         !name.starts_with("c10d::") && !name.starts_with("torch::autograd") &&
         !name.starts_with("profiler::");
}

using Kernels = std::vector<DeviceEvent*>;

/// Whether each kernel began after its call; the kernels from `kernel` on, the calls from `call`
/// on.
template <class Calls>
bool follow(const Kernels& kernels, std::size_t kernel, const Calls& calls, std::size_t call) {
  for (; kernel < kernels.size() && call < calls.size(); ++kernel, ++call)
    if (kernels[kernel]->start < calls[call]->start) return false;
  return true;
}
}  // namespace

void KinetoOperators::add_call(nanoseconds start, Communication communication) {
  if (communication.kind != CollectiveKind::unknown)
    calls_.push_back({start, std::move(communication)});
}

void KinetoOperators::add(const KinetoFields& fields,
                          TimeInterval span,
                          NameId name,
                          std::uint32_t thread,
                          NameId inputs) {
  constexpr std::size_t most = 32'000'000;
  if (operators_.size() >= most) {
    ++left_out_;
    return;
  }
  const bool message = fields.name == "c10d::send" || fields.name == "c10d::recv_";
  const bool communicates = is_backend(fields.name) || fields.name.starts_with("c10d::");
  if (!communicates) {
    operators_.push_back({span.start, span.end, name, thread, inputs});
    return;
  }
  Communication one;
  one.kind = parse_collective_name(fields.name.substr(fields.name.find(':')));
  if (message) one.peer = third_number(fields["Concrete Inputs"]);
  const auto count = elements(fields["Input Dims"]);
  const auto bytes = element_bytes(fields["Input type"]);
  std::int64_t size = 0;
  if (count && bytes && !__builtin_mul_overflow(*count, *bytes, &size)) one.input_bytes = size;
  saw_backend_ = saw_backend_ || is_backend(fields.name);
  operators_.push_back(
      {span.start, span.end, name, thread, inputs, append(communications_, std::move(one))});
}

/// Both sides of a message name the rank; the library's own range, that does the work, does not.
void KinetoOperators::find_peers(const Recording& recording) {
  for (const CollectiveKind kind : {CollectiveKind::send, CollectiveKind::receive}) {
    std::vector<Communication*> calls;
    std::vector<Communication*> work;
    for (const Operator& one : operators_) {
      if (one.communication == no_index || communications_[one.communication].kind != kind)
        continue;
      const bool backend = is_backend(recording.names.at(one.name));
      (backend ? work : calls).push_back(&communications_[one.communication]);
    }
    if (work.size() != calls.size()) continue;
    for (std::size_t i = 0; i < work.size(); ++i) work[i]->peer = calls[i]->peer;
  }
}

/// Behind those that begin within operator `i`.
std::size_t KinetoOperators::behind_inner(std::size_t i) const {
  const Operator& outer = operators_[i];
  do ++i;
  while (i < operators_.size() && operators_[i].thread == outer.thread &&
         operators_[i].start < outer.end);
  return i;
}

/// Whether it spends half of its time itself, not in those within it, none of which communicates.
bool KinetoOperators::works_itself(std::size_t i, std::size_t behind) const {
  const Operator& outer = operators_[i];
  nanoseconds within{};
  for (std::size_t inner = i + 1; inner < behind; inner = behind_inner(inner)) {
    if (operators_[inner].communication != no_index) return false;
    within += std::min(operators_[inner].end, outer.end) - operators_[inner].start;
  }
  return 2 * within <= outer.end - outer.start;
}

void KinetoOperators::become_work(Recording& recording,
                                  const std::vector<std::uint32_t>& threads,
                                  const NameTable& inputs) {
  for (Operator& one : operators_) one.thread = threads[one.thread];
  std::ranges::sort(operators_, {}, &Operator::start);
  find_peers(recording);
  std::ranges::stable_sort(operators_, [](const Operator& a, const Operator& b) {
    return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
  });
  const NameId group =
      recording.groups.size() == 1 ? recording.groups.begin()->first : NameId::none;
  for (std::size_t i = 0; i < operators_.size();) {
    const Operator& one = operators_[i];
    const std::string_view name = recording.names.at(one.name);
    const bool backend = is_backend(name);
    const std::size_t behind = behind_inner(i);
    // Where the library shows its own work, the call that hands it over is the host's.
    const bool hands_over = one.communication != no_index && !backend && saw_backend_;
    if (hands_over || one.end <= one.start ||
        (behind > i + 1 && !backend && !(is_kernel(name) && works_itself(i, behind)))) {
      ++i;
      continue;
    }
    i = behind;
    DeviceEvent event{one.start, one.end};
    event.name = one.name;
    event.stream = one.thread;
    if (one.communication != no_index) {
      Communication communication = communications_[one.communication];
      communication.group = group;
      event.communication = append(recording.communications, std::move(communication));
    } else if (one.inputs != NameId::none) {
      event.shape = shape_number(recording, " " + list_text(inputs.at(one.inputs)));
    }
    recording.device_events.push_back(event);
  }
  recording.origin.on_processor = true;
  if (left_out_ > 0) recording.losses["operators_beyond_the_limit"] += left_out_;
}

void KinetoOperators::describe_kernels(Recording& recording) const {
  if (calls_.empty()) return;
  std::set<std::pair<NameId, std::int64_t>> described;
  std::map<std::uint64_t, Kernels> by_stream;
  auto communicates = remembered(recording.names, [](std::string_view name) {
    return name.find("ccl") != std::string_view::npos;
  });
  for (DeviceEvent& event : recording.device_events) {
    const Communication* known = communication_of(recording, event);
    if (known != nullptr && known->sequence) described.emplace(known->group, *known->sequence);
    if (known == nullptr && event.operation == DeviceOperation::kernel && communicates(event.name))
      by_stream[std::uint64_t{event.device} << 32 | event.stream].push_back(&event);
  }
  std::map<NameId, std::vector<const Call*>> by_group;
  for (const Call& call : calls_)
    if (!call.communication.sequence ||
        !described.contains({call.communication.group, *call.communication.sequence}))
      by_group[call.communication.group].push_back(&call);
  if (by_group.size() == 1 && by_stream.size() > 1) {
    Kernels& all = by_stream.begin()->second;
    for (auto stream = std::next(by_stream.begin()); stream != by_stream.end(); ++stream)
      all.insert(all.end(), stream->second.begin(), stream->second.end());
    by_stream.erase(std::next(by_stream.begin()), by_stream.end());
  }
  for (auto& [stream, kernels] : by_stream) {
    std::ranges::sort(kernels, {}, &DeviceEvent::start);
    const std::vector<const Call*>* match = nullptr;
    bool several = false;
    for (auto& [group, calls] : by_group) {
      std::ranges::sort(calls, {}, &Call::start);
      if (by_group.size() > 1 && calls.size() != kernels.size()) continue;
      several = match != nullptr;
      match = &calls;
    }
    if (match != nullptr && !several) pair(kernels, *match, recording);
  }
}

/// In their order. Where the recording began or ended between calls and kernels, one list is
/// longer: then only one of its ends may fit.
void KinetoOperators::pair(const std::vector<DeviceEvent*>& kernels,
                           const std::vector<const Call*>& calls,
                           Recording& recording) {
  const std::size_t more_kernels = kernels.size() - std::min(kernels.size(), calls.size());
  const std::size_t more_calls = calls.size() - std::min(kernels.size(), calls.size());
  const bool at_front = follow(kernels, 0, calls, 0);
  const bool at_back = follow(kernels, more_kernels, calls, more_calls);
  const bool equal = more_kernels + more_calls == 0;
  // Kernels without a call were called before the recording, calls without one ran after it.
  const std::size_t first_kernel = more_kernels;
  if (equal ? !at_front : more_kernels > 0 ? !at_back || at_front : !at_front || at_back) return;
  for (std::size_t i = 0; first_kernel + i < kernels.size() && i < calls.size(); ++i)
    kernels[first_kernel + i]->communication =
        append(recording.communications, calls[i]->communication);
}
}  // namespace scaleworth::trace
