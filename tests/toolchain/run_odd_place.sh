#!/bin/sh
# A CUDA toolkit may lie anywhere, in a folder with blanks in its name for instance, and without
# libcuda.so: check, profile and trace name the program's own lines, not the toolkit's headers, and
# -lcuda links. The toolkit here is nvcc's own with its headers copied.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache" NO_COLOR=1
unset LOCKSTEP_GPU LOCKSTEP_THREADS LOCKSTEP_SCHEDULE LOCKSTEP_LIMIT LOCKSTEP_PROFILE LOCKSTEP_TRACE
unset LIBRARY_PATH CPATH CUDA_HOME CUDA_PATH
NVCC=${NVCC:-$("$here/../../scripts/get-nvcc" --find)}
if [ -z "$NVCC" ]; then
    skip odd_place "there is no nvcc"
    exit 0
fi
home=$(dirname "$(dirname "$NVCC")")
if [ ! -e "$home/include/cuda_runtime.h" ] || [ ! -e "$home/nvvm" ]; then
    skip odd_place "the headers of $NVCC are not in a folder of their own"
    exit 0
fi
odd="$work/my tools/gpu things"
mkdir -p "$odd/bin" "$odd/lib"
ln -s "$home"/bin/* "$odd/bin/"
ln -s "$home/nvvm" "$odd/nvvm"
cp -rL "$home/include" "$odd/include"
for library in "$home"/lib64/libcudart* "$home"/lib64/libcudadevrt.a; do
    ln -s "$library" "$odd/lib/"
done
ln -s lib "$odd/lib64"
export NVCC="$odd/bin/nvcc"

mkdir -p "$work/program/include"
cd "$work/program" || exit 1
cat >include/sum.cuh <<'CU'
__global__ void sum(const float *from, float *to)
{
    float value = __ldg(&from[threadIdx.x]); // load
    if (threadIdx.x < LANES)
        for (int step = 8; step > 0; step /= 2)
            value += __shfl_down_sync(0xffffffff, value, step); // shuffle
    atomicAdd(to, value);
}
CU
cat >main.cu <<'CU'
#include "include/sum.cuh"
int main()
{
    float *data;
    cudaMalloc(&data, 256); // leak
    cudaMemset(data, 0, 256);
    sum<<<1, 32>>>(data, data + 32);
    return cudaDeviceSynchronize() != cudaSuccess;
}
CU
cat >driver.cu <<'CU'
#include <cuda.h>
int main()
{
    int count = 0;
    return cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS || count != 1;
}
CU
line_of() { # WORD FILE: where it is marked
    grep -n "// $1" "$2" | cut -d: -f1
}
shuffle=$(line_of shuffle include/sum.cuh) load=$(line_of load include/sum.cuh)
leak=$(line_of leak main.cu)

expect link-libcuda 0 'my tools/gpu things/bin/nvcc' "$LOCKSTEP" run --verbose driver.cu -lcuda
expect check-leak 0 "main.cu:$leak: leak" "$LOCKSTEP" check main.cu -DLANES=32
expect check-sync-mask 1 "^include/sum.cuh:$shuffle: sync mask" "$LOCKSTEP" check main.cu -DLANES=16

# Every line that profile and trace name is the program's own, and the wanted one is among them.
own_lines() { # FILE.json LINE PYTHON: the places in r, as pairs of file and line
    python3 - "$1" <<PYTHON
import json, sys
r = json.load(open(sys.argv[1]))
places = {$3}
foreign = {place for place in places if place[0] not in ("main.cu", "include/sum.cuh")}
found = ("include/sum.cuh", $2) in places
print("good" if found and not foreign else f"foreign: {foreign}; of the program: {places - foreign}")
PYTHON
}
"$LOCKSTEP" profile --json main.cu -DLANES=32 >"$work/profile.json" 2>"$work/err"
expect profile-lines 0 '^good' own_lines "$work/profile.json" "$shuffle" \
    '(x["file"], x["line"]) for k in r["kernels"] for x in k["lines"]'
"$LOCKSTEP" profile main.cu -DLANES=32 --trace "$work/trace.json" >/dev/null 2>"$work/err"
expect trace-lines 0 '^good' own_lines "$work/trace.json" "$load" \
    '(x["file"], x["line"]) for k in r["launches"] for x in k["records"]'
