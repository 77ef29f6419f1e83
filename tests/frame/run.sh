#!/bin/sh
# The repository's own rules: folders include only the folders above them, every source says what
# it is for, files and functions are short, no file names a path of the machine it was written on,
# scripts can be run.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/frame/check_frame.py
