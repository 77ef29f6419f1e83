#!/bin/bash
# Every variant of every family on the simulated GPU: on its edge problems, as nvcc and as clang
# compiled it, with misaligned buffers, with the checkers on (races, bounds, uninitialised reads), and ten times under random
# schedules, in which what claims to be deterministic must give the same bits.
set -u
cd "$(dirname "$0")/../.." || exit 1
LOCKSTEP=${LOCKSTEP:-build/lockstep}
families=$("$LOCKSTEP" zoo list --json | python3 -c 'import json, sys
for family in json.load(sys.stdin): print(family["name"])')

# "family/variant  right 3 problems" -> "ok WHAT family/variant"; the line after a wrong one says why.
as_tests() { # WHAT
    sed -n -e "s|^\([a-z0-9_]*/[a-z0-9_]*\)  *right .*|ok $1 \1|p" \
           -e "s|^\([a-z0-9_]*/[a-z0-9_]*\)  *WRONG.*|not ok $1 \1|p" \
           -e "s|^\([a-z0-9_]*/[a-z0-9_]*\)  *takes none.*|not ok $1 \1 (takes no edge problem)|p" \
           -e 's|^\(    .*\)|\1|p'
}

for family in $families; do
    for compiler in nvcc clang; do
        "$LOCKSTEP" zoo test "$family" --gpu sim:h200 --ptx "build/ptx/$compiler" | as_tests "$compiler"
    done
    LOCKSTEP_SCHEDULE=random:11 "$LOCKSTEP" zoo test "$family" --gpu sim:h200 --repeat 10 |
        as_tests schedules
    for shift in 1 2; do
        "$LOCKSTEP" zoo test "$family" --gpu sim:h200 --shift $shift | as_tests "misaligned by $shift"
    done
    if "$LOCKSTEP" check "$family" --gpu sim:h200 >/tmp/lockstep-kernels.$$ 2>&1; then
        echo "ok check $family"
    else
        echo "not ok check $family"
        tail -n 30 /tmp/lockstep-kernels.$$
    fi
    rm -f /tmp/lockstep-kernels.$$
done
"$LOCKSTEP" zoo test --gpu cpu | as_tests cpu
