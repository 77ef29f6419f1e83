#!/bin/bash
# run.sh: where the time of gemm/overlapped goes, by leaving parts out, and what tiles of other shapes
# cost gemm/mma_sync and gemm/tma. Builds the kernels with nvcc, and runs them on cuda:0.
#   bench/parts/run.sh build FOLDER    builds everything into FOLDER, which needs no GPU
#   bench/parts/run.sh run FOLDER [SIZE ...]    times it (default: 4096 8192)
set -eu
cd "$(dirname "$0")/../.."
what=${1:?build or run} folder=$(mkdir -p "${2:?a folder}" && cd "$2" && pwd)
shift 2

cubin() { # SOURCE NAME
    nvcc -gencode arch=compute_90a,code=sm_90a -Ikernels/include -Ikernels/gemm -cubin \
        -o "$folder/$2.cubin" "$1"
}

# variant NAME KIND BM BN STAGES SED...: a kernel of the family gemm, changed
variant() {
    local name=$1 kind=$2 bm=$3 bn=$4 stages=$5 word
    shift 5
    cp "kernels/gemm/$kind.cu" "$folder/$name.cu"
    for word; do
        sed -i "$word" "$folder/$name.cu"
        # A word that no longer finds its place would measure the whole kernel.
        ! cmp -s "kernels/gemm/$kind.cu" "$folder/$name.cu" || { echo "$name: nothing changed" >&2; exit 1; }
    done
    cubin "$folder/$name.cu" "$name"
    echo "$name $name.cubin $kind $bm $bn $stages" >>"$folder/list"
}

build() {
    # A stage is loaded in the first four steps of a tile, and never again: real numbers, no traffic.
    local no_loads='s/^\( *\)barrier_arrive_expecting(full.*/\1if (step >= 4 * BK) { barrier_arrive(full); continue; }\n&/'
    local no_products='/wgmma_bf16<0, 1>(sums/,/step > 0 || i > 0);/c\            sums[i] = 0;'
    # Never taken, but for all that the compiler knows: without it, it would leave out the products.
    local no_stores='s/^ *store(s, sums, group, &c, tile);/            if (k == 1)\n    &/'
    toolkit=$(dirname "$(command -v nvcc)")/..
    : >"$folder/list"
    cp kernels/gemm/overlapped.cu "$folder/whole.cu"
    cubin "$folder/whole.cu" whole
    echo "whole whole.cubin overlapped 128 256 4" >>"$folder/list"
    echo "whole_on_zeros whole.cubin overlapped 128 256 4" >>"$folder/list"
    variant no_stores overlapped 128 256 4 "$no_stores"
    variant no_loads overlapped 128 256 4 "$no_loads"
    variant only_products overlapped 128 256 4 "$no_loads" "$no_stores"
    echo "only_products_of_zeros only_products.cubin overlapped 128 256 4" >>"$folder/list"
    variant no_products overlapped 128 256 4 "$no_products"
    variant only_loads overlapped 128 256 4 "$no_products" "$no_stores"
    for shape in 64:64 64:128 128:64 128:128 128:256; do
        for stages in 2 3 4; do
            variant "mma_sync_${shape/:/x}_$stages" mma_sync "${shape%:*}" "${shape#*:}" $stages \
                "s/^#define BM .*/#define BM ${shape%:*} \/\/ this one/" \
                "s/^#define BN .*/#define BN ${shape#*:}/; s/^#define STAGES .*/#define STAGES $stages/"
        done
    done
    for stages in 3 4 5 6; do
        variant "tma_128x128_$stages" tma 128 128 $stages \
            "s/^#define STAGES .*/#define STAGES $stages \/\/ this one/"
    done
    ${CC:-cc} -O2 -I"$toolkit/include" -o "$folder/parts" bench/parts/parts.c -L"$toolkit/lib64/stubs" -lcuda
}

case $what in
build) build ;;
run)
    [ $# -gt 0 ] || set -- 4096 8192
    for size; do
        echo "$size x $size x $size, bf16"
        (cd "$folder" && ./parts list "$size")
    done
    ;;
*) echo "run.sh: $what is neither build nor run" >&2; exit 2 ;;
esac
