#!/bin/sh
# The interactives: the runs that are shipped for them are fresh; what they compute and show.
scripts/make-runs --check
exec tests/studio/run_browser.sh interactives
