#!/bin/sh
# run.sh: each fuzz target for FUZZ_SECONDS (60), from its corpus; "ok NAME" if nothing was found.
# It is built by clang into build/fuzz, and skipped where no clang has libFuzzer.
set -u
targets="ptx fatbin"
if [ -z "$(make --no-print-directory print-FUZZ_CC)" ]; then
    for target in $targets; do
        echo "skip fuzz_$target: no clang here has libFuzzer (Debian: libclang-rt-19-dev)"
    done
    exit 0
fi
log=$(mktemp) || exit 1
if make --no-print-directory fuzz >"$log" 2>&1; then
    for target in $targets; do
        echo "ok fuzz_$target"
    done
else
    tail -n 60 "$log"
    echo "not ok fuzz"
fi
rm -f "$log"
