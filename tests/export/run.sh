#!/bin/bash
# 'lockstep zoo export' from outside: what it says of wrong arguments; and exported programs, which
# nvcc compiles as their first lines say and which then run on the simulated GPU.
#   tests/export/run.sh    the last variant of every twelfth family, and some kernels that were made wrong
#   EXPORT_ALL=1           every variant, a wrong kernel of each family, and other sizes
# JOBS=2 side by side
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/expect.sh
BUILD=${BUILD:-$PWD/build}
export LOCKSTEP=${LOCKSTEP:-$BUILD/lockstep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work LOCKSTEP_GPU=sim:h200 XDG_CACHE_HOME="$work/cache" XDG_DATA_HOME="$work/data"
all=${EXPORT_ALL:-}

# Arguments -------------------------------------------------------------------------------------------

exports() { # NAME STATUS PATTERN ARGUMENT...
    local name=$1 status=$2 pattern=$3
    shift 3
    expect "$name" "$status" "$pattern" "$LOCKSTEP" zoo export "$@"
}

exports to-stdout 0 'nvcc naive\.cu && ./a\.out.*n = 1048576; .*<<<blocks, BLOCK>>>.*return 0;' elementwise/naive
exports to-file 0 '^ *$' elementwise/naive n=5000 -o "$work/add.cu"
expect file-says-how 0 'nvcc add\.cu.*zoo export elementwise/naive n=5000 op=add.*n = 5000;' cat "$work/add.cu"
exports no-overwriting 2 'add\.cu exists already; --force overwrites it' elementwise/naive -o "$work/add.cu"
expect not-overwritten 0 'n = 5000;' cat "$work/add.cu"
exports force 0 '^ *$' elementwise/naive n=6K -o "$work/add.cu" --force
expect overwritten 0 'n = 6144;' cat "$work/add.cu"
exports unwritable 2 'none/add\.cu: No such file or directory; name a file that can be written with -o' \
    elementwise/naive -o "$work/none/add.cu"
exports no-file 2 '-o needs a value' elementwise/naive -o
exports no-name 2 "name one variant, as in '[^ ]*lockstep zoo export scan/look_back'"
exports two-names 2 'name one variant' scan/look_back scan/two_pass
exports family-only 2 "which variant of scan\? '[^ ]*lockstep zoo show scan' lists them" scan
exports no-variant 2 "did you mean 'scan/look_back'" scan/look_bak
exports no-family 2 "no family 'zoo'" zoo/look_back
exports cpu-variant 2 'gemm/cpu_naive runs on the CPU: there is no kernel to export' gemm/cpu_naive
exports borrower 2 'mlp/chained also runs kernels of gemm_fused, .*export them by themselves' mlp/chained
exports on-the-cpu 2 'name a GPU' scan/look_back --gpu cpu
exports too-old 2 'needs sm_90, and Tesla T4 is sm_75; choose a newer one' elementwise/bulk --gpu sim:t4
exports too-large 2 'n=99999999999999: n goes from 0 to' scan/look_back n=99999999999999
exports no-parameter 2 'm: scan has the parameters n, kind, type' scan/look_back m=5
exports not-taken 2 'scan/recompute does not take n=4M' scan/recompute n=4M
exports two-problems 2 'writes one problem' scan/look_back n=1,2
exports distribution 2 'leave dist= out and change fill_inputs' scan/look_back dist=constant
exports nothing-to-do 2 'nothing is launched; choose larger sizes' scan/look_back n=0
exports other-gpu 0 'Tunables are those for NVIDIA A100' scan/look_back --gpu sim:a100
exports parameters 0 'in\[i\] > in\[best\].*reduce_argmax_i32<<<' reduction/generic op=argmax type=i32 n=70000
exports scalar 0 'const float scalar = 2\.5f;.*saxpy<<<.*d_x, d_y, d_y, scalar, n' elementwise/naive op=saxpy scalar=2.5
exports cooperative 0 'cudaLaunchAttributeCooperative.*cudaLaunchKernelEx\(&search_launch, search' graph/whole_search
exports overlapping 0 'nvcc -arch=sm_90 overlapped\.cu.*cudaLaunchAttributeProgrammaticStreamSerialization' reduction/overlapped
exports tensor-maps 0 'nvcc -gencode arch=compute_90a,code=sm_90a tma\.cu.*cudaGetDriverEntryPointByVersion.*a_map = make_map\(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, d_a, \{k, m\}.*\(a_map, b_map, d_c' gemm/tma
exports clusters 0 'clusters_of_2\.val\.clusterDim\.x = 2.*cudaLaunchKernelEx\(&gemm_launch, gemm' gemm/multicast
exports structures 0 'gemm_arguments tiles_64_plain_arguments = \{\}; .*tiles_64_plain_arguments\.a_stride = m \* k; .*\.a = a_map; .*&tiles_64_plain_launch, tiles_64_plain, tiles_64_plain_arguments\)' gemm_fused/tiles_bf16_rc
exports absent-inputs 0 'unsigned short \*bias = NULL; // not part of this problem' gemm_fused/general
# No expression gives a float that changes with a size: that size is fixed.
exports fixed-by-floats 0 'hold for these sizes; for others export again' gemm_fused/tiles_bf16_rc
exports limits 0 'lesser\(ceil_div\(n, 4 \* BLOCK\), BLOCKS_PER_SM \* sms\)' reduction/vectorised
# Where a formula holds for some sizes only, the program says so; where it holds for all, it says
# that.
exports other-sizes 0 'For other sizes change these numbers' reduction/vectorised
exports fixed-sizes 0 'hold for these sizes; for others export again' transpose/in_place
exports some-sizes 0 'outer and middle can be changed here\. The launches below hold for this inner;' axis_reduction/warp_per_row
expect help 0 'zoo export FAMILY/VARIANT .*-o FILE' "$LOCKSTEP" zoo --help

# Programs --------------------------------------------------------------------------------------------

# compiled FILE [OPTION...]: as its second line says, and run with one timed launch.
compiled() {
    local file=$1 options
    shift
    options=$(sed -n '2s|^//     nvcc \(.* \)\{0,1\}[^ ]*\.cu && ./a\.out$|\1|p' "$file")
    # shellcheck disable=SC2086 # several words, or none
    "$LOCKSTEP" run "$file" $options "$@" -- 1
}

# program NAME FILE [OPTION...]: right, without a word from nvcc.
program() {
    expect "$1" 0 '^OK median of 1 runs: [0-9.]+ us, [0-9.]+ G(B|FLOP)/s $' compiled "${@:2}"
}

# one KIND FAMILY/VARIANT [SED]
one() {
    local name=$2 file=$work/$1-${2%/*}-${2#*/}.cu
    "$LOCKSTEP" zoo export "$name" -o "$file" --force || {
        echo "not ok $1 $name: is not exported"
        return
    }
    case $1 in
    export) program "export $name" "$file" ;;
    headers) # those of the toolkit that a program around the kernel may include
        program "export $name with the toolkit's headers" "$file" -std=c++17 \
            -include cuda_runtime.h -include cuda_fp16.h -include cooperative_groups.h
        ;;
    sizes) # what the program says can be changed, changed
        grep -q 'For other sizes change these numbers' "$file" || return 0
        sed -i -E '/^const long long [a-z]+ = [0-9]+;/s/= ([0-9]+);/= \1 + \1 \/ 2 + 7;/' "$file"
        program "export $name with other sizes" "$file"
        ;;
    wrong | planted) # planted: without compiling it
        cp "$file" "$file.before"
        sed -i "1,/^\/\* The problem ---/$3" "$file"
        if cmp -s "$file" "$file.before"; then
            echo "not ok wrong $name: '$3' changes nothing"
        elif [ "$1" = planted ]; then
            echo "ok wrong $name can be planted"
        else
            expect "wrong $name is found" 1 '^wrong: [a-z_ ]+\[[0-9]+\] is .*, expected ' compiled "$file"
        fi
        ;;
    esac
}
export -f one program compiled expect

names() { # of all families
    "$LOCKSTEP" zoo list --json | sed -n 's/.*"name": "\(.*\)".*/\1/p'
}

# Those that have a kernel, in order.
variants() { # FAMILY
    "$LOCKSTEP" zoo show "$1" --json | awk -F'"' '
        $2 == "name" { name = $4 }
        $2 == "arch" { last = name }
        $2 == "borrows" { last = "" } # is refused
        /^ *}/ && last { print last; last = "" }' | sed "s|^|$1/|"
}

if ! scripts/get-nvcc --find >/dev/null; then
    echo "skip exported programs: there is no nvcc"
    exit 0
fi
# Each program costs a compilation: a quick run takes every twelfth family, and of wrong kernels every
# eighteenth.
for family in $(names | awk -v all="$all" 'all || NR % 12 == 1'); do
    last=$(variants "$family" | tail -n 1)
    [ -n "$last" ] || continue
    if [ -n "$all" ]; then
        variants "$family" | sed 's/^/export /'
        echo "headers $last"
        variants "$family" | head -n 3 | tail -n 1 | sed 's/^/sizes /'
        echo "sizes $last"
    else
        case $family in
        elementwise | gemm | graph) echo "headers $last" ;;
        *) echo "export $last" ;;
        esac
    fi
done >"$work/list"
grep -v '^#' tests/export/mutations | awk -v all="$all" '{ print (all || NR % 18 == 1 ? "wrong " : "planted ") $0 }' >>"$work/list"
tr '\n' '\0' <"$work/list" | xargs -0 -P "${JOBS:-2}" -I{} bash -c '
    read -r kind name rest <<<"$1"
    one "$kind" "$name" "$rest"' bash {}
