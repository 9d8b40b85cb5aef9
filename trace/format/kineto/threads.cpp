// SPDX-License-Identifier: Apache-2.0
#include "trace/format/kineto/threads.h"

#include "trace/format/json/number.h"

namespace scaleworth::trace {

std::uint32_t ThreadTable::index(std::string_view process, std::string_view thread) {
  key_ = bare_token(process);
  key_ += '/';
  key_ += bare_token(thread);
  if (!numbers_.empty() && key_ == last_) return last_index_;
  last_index_ =
      numbers_.try_emplace(key_, static_cast<std::uint32_t>(numbers_.size())).first->second;
  last_ = key_;
  return last_index_;
}

void ThreadTable::name_process(std::string_view process, std::string_view name) {
  process_names_.insert_or_assign(std::string(bare_token(process)), std::string(name));
}

std::vector<std::string> ThreadTable::labels() const {
  std::vector<std::string> labels(numbers_.size());
  for (const auto& [key, number] : numbers_) {
    const auto process = process_names_.find(key.substr(0, key.find('/')));
    labels[number] = process == process_names_.end() ? key : process->second + " " + key;
  }
  return labels;
}

}  // namespace scaleworth::trace
