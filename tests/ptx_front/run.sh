#!/bin/sh
# run.sh: the PTX front end. good/*.ptx must parse; bad/*.ptx must fail with exactly the message in
# bad/*.expect; test_front.c looks at what was parsed.
# Forms of all instructions are compared with ptxas (compare_ptxas.py), where there is one:
# FORMS=60 of each row take a minute and a half.
#   UPDATE=1 tests/ptx_front/run.sh    rewrites the .expect files (read the diff)
set -u
cd "$(dirname "$0")/../.." || exit 1
bin=${BUILD:-$PWD/build}/tests/ptx_front
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

cd ../../.. || exit 1
ptxas=$(dirname "$(scripts/get-nvcc --find)")/ptxas
if "$ptxas" --version 2>/dev/null | grep -q 'release 13\.0'; then
    PATH=$(dirname "$ptxas"):$PATH python3 tests/ptx_front/compare_ptxas.py "$bin/try_lines" \
        --count "${FORMS:-8}" --seed "${FORMS_SEED:-1}" || failed=1
else
    echo "skip ptx_front/forms: no ptxas 13.0"
fi
exit $failed
