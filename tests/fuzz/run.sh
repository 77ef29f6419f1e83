#!/bin/sh
# run.sh: each fuzz target for FUZZ_SECONDS (20; make fuzz takes 60), from its corpus, with the same
# seed each time; "ok NAME" if nothing was found.
# It is built by clang into $BUILD/fuzz, with the sanitizers: not one of the suites that run again
# with them. It is skipped where no clang has libFuzzer.
set -u
BUILD=${BUILD:-$PWD/build}
if [ -z "$(make --no-print-directory print-FUZZ_CC)" ]; then
    for target in tests/fuzz/fuzz_*.c; do
        echo "skip $(basename "$target" .c): no clang here has libFuzzer (Debian: libclang-rt-19-dev)"
    done
    exit 0
fi
log=$(mktemp) || exit 1
FUZZ_SEED=1 FUZZ_SECONDS=${FUZZ_SECONDS:-20} make --no-print-directory "BUILD=$BUILD" fuzz >"$log" 2>&1
status=$?
for target in tests/fuzz/fuzz_*.c; do
    name=$(basename "$target" .c)
    # What libFuzzer prints at the end of a run that found nothing, after the target's name.
    if sed -n "/^fuzz: ${name#fuzz_} for/,/^fuzz: /p" "$log" |
        grep -q '^stat::number_of_executed_units: *[1-9]'; then
        echo "ok $name"
    else
        echo "not ok $name"
        status=1
    fi
done
[ $status -eq 0 ] || tail -n 60 "$log"
rm -f "$log"
exit $status
