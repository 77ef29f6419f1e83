#!/bin/sh
# run.sh: pages that are made from the code are up to date (`make docs` makes them again), and every
# kernel that a page or a help text names is in the library.
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

families=$(ls kernels | tr '\n' '|' | sed 's/|$//')
named=$({
    cat README.md CONTRIBUTING.md docs/*.md kernels/*/README.md
    for command in run profile check zoo bench tune roofline gpus learn studio doctor; do
        "$BUILD/lockstep" "$command" --help
    done
} | grep -oE "(^|[ \`(])($families)/[a-z_0-9]+([^./a-z_0-9]|\$)" | sed -E 's/^[ `(]//; s/[^a-z_0-9]$//' | sort -u)
missing=
for name in $named; do
    "$BUILD/lockstep" zoo show "$name" >/dev/null 2>&1 || missing="$missing $name"
done
if [ -n "$named" ] && [ -z "$missing" ]; then
    echo "ok kernels that pages and help name"
else
    echo "not ok kernels that pages and help name (not in the library:$missing)"
fi
