#!/bin/sh
# run.sh: texture and surface instructions against the answers of an H200 (h200.txt, digests; see
# texture_bits.c).
set -u
BUILD=${BUILD:-build}
exec "$BUILD/tests/texture/texture_bits" "$(dirname "$0")/h200.txt"
