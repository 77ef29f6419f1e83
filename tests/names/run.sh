#!/bin/bash
# run.sh: kernels/include/cuda_names.h gives clang what nvcc knows by itself. names.cu uses every
# name; both compilers' PTX runs on the simulated machine and must store the same. Where a result
# cannot tell (fences, cache hints), the instructions themselves are compared. The functions of
# <math.h> are in math.cu and compared with the host's. A name that is in the header but in neither
# is an error.
#   BUILD=build tests/names/run.sh     from the repository's root
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-$PWD/build}
NVCC=$(scripts/get-nvcc --find || true)
CLANG=$(scripts/find-clang || true)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if [ -z "$NVCC" ] || [ -z "$CLANG" ]; then
    echo "skip names: needs both nvcc and clang"
    exit 0
fi

source=tests/names/names.cu
header=kernels/include/cuda_names.h
# As the kernels are compiled, up to the architecture.
clang_flags=$(sed -n 's/^CLANG("\(.*\)")$/\1/p' src/toolchain/ptx_command.def |
    grep -v '{\|^-include$\|^-S$\|^-O3$\|^-gline\|^-Wno-taut')
flags="-ptx -O3 -std=c++17 -arch=compute_90"
compile() {
    # shellcheck disable=SC2086
    "$NVCC" $flags -o "$work/nvcc.ptx" $source &&
        "$NVCC" $flags -include $header -o "$work/with.ptx" $source &&
        "$CLANG" $clang_flags -S -O3 -Wall -Werror --cuda-gpu-arch=sm_90 -include $header \
            -o "$work/clang.ptx" $source &&
        "$CLANG" $clang_flags -S -O3 -Wall -Werror --cuda-gpu-arch=sm_75 -include $header \
            -Ikernels/include -o "$work/math.ptx" tests/names/math.cu &&
        for runner in run_ptx run_math; do
            "${CC:-gcc}" -std=gnu11 -O1 -Wall -Wextra -o "$work/$runner" tests/names/$runner.c \
                "$BUILD/libcuda.so.1" -Wl,-rpath,"$BUILD" -lm || return 1
        done
}
if ! compile; then
    echo "not ok names (does not compile)"
    exit 1
fi

status=0
tell() { # NAME COMPLAINT
    if [ -z "$2" ]; then
        echo "ok $1"
    else
        printf 'not ok %s\n%s\n' "$1" "$2"
        status=1
    fi
}

LOCKSTEP_GPU=sim:h200 "$work/run_ptx" "$work/nvcc.ptx" "$work/clang.ptx" >"$work/out" || status=1
grep 'ok names' "$work/out"
LOCKSTEP_GPU=sim:h200 "$work/run_math" "$work/math.ptx" || status=1
tell printf "$([ "$(grep -c '^12 printed$' "$work/out")" -eq 2 ] || cat "$work/out")"

tell "nothing for nvcc" "$(diff "$work/nvcc.ptx" "$work/with.ptx" | head -n 5)"

# By itself clang asks an installed toolkit which PTX to write.
# shellcheck disable=SC2086
"$CLANG" $clang_flags -S -O3 --cuda-gpu-arch=sm_90 --cuda-path="$work/no_toolkit" -include $header \
    -o "$work/bare.ptx" $source 2>"$work/bare.err"
tell "without a toolkit" "$(cat "$work/bare.err"; diff "$work/clang.ptx" "$work/bare.ptx" 2>&1 |
    head -n 5)"

for arch in 75 80; do
    # shellcheck disable=SC2086
    tell "alone on sm_$arch" "$("$CLANG" $clang_flags -S -O1 -Wall -Wextra --cuda-gpu-arch=sm_$arch \
        -include $header -o /dev/null -x cuda /dev/null 2>&1)"
done

# shellcheck disable=SC2086
"$CLANG" $clang_flags -E -P --cuda-gpu-arch=sm_90 -include $header -x cuda /dev/null |
    grep -o '\(always_inline)) *[a-z0-9 ]*[ *]\|device)) int \)[A-Za-z_0-9]\+(' |
    sed 's/.*[ *]\([A-Za-z_0-9]*\)($/\1/' | grep -v '^lk_\|__attribute__' | sort -u >"$work/names"
[ "$(wc -l <"$work/names")" -gt 200 ] || echo "too few names" >"$work/missing"
while read -r name; do
    # Names made of parts: make_int4, __fadd_rn and atomicAdd are there as such or as a stem.
    stem=${name%_r[nzud]}
    case $name in
    make_*)
        stem=${name#make_}
        stem="VECTORS(${stem%[1-4]}"
        ;;
    esac
    # run_math compares these with the host's.
    grep -q -e "(${name%f}, " -e "($name, " kernels/include/cuda_math_list.h && continue
    grep -q "\b${name}\b" $source tests/names/math.cu || grep -q "\b${stem}\b" $source ||
        grep -q "BOTH2\?(${name%f})" $source || echo "$name"
done <"$work/names" >>"$work/missing"
tell "every name is used" "$(cat "$work/missing")"

# For each kernel, the instructions whose results alone say too little.
instructions() { # FILE
    awk '/\.visible \.entry/ { sub(/\(.*/, "", $3); kernel = $3 }
        match($0, /^[ \t]+(@%p[0-9]+ )?(membar|griddepcontrol|nanosleep|bar\.(sync|warp|red)|shfl\.sync|vote\.sync|match\.a|redux\.sync|activemask|(ld|st)\.global\.(nc|c[agsv]|lu|w[bt])|atom)[.a-z0-9_]*/) {
            word = substr($0, RSTART, RLENGTH)
            sub(/.*[ \t]/, "", word)
            gsub(/\.(global|shared)/, "", word)
            sub(/add\.s/, "add.u", word)
            print kernel, word
        }' "$1" | sort -u
}
instructions "$work/nvcc.ptx" >"$work/wanted"
instructions "$work/clang.ptx" >"$work/got"
[ -s "$work/wanted" ] || echo "no instructions found" >"$work/wanted"
tell "the same instructions" "$(diff "$work/wanted" "$work/got" | head -n 20)"
exit $status
