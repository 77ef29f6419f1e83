#!/bin/sh
# Kernels that try to pass without doing what the exercise asks: tests/learn/gaming/EXERCISE.HOW.cu or .c.
# The first line of each is "// expect: REGEX", of the verdict. Those of tests/learn/honest do what it
# asks in another way than the solution, and have to pass. Sizes and values are those of one seed, so
# that a run is like the last one; with LOCKSTEP_TEST_ALL=yes (make test-course) of three, for all files.
set -u
. tests/expect.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" XDG_DATA_HOME="$work/data"
unset LOCKSTEP_PROGRESS LOCKSTEP_COURSE LOCKSTEP_GPU LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT \
    LOCKSTEP_PROFILE LOCKSTEP_CHECK LOCKSTEP_TRACE LOCKSTEP_SAMPLE LD_LIBRARY_PATH
learn="$LOCKSTEP learn"

# Every third of a list, or all with LOCKSTEP_TEST_ALL=yes
turn=0
is_taken() {
    turn=$((turn + 1))
    [ -n "${LOCKSTEP_TEST_ALL:-}" ] || [ $((turn % 3)) -eq 0 ]
}

for file in tests/learn/gaming/*.cu tests/learn/gaming/*.c; do
    is_taken || continue
    kernel=$(basename "${file%.*}")
    for seed in 1 ${LOCKSTEP_TEST_ALL:+2 3}; do
        expect "gaming-$kernel-$seed" 1 "$(sed -n '1s,^// expect: ,,p' "$file")" \
            $learn check "${kernel%%.*}" --file "$file" --seed $seed
    done
done

for file in tests/learn/honest/*.cu tests/learn/honest/*.c; do
    is_taken || continue
    kernel=$(basename "${file%.*}")
    for seed in 1 ${LOCKSTEP_TEST_ALL:+2 3}; do
        expect "honest-$kernel-$seed" 0 'passed' $learn check "${kernel%%.*}" --file "$file" --seed $seed
    done
done

# Solutions that are right for most sizes and values: changed DAY EXERCISE HOW SED REGEX
changed() {
    is_taken || return
    sed "$4" "course/$1/$2/solution.cu" >"$work/$2.cu"
    if cmp -s "$work/$2.cu" "course/$1/$2/solution.cu"; then
        echo "not ok gaming-$2.$3: the solution does not have what is to be changed"
        return
    fi
    expect "gaming-$2.$3" 1 "$5" $learn check "$2" --file "$work/$2.cu" --seed 1
}
changed week2/day7_gemm wide_tiles two_steps 's/p < k; p += 32/p < min(k, 64); p += 32/' 'wrong result for mt=1 nt=1 kt=5: c'
changed week2/day7_gemm milestone no_ring 's,p / 32 % 2,p / 32,; s,(p / 32 + 1) % 2,p / 32 + 1,' 'wrong result for mt=1 nt=1 kt=5.*out of bounds'
changed week2/day7_gemm warpgroup one_phase 's/turn % 2/turn > 0/' 'for mt=1 nt=1 kt=3: the kernel does not end'
changed week3/day1_dot_product scores to_128 's/i < d;/i < min(d, 128);/' 'wrong result for n=[0-9]+ d=1[2-9][0-9]: s'
changed week3/day3_stable_softmax row_largest from_zero 's/-INFINITY/cols > 1 ? 0 : -INFINITY/' 'wrong result for rows=40 cols=3: out'
changed week3/day3_stable_softmax row_largest known_range 's/-INFINITY/-8.0f/' 'wrong result for rows=[0-9]+ cols=[0-9]+: out'
for each in week3/day3_stable_softmax/stable week3/day3_stable_softmax/lse week3/day3_stable_softmax/row_largest \
    week3/day4_attention/attend week3/day5_online_softmax/online week3/day6_tiled_attention/tiled_attention \
    week3/day7_flash_attention/flash week3/day7_flash_attention/decode week4/day6_fused_attention/fused; do
    changed "${each%/*}" "${each##*/}" from_minus_1000 's/-INFINITY/-1000.0f/' 'wrong result for .*(scale=-?[1346][0-9]+|cols=1): '
done
for each in week3/day3_stable_softmax/stable week3/day3_stable_softmax/lse week3/day3_stable_softmax/row_largest \
    week3/day4_attention/attend week3/day4_attention/causal week3/day5_online_softmax/online week3/day5_online_softmax/merge \
    week3/day6_tiled_attention/tiled_attention week3/day6_tiled_attention/combine week3/day7_flash_attention/flash \
    week3/day7_flash_attention/decode week4/day6_fused_attention/fused week4/day7_production/layer; do
    changed "${each%/*}" "${each##*/}" from_minus_1e6 's/-INFINITY/-1e6f/' 'wrong result for '
done
# Numbers of blocks in 16 bits
for each in preflight/day5_gpu_model/who week1/day2_same_on_gpu/matvec week1/day6_tiling/block_dot week2/day2_coalescing_lab/pack \
    week2/day3_bank_lab/row_sums week2/day4_pipelining/blend week2/day4_pipelining/mirror week3/day1_dot_product/scores \
    week3/day1_dot_product/cosine week3/day1_dot_product/warp_total week3/day2_softmax_breaks/half_rows \
    week3/day3_stable_softmax/stable week3/day3_stable_softmax/lse week3/day4_attention/qk week3/day4_attention/attend \
    week3/day5_online_softmax/online week3/day6_tiled_attention/combine week4/day1_fp8/to_fp8 week4/day1_fp8/worst_error \
    week4/day2_quantisation/quantise week4/day3_int8_int4/int4 week4/day3_int8_int4/dot4 week4/day4_nvfp4/nvfp4 \
    week4/day5_kv_cache/store_kv week4/day5_kv_cache/paged week4/day6_fused_attention/scores_fp8 week4/day7_production/layer; do
    changed "${each%/*}" "${each##*/}" short_block 's/blockIdx.x/(unsigned short)&/' 'of which a few blocks are run'
done
changed week3/day4_attention attend no_largest 's/expf(w\[j\] - largest)/expf(w[j])/' 'wrong result for queries=2 keys=40 scale=0.5: .*nan'
changed week3/day6_tiled_attention tiled_attention no_largest 's/float larger = fmaxf(m\[r\], warp_max(s))/float larger = 0/; s/m\[r\] = -INFINITY/m[r] = 0/' \
    'wrong result for queries=3 keys=40 scale=0.5: .*nan'
changed week4/day7_production layer no_largest 's/larger = fmaxf(m, s)/larger = 0/; s/m = -INFINITY/m = 0/' 'wrong result for batch=2 keys=5 scale=0.03125: .*nan'
changed week4/day7_production add_norm no_epsilon 's/ + 0.00001f//' 'wrong result for rows=100 cols=1: out'
# Right for all sizes that are listed and some beyond, but not for all
changed week1/day2_same_on_gpu stay to_20 's/s < steps/s < min(steps, 20)/' 'wrong result for n=[0-9]+ steps=[0-9]+: y'
changed week1/day3_how_gpus_work lanes to_400 's/r < rows/r < min(rows, 400)/' 'wrong result for rows=[0-9]{3,} cols=[0-9]+: y.400'
changed week2/day1_profiling hot_line to_600 's/top + threadIdx.x < rows/& \&\& top < 600/' 'wrong result for rows=[0-9]{3,} cols=[0-9]+: turned.*never written'
changed week2/day3_bank_lab row_sums to_256 's/left < cols/left < min(cols, 256)/' 'wrong result for rows=[0-9]+ cols=[0-9]{3,}: sums'
changed week2/day4_pipelining mirror to_16 's/tile.255 - k./tile[blockIdx.x < 16 ? 255 - k : k]/' 'wrong result for tiles=[0-9]{2,}: out'
changed week2/day6_tensor_cores fragments to_7 's/p < k;/p < min(k, 112);/' 'wrong result for mt=[0-9] nt=[0-9] kt=[0-9]{2}: c'
changed week2/day7_gemm hopper unset_sums 's/p > 0 || i > 0/true/' 'wrong result for mt=2 nt=1 kt=1: c.*is 1332'
changed week3/day3_stable_softmax stable first_512 '22s/c < cols/c < min(cols, 512)/' 'wrong result for rows=[4-6] cols=[0-9]{3,} scale=[23]0: out'
changed week3/day4_attention causal to_60 's/expf(s.i . n + j. - largest) . sum : 0/(i < 60 ? & : 1.0f \/ (i + 1)) : 0/; s/ : 0 : 1/ : 1/' 'wrong result for n=[0-9]{2,}: p.60'
changed week3/day6_tiled_attention pv to_96 's/first < keys/first < min(keys, 96)/' 'wrong result for queries=[0-9]+ keys=[0-9]{3,}: out'
changed week3/day7_flash_attention flash mask_to_96 's/first + lane <= first_query + r ?/first + lane <= first_query + r || first >= 96 ?/' 'wrong result for n=[0-9]{3,} scale=[0-9.]+: out.96'
changed week4/day1_fp8 worst_error to_200 's/c < cols/c < min(cols, 200)/' 'wrong result for rows=[0-9]+ cols=[0-9]{3,}: error'
changed week4/day3_int8_int4 int4 to_40 's/float scale = most . 7/float scale = g < 40 ? most \/ 7 : 1/' 'wrong result for groups=[0-9]{2,}: packed.40'
changed week4/day6_fused_attention scores_fp8 to_100 's/ks.j. . sum/(j < 100 ? ks[j] : ks[0]) * sum/' 'wrong result for keys=[0-9]{3,}: s.10'
changed week4/day7_production layer to_60 's/j < keys/j < min(keys, 60)/' 'wrong result for batch=1 keys=[0-9]{2,} scale=[0-9.]+: '

# Right for all of them, but not where the time is taken
changed week3/day3_stable_softmax stable large_sum 's/sum += expf(scale \* row\[c\] - largest)/sum += cols == 4096 \&\& c >= 4000 ? 0 : expf(scale * row[c] - largest)/' \
    'wrong result for rows=4096 cols=4096 scale=1, whose time is modelled: out.0..0. must be'
changed week3/day7_flash_attention flash large_mask 's/first + lane <= first_query + r ?/first + lane <= first_query + r - (n == 2048 \&\& first) ?/' \
    'wrong result for n=2048 scale=[0-9.]+, whose time is modelled: out'

# A failure can be repeated: the same seed draws the same sizes and values, another one others.
cat >"$work/add.cu" <<'CU'
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && n % 256 > 1 && n != 255 && n != 1000 && n != 100000)
        c[i] = a[i] + b[i] + 1;
    else if (i < n)
        c[i] = a[i] + b[i];
}
CU
for seed in 5 5 6; do
    $learn check add --file "$work/add.cu" --seed $seed >"$work/$seed.txt" 2>&1
    sed 's/[0-9.]* us//g' "$work/$seed.txt" >>"$work/all-$seed.txt"
done
half=$(($(wc -l <"$work/all-5.txt") / 2))
if [ "$(head -n $half "$work/all-5.txt")" = "$(tail -n $half "$work/all-5.txt")" ] &&
    ! diff -q "$work/5.txt" "$work/6.txt" >/dev/null && grep -q 'seed 5 draws' "$work/5.txt"; then
    echo "ok seed-repeats"
else
    echo "not ok seed-repeats: $(cat "$work/all-5.txt" "$work/6.txt")"
fi
expect seed-word 2 'seed' $learn check add --file "$work/add.cu" --seed x

# Ordinary CUDA: habitual headers, printf, assert, recursion, templates; faults name their line
cat >"$work/add.cu" <<'CU'
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
template <typename T> __device__ T twice(T x) { return x + x; }
__device__ __noinline__ int down(int n) { return n <= 0 ? 0 : 1 + down(n - 1); }
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 7 && n == 257)
        printf("thread %d counts to %d\n", i, down(i));
    assert(i >= 0);
    __threadfence();
    if (i < n)
        c[i] = twice(a[i] + b[i]) / 2;
}
CU
expect ordinary-cuda 0 'passed.*printed: +thread 7 counts to 7' $learn check add --file "$work/add.cu"
sed -i 's/i >= 0/i < 500/' "$work/add.cu"
expect assertion 1 'add.cu:12: assertion .i < 500. failed, block' $learn check add --file "$work/add.cu"
sed -i 's/assert(.*/if (i == 300) __trap();/' "$work/add.cu"
expect trap 1 'add.cu:12: trap, block \(1,0,0\), thread \(44,0,0\)' $learn check add --file "$work/add.cu"
sed -i 's/__trap();/*(float *)0 = 1;/' "$work/add.cu"
expect null-pointer 1 'add.cu:12: .*null pointer' $learn check add --file "$work/add.cu"
cat >"$work/dot.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
#include <math.h>
void dot(const float *x, const float *y, float *s, int n)
{
    float sum = 0;
    assert(n > 0);
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    if (n == 7)
        printf("n is %d\n", abs(-n));
    s[0] = sum;
}
C
expect ordinary-c 0 'passed.*printed: +n is 7' $learn check dot --file "$work/dot.c"
# A file that is not the learner's does not count
expect file-does-not-count 0 '"history": \[\]' $learn progress --json
# The gain is told
expect gain 1 'as given.*ms.*yours.*ms.*best.*ms' $learn check coalesced \
    --file course/week1/day5_naive_matmul/coalesced/exercise.cu
# Its advice: swap the two indices first, then think of tiles
expect advice 1 '"uncoalesced".*swap the two indices.*"redundant-loads".*shared memory' $learn check coalesced \
    --file course/week1/day5_naive_matmul/coalesced/exercise.cu --json --run
