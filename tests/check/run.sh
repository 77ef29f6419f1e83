#!/bin/bash
# run.sh: small programs with one planted error each, and their corrected twins (built with -DFIXED).
# judge.py says how lines are marked: an error must be reported at every mark and nowhere else, and
# none at all in a twin. Then the programs of tests/programs, which are right: none may be accused,
# except those that fail on purpose.
#   tests/check/run.sh [NAME...]    JOBS=2 side by side
set -u
here=$(cd "$(dirname "$0")" && pwd)
export BUILD=${BUILD:-$here/../../build}
export LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep}
cd "$here" || exit 2
. ../expect.sh
NVCC=$(../../scripts/get-nvcc --find || echo none)
export NVCC

planted() { # NAME
    local options
    options=$(sed -n 's|^// options: *||p' "$1.cu")
    # shellcheck disable=SC2086
    "$LOCKSTEP" check --json "$1.cu" $options >"$work/$1.json" 2>"$work/$1.err"
    local status=$?
    # shellcheck disable=SC2086
    "$LOCKSTEP" check --json "$1.cu" -DFIXED $options >"$work/$1.fixed.json" 2>>"$work/$1.err"
    python3 judge.py "$1" "$work/$1.json" "$work/$1.fixed.json" $status $?
}

field() { # FILE FIELD: the header line's value
    sed -n "1,/^\$/s|^// $2: *||p" "$1"
}

right() { # NAME
    cd ../programs || exit 2
    local -a args
    local why
    why=$(why_not "$1.cu")
    if [ -n "$why" ]; then
        skip "right_$1" "$why"
        return
    fi
    eval "args=($(set -f; field "$1.cu" args))"
    local flags want status
    flags=$(field "$1.cu" flags)
    want=$(field "$1.cu" status)
    # shellcheck disable=SC2086
    printf '%b' "$(field "$1.cu" stdin)" |
        "$LOCKSTEP" check --no-host-lines "$1.cu" $flags -- "${args[@]}" >"$work/$1.out" 2>&1
    status=${PIPESTATUS[1]}
    if [ "$status" -eq "${want:-0}" ] && [ "$(tail -n 1 "$work/$1.out")" = "0 errors" ]; then
        echo "ok right_$1"
    else
        {
            echo "not ok right_$1 (status $status)"
            grep -A 8 -E ': (race|out of|uninit|use after|misal|divergent|sync mask)|free:' \
                "$work/$1.out" | head -n 20 | sed 's/^/    /'
        } >"$work/$1.report"
        cat "$work/$1.report"
    fi
}
export -f planted right field skip why_not has_header is_old

work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT
# These fail, or free what is not theirs, to see what the runtime answers.
purpose=" error_faults error_codes driver_api memory_pools "
if [ $# -gt 0 ]; then
    jobs=$(printf 'planted %s\n' "$@")
else
    jobs=$(ls *.cu | sed 's/\.cu$//; s/^/planted /'
        for program in ../programs/*.cu; do
            name=$(basename "$program" .cu)
            [[ $purpose == *" $name "* ]] || echo "right $name"
        done)
fi
if [ "$NVCC" = none ]; then
    for job in ${jobs//planted /}; do
        [ "$job" = right ] || skip "$job" "there is no nvcc"
    done
    exit 0
fi
python3 check_judge.py
printf '%s\n' "$jobs" | xargs -P "${JOBS:-2}" -I{} bash -c '{}' | tee "$work/all"
# A judge that crashes prints nothing.
judged=$(grep -cE '^(not )?ok ' "$work/all")
planned=$(printf '%s\n' "$jobs" | wc -l)
[ "$judged" -eq "$planned" ] || echo "not ok check ($judged of $planned programs were judged)"
