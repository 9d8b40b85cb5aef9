#!/usr/bin/env bash
# Bad input and broken worlds, as a person meets them: each case runs the real program and checks the exit code, the
# one line with the remedy, that nothing hangs or stays behind, and that what was measured is kept.
# Usage: faults.sh PROGRAM CASE    exit 77 = cannot be tried here
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # containers run as root
program=$1
case_name=$2
work=$(mktemp -d)
trap 'cleanup' EXIT
mounted=
cleanup() {
  [ -z "$mounted" ] || umount "$mounted"
  rm -rf "$work"
}
fail() { echo "FAILED: $*"; sed 's/^/  | /' "$work"/err "$work"/out 2>/dev/null | head -40; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

# run SECONDS ARGS...: program with a time limit; output in $work/out and $work/err, exit code in $code
run() {
  local limit=$1
  shift
  timeout -k 5 "$limit" "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  [ $code != 124 ] && [ $code != 137 ] || fail "hung: $*"
}
expect_code() { [ "$code" = "$1" ] || fail "exit code $code, not $1"; }
expect_error() { grep -qiE "$1" "$work/err" || fail "stderr does not say '$1'"; }
expect_one_line() { [ "$(grep -c '^scaleworth:' "$work/err")" = 1 ] || fail "not exactly one line of complaint"; }
# field RUN_JSON PYTHON_EXPRESSION over `run`
field() { python3 -c "import json,sys; run=json.load(open(sys.argv[1])); print($2)" "$1"; }
expect_field() {
  local got
  got=$(field "$1" "$2") || fail "$1 is not readable"
  [ "$got" = "$3" ] || fail "$2 is $got, not $3"
}
status_of() { echo "{p['name']: p['status'] for p in run['probes']}.get('$1')"; }
nothing_left() {
  sleep 0.5
  if pgrep -f -- "--out $work" >/dev/null; then
    pgrep -af -- "--out $work"
    pkill -9 -f -- "--out $work"
    fail "processes were left behind"
  fi
}
two_kernels='{"traceEvents":[{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7}},{"ph":"X","cat":"kernel","name":"add","pid":0,"tid":7,"ts":7,"dur":2,"args":{"device":0,"stream":7}}]}'
need_mpirun() { command -v mpirun >/dev/null || skip "no mpirun on this machine"; }

interrupt_during() {  # PROBE: Ctrl-C as the terminal sends it, to the whole process group, once PROBE has begun
  set -m
  # The standard suite: long enough that the signal comes in the middle of any probe.
  "$program" bench --suite standard --only "$1" --ranks 2 --oversubscribe --out "$work/run" >"$work/out" 2>"$work/err" </dev/null &
  local pid=$!
  set +m
  for _ in $(seq 200); do
    grep -q "^$1 (about" "$work/err" && break
    sleep 0.1
  done
  sleep 0.7
  kill -INT -- "-$pid"
  local waited=0
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.1
    waited=$((waited + 1))
    [ $waited -lt 200 ] || { kill -9 -- "-$pid"; fail "still running 20 s after Ctrl-C"; }
  done
  wait "$pid"
  code=$?
  expect_code 130
  expect_field "$work/run/run.json" "run['complete']" False
  expect_field "$work/run/run.json" "'interrupted' in run['interruption']['arguments'][0]" True
  expect_field "$work/run/run.json" "$(status_of "$1")" failed
  nothing_left
}

case "$case_name" in
  words_as_people_type_them)
    run 10 help
    expect_code 0
    run 10 help decide
    expect_code 0
    grep -q -- '--deadline-hours' "$work/out" || fail "not the help of decide"
    complains() { # TEXT ARGS...: wrong usage, said in one line
      local text=$1
      shift
      run 20 "$@"
      expect_code 2
      expect_one_line
      [ "$(wc -l <"$work/err")" = 1 ] || fail "more than one line"
      grep -qF -- "$text" "$work/err" || fail "stderr does not say '$text'"
    }
    printf 'gpus;seconds\n1;800\n2;420\n4;230\n' >"$work/t.csv"
    complains "no command 'decid'; did you mean decide?" decid "$work/t.csv"
    complains "no command 'frobnicate' (all: scaleworth --help)" frobnicate
    complains "t.csv is a table: give it to scaleworth decide" "$work/t.csv"
    complains 'decide does not take --prise; did you mean --price or --prices? (all: scaleworth decide --help-all)' decide --prise 2
    complains 'decide does not take --frobnicate (all:' decide --frobnicate
    complains 'decide does not take -o; redirect: > FILE' decide "$work/t.csv" -o page.html
    complains '--max-count = 99999999999: no number of its kind, or too large' decide "$work/t.csv" --max-count 99999999999
    complains '--domain changes nothing without table' decide --serial 0.03 --comm 0.001 --domain 8
    complains '--window requires --export' attribute "$work/t.csv" --window 1:2
    complains '--residual requires --capex' decide "$work/t.csv" --residual 100
    complains "which GPU is 'h100'? Name one of h100-sxm-80gb, h100-pcie-80gb, h100-nvl-94gb" \
      mfu --gpu h100 --model llama-3.1-8b --tokens-per-second 1
    run 20 mfu --gpu 'NVIDIA H100 80GB HBM3' --model llama-3.1-8b --gpus 8 --tokens-per-second 80000 --json
    expect_code 0
    cp "$work/out" "$work/total"
    run 20 mfu --gpu 'h100-sxm' --model llama-3.1-8b --gpus 8 --tokens-per-second-per-gpu 10000 --format json
    expect_code 0
    cmp -s "$work/out" "$work/total" || fail "the rate of one GPU is another than that of all"
    ;;
  each_file_is_sent_to_its_command)
    sent() { # COMMAND FILE TEXT
      run 20 "$1" "$2"
      expect_code 2
      expect_one_line
      grep -qF -- "$3" "$work/err" || fail "$1 $2: stderr does not say '$3'"
    }
    run_of_ours=$(dirname "$0")/../../docs/measurements/xeon-2core-vm
    printf 'gpus,seconds\n1,800\n2,420\n' >"$work/t.csv"
    printf '%s' "$two_kernels" >"$work/trace.json"
    for command in attribute report; do sent $command "$work/t.csv" 't.csv is a table: give it to scaleworth decide'; done
    sent attribute "$run_of_ours" 'xeon-2core-vm is a run: give it to scaleworth report or decide or compare or check'
    sent attribute "$run_of_ours/run.json" 'run.json is a run: give it to scaleworth report or decide or compare or check'
    sent report "$work/trace.json" 'trace.json is a recording: give it to scaleworth attribute or decide'
    "$program" decide "$work/t.csv" --json >"$work/d.json" 2>/dev/null
    "$program" decide "$work/t.csv" --format html >"$work/d.html" 2>/dev/null
    "$program" report "$run_of_ours" --json >"$work/r.json" 2>/dev/null
    for command in attribute decide report; do
      for file in d.json r.json; do
        sent $command "$work/$file" "$file is what --format json writes for other programs: no command reads it; give what it was made of"
      done
      sent $command "$work/d.html" 'd.html is a web page: no command reads it; give what it was made of'
    done
    ;;
  input_through_pipes)
    run_of_ours=$(dirname "$0")/../../docs/measurements/xeon-2core-vm
    printf '| gpus | seconds |\n|---|---:|\n| 1 | 800 |\n| 2 | 420 |\n| 4 | 230 |\n' >"$work/t.md"
    same() { # FILE COMMAND...: from the file, from a pipe and from standard input; the words of the answer but for the name
      local file=$1
      shift
      "$program" "$@" "$file" --format csv >"$work/out" 2>"$work/err" || fail "$* of a file"
      for way in - /dev/stdin; do
        cat "$file" | "$program" "$@" "$way" --format csv >"$work/piped" 2>"$work/err" || fail "$* $way of a pipe"
        cmp -s "$work/out" "$work/piped" || fail "$* $way of a pipe says something else"
        "$program" "$@" "$way" --format csv <"$file" >"$work/piped" 2>"$work/err" || fail "$* $way"
        cmp -s "$work/out" "$work/piped" || fail "$* $way says something else"
      done
      "$program" "$@" <(cat "$file") --format csv >"$work/piped" 2>"$work/err" || fail "$* of a substitution"
    }
    same "$work/t.md" decide
    same "$run_of_ours/run.json" decide
    same "$run_of_ours/run.json" report
    printf '%s' "$two_kernels" >"$work/trace.json"
    "$program" attribute "$work/trace.json" --json >"$work/out" 2>"$work/err" || fail "attribute"
    cat "$work/trace.json" | "$program" attribute - --json >"$work/piped" 2>"$work/err" || fail "attribute -"
    diff <(grep -v -e trace.json "$work/out") <(grep -v -e dev/stdin "$work/piped") >/dev/null || fail "attribute - says something else"
    "$program" attribute "$work/trace.json" --json | "$program" decide - >"$work/piped" 2>"$work/err"
    code=$?
    "$program" decide "$work/trace.json" >"$work/out" 2>/dev/null
    [ $code = $? ] || fail "decide - takes no attribution"
    ;;
  unknown_flag)
    run 10 bench --frobnicate
    expect_code 2
    expect_error frobnicate
    ;;
  impossible_rank_count)
    run 10 bench --ranks 100000 --out "$work/run"
    expect_code 2
    expect_one_line
    expect_error 'oversubscribe'
    [ ! -e "$work/run" ] || fail "a run directory was made for a refused command"
    ;;
  straggler_that_is_no_rank)
    run 10 step --ranks 1 --straggler 7:2.0 --out "$work/run"
    expect_code 2
    expect_one_line
    ;;
  unknown_probe)
    run 10 bench --only roofline.warp --out "$work/run"
    expect_code 2
    expect_error 'known: roofline.compute'
    ;;
  dry_run_measures_nothing)
    run 10 bench --dry-run --out "$work/run"
    expect_code 0
    grep -q 'total' "$work/out" || fail "no total in the plan"
    [ ! -e "$work/run" ] || fail "a dry run made a run directory"
    ;;
  output_exists)
    mkdir "$work/run" && echo '{}' >"$work/run/run.json"
    run 10 roofline --only roofline.compute --out "$work/run"
    expect_code 2
    expect_one_line
    [ "$(cat "$work/run/run.json")" = '{}' ] || fail "an existing run was overwritten"
    ;;
  output_not_writable)
    run 10 roofline --only roofline.compute --out /proc/scaleworth-run
    expect_code 2
    expect_one_line
    ;;
  disk_full)
    [ "$(id -u)" = 0 ] || skip "mounting a small file system needs root"
    mkdir "$work/small"
    mount -t tmpfs -o size=16k tmpfs "$work/small" 2>/dev/null || skip "mounting is not permitted here"
    mounted=$work/small
    run 150 roofline --only roofline.compute,roofline.memory --out "$work/small/run"
    expect_code 1
    expect_error 'no space'
    grep -q 'GFLOP/s' "$work/out" || fail "what was measured was not shown"
    umount "$mounted"
    mounted=
    ;;
  disk_full_under_ranks)
    [ "$(id -u)" = 0 ] || skip "mounting a small file system needs root"
    need_mpirun
    mkdir "$work/small"
    mount -t tmpfs -o size=96k tmpfs "$work/small" 2>/dev/null || skip "mounting is not permitted here"
    mounted=$work/small
    head -c 49152 /dev/zero >"$work/small/other"
    run 120 comm --suite quick --ranks 2 --oversubscribe --details --out "$work/small/run"
    expect_code 1
    expect_error 'no space|are free on this disk'
    grep -q 'all reduce  *[0-9]' "$work/out" || fail "what the ranks measured is not in the report"
    grep -qi 'no space\|are free' "$work/out" || fail "the report does not name the disk"
    umount "$mounted"
    mounted=
    ;;
  launcher_that_hangs)
    # Its time limit is minutes; the signal of an impatient user ends it, and all that it started.
    printf '#!/bin/sh\necho $$ >"%s/started"\nexec sleep 1000\n' "$work" >"$work/mpirun"
    chmod +x "$work/mpirun"
    "$program" comm --ranks 2 --oversubscribe --mpirun "$work/mpirun" --out "$work/run" >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    until [ -s "$work/started" ]; do
      kill -0 "$pid" 2>/dev/null || fail "it ended before it had started its launcher"
      sleep 0.1
    done
    kill -INT "$pid"
    wait "$pid"
    code=$?
    expect_code 130
    kill -0 "$(cat "$work/started")" 2>/dev/null && fail "the launcher was left behind"
    expect_error "starting 2 ranks with $work/mpirun"
    expect_field "$work/run/run.json" "$(status_of comm.collectives)" failed
    expect_field "$work/run/run.json" "run['probes'][0]['reason']['arguments'][0]" 'interrupted'
    ;;
  export_onto_what_is_read)
    echo "$two_kernels" >"$work/rank0.json"
    mkdir "$work/links" && ln "$work/rank0.json" "$work/links/other.json"
    for target in "$work/rank0.json" "$work/links/other.json"; do
      run 20 attribute "$work/rank0.json" --export "$target"
      expect_code 2
      expect_one_line
      expect_error 'would replace'
    done
    [ "$(cat "$work/rank0.json")" = "$two_kernels" ] || fail "the recording was replaced"
    run 20 attribute "$work/rank0.json" --export "$work/new.json"
    expect_code 0
    ;;
  output_that_is_not_whole)
    "$program" list >/dev/full 2>"$work/err"
    code=$?
    expect_code 1
    expect_one_line
    ;;
  stderr_that_takes_nothing)
    run_of_ours=$(dirname "$0")/../../docs/measurements/xeon-2core-vm
    printf 'gpus,seconds\n1,800\n2,420\n4,230\n' >"$work/t.csv"
    printf '%s' "$two_kernels" >"$work/trace.json"
    gone='import os,pty,subprocess,sys; ours,theirs=pty.openpty(); os.close(ours); sys.exit(subprocess.run(sys.argv[1:],stderr=theirs).returncode)'
    same() { # CODE ARGS...: code and output are those of a stderr that takes everything
      local wanted=$1
      shift
      "$program" "$@" >"$work/whole" 2>"$work/err" </dev/null
      code=$?
      expect_code "$wanted"
      "$program" "$@" >"$work/out" 2>/dev/full </dev/null
      [ $? = "$wanted" ] || fail "$*: another code when stderr is full"
      cmp -s "$work/whole" "$work/out" || fail "$*: another output when stderr is full"
      "$program" "$@" >"$work/out" 2>&- </dev/null
      [ $? = "$wanted" ] || fail "$*: another code when stderr is closed"
      cmp -s "$work/whole" "$work/out" || fail "$*: another output when stderr is closed"
      "$program" "$@" 2> >(exit 0) >"$work/out" </dev/null
      [ $? = "$wanted" ] || fail "$*: another code when nobody reads stderr"
      python3 -c "$gone" "$program" "$@" >"$work/out" </dev/null
      [ $? = "$wanted" ] || fail "$*: another code when the terminal is gone"
      # Nothing to write to at all: only the code is left to say that the output is lost.
      "$program" "$@" <&- >&- 2>&-
      code=$?
      [ $code = "$wanted" ] || [ "$wanted/$code" = 0/1 ] || fail "$*: code $code when all is closed"
    }
    same 0 decide "$work/t.csv"
    same 0 attribute "$work/trace.json"
    same 0 report "$run_of_ours"
    same 0 mfu --gpu h100-sxm --model llama-3.1-8b --gpus 8 --tokens-per-second 80000
    same 0 bench --dry-run
    same 2 decide "$work/absent.csv"
    same 2 frobnicate
    # What is exported is a file of its own, whatever is closed.
    "$program" attribute "$work/trace.json" --export "$work/new.json" >"$work/out" 2>&-
    python3 -m json.tool "$work/new.json" >/dev/null || fail "messages are in the exported file"
    ;;
  a_measurement_outlives_its_stderr)
    outlived() {
      expect_code 0
      expect_field "$work/run/run.json" "run['complete']" True
      expect_field "$work/run/run.json" "{p['status'] for p in run['probes']}" "{'measured'}"
      rm -rf "$work/run"
    }
    measure=(timeout -k 5 120 "$program" bench --suite quick --ranks 2 --oversubscribe --out "$work/run")
    "${measure[@]}" --only roofline.compute,roofline.memory >"$work/out" 2>/dev/full </dev/null
    code=$?
    outlived
    "${measure[@]}" --only comm >"$work/out" 2>&- </dev/null
    code=$?
    outlived
    ;;
  nohup_outlives_the_terminal)
    (trap '' HUP; exec "$program" roofline --suite quick --only roofline.compute,roofline.memory --out "$work/run" >"$work/out" 2>"$work/err" </dev/null) &
    pid=$!
    for _ in $(seq 200); do
      grep -q 'roofline.compute (about' "$work/err" && break
      sleep 0.1
    done
    kill -HUP $pid || fail "it ended before the signal"
    wait $pid
    code=$?
    expect_code 0
    expect_field "$work/run/run.json" "run['complete']" True
    ;;
  files_of_others_stay)
    # In the names that a program may choose for what is not whole yet.
    printf '%s' "$two_kernels" >"$work/in.json.part"
    printf 'mine' >"$work/out.json.part"
    for target in in.json out.json out.json.gz; do
      run 20 attribute "$work/in.json.part" --export "$work/$target"
      expect_code 0
    done
    [ "$(cat "$work/in.json.part")" = "$two_kernels" ] || fail "the recording was removed"
    [ "$(cat "$work/out.json.part")" = mine ] || fail "a file beside the exported one was removed"
    rm -f "$work"/out "$work"/err
    [ "$(ls -A "$work" | wc -l)" = 5 ] || fail "something was left: $(ls -A "$work")"
    mkdir "$work/used" && printf 'mine' >"$work/used/report.html"
    run 20 bench --suite quick --only roofline.compute --out "$work/used"
    expect_code 2
    expect_one_line
    expect_error 'is not empty; choose another directory'
    [ "$(ls -A "$work/used")" = report.html ] || fail "something was written into the directory"
    [ "$(cat "$work/used/report.html")" = mine ] || fail "a file of the directory was replaced"
    mkdir "$work/empty"
    run 60 roofline --suite quick --only roofline.compute --out "$work/empty"
    expect_code 0
    ;;
  a_rank_that_no_job_has)
    for info in '"rank": 2147483647, "world_size": 2' '"rank": 2, "world_size": 2' '"rank": -1, "world_size": 2' \
      '"rank": 0, "world_size": -5' '"rank": "4294967296"' '"rank": 9223372036854775807, "world_size": 9223372036854775807' \
      '"rank": 2147483647' '"rank": 0, "world_size": 1, "pg_config": [{"pg_name": "0", "pg_size": -1, "ranks": [-1, 4294967296]}]'; do
      printf '{"distributedInfo": {%s}, %s' "$info" "${two_kernels#\{}" >"$work/trace.json"
      for command in attribute decide; do
        run 20 $command "$work/trace.json"
        [ $code = 0 ] || { [ $command = decide ] && [ $code = 2 ]; } || fail "$command of $info: exit code $code"
      done
      run 20 attribute "$work/trace.json" --json
      expect_field "$work/out" "[one['rank'] for one in run['recordings']]" '[0]'
    done
    printf '{"distributedInfo": {"rank": 5, "world_size": 2}, %s' "${two_kernels#\{}" >"$work/trace.json"
    run 20 attribute "$work/trace.json"
    grep -q 'rank 5 of 2 is no rank of a job: it is taken as unknown' "$work/out" || fail "no remark says that the rank is unknown"
    ;;
  numbers_that_are_not_finite)
    printf 'gpus,step_time_s\n1,8\n2,4.2\n4,2.5\n' >"$work/table.csv"
    for value in nan -nan inf -inf 1e400; do
      for flag in --price --fixed --efficiency-threshold --deadline-hours --forecast --value-of-time; do
        run 20 decide "$work/table.csv" "$flag" "$value"
        expect_code 2
      done
      run 20 report "$work" --price "$value"
      expect_code 2
      printf 'gpus,step_time_s\n1,8\n2,%s\n4,2.5\n' "$value" >"$work/bad.csv"
      run 20 decide "$work/bad.csv"
      expect_code 2
      expect_one_line
    done
    run 20 step --straggler 1:1e308 --dry-run
    expect_code 2
    ;;
  names_with_escape_sequences)
    mkdir "$work/a b;touch x"
    printf '%s' "$two_kernels" | sed 's/gemm/\\u001b]0;owned\\u0007\\u202e](http:\/\/x)<b>/' >"$work/a b;touch x/rank0.json"
    for format in text md csv json html; do
      case $format in
        text | md) run 20 attribute "$work/a b;touch x" --details --format $format ;;
        *) run 20 attribute "$work/a b;touch x" --format $format ;;
      esac
      expect_code 0
      grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae' "$work/out" && fail "a control character is in the $format"
    done
    run 20 attribute "$work/a b;touch x"
    grep -qF "'$work/a b;touch x'" "$work/out" || fail "the next command is not quoted"
    run 20 attribute "$work/"$'\e[31mred'
    expect_code 2
    grep -q $'\e' "$work/err" && fail "an escape sequence is on stderr"
    ;;
  a_capture_library_that_is_none)
    for library in /etc/hostname "$work/absent.so"; do
      run 20 trace --library "$library" --out "$work/traced" -- touch "$work/started"
      expect_code 2
      expect_one_line
      expect_error 'library /'
      [ ! -e "$work/started" ] || fail "the program was started although nothing could be recorded"
    done
    ;;
  a_pipe_that_nobody_opens)
    mkfifo "$work/pipe.json"
    timeout -s INT -k 5 2 "$program" attribute "$work/pipe.json" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code = 124 ] || fail "exit code $code: it ended before the signal, or only when it was killed"
    expect_error 'interrupted'
    ;;
  one_core)
    command -v taskset >/dev/null || skip "no taskset"
    taskset -c 0 timeout -k 5 120 "$program" bench --suite quick --only comm,step --out "$work/run" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0
    expect_field "$work/run/run.json" "$(status_of comm.collectives)" skipped
    expect_field "$work/run/run.json" "$(status_of step.training)" measured
    ;;
  ranks_of_the_users_own_mpirun)
    need_mpirun
    timeout -k 5 120 mpirun --oversubscribe -n 2 "$program" bench --only roofline.compute,step --out "$work/run" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    expect_code 0
    expect_field "$work/run/run.json" "run['complete']" True
    expect_field "$work/run/run.json" "$(status_of step.ledger)" measured
    grep -q $'\x1b' "$work/out" && fail "colour in a file"
    nothing_left
    ;;
  no_mpi)
    run 120 bench --only comm,step --ranks 2 --oversubscribe --mpi-module /nonexistent/libscaleworth_mpi.so --out "$work/run"
    expect_field "$work/run/run.json" "$(status_of comm.collectives)" skipped
    expect_field "$work/run/run.json" "$(status_of step.training)" measured
    ;;
  no_mpirun)
    run 120 bench --only comm,step --ranks 2 --oversubscribe --mpirun no-such-launcher --out "$work/run"
    expect_field "$work/run/run.json" "$(status_of comm.collectives)" skipped
    expect_field "$work/run/run.json" "$(status_of step.training)" measured
    grep -qi 'apt' "$work/out" || fail "no remedy for the missing launcher"
    ;;
  no_blas)
    run 60 roofline --only roofline.gemm --blas-lib /nonexistent/libopenblas.so --out "$work/run"
    expect_field "$work/run/run.json" "$(status_of roofline.gemm)" skipped
    ;;
  little_memory)
    (ulimit -v 65536; timeout -k 5 100 "$program" roofline --out "$work/run" >"$work/out" 2>"$work/err" </dev/null)
    code=$?
    [ $code != 124 ] && [ $code -lt 128 ] || fail "hung or died by a signal ($code) with 64 MiB"
    [ -s "$work/err" ] || [ -s "$work/out" ] || fail "said nothing"
    if [ $code = 0 ] || [ $code = 1 ]; then expect_field "$work/run/run.json" "run['complete']" True; else expect_one_line; fi
    ;;
  rank_killed)
    need_mpirun
    "$program" comm --suite standard --ranks 2 --oversubscribe --out "$work/run" >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    for _ in $(seq 200); do
      grep -q '^comm.collectives (about' "$work/err" && break
      sleep 0.1
    done
    sleep 4
    victim=$(pgrep -f -- "part-of-bench" | while read -r p; do
      tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx 'OMPI_COMM_WORLD_RANK=1' && tr '\0' ' ' <"/proc/$p/cmdline" | grep -q -- "$work/run" && echo "$p"
    done | head -1)
    [ -n "$victim" ] || { kill "$pid"; fail "rank 1 was not found"; }
    kill -9 "$victim"
    waited=0
    while kill -0 "$pid" 2>/dev/null; do
      sleep 0.1
      waited=$((waited + 1))
      [ $waited -lt 200 ] || { kill -9 "$pid"; fail "still running 20 s after a rank died"; }
    done
    wait "$pid"
    code=$?
    expect_code 1
    expect_field "$work/run/run.json" "$(status_of comm.collectives)" failed
    expect_field "$work/run/run.json" "len([p for p in run['probes'] if p['name'] == 'comm.collectives'][0]['points']) > 0" True
    expect_field "$work/run/run.json" "[p['reason']['arguments'][1:] for p in run['probes'] if p['name'] == 'comm.collectives'][0]" "[9, 'Killed']"
    nothing_left
    ;;
  repeated_runs)
    run 120 step --ranks 1 --repeat 3 --machine host --details --out "$work/run"
    expect_code 0
    expect_error 'run 3 of 3'
    points="[q for p in run['probes'] if p['name'] == 'step.training' for q in p['points']]"
    expect_field "$work/run/run.json" "[q['setting']['run'] for q in $points]" "[1, 2, 3]"
    # The first run chooses the step, the others measure the same one.
    expect_field "$work/run/run.json" "len({(q['setting']['width'], q['setting']['global_batch_sequences']) for q in $points})" 1
    expect_field "$work/run/run.json" "run['complete']" True
    grep -q 'Between runs, each of fresh processes' "$work/out" || fail "no spread between runs"
    run 20 report "$work/run" --format json
    expect_code 0
    run 20 bench --repeat 4 --dry-run --machine host
    grep -qE 'runs +4 x' "$work/out" || fail "the plan does not say how often"
    ;;
  repeated_runs_of_which_one_is_killed)
    "$program" step --ranks 1 --repeat 3 --machine host --out "$work/run" >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    for _ in $(seq 400); do
      grep -q '^run 2 of 3' "$work/err" && victim=$(pgrep -P "$pid" | head -1) && [ -n "$victim" ] && break
      sleep 0.05
    done
    kill -9 "$victim"
    wait "$pid"
    code=$?
    expect_code 1
    expect_field "$work/run/run.json" "[w['arguments'][:3] for w in run['warnings'] if w['id'] == 'run_of_several_failed']" "[[2, 3, {'id': 'run_killed', 'arguments': [9, 'Killed']}]]"
    expect_field "$work/run/run.json" "{1, 3} <= {q['setting']['run'] for p in run['probes'] for q in p['points']}" True
    nothing_left
    ;;
  interrupted_repeated_runs)
    "$program" step --ranks 1 --repeat 50 --machine host --out "$work/run" >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    for _ in $(seq 400); do
      grep -q '^run 2 of 50' "$work/err" && break
      sleep 0.05
    done
    kill -TERM "$pid"
    wait "$pid"
    code=$?
    expect_code 143
    expect_error 'what was measured is kept'
    expect_field "$work/run/run.json" "run['complete']" False
    expect_field "$work/run/run.json" "$(status_of step.training)" measured
    expect_field "$work/run/run.json" "[w['arguments'][3] for w in run['warnings'] if w['id'] == 'run_of_several_failed']" "[1]"
    nothing_left
    ;;
  interrupt_compute) interrupt_during roofline.compute ;;
  interrupt_memory) interrupt_during roofline.memory ;;
  interrupt_gemm) interrupt_during roofline.gemm ;;
  interrupt_collectives) need_mpirun; interrupt_during comm.collectives ;;
  interrupt_step) need_mpirun; interrupt_during step.training ;;
  report_of_a_truncated_file)
    run 60 roofline --only roofline.compute --out "$work/run"
    expect_code 0
    head -c 700 "$work/run/run.json" >"$work/cut.json"
    run 10 report "$work/cut.json"
    expect_code 2
    expect_one_line
    expect_error 'cut.json'
    ;;
  report_in_every_format)
    recorded=$(dirname "$0")/../../docs/measurements/xeon-2core-vm
    for format in text md csv json html; do
      run 30 report "$recorded" --format $format
      expect_code 0
      [ -s "$work/out" ] || fail "nothing printed as $format"
    done
    run 30 report "$recorded"
    summary=$(wc -l <"$work/out")
    run 30 report "$recorded" --details
    expect_code 0
    [ "$(wc -l <"$work/out")" -gt $((2 * summary)) ] || fail "--details prints no more than the summary"
    ;;
  report_of_a_newer_schema)
    printf '{"schema_version": 999}' >"$work/new.json"
    run 10 report "$work/new.json"
    expect_code 2
    expect_error '999'
    ;;
  a_terminal_of_80_columns)
    printf 'gpus,hours\n8,4000\n16,2200\n32,1300\n64,940\n' >"$work/t.csv"
    NO_COLOR=1 python3 - "$program" decide "$work/t.csv" --price 3.2 >"$work/out" 2>"$work/err" <<'END' || fail "exit code $?"
import fcntl, os, pty, struct, sys, termios
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
try:
    while piece := os.read(terminal, 4096):
        text += piece
except OSError:
    pass
print(text.decode().replace("\r", ""), end="")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
END
    tr '\n' ' ' <"$work/out" | grep -qF '64 would save 15.0 days for $59,392 more' || fail "another answer"
    [ "$(wc -l <"$work/out")" -le 40 ] || fail "more than 40 lines"
    # Commands are not broken.
    [ "$(grep -v '^  scaleworth' "$work/out" | wc -L)" -le 80 ] || fail "lines beyond 80 columns"
    ;;
  a_count_is_decided_on_coefficients_and_tables)
    run 10 decide --serial 0.03 --comm 0.0015 --t1-hours 1 --price 2.10 --fixed 9.00 --counts 1,2,4,8,16,24,32,48,64 \
      --max-count 64 --deadline-hours 0.15 --spot-price 0.63 --preemption-per-hour 0.05
    expect_code 0
    grep -q 'Take 9, ' "$work/out" || fail "the deadline does not choose 9"
    printf 'p,comp_s,comm_s,idle_s\n1,800,0,0\n2,400,18,12\n4,200,34,26\n8,100,58,48\n16,50,95,90\n' >"$work/breakdown.csv"
    for format in text md csv json html; do
      run 10 decide "$work/breakdown.csv" --price 3.20 --regime on-demand,spot:0.30,owned:0.60 --fixed 2 --format $format
      expect_code 0
    done
    printf 'p,T_s,quality\n1,3600,.871\n2,1880,.871\n4,1010,.871\n8,560,.871\n16,340,.870\n32,250,.871\n' >"$work/strong.csv"
    run 10 decide "$work/strong.csv" --rate-per-worker 1.00 --work 1200000 --efficiency-threshold 0.70 --quality-tolerance 0.005
    expect_code 0
    grep -q 'Cause of the loss unknown' "$work/out" || fail "a cause is named that nothing shows"
    ;;
  a_table_that_cannot_be_decided_on)
    printf 'p,time_s\n1,800\n0,430\n' >"$work/zero.csv"
    run 10 decide "$work/zero.csv"
    expect_code 2
    expect_one_line
    expect_error 'zero.csv:3: the count is 0'
    run 10 decide "$work/absent.csv"
    expect_code 2
    expect_one_line
    mkdir -p "$work/no-run"
    run 10 decide "$work/no-run"
    expect_code 2
    expect_one_line
    expect_error 'give a run directory or its run.json'
    head -c 4096 /bin/sh >"$work/binary.csv"
    run 10 decide "$work/binary.csv"
    expect_code 2
    expect_one_line
    expect_error 'binary.csv: no text in UTF-8'
    printf 'size,gpus,time_s\n1B,8,10\n2B,8,20\n' >"$work/models.csv"
    run 10 decide "$work/models.csv"
    expect_code 2
    expect_one_line
    expect_error 'models.csv: one count, 8, decides nothing: add a row of a second count'
    run 10 decide "$work/models.csv" --where size=2B
    expect_code 2
    expect_one_line
    printf 'gpus,time_s\n8,20\n16,11\n' >"$work/two.csv"
    run 10 decide "$work/two.csv" --grid USA
    expect_code 2
    expect_one_line
    expect_error 'need energy: --watts-per-rank'
    run 10 decide
    expect_code 2
    expect_one_line
    ;;
  the_use_of_gpus_is_told_from_a_throughput)
    run 10 mfu --model gpt3-175b --gpu a100-80gb --gpus 1024 --tokens-per-second 140000 --price 2.00 --tokens 300e9
    expect_code 0
    grep -q '^MFU 47.2 %' "$work/out" || fail "the utilisation is not the hand-computed one"
    grep -q '300 billion tokens take 24.8 days' "$work/out" || fail "the days are not those of the tokens"
    for format in md csv json html; do
      run 10 mfu --model deepseek-v3 --gpu h100-sxm-80gb --gpus 2048 --step-seconds 10 --batch-tokens 31e6 --dtype fp8 \
        --recompute selective --convention causal --measured-peak 700 --format $format
      expect_code 0
    done
    for wrong in '--gpu a100 --model gpt2 --tokens-per-second 1' '--gpu a100-80gb --model gpt2 --tokens-per-second -1' '--gpu a100-80gb --model gpt-2 --tokens-per-second 1' \
        '--gpu a100-80gb --gpus 2' '--gpu a100-80gb --model gpt2 --tokens-per-second 1 --convention plam' \
        '--gpu a100-80gb --model gpt2 --tokens-per-second 1 --dtype fp8' '--gpu a100-80gb --model gpt2 --tokens-per-second 1 --sequence 4096' \
        '--model gpt2 --tokens-per-second 1' '--gpu a100-80gb --model gpt2 --tokens-per-second 1 --measured-peak /nonexistent'; do
      # shellcheck disable=SC2086
      run 10 mfu $wrong
      expect_code 2
      expect_one_line
    done
    ;;
  the_cost_of_served_tokens_is_told_by_batch)
    # At batch 32 one H100 spends 61.92 ms on a request: 43.0e-6 USD, against 76.8e-6 of the API.
    run 10 mfu --model llama-3.1-8b --gpu h100-sxm --inference --batch 32 --price 2.50 --duty 0.4 --burst 2 \
      --api-price-in 0.05 --api-price-out 0.10
    expect_code 0
    grep -q '^Serve at batch 32: 4134 output tokens/s' "$work/out" || fail "the rate is not the hand-computed one"
    grep -q 'Break-even with the API at 56 % utilisation; yours is 20 %' "$work/out" || fail "the break-even is not the hand-computed one"
    for format in md csv json html; do
      run 10 mfu --model deepseek-v3 --gpu h200-sxm --gpus 8 --inference --dtype fp8 --prompt 4000 --output 500 --cached 0.5 \
        --link-latency-us 12 --link-gb-per-s 350 --max-tpot-ms 50 --price 3 --format $format
      expect_code 0
    done
    run 10 mfu --model llama-3.1-8b --gpu a100-80gb --inference --dtype fp8 --batch 8 --tokens-per-second 500
    expect_code 0
    grep -q 'widened to bf16' "$work/out" || fail "nothing says that this GPU has no such products"
    # Quantised weights alone: products, attention and cache in 16 bits; a tenth of the memory is the server's; NVLink is in the roof.
    run 10 mfu --model gpt-oss-120b --gpu b200 --gpus 2 --inference --dtype mxfp4 --format md
    expect_code 0
    grep -q 'in mxfp4, attention in bf16, a cache in bf16.*datasheet bf16' "$work/out" || fail "weights of 4 bits alone do not make products of 4 bits"
    grep -q '; 90 % of .* for weights and caches), all-reduces by the datasheet.s NVLink' "$work/out" || fail "memory and all-reduces are not stated"
    # 989.4 TFLOP/s of bf16 beside 1979 of fp8.
    run 10 mfu --model llama-3.1-8b --gpu h100-sxm --inference --dtype fp8 --format md
    expect_code 0
    grep -q 'datasheet fp8.*e4m3.*; attention 989' "$work/out" || fail "attention is not in the format of the activations"
    for wrong in '--inference' '--inference --model gpt2' '--inference --model gpt2 --gpu h100-sxm --prompt 0' '--model gpt2 --gpu h100-sxm --prompt 9' \
        '--inference --model gpt2 --gpu h100-sxm --dtype fp7' '--inference --model gpt2 --gpu h100-sxm --api-price-in 1' \
        '--inference --model gpt2 --gpu h100-sxm --tokens-per-second 5' '--inference --model gpt2 --gpu h100-sxm --batch 0' \
        '--inference --model gpt2 --gpu h100-sxm --duty 0' '--inference --model gpt2 --gpu h100-sxm --budget 1' \
        '--inference --model gpt2 --peak 100' '--inference --model gpt2 --gpu h100-sxm --link-latency-us 3'; do
      # shellcheck disable=SC2086
      run 10 mfu $wrong
      expect_code 2
    done
    ;;
  a_training_budget_becomes_a_size_and_tokens)
    run 10 mfu --budget 1e6 --price 2 --gpu h100-sxm --mfu 0.4 --gpus 1024 --model llama-3.1-8b
    expect_code 0
    grep -q '^7.12e23 FLOPs are best spent on 44.4 to 80.6 billion parameters' "$work/out" || fail "the size is not the hand-computed one"
    run 10 mfu --budget-flops 1e21 --format json
    expect_code 0
    for wrong in '--budget 1e6' '--budget 1e6 --budget-flops 1e21' '--budget 1e6 --price 2 --gpu h100-sxm' '--budget 1e6 --price 2 --gpu h100-sxm --mfu 1.4' \
        '--budget 1e6 --price 2 --mfu 0.4' '--budget-flops 0'; do
      # shellcheck disable=SC2086
      run 10 mfu $wrong
      expect_code 2
    done
    ;;
  *) echo "unknown case $case_name"; exit 2 ;;
esac
echo "ok: $case_name"
