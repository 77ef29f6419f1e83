#!/bin/bash
# run.sh: runs every program here with `lockstep run` and compares standard output and exit status
# with NAME.expect, which a real GPU wrote (scripts/gpu-record). Prints "ok NAME", or "not ok NAME"
# with what differs; a program without an .expect is "not ok", unless its header says
# "// output: not comparable", and then only its status is compared.
#   tests/programs/run.sh [NAME...]   JOBS=2 side by side, SECONDS_EACH=300 to compile and run one;
#                                     PROGRAMS_ALL=1 those that say "// takes: long" too
# LOCKSTEP is the lockstep to use. Without nvcc nothing here can be built, and all is skipped; so is a
# program whose "// needs: HEADER" nvcc does not have, or whose "// cuda: RELEASE" is newer.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export BUILD=${BUILD:-$here/../../build}
export LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep}
cd "$here" || exit 2
. ../expect.sh
NVCC=$(../../scripts/get-nvcc --find || echo none)
export NVCC

field() { # FILE FIELD: the header line's value
    sed -n "1,/^\$/s|^// $2: *||p" "$1"
}

run_one() { # NAME
    local name=$1 work status want comparable flags why
    why=$(why_not "$name.cu")
    if [ -n "$why" ]; then
        skip "$name" "$why"
        return
    fi
    work=$(mktemp -d)
    local -a args
    eval "args=($(set -f; field "$name.cu" args))"
    flags=$(field "$name.cu" flags)
    want=$(field "$name.cu" status)
    comparable=yes
    [[ $(field "$name.cu" output) == "not comparable"* ]] && comparable=no
    # shellcheck disable=SC2086
    printf '%b' "$(field "$name.cu" stdin)" |
        timeout "${SECONDS_EACH:-300}" "$LOCKSTEP" run "$name.cu" $flags -- "${args[@]}" \
            >"$work/out" 2>"$work/err"
    status=${PIPESTATUS[1]}
    {
        [ "$status" -eq "${want:-0}" ] || echo "exit status $status, expected ${want:-0}"
        if [ $comparable = yes ] && [ ! -f "$name.expect" ]; then
            echo "there is no $name.expect: record it with scripts/gpu-record"
        elif [ $comparable = yes ]; then
            diff -u --label GPU --label lockstep "$name.expect" "$work/out" | head -n 60
        fi
    } >"$work/difference"
    if [ -s "$work/difference" ]; then
        {
            echo "not ok $name"
            sed 's/^/    /' "$work/difference"
            tail -n 12 "$work/err" | cut -c 1-300 | sed 's/^/    stderr: /'
        } >"$work/report"
    else
        echo "ok $name" >"$work/report"
    fi
    cat "$work/report"
    grep -q '^not ok' "$work/report"
    failed=$?
    rm -rf "$work"
    [ $failed -ne 0 ]
}
export -f field run_one skip why_not has_header is_old

# The slowest to compile first, so that the two jobs end together.
slow="thrust_algorithms|thrust_sort_sets|cub_device|cub_device_sort|cub_block|libcu"
if [ $# -gt 0 ]; then
    names=$(printf '%s\n' "$@" | sed 's/\.cu$//')
else
    names=$(programs . | grep -xE "$slow"; programs . | grep -vxE "$slow")
fi
# shellcheck disable=SC2086
printf '%s\n' $names | xargs -P "${JOBS:-2}" -I{} bash -c 'run_one {}'
[ $? -eq 0 ]
