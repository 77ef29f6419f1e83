#!/bin/bash
# run.sh: small programs with one planted error each, and their corrected twins (with FIXED defined).
# ../gather.py has nvcc compile them all at once; each runs by itself. judge.py says how lines are marked:
# an error must be reported at every mark and nowhere else, and none at all in a twin. A line
# "// options:" has nvcc's and check's own. Then the programs of tests/programs, which are right: none
# may be accused, except those that fail on purpose: every third, or all with PROGRAMS_ALL=1.
#   tests/check/run.sh [NAME...]    JOBS=2 side by side
set -u
here=$(cd "$(dirname "$0")" && pwd)
export BUILD=${BUILD:-$here/../../build}
export LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep}
cd "$here" || exit 2
. ../expect.sh
NVCC=$(../../scripts/get-nvcc --find || echo none)
export NVCC

# group NAME: its options for nvcc in one word, empty for most; --limit is for check.
group() {
    sed -n 's|^// options: *||p' "$1.cu" | sed 's/--limit [0-9]*//; s/ *$//; s/[^a-zA-Z0-9_]/./g'
}

# gather NAME...: programs of one group into one source file, compiled; false, after nvcc said why.
gather() {
    local file options
    file=$gathered/all$(group "$1").cu
    options=$(sed -n 's|^// options: *||p' "$1.cu")
    python3 ../gather.py "$file" "$@" || return
    # shellcheck disable=SC2086
    "$LOCKSTEP" check --json "$file" -I. $options -- none >/dev/null 2>"$file.err"
    [ $? -eq 42 ] && return # what a gathered program returns for a name that it does not have
    cat "$file.err"
    return 1
}

planted() { # NAME
    local options name
    options=$(sed -n 's|^// options: *||p' "$1.cu")
    for name in "$1" "$1.fixed"; do
        # shellcheck disable=SC2086
        "$LOCKSTEP" check --json "$gathered/all$(group "$1").cu" -I. $options -- "$name" \
            >"$work/$name.json" 2>"$work/$name.err"
        echo $? >"$work/$name.status"
    done
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
export -f group planted right field skip why_not has_header is_old

work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT
# These fail, or free what is not theirs, to see what the runtime answers; polling_loops has races on its
# flag, and dynamic_polls and late_kernels wait for kernels that check runs one after the other
# (docs/fidelity.md).
purpose=" error_faults error_codes driver_api memory_pools cluster_async_alone polling_loops dynamic_polls"
purpose+=" late_kernels "
names=${*:-$(ls *.cu | sed 's/\.cu$//')}
# shellcheck disable=SC2086
jobs=$(printf 'planted %s\n' $names
    for name in $(programs ../programs | awk -v all="${PROGRAMS_ALL:-}" 'all || NR % 3 == 1'); do
        [ $# -gt 0 ] || [[ $purpose == *" $name "* ]] || echo "right $name"
    done)
if [ "$NVCC" = none ]; then
    for job in ${jobs//planted /}; do
        [ "$job" = right ] || skip "$job" "there is no nvcc"
    done
    exit 0
fi
python3 check_judge.py
# In a place that stays, so that the cache knows them another time.
export gathered=$BUILD/tests/check
mkdir -p "$gathered"
for word in $(for name in $names; do echo "all$(group "$name")"; done | sort -u); do
    # shellcheck disable=SC2046
    gather $(for name in $names; do [ "all$(group "$name")" = "$word" ] && echo "$name"; done)
done
printf '%s\n' "$jobs" | xargs -P "${JOBS:-2}" -I{} bash -c '{}' | tee "$work/all"
# shellcheck disable=SC2086
python3 judge.py "$work" $names | tee -a "$work/all"
# A judge that crashes prints nothing.
judged=$(grep -cE '^(not )?ok ' "$work/all")
planned=$(printf '%s\n' "$jobs" | wc -l)
[ "$judged" -eq "$planned" ] || echo "not ok check ($judged of $planned programs were judged)"
