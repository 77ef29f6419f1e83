#!/bin/bash
# gpu.sh: the kernel library on a real GPU: every variant of every family on its edge problems, as
# nvcc and as clang compiled it, aligned and not, ten times each with the same bits where that is
# claimed; then a thousand launches of each, which must leave memory where it was. Prints "ok NAME"
# or "not ok NAME" lines; the exit status is 1 if one is not.
#   tests/kernels/gpu.sh [--gpu cuda:0] [--repeat 10] [--at-most 1000] [--launches 1000] [FAMILY...]
# Needs build/lockstep and build/ptx ('make all kernels'). make gpu-test calls it. Every family has
# a process of its own, JOBS (4) at a time: a fault takes the driver's context with it.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-$PWD/build}
export LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep} PTX=${PTX:-$BUILD/ptx}
. tests/kernels/common.sh

gpu=cuda:0
repeat=10
at_most=1000000
launches=1000
while [[ ${1-} == --* ]]; do
    case $1=${2-} in
    --gpu=?*) gpu=$2 ;;
    --repeat=?*) repeat=$2 ;;
    --at-most=?*) at_most=$2 ;;
    --launches=?*) launches=$2 ;;
    *)
        sed -n 's/^#   tests/usage: tests/p' "$0" >&2
        exit 2
        ;;
    esac
    shift 2
done
export gpu repeat at_most
# shellcheck disable=SC2046 # one word each
[ $# -gt 0 ] || set -- $(families)

one() { # COMPILER SHIFT FAMILY
    local what=$1
    [ "$2" -eq 0 ] || what="$1 misaligned by $2"
    zoo_test "$gpu $what" "$3" --gpu "$gpu" --ptx "$PTX/$1" --shift "$2" --repeat "$repeat" \
        --at-most "$at_most"
}
export -f one zoo_test

{
    for compiler in nvcc clang; do
        for shift in 0 1 2 3; do
            for family; do
                echo "$compiler $shift $family"
            done
        done
    done | xargs -P "${JOBS:-4}" -L 1 bash -c 'one "$0" "$1" "$2"'
    # By themselves: other processes take memory of the same GPU.
    for family; do
        zoo_test "$gpu $launches launches" "$family" --gpu "$gpu" --launches "$launches"
    done
} | {
    status=1 # nothing at all is no success
    wrong=0
    while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in
        "ok "*) status=0 ;;
        "not ok "*) wrong=1 ;;
        esac
    done
    [ $wrong -eq 0 ] && exit $status
    exit 1
}
