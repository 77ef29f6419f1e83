#!/bin/sh
# run.sh: the studio's pages: what was made for them is fresh, and what they compute and show is
# right. Each interactives_NAME.py prints "ok" and "not ok" lines. Browser tests need Debian's
# chromium, chromium-driver and python3-selenium; where there is no chromium they are skipped.
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
for test in tests/studio/interactives_*.py; do
    "$python" "$test" || status=1
done
exit $status
