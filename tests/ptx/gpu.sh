#!/bin/sh
# gpu.sh: the same tests on a real GPU, and random programs on both: "ok NAME" or "not ok NAME (why)".
#   BUILD=build tests/ptx/gpu.sh [--gpu cuda:0] [--programs N]     from the repository's root
# Needs what `make` has built and a driver (libcuda.so.1). make gpu-test calls it.
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
BUILD=$BUILD tests/ptx/run.sh --build || exit 1
status=0
"$BUILD/tests/ptx-runner" --gpu "$gpu" --allow-pending tests/ptx/*.ptx || status=1

digests=$(mktemp -d) || exit 1
trap 'rm -rf "$digests"' EXIT
"$BUILD/tests/random-ptx" --gpu sim:h200 --count "$programs" >"$digests/machine" || status=1
"$BUILD/tests/random-ptx" --gpu "$gpu" --count "$programs" >"$digests/gpu" || status=1
if cmp -s "$digests/machine" "$digests/gpu"; then
    echo "ok random/$programs programs"
else
    status=1
    diff "$digests/machine" "$digests/gpu" | sed -n 's/^> \([0-9]*\) .*/not ok random\/\1 (digest differs)/p'
fi
exit $status
