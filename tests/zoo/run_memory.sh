#!/bin/bash
# 'lockstep zoo memory' from outside.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/expect.sh
LOCKSTEP=${LOCKSTEP:-${BUILD:-$PWD/build}/lockstep}

# Naive attention keeps a float for each pair (16 heads of 128 K by 128 K: 1 TiB), the others' memory does
# not grow with the square, and nothing of this size is allocated.
set -- zoo memory attention heads=16 queries=1K,128K keys=128K --gpu sim:h200
expect zoo-memory 0 \
    'queries=1K +1.01 GiB +8 GiB +0 +0 +0 +([0-9.]+ MiB) queries=128K +2 GiB +1 TiB +0 +0 +0 +\1 ' "$LOCKSTEP" "$@"
expect zoo-memory-json 0 '"naive": 8589934592.*"naive": 1099511627776' "$LOCKSTEP" "$@" --json
expect zoo-memory-other-gpu 0 'No variant takes this' "$LOCKSTEP" zoo memory attention --gpu sim:t4
expect zoo-memory-which 2 'which family' "$LOCKSTEP" zoo memory
expect zoo-memory-bad 2 'goes from 0' "$LOCKSTEP" zoo memory scan n=-1
