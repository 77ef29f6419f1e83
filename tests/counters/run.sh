#!/bin/sh
# The machine's counters against those that ncu counted on an H200 (tests/counters/h200.tsv).
if ! scripts/get-nvcc --find >/dev/null; then
    echo "skip counters: there is no nvcc"
    exit 0
fi
exec scripts/gpu-counters check tests/counters/h200.tsv
