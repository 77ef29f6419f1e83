#!/bin/sh
# run.sh: pages that are made from the code are up to date. `make docs` makes them again.
set -u
BUILD=${BUILD:-build}
page=$(mktemp) || exit 1
trap 'rm -f "$page"' EXIT
if "$BUILD/tests/docs/instructions" >"$page" && diff -u docs/instructions.md "$page" | head -n 20 &&
    cmp -s docs/instructions.md "$page"; then
    echo "ok docs/instructions.md"
else
    echo "not ok docs/instructions.md (stale: run make docs)"
fi
if words=$(scripts/course-times --check); then
    echo "ok docs/instructors.md"
else
    echo "not ok docs/instructors.md ($words)"
fi
