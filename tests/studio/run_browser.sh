#!/bin/sh
# The studio's pages: what was made for them is fresh, and each tests/studio/NAME.py but pages.py, which
# they share, prints "ok" and "not ok" lines. Browser tests need Debian's chromium, chromium-driver
# and python3-selenium; where there is no chromium they say that they are skipped.
set -u
scripts/make-runs --check

# Debian's packages are for Debian's Python, which need not be the first.
python=python3
for each in python3 /usr/bin/python3; do
    if "$each" -c 'import selenium' 2>/dev/null; then
        python=$each
        break
    fi
done
status=0
for test in tests/studio/*.py; do
    [ "$test" = tests/studio/pages.py ] && continue
    "$python" "$test" || status=1
done
exit $status
