#!/bin/sh
# The machine's counters against those that ncu counted on an H200 (tests/counters/h200.tsv): of access
# patterns and Hopper's units, or all with COUNTERS_ALL=1 ('make test-counters').
if ! scripts/get-nvcc --find >/dev/null; then
    echo "skip counters: there is no nvcc"
    exit 0
fi
parts="patterns hopper"
[ -z "${COUNTERS_ALL:-}" ] || parts=
# shellcheck disable=SC2086 # a word each
exec scripts/gpu-counters check tests/counters/h200.tsv $parts
