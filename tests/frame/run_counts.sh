#!/bin/sh
# scripts/run-tests counts what ran, what failed and what was skipped, and never one for another: on
# made-up suites in a folder of their own.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/scripts" "$work/build"
cp "$root/scripts/run-tests" "$work/scripts/"
printf '#!/bin/sh\nexit 1\n' >"$work/scripts/get-nvcc"
chmod +x "$work/scripts/get-nvcc"
unset BUILD LOCKSTEP COUNTS LOCKSTEP_SANITIZED LOCKSTEP_TEST_SECONDS
cd "$work" || exit 1

suite() { # NAME TEXT: a suite that runs the text
    mkdir -p "tests/$1"
    printf '#!/bin/sh\n%s\n' "$2" >"tests/$1/run.sh"
    chmod +x "tests/$1/run.sh"
}
# counts NAME STATUS LAST-LINE SUITE...: the exit status and the last line
counts() {
    name=$1 status=$2 last=$3
    shift 3
    output=$(scripts/run-tests "$@" 2>&1)
    got=$?
    if [ $got -eq "$status" ] && [ "$(echo "$output" | tail -n 1)" = "$last" ]; then
        echo "ok $name"
    else
        echo "not ok $name: status $got, wanted $status; wanted '$last', got: $output"
    fi
}

suite pass 'echo ok one; echo ok two'
suite fail 'echo ok one; echo not ok two'
suite skip 'echo ok one; echo "skip two: no reason"'
suite all_skipped 'echo "skip one: no reason"'
suite silent 'exit 0'
suite early 'echo ok one; exit 3'
suite planned 'echo 1..3; echo ok 1 - one; echo ok 2 - two'
suite cmocka 'echo 1..2; echo "not ok 1 # SKIP one"; echo ok 2 - two'
suite hangs 'echo ok one; sleep 60'
counts passed 0 '2 passed, 0 failed' tests/pass
counts failed 1 '1 passed, 1 failed' tests/fail
counts skipped 0 '1 passed, 0 failed, 1 skipped' tests/skip
counts nothing-but-skips 0 '0 passed, 0 failed, 1 skipped' tests/all_skipped
counts prints-nothing 1 '0 passed, 1 failed' tests/silent
counts fails-without-a-word 1 '1 passed, 1 failed' tests/early
counts ends-before-its-plan 1 '2 passed, 1 failed' tests/planned
counts skip-of-cmocka 0 '1 passed, 0 failed, 1 skipped' tests/cmocka
counts sum 1 '4 passed, 1 failed, 1 skipped' tests/pass tests/fail tests/skip
counts no-such-suite 1 '0 passed, 0 failed' tests/absent
LOCKSTEP_TEST_SECONDS=1 counts takes-too-long 1 '1 passed, 1 failed' tests/hangs
expect names-what-was-skipped 0 'skip two: no reason 1 passed, 0 failed, 1 skipped *$' \
    scripts/run-tests tests/skip
expect names-what-failed 1 'not ok two 1 passed, 1 failed *$' scripts/run-tests tests/fail
# Two runs into one file of counts, as `make test` does.
expect first-of-two 0 '2 passed, 0 failed *$' env COUNTS="$work/counts" scripts/run-tests tests/pass
expect second-of-two 0 '3 passed, 0 failed, 1 skipped *$' \
    env COUNTS="$work/counts" scripts/run-tests tests/skip
