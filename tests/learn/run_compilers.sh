#!/bin/sh
# The grader with each of its compilers, clang, nvcc and NVRTC: the same verdicts on the same files. One
# exercise for each thing that compilers differ in: plain kernels, half and tensor cores, cp.async, FP8,
# TMA and wgmma, printf and the usual headers, an error that names its line.
set -u
. tests/expect.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" XDG_DATA_HOME="$work/data"
unset LOCKSTEP_PROGRESS LOCKSTEP_COURSE LOCKSTEP_GPU LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT \
    LOCKSTEP_PROFILE LOCKSTEP_CHECK LOCKSTEP_TRACE LOCKSTEP_SAMPLE
learn="$LOCKSTEP learn"

cat >"$work/add.cu" <<'CU'
#include <assert.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
__global__ void add(const float *a, const float *b, float *c, int n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < INT_MAX && FLT_MAX < INFINITY);
    if (i == 7 && n == 257)
        printf("thread %d, %g, %d\n", (int)i, __half2float(__float2half(0.5f)), abs(-3));
    if (i < n)
        c[i] = a[i] + b[i];
}
CU
sed 's/c\[i\] =/d[i] =/' "$work/add.cu" >"$work/unknown.cu"
sed 's/i < n)/i <= n)/' "$work/add.cu" >"$work/past.cu"

with() { # COMPILER
    for file in week1/day5_naive_matmul/coalesced week2/day4_pipelining/pipelined week2/day5_tma/blur \
        week2/day6_tensor_cores/fragments week2/day7_gemm/warpgroup week3/day5_online_softmax/online \
        week4/day1_fp8/to_fp8 week4/day3_int8_int4/int4; do
        name=$(basename "$file")
        expect "$1-$name" 0 '^passed' $learn check "$name" --compiler "$1" --seed 1 \
            --file "course/$file/solution.cu"
    done
    expect "$1-ordinary" 0 'passed.*printed: +thread 7, 0.5, 3' $learn check add --compiler "$1" \
        --file "$work/add.cu"
    expect "$1-does-not-compile" 1 'does not compile yet.*unknown.cu[:(]17[:)].*error' $learn check add \
        --compiler "$1" --file "$work/unknown.cu"
    expect "$1-out-of-bounds" 1 'past.cu:17: out of bounds' $learn check add --compiler "$1" \
        --file "$work/past.cu"
    expect "$1-no-barrier" 1 'race between warps' $learn check hot_line --compiler "$1" \
        --file course/week2/day1_profiling/hot_line/wrong/no_barrier.cu
    expect "$1-missing-fence" 1 'missing fence: the first warpgroup product' $learn check warpgroup \
        --compiler "$1" --file course/week2/day7_gemm/warpgroup/wrong/no_fence.cu
}

for compiler in clang nvcc nvrtc; do
    if $learn check add --compiler $compiler --file course/week1/day4_first_kernel/add/solution.cu \
        >"$work/first.txt" 2>&1; then
        with $compiler
    elif grep -q 'there is no' "$work/first.txt"; then
        skip "compiler-$compiler" "it is not here"
    else
        echo "not ok compiler-$compiler: $(cat "$work/first.txt")"
    fi
done
expect compiler-unknown 2 "clang, nvcc or nvrtc, not 'gcc'" $learn check add --compiler gcc
expect compiler-no-nvrtc 2 'there is no libnvrtc here: .pip install nvidia-cuda-nvrtc' \
    env NVRTC="$work/none.so" $learn check add --compiler nvrtc --file "$work/add.cu"
