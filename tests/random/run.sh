#!/bin/bash
# run.sh: random CUDA programs, the same each time. Those of tests/gen/random_cuda.py compare the machine with
# the host's compiler; in those of random_sync.py `check` must be silent, and find each order that is left out.
#   FROM=1 TO=50 FUNCTIONS=12 KERNELS=6 tests/random/run.sh     more of them, with other seeds
set -u
BUILD=${BUILD:-$PWD/build}
LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep}
if ! scripts/get-nvcc --find >/dev/null; then
    echo "skip random: no nvcc"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

verdict() { # NAME WHY: ok if there is no reason
    if [ -z "$2" ]; then
        echo "ok random/$1"
    else
        echo "not ok random/$1: $2"
        failed=1
    fi
}

# Half of them without optimisation, which calls functions and keeps variables in memory.
compare_with_host() { # SEED
    local flags=()
    [ $(($1 % 2)) = 1 ] || flags=(-G)
    python3 tests/gen/random_cuda.py "$1" "${FUNCTIONS:-6}" >"$work/host.cu"
    if "$LOCKSTEP" run "$work/host.cu" -fmad=false -Werror cross-execution-space-call "${flags[@]}" \
        -Xcompiler -ffp-contract=off >"$work/out" 2>&1; then
        verdict "host-$1" ""
    else
        verdict "host-$1" "status $?: $(tail -n 5 "$work/out")"
    fi
}

check_orders() { # SEED
    local counts count kernel=0 without status why=
    python3 tests/gen/random_sync.py "$1" "${KERNELS:-3}" >"$work/sync.cu"
    counts=$("$LOCKSTEP" run "$work/sync.cu" 2>"$work/err")
    [ -n "$counts" ] || why=$(head -n 5 "$work/err")
    for count in $counts; do
        for ((without = 0; without <= count; without++)); do
            "$LOCKSTEP" check "$work/sync.cu" -- $kernel $without >"$work/out" 2>&1
            status=$?
            [ $((status != 0)) = $((without != 0)) ] || why="$why kernel $kernel without $without: status $status;"
        done
        kernel=$((kernel + 1))
    done
    verdict "orders-$1" "$why"
}

for ((seed = ${FROM:-1}; seed <= ${TO:-1}; seed++)); do
    compare_with_host "$seed"
    check_orders "$seed"
done
exit $failed
