#!/bin/sh
# run.sh: the PTX front end. good/*.ptx must parse; bad/*.ptx must fail with exactly the message in
# bad/*.expect; front_test.c looks at what was parsed. Builds its two programs itself, from
# src/ptx and src/base, because they need nothing else.
#   UPDATE=1 tests/ptx_front/run.sh    writes the .expect files anew (read the diff)
set -u
cd "$(dirname "$0")/../.." || exit 1
bin=${BUILD:-$PWD/build}/tests/ptx_front
flags="-std=gnu11 -O1 -g -Isrc -D_GNU_SOURCE -pthread -fno-strict-aliasing -ffp-contract=off
    -Wall -Wextra -Werror -Wno-unused-parameter"
[ -z "${LOCKSTEP_SANITIZED:-}" ] ||
    flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=all"
mkdir -p "$bin"
front="src/ptx/*.c src/base/*.c"
# shellcheck disable=SC2086
if ! ${CC:-cc} $flags tests/ptx_front/parse_files.c $front -o "$bin/parse_files" ||
    ! ${CC:-cc} $flags tests/ptx_front/front_test.c $front -lcmocka -o "$bin/front_test"; then
    echo "not ok ptx_front does not build"
    exit 1
fi

failed=0
for file in tests/ptx_front/good/*.ptx; do
    if "$bin/parse_files" -q "$file" >"$bin/out"; then
        echo "ok $file"
    else
        echo "not ok $file"
        cat "$bin/out"
        failed=1
    fi
done

cd tests/ptx_front/bad || exit 1
for file in *.ptx; do
    expect=${file%.ptx}.expect
    "$bin/parse_files" "$file" | sed 's/^FAIL //; $d' >"$bin/out"
    [ -z "${UPDATE:-}" ] || cp "$bin/out" "$expect"
    if cmp -s "$expect" "$bin/out"; then
        echo "ok $file"
    else
        echo "not ok $file"
        diff "$expect" "$bin/out"
        failed=1
    fi
done

CMOCKA_MESSAGE_OUTPUT=tap "$bin/front_test" || failed=1
exit $failed
