#!/bin/sh
# gpu.sh: the same tests on a real GPU, and random programs on both: "ok NAME" or "not ok NAME (why)".
#   BUILD=build tests/ptx/gpu.sh [--gpu cuda:0] [--programs N]     from the repository's root
# Needs what `make all unit` has built and a driver (libcuda.so.1). make gpu-test calls it.
# Every file has a process of its own, eight at a time: a fault takes the driver's context with it.
set -u
BUILD=${BUILD:-build}
gpu=cuda:0
programs=200
while [ $# -gt 1 ]; do
    case $1 in
    --gpu) gpu=$2 ;;
    --programs) programs=$2 ;;
    *) echo "usage: tests/ptx/gpu.sh [--gpu cuda:0] [--programs N]" >&2; exit 2 ;;
    esac
    shift 2
done
results=$(mktemp -d) || exit 1
trap 'rm -rf "$results"' EXIT
status=0

printf '%s\n' tests/ptx/*.ptx | xargs -P 8 -I FILE sh -c \
    '"$1" --gpu "$2" --allow-pending "$4" >"$3/$(basename "$4").out" 2>&1' \
    sh "$BUILD/tests/ptx/runner" "$gpu" "$results" FILE || status=1
cat "$results"/*.out

"$BUILD/tests/ptx/random" --gpu sim:h200 --count "$programs" >"$results/machine" || status=1
"$BUILD/tests/ptx/random" --gpu "$gpu" --count "$programs" >"$results/gpu" || status=1
# The driver's optimiser is not always right: a program that differs is compared again without it.
differing=$(diff "$results/machine" "$results/gpu" | sed -n 's/^> \([0-9]*\) .*/\1/p')
for program in $differing; do
    plain=$("$BUILD/tests/ptx/random" --gpu "$gpu" --unoptimised --seed "$program" --count 1)
    if grep -qxF "$plain" "$results/machine"; then
        echo "# program $program: the driver's optimiser changes its result; without it both agree"
    else
        echo "not ok random/$program (the GPU gives ${plain#* })"
        status=1
    fi
done
[ $status -ne 0 ] || echo "ok random/$programs programs"
exit $status
