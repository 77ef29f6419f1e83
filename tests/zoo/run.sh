#!/bin/bash
# The kernel library from outside: 'lockstep tune' with a small search space, the table that it
# writes and the calls that read it; 'make install', pkg-config and the examples.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/expect.sh
BUILD=${BUILD:-$PWD/build}
LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME="$work/data" HOME="$work/home" TMPDIR="$work"
export LOCKSTEP_GPU=sim:h200
unset LD_LIBRARY_PATH PKG_CONFIG_PATH
tuned=$XDG_DATA_HOME/lockstep/tuned
table=$tuned/sim-nvidia-h200.json

# The examples as a program's build would make them, from an installed library.
prefix=$work/usr
expect install 0 '' make --no-print-directory install-only "BUILD=$BUILD" "PREFIX=$prefix"
expect install-files 0 '' ls "$prefix/bin/lockstep" "$prefix/include/lockstep.h" \
    "$prefix/lib/liblockstep.so" "$prefix/lib/lockstep/libcuda.so.1" \
    "$prefix/lib/pkgconfig/lockstep.pc" "$prefix/share/doc/lockstep/api.md"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
expect pkg-config 0 "^$("$LOCKSTEP" --version | cut -d' ' -f2) *\$" pkg-config --modversion lockstep
# The sanitizers' libraries must come first in a program that loads a sanitized library.
flags="${LOCKSTEP_SANITIZED:+-fsanitize=address,undefined}"
for source in examples/*.c; do
    # shellcheck disable=SC2046,SC2086 # several words each
    expect "build $source" 0 '^ *$' gcc -std=c11 -Wall -Wextra -Werror -pedantic $flags "$source" \
        -o "$work/$(basename "$source" .c)" $(pkg-config --cflags --libs lockstep) -lm \
        -Wl,-rpath,"$prefix/lib"
done
echo '#include <lockstep.h>
int main() { return lk_status_text(LK_OK) == nullptr; }' >"$work/plus.cpp"
# shellcheck disable=SC2046,SC2086
expect c++ 0 '^ *$' g++ -std=c++17 -Wall -Wextra -Werror -pedantic $flags "$work/plus.cpp" \
    -o "$work/plus" $(pkg-config --cflags --libs lockstep) -Wl,-rpath,"$prefix/lib"
expect c++-runs 0 '^ *$' "$work/plus"
expect installed-command 0 '1 variants? right' "$prefix/bin/lockstep" zoo test elementwise/naive n=5
expect too-old 1 "needs sm_90; .*0 variants right, 1 wrong *\$" \
    "$LOCKSTEP" zoo test elementwise/bulk n=5 --gpu sim:t4
# It starts itself by a bare name: where that is must not hang on the folder.
deep=$work/a_folder_whose_path/is_longer_than/that_of_the_program/by_far/and_even_more
mkdir -p "$deep"
expect installed-profile 0 '"kernels": ' \
    sh -c 'cd "$1" && "$2" profile elementwise/naive n=5 --json' sh "$deep" "$prefix/bin/lockstep"
expect installed-course 0 'week1/day4_first_kernel' \
    env LOCKSTEP_PROGRESS="$work/progress.db" "$prefix/bin/lockstep" learn list

# The figures of kernels/calibration/README.md
expect outliers 0 '50 times as large .*largest number +3.77 +11.07 +11.71 .*rotation +0.48 .*AWQ channel scales +1.49 +6.30' \
    "$work/outliers"
expect example 0 'NVIDIA H200 \(simulated\).*sum is 499500, the largest is at 321' "$work/reduce"
expect example-default 0 'on .*the sum is 5.355,' env -u LOCKSTEP_GPU "$work/reduce" 10
expect example-none 0 'the sum is 0, the largest is at -1' "$work/reduce" 0
expect example-negative 1 'lk_reduce_sum_f32: n is -5; it goes from 0' "$work/reduce" -5
expect example-bad-gpu 1 "did you mean 'sim:h200'" env LOCKSTEP_GPU=sim:h20 "$work/reduce"
expect example-under-run 0 'sum is 499500' env LD_LIBRARY_PATH="$BUILD" "$work/reduce"

# In a program that uses CUDA, its memory and streams
expect with-cuda 0 'half the sum is 22500: fine.*no context is current.*with one: 45000: fine.*host memory: an argument is wrong.*no error' \
    "$LOCKSTEP" run tests/zoo/with_cuda.cu -std=c++17 "-I$prefix/include" "-L$prefix/lib" -llockstep \
    -Xlinker "-rpath,$prefix/lib"
expect with-cuda-checked 0 '0 errors' \
    "$LOCKSTEP" check tests/zoo/with_cuda.cu -std=c++17 "-I$prefix/include" "-L$prefix/lib" -llockstep \
    -Xlinker "-rpath,$prefix/lib"

# tune: words
expect tune-help 0 'usage: [^ ]*lockstep tune' "$LOCKSTEP" help tune
expect tune-which 2 'which family' "$LOCKSTEP" tune
expect tune-near 2 "did you mean 'reduction'" "$LOCKSTEP" tune reductoin
expect tune-variant 2 "did you mean 'reduction/vectorised'" "$LOCKSTEP" tune reduction/vectorized
expect tune-number 2 'n=x is not a number' "$LOCKSTEP" tune reduction n=x
expect tune-time 2 'seconds above 0' "$LOCKSTEP" tune reduction --time 0
expect tune-time-text 2 'seconds above 0' "$LOCKSTEP" tune reduction --time 3x
expect tune-option 2 "no option '--fast'" "$LOCKSTEP" tune reduction --fast
expect tune-compiler 2 'nvcc or clang' "$LOCKSTEP" tune reduction --compiler gcc
expect tune-cpu 2 'nothing to tune on the CPU' "$LOCKSTEP" tune reduction --gpu cpu
expect tune-two 2 'one family at a time' "$LOCKSTEP" tune reduction scan
expect tune-no-compiler 2 'no nvcc and no clang' env PATH= NVCC=/nowhere/nvcc "$LOCKSTEP" tune reduction
[ ! -e "$XDG_DATA_HOME" ] && echo "ok nothing-written" || echo "not ok nothing-written"

# Without a compiler: which of the built-in kernels
expect tune-normal 0 'modelled.*n=2000 op=max.*best .*tried' \
    "$LOCKSTEP" tune reduction n=2000 op=max --normal --dry-run
[ ! -e "$XDG_DATA_HOME" ] && echo "ok dry-run" || echo "not ok dry-run"
expect tune-timed 0 'best .*tried' env LOCKSTEP_TUNE_TIMED=1 \
    "$LOCKSTEP" tune reduction n=2000 --normal --dry-run --time 1
expect tune-output 0 'written to' "$LOCKSTEP" tune reduction n=2000 --normal --output "$work/new/t.json"
expect tune-output-json 0 'True' python3 -c "
import json
table = json.load(open('$work/new/t.json'))
row = table['tables'][0]['rows'][0]
print(table['format'] == 'lockstep tuned 1' and row['where'] == 'op=sum type=f32' and 'ptx' not in row)"
expect tune-nowhere 1 'No such file' "$LOCKSTEP" tune reduction n=9 --normal --output /proc/no/t.json
expect tune-no-home 1 'output says where' env -u HOME -u XDG_DATA_HOME "$LOCKSTEP" tune reduction n=9 --normal

# With each compiler that is here: what it finds is what the calls use
compilers=$(for compiler in nvcc clang; do
    "$LOCKSTEP" tune transpose/naive rows=2 cols=2 --dry-run --time 0.1 --compiler $compiler \
        >/dev/null 2>&1 && echo $compiler
done)
[ -n "$compilers" ] && echo "ok a-compiler" || echo "not ok a-compiler"
for compiler in nvcc clang; do
    case $compilers in *$compiler*) ;; *) skip "tune-$compiler" "there is no $compiler" ;; esac
done
for compiler in $compilers; do
    rm -rf "$XDG_DATA_HOME"
    expect "tune-$compiler" 0 'BLOCK=[0-9]+ .*: [0-9.]+ us .*best .*written to .*sim-nvidia-h200.json' \
        "$LOCKSTEP" tune reduction/vectorised n=64K --time 4 --verbose --compiler "$compiler"
    expect "tune-$compiler-used" 0 "the sum is 32735.7.*vectorised BLOCK=.*why: the row 'op=sum type=f32', modelled on NVIDIA H200" \
        "$work/reduce" 65536
    expect "tune-$compiler-json" 0 '"tried": [0-9]+' \
        "$LOCKSTEP" tune reduction/vectorised n=64K --time 0.1 --json --dry-run --compiler "$compiler"
    expect "tune-$compiler-tensor-maps" 0 'STAGES=3: [0-9.]+ us' \
        "$LOCKSTEP" tune gemm/tma m=128 n=128 k=64 type=bf16 --time 20 --verbose --dry-run \
        --compiler "$compiler"
done

# What is chosen at launch needs no compiler; lk_gemm's table is searched with the ladder's; a search
# that was stopped goes on where it was.
expect tune-at-launch 0 'gemm on .*gemm_fused on .*best .*(tiles|skinny)_bf16_rr? [A-Z]+=' \
    "$LOCKSTEP" tune gemm m=40 n=72 k=72 type=bf16 --normal --time 4 --output "$work/gemm.json"
expect tune-resume 0 'gemm_fused: 1 of 2 problems are in .*m=48' \
    "$LOCKSTEP" tune gemm_fused m=40,48 n=72 k=72 type=bf16 --normal --time 4 --resume \
    --output "$work/gemm.json"

# The table is updated: other problems stay, the same problem is replaced
"$LOCKSTEP" tune reduction n=1K --normal >/dev/null && "$LOCKSTEP" tune scan n=1K --normal >/dev/null &&
    "$LOCKSTEP" tune reduction n=1K --normal >/dev/null
expect tables-together 0 '^scan 1 reduction 2 $' python3 -c "
import json
for table in json.load(open('$table'))['tables']: print(table['family'], len(table['rows']))"
expect too-far-from-its-rows 0 'the sum is 4.995e\+06.*for want of a table' "$work/reduce" 10000000

# A file that is wrong makes a call use something else and say so, never fail
cp "$table" "$work/good.json"
for ptx in "$tuned"/*.ptx; do echo 'no ptx' >"$ptx"; done
expect broken-ptx 0 'the sum is 32735.7.*is ignored: .*did not load' "$work/reduce" 65536
rm "$tuned"/*.ptx
expect missing-ptx 0 'the sum is 32735.7.*is not there' "$work/reduce" 65536
sed -i 's/"source": "[0-9a-f]*"/"source": "0123456789abcdef"/' "$table"
expect stale 0 'the sum is 32735.7.*another version of the source; tune again' "$work/reduce" 65536
echo '{' >"$table"
expect cut-table 0 'the sum is 32735.7.*sim-nvidia-h200.json:[12]:[0-9]+: .*it is not used' "$work/reduce" 65536
head -c 5000000 /dev/zero >"$table"
expect huge-table 0 'the sum is 32735.7.*larger than 4 MiB' "$work/reduce" 65536
mkdir "$work/folder" && rm "$table" && mv "$work/folder" "$table"
expect folder-as-table 0 'the sum is 32735.7' "$work/reduce" 65536
