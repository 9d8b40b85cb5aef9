#!/usr/bin/env bash
# Fails on a program or library of a build tree whose path for libraries (RPATH, RUNPATH) has an entry that is empty, relative
# or writable by others: code would run from wherever the user or somebody else put it.
# Usage: check_library_paths.sh BUILD_DIR
set -u
cd "$1" || exit 2
built=$(find bin lib tests cuda probes -type f \( -perm -u+x -o -name '*.so*' \) 2>/dev/null | sort)
[ -n "$built" ] || { echo "nothing is built in $1"; exit 2; }
bad=0
for file in $built; do
  paths=$(readelf -d "$file" 2>/dev/null | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\]/\2/p')
  [ -n "$paths" ] || continue
  while IFS= read -r entry; do
    case $entry in
      '$ORIGIN'*) ;;
      /*) [ ! -d "$entry" ] || [ -z "$(find "$entry" -maxdepth 0 -perm -o+w)" ] || { echo "$file: $entry is writable by others"; bad=1; } ;;
      *) echo "$file: '$entry' in $paths is empty or relative"; bad=1 ;;
    esac
  done < <(printf '%s\n' "$paths" | tr ':' '\n')
done
[ $bad = 0 ] && echo "$(printf '%s\n' "$built" | wc -l) files load libraries from absolute folders only"
exit $bad
