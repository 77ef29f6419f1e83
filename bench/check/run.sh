#!/bin/bash
# run.sh: how fast the machine is with the checker on: the kernels of bench/machine, one thread.
# The bench fills its arrays past the driver, so the checker also reports uninitialised reads, once
# for each instruction: that costs next to nothing.
#   bench/check/run.sh [--quick] [--only KERNEL]    what bench/machine/run.sh takes
set -eu
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT
LOCKSTEP_CHECK=$findings "$(dirname "$0")/../machine/run.sh" "$@"
