#!/bin/sh
# run.sh: builds the runner and runs every PTX test on the machine: "ok NAME" or "not ok NAME (why)".
#   BUILD=build tests/ptx/run.sh [--build | FILE.ptx ...]      from the repository's root
# First on sim:h200, then what needs a newer GPU on sim:b200, then the coverage of ops.def, then
# random programs, whose digests must not depend on instruction set, threads or schedule.
set -u
BUILD=${BUILD:-build}
CC=${CC:-gcc}
folder=tests/ptx
runner=$BUILD/tests/ptx-runner
random=$BUILD/tests/random-ptx
flags="-std=gnu11 -Isrc -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wno-unused-parameter"
[ -z "${LOCKSTEP_SANITIZED:-}" ] || flags="$flags -fsanitize=address,undefined"

build() { # PROGRAM SOURCE...
    program=$1
    shift
    for file in "$@" "$folder"/*.h "$folder"/*.def "$BUILD/libcuda.so.1"; do
        [ "$program" -nt "$file" ] || {
            mkdir -p "$BUILD/tests"
            # shellcheck disable=SC2086
            $CC $flags -o "$program" "$@" \
                "$BUILD"/obj/base/*.o "$BUILD"/obj/host/*.o "$BUILD"/obj/gpu/*.o "$BUILD"/obj/ptx/*.o \
                "$BUILD"/obj/simt/*.o "$BUILD"/obj/watch/*.o "$BUILD"/obj/check/*.o \
                "$BUILD"/obj/cuda/*.o "$BUILD"/obj/driver/*.o \
                -lzstd -llz4 -lm -ldl -lpthread && return
            echo "not ok $program (does not build)"
            exit 1
        }
    done
}

build "$runner" $folder/runner.c $folder/file.c $folder/compare.c $folder/coverage.c
build "$random" tests/gen/random_ptx.c tests/gen/random_program.c
[ "${1:-}" != --build ] || exit 0
if [ $# -gt 0 ]; then
    exec "$runner" --gpu "${LOCKSTEP_GPU:-sim:h200}" "$@"
fi
status=0
"$runner" --gpu sim:h200 $folder/*.ptx || status=1
"$runner" --gpu sim:b200 --above sm_90 $folder/*.ptx || status=1
failed=$(LOCKSTEP_ISA=v2 "$runner" --gpu sim:h200 --allow-pending $folder/*.ptx 2>&1 |
    sed -n 's/^not ok /not ok isa-v2: /p')
echo "${failed:-ok isa-v2 gives the same}"
[ -z "$failed" ] || status=1
"$runner" --coverage $folder/*.ptx || status=1
"$random" --compare --count "${RANDOM_PROGRAMS:-20}" || status=1
exit $status
