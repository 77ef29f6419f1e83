#!/bin/sh
# run.sh: each fuzz target for FUZZ_SECONDS (60), from its corpus; "ok NAME" if nothing was found.
# It is built by clang into build/fuzz. With the sanitizers' own run of the tests there is nothing to
# add: every target has them.
set -u
targets="ptx fatbin"
if [ -n "${LOCKSTEP_SANITIZED:-}" ]; then
    echo "ok fuzz (runs in the ordinary build)"
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
