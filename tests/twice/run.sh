#!/bin/bash
# run.sh: lockstep run --twice: does it say where two schedules part, and why? cases.cu has a program
# for each answer.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-$here/../../build}
LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep}
cd "$here" || exit 2
. ../expect.sh
NVCC=$(../../scripts/get-nvcc --find || echo none)
export NVCC
if [ "$NVCC" = none ]; then
    skip twice "there is no nvcc"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$LOCKSTEP" run cases.cu -- 0 >/dev/null || echo "not ok twice (cases.cu does not run)"

twice() { # CASE [OPTION...]
    local which=$1
    shift
    "$LOCKSTEP" run --twice "$@" cases.cu -- "$which" </dev/null 2>&1
}

expect same 0 'done.*the same twice: 2 launches' twice 0
expect same-other-seed 0 'the same twice.*random:7' twice 0 --schedule random:7
expect lost-update 1 'after launch 2, kernel count, in allocation #3 of 256 bytes: first at byte 20 .*likely a race; run .lockstep check.*stdout differs from line 1' twice 1
expect last-writer 1 'after launch 2, kernel last, in allocation #3 of 256 bytes: first at byte 8 .*likely a race' twice 2
expect missing-barrier 1 'after launch 3, kernel reverse, in allocation #2 of 4096 bytes' twice 3
expect rounding 1 'kernel sum, in variable total_sum.*rounding: the kernel adds f32 with atomics.*largest difference is [0-9.e-]+ \(relative [0-9.]+e-0[5-9]\)' twice 4
expect host 1 'differs before launch 2.*something other than a kernel' twice 5
expect output-only 1 'stdout differs from line 2 on, although device memory is the same' twice 6
expect input 0 '4 characters.*the same twice' sh -c "echo abc | '$LOCKSTEP' run --twice cases.cu -- 7 2>&1"
expect own-status 7 'the same twice' twice 8
expect json-race 1 '"same": false.*"kind": "race".*"launch": 2.*"kernel": "count".*"allocation": 3.*"offset": 20' twice 1 --json
expect json-rounding 1 '"kind": "rounding".*"variable": "total_sum".*"relative": ' twice 4 --json
expect json-same 0 '"same": true.*"memory": null' twice 0 --json
expect json-alone 2 'json goes with --twice' "$LOCKSTEP" run --json cases.cu
expect real-gpu 2 'needs a simulated GPU|no NVIDIA GPU' "$LOCKSTEP" run --twice --gpu cuda:0 cases.cu
