#!/bin/sh
# The machine's counters against those that ncu counted on an H200 (tests/counters/h200.tsv).
exec scripts/gpu-counters check tests/counters/h200.tsv
