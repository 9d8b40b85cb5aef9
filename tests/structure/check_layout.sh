#!/usr/bin/env bash
# Fails when the tree outgrows the limits of its design: at most two folder levels below a top-level folder, 4 to 25 sources
# a folder, at most MOST_LINES lines a source; product code (src cuda probes trace report) below 460 files and 85,000 lines.
# Usage: check_layout.sh SOURCE_DIR
set -u
cd "$1" || exit 2
most_lines=700
most_files=460
most_product_lines=85000
status=0
complain() { printf 'beyond the limits: %s\n' "$1"; status=1; }

sources() { find "$@" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \); }

files=0
lines=0
while IFS= read -r file; do
  count=$(wc -l <"$file")
  files=$((files + 1))
  lines=$((lines + count))
  [ "$count" -le $most_lines ] || complain "$file has $count lines; look for a second concept"
done < <(sources src cuda probes trace report)
[ $files -lt $most_files ] || complain "$files product files"
[ $lines -lt $most_product_lines ] || complain "$lines lines of product code"

while IFS= read -r folder; do
  count=$(sources "$folder" -maxdepth 1 | wc -l)
  [ "$count" -eq 0 ] || [ "$count" -ge 4 ] || complain "$folder has only $count sources: merge it into its parent"
  [ "$count" -le 25 ] || complain "$folder has $count sources: divide it"
  below=${folder#src/}
  slashes=${below//[^\/]/}
  [ ${#slashes} -le 2 ] || complain "$folder lies more than two levels below ${below%%/*}"
done < <(find src cuda probes trace report -type d)
[ $status = 0 ] && echo "$files product files, $lines lines"
exit $status
