#!/bin/sh
# run.sh: each fuzz target on its seeds and on a fixed number of inputs made from them, the same each
# time (rounds.c); in the ordinary build and again with the sanitizers. `make fuzz` goes on from there
# with libFuzzer.
set -u
BUILD=${BUILD:-$PWD/build}
. scripts/fuzz-seeds
[ -z "${LOCKSTEP_SANITIZED:-}" ] || export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=1"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0
for target in tests/fuzz/fuzz_*.c; do
    name=$(basename "$target" .c)
    name=${name#fuzz_}
    # shellcheck disable=SC2046 # one file a word
    if output=$("$BUILD/tests/fuzz/rounds_$name" "${FUZZ_ROUNDS:-10000}" "$BUILD/crash-$name" \
        $(fuzz_seeds "$name" "$work" | while read -r folder; do find "$folder" -type f; done | sort) 2>&1); then
        echo "ok $name: $output"
    else
        printf 'not ok %s\n%s\n' "$name" "$(printf '%s\n' "$output" | tail -n 60)"
        status=1
    fi
done
exit $status
