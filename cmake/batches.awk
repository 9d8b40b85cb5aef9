# SPDX-License-Identifier: Apache-2.0
# awk -v limit=N -f batches.awk FILE.cpp...: prints "batch file" for each. The files of a batch, N at most, can be one
# translation unit: all use the same namespaces, and none says a name that one before it has in its unnamed namespace.
# Reads what .clang-format leaves, where a declaration begins at its line's start.
function place(    batch, fits, word) {
  if (file == "") return
  for (batch = 1; ; ++batch) {
    fits = size[batch] == 0 || (size[batch] < limit && used[batch] == spaces)
    for (word in words) if ((batch, word) in taken) { fits = 0; break }
    if (fits) break
  }
  ++size[batch]
  used[batch] = spaces
  spaces = ""
  for (word in names) taken[batch, word] = 1
  split("", names)
  split("", words)
  print batch, file
}
# The name that a line declares, empty for what is no declaration or may be said twice.
function declared(line) {
  if (line !~ /^[A-Za-z]/ || line ~ /^(namespace|template|static_assert|using [^=]*;)/) return ""
  if (sub(/^(enum (class|struct)|struct|class|union|enum|using) /, "", line)) sub(/[^A-Za-z_0-9].*/, "", line)
  else {
    sub(/[[(={;].*/, "", line)
    sub(/ +$/, "", line)
    sub(/.*[^A-Za-z_0-9]/, "", line)
  }
  return line ~ /[a-z]/ ? line : ""
}
FNR == 1 { place(); file = FILENAME; unnamed = 0 }
/^namespace \{/ { unnamed = 1 }
/^\}  \/\/ namespace/ { unnamed = 0 }
/^using namespace / { spaces = spaces $0 }
{
  gsub(/"[^"]*"/, "\"")
  sub(/\/\/.*/, "")
  if (unnamed && (name = declared($0)) != "") names[name] = 1
  gsub(/(\.|->|::)[A-Za-z_0-9]+/, " ")
  count = split($0, parts, /[^A-Za-z_0-9]+/)
  for (i = 1; i <= count; ++i) words[parts[i]] = 1
}
END { place() }
