#!/bin/sh
# run.sh: the pages in a headless Chromium; one line "ok" or "not ok" for each test.
# The browser's Python module comes from Debian's package, which another python3 may not see.
cd "$(dirname "$0")" || exit 1
python=python3
"$python" -c 'import selenium' 2>/dev/null || python=/usr/bin/python3
status=0
for test in interactives_*.py; do
    "$python" "$test" || status=1
done
exit $status
