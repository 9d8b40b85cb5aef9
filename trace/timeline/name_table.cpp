// SPDX-License-Identifier: Apache-2.0
#include "trace/timeline/name_table.h"

namespace scaleworth::trace {

NameId NameTable::intern(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<NameId>(names_.size());
  ids_.emplace(names_.emplace_back(name), id);
  return id;
}

}  // namespace scaleworth::trace
