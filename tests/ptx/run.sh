#!/bin/sh
# run.sh: runs every PTX test on the machine: "ok NAME" or "not ok NAME (why)". 'make unit' builds the
# runner.
#   BUILD=build tests/ptx/run.sh [FILE.ptx ...]      from the repository's root
# First on sim:h200, then what needs a newer GPU on sim:b200, then the coverage of ops.def, then
# random programs, whose digests must not depend on instruction set, threads or schedule.
set -u
BUILD=${BUILD:-build}
folder=tests/ptx
runner=$BUILD/tests/ptx/runner
random=$BUILD/tests/ptx/random
if [ $# -gt 0 ]; then
    exec "$runner" --gpu "${LOCKSTEP_GPU:-sim:h200}" "$@"
fi
status=0
"$runner" --gpu sim:h200 $folder/*.ptx || status=1
"$runner" --gpu sim:b200 --above sm_90 $folder/*.ptx || status=1
if output=$(LOCKSTEP_ISA=v2 "$runner" --gpu sim:h200 --allow-pending $folder/*.ptx 2>&1); then
    echo "ok isa-v2 gives the same"
else
    echo "not ok isa-v2: $(echo "$output" | grep -v '^ok ')"
    status=1
fi
"$runner" --coverage $folder/*.ptx tests/texture/forms.ptx || status=1
"$random" --compare --count "${RANDOM_PROGRAMS:-20}" || status=1
exit $status
