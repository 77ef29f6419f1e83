#!/bin/sh
# The studio's pages in a browser: each tests/studio/browser_NAME.py prints "ok" and "not ok" lines.
# With a word, WORD_NAME.py: see run_interactives.sh. They need Debian's chromium, chromium-driver
# and python3-selenium, which 'scripts/setup tests' gets; without them they are skipped. What a learner
# does in a lesson, replay and pictures of runs are tested here; LOCKSTEP_TEST_ALL=yes (make test-studio)
# adds the other pages, the site and the other pictures.
set -u

# Debian's packages are for Debian's Python, which need not be the first.
python=python3
for each in python3 /usr/bin/python3; do
    if "$each" -c 'import selenium' 2>/dev/null; then
        python=$each
        break
    fi
done
status=0
for test in tests/studio/"${1:-browser}"_*.py; do
    case ${LOCKSTEP_TEST_ALL:-}$test in
    tests/studio/browser_pages.py | tests/studio/browser_site.py | tests/studio/interactives_[!r]*.py) continue ;; # only among all
    esac
    "$python" "$test" || status=1
done
exit $status
