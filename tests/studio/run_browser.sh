#!/bin/sh
# The studio's pages in a browser: what was made for them is fresh, and each tests/studio/browser_NAME.py
# and interactives_NAME.py prints "ok" and "not ok" lines. They need Debian's chromium, chromium-driver
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
for test in tests/studio/browser_*.py tests/studio/interactives_*.py; do
    [ ! -e "$test" ] || "$python" "$test" || status=1
done
exit $status
