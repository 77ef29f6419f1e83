#!/bin/bash
# Every variant of every family on the simulated GPU: on its edge problems, as nvcc and as clang
# compiled it, with misaligned buffers, with the checkers on (races, bounds, uninitialised reads),
# three times under random schedules, in which variants that claim to be deterministic must give the
# same bits, and enough launches that a memory leak would show.
# Each step takes a part of every variant's edge problems; 'make test-kernels' takes them all.
#   tests/kernels/run.sh [FAMILY...]    JOBS=2 side by side, KERNELS_ALL=1 all edge problems
set -u
cd "$(dirname "$0")/../.." || exit 1
export BUILD=${BUILD:-$PWD/build}
export LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep} PTX=${PTX:-$BUILD/ptx}
. tests/kernels/common.sh
KERNELS_ALL=${KERNELS_ALL:-}

checked() { # FAMILY OPTION...
    local output
    if output=$("$LOCKSTEP" check "$@" --gpu sim:h200 2>&1); then
        echo "ok check $1"
    else
        printf 'not ok check %s\n%s\n' "$1" "$(tail -n 30 <<<"$output" | sed 's/^/    /')"
    fi
}

# Most problems are solved with the checkers on. Each launch has another schedule
# (tests/simt/test_machine.c).
one() { # STEP FAMILY
    local sim="--gpu sim:h200" part=
    [ -n "${KERNELS_ALL:-}" ] || case $1 in
    check) part="--at-most 2" ;;
    clang) part="--at-most 3" ;;
    shift*) part="--at-most 2" ;;
    schedules) part="--at-most 2" ;;
    esac
    # shellcheck disable=SC2086
    case $1 in
    nvcc | clang)
        if [ ! -d "$PTX/$1" ]; then
            echo "skip $1 $2: there is no $1"
        elif [ -d "$PTX/$1/$2" ] || [ -n "${KERNELS_ALL:-}" ]; then # 'make test' has clang compile a sample
            zoo_test "$1" "$2" $sim --ptx "$PTX/$1" $part
        fi
        ;;
    shift*) zoo_test "misaligned by ${1#shift}" "$2" $sim --shift "${1#shift}" $part ;;
    schedules) LOCKSTEP_SCHEDULE=random:11 zoo_test schedules "$2" $sim --repeat 3 $part ;;
    launches) zoo_test launches "$2" $sim --launches 20 ;;
    check) checked "$2" $part ;;
    esac
}
export -f one checked zoo_test

# shellcheck disable=SC2046 # one word each
[ $# -gt 0 ] || set -- $(families)
# What takes longest comes first. The embedded kernels are nvcc's where there is one, so only a whole run
# needs a step for them. Unless it is a whole run, families take turns with the shifts, and every third has
# its schedules shuffled and is launched again and again.
turn=0
for step in schedules check ${KERNELS_ALL:+nvcc} clang shift launches; do
    for family; do
        turn=$((turn + 1))
        case $step$KERNELS_ALL in
        shift) echo "shift$((turn % 2 + 1)) $family" ;;
        schedules | launches) [ $((turn % 3)) -eq 0 ] || [ $# -eq 1 ] || continue; echo "$step $family" ;;
        shift*) printf '%s\n' "shift1 $family" "shift2 $family" ;;
        *) echo "$step $family" ;;
        esac
    done
done | xargs -P "${JOBS:-2}" -L 1 bash -c 'one "$0" "$1"'
# Of these families, those that have a variant for the CPU
# shellcheck disable=SC2046
set -- $(for family; do "$LOCKSTEP" zoo show "$family" --json | grep -q '"cpu": true' && echo "$family"; done)
[ $# -eq 0 ] || zoo_test cpu "$@" --gpu cpu
