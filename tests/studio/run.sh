#!/bin/sh
# 'lockstep studio' from outside: which requests are allowed, what the pages and the API answer, and
# that no work of the learner's is lost. No times are compared.
exec python3 "$(dirname "$0")/studio.py"
