#!/usr/bin/env bash
# Fails when the tree outgrows the limits of its design: at most two folder levels below a top-level folder, 4 to 25 sources
# a folder, at most MOST_LINES lines a source; product code (C++, CUDA, JavaScript in src cuda probes trace report) in fewer
# than 500 files and at most MOST_CODE_LINES lines of code. Not counted: blank lines, comments, includes, lines of braces alone.
# Usage: check_layout.sh SOURCE_DIR
set -u
cd "$1" || exit 2
most_lines=700
most_files=500
# The limit of the finished product.
most_code_lines=72000
status=0
complain() { printf 'beyond the limits: %s\n' "$1"; status=1; }

sources() { find "$@" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \); }

files=0
while IFS= read -r file; do
  count=$(wc -l <"$file")
  [ "$count" -le $most_lines ] || complain "$file has $count lines; look for a second concept"
done < <(sources src cuda probes trace report)

product=$({ sources src cuda probes trace report; find report -name node_modules -prune -o -name '*.js' -print; } | sort)
files=$(printf '%s' "$product" | grep -c .)
# A line after /* counts as comment until */ ends it; code after that on the same line is rare and counts.
code_lines=$(printf '%s\n' "$product" | tr '\n' '\0' | xargs -0 awk '
  FNR == 1 { comment = 0 }
  {
    line = $0
    if (comment) { if (!sub(/.*\*\//, "", line)) next; comment = 0 }
    while (match(line, /^[ \t]*\/\*/)) { if (!sub(/^[ \t]*\/\*.*\*\//, "", line)) { comment = 1; line = "" } }
    if (line ~ /^[ \t]*$/ || line ~ /^[ \t]*\/\// || line ~ /^[ \t]*#[ \t]*include/ || line ~ /^[ \t{}();,]*$/) next
    code++
  }
  END { print code + 0 }')
[ "$files" -lt $most_files ] || complain "$files product files"
[ "$code_lines" -le $most_code_lines ] || complain "$code_lines lines of product code"

while IFS= read -r folder; do
  count=$(sources "$folder" -maxdepth 1 | wc -l)
  [ "$count" -eq 0 ] || [ "$count" -ge 4 ] || complain "$folder has only $count sources: merge it into its parent"
  [ "$count" -le 25 ] || complain "$folder has $count sources: divide it"
  below=${folder#src/}
  slashes=${below//[^\/]/}
  [ ${#slashes} -le 2 ] || complain "$folder lies more than two levels below ${below%%/*}"
done < <(find src cuda probes trace report -type d -name node_modules -prune -o -type d -print)
[ $status = 0 ] && echo "$files product files, $code_lines lines of code"
exit $status
