#!/bin/sh
# Python packages on the machine: a small program with each, and the Python line in what profile and
# check report. Numba and cuda.core are fetched into a cache (270 MB, once); Triton is as large again,
# and tested where `make test-clients` or scripts/get-clients has brought it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
. "$here/../expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TRITON_CACHE_DIR="$work/triton" CUPY_CACHE_DIR="$work/cupy" TRITON_DEFAULT_FP_FUSION=1
unset LOCKSTEP_GPU VIRTUAL_ENV PYTHONPATH

# The linker and ptxas need no package.
printf '.version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n' >"$work/good.ptx"
printf '.version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { add.s3 %%r; }\n' >"$work/bad.ptx"
expect ptxas 0 'LKPTX .*entry k' sh -c "'$BUILD/clients/ptxas' -lineinfo -v --gpu-name=sm_90a '$work/good.ptx' -o '$work/k.o' && cat '$work/k.o'"
expect ptxas-bad 255 'bad.ptx:4.*aborted due to errors' "$BUILD/clients/ptxas" --gpu-name=sm_90a "$work/bad.ptx" -o "$work/k.o"
sed 's/9.0/99.9/' "$work/good.ptx" >"$work/future.ptx"
expect ptxas-future 255 "Unsupported .version 99.9; current version is '9.0'" "$BUILD/clients/ptxas" "$work/future.ptx" -o "$work/k.o"
expect ptxas-text 255 "Unsupported .version 99.99; current version is '9.0'" "$BUILD/clients/ptxas" --gpu-name sm_50 --input-as-string ".version 99.99"
expect ptxas-version 0 "Lockstep's.*release 13.0" "$BUILD/clients/ptxas" --version

expect nvml 0 '2 x NVIDIA H200' "$LOCKSTEP" run --gpu sim:h200x2 "$here/nvml.py"
expect cupti 0 'CUPTI works.*cuptiPCSamplingStart of CUPTI is not supported|cuptiPCSamplingStart of CUPTI is not supported.*CUPTI works' \
    "$LOCKSTEP" run --gpu sim:h200 "$here/cupti.py"

# XLA calls the ptxas of NVIDIA's package by its path: a package of that name, and what JAX takes for the path.
mkdir -p "$work/packages/jax/_src" "$work/toolkit/bin" "$work/toolkit/nvvm"
touch "$work/packages/jax/__init__.py" "$work/packages/jax/_src/__init__.py" "$work/toolkit/bin/ptxas" "$work/toolkit/bin/nvlink"
echo "cuda_path = '$work/toolkit'" >"$work/packages/jax/_src/lib.py"
cat >"$work/toolkit.py" <<'SCRIPT'
import os, subprocess
from jax._src import lib
ptxas = os.path.join(lib.cuda_path, "bin", "ptxas")
print(sorted(os.listdir(lib.cuda_path)), sorted(os.listdir(os.path.dirname(ptxas))))
print(subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout)
SCRIPT
expect jax-ptxas 0 "'bin', 'nvvm'.*'nvlink', 'ptxas'.*Lockstep's" env PYTHONPATH="$work/packages" "$LOCKSTEP" run --gpu sim:h200 "$work/toolkit.py"

# cuDNN, which XLA calls for convolutions, is machine code: it makes loops of them.
echo 'has_visible_nvidia_gpu = None' >"$work/packages/jax/_src/hardware_utils.py"
cat >"$work/flags.py" <<'SCRIPT'
import os
from jax._src import hardware_utils
print("visible", hardware_utils.has_visible_nvidia_gpu(), os.environ["XLA_FLAGS"])
SCRIPT
expect jax-convolutions 0 'visible True --mine --xla_disable_hlo_passes=conv-rewriter' \
    env PYTHONPATH="$work/packages" XLA_FLAGS=--mine "$LOCKSTEP" run --gpu sim:h200 "$work/flags.py"

# cuda.bindings passes the functions of NVIDIA's runtime on in capsules: a module that has one as Cython makes it.
mkdir -p "$work/packages/cuda/bindings/_internal"
touch "$work/packages/cuda/__init__.py" "$work/packages/cuda/bindings/_internal/__init__.py"
echo '__version__ = "13.0.0"' >"$work/packages/cuda/bindings/__init__.py"
cat >"$work/packages/cuda/bindings/_internal/runtime.py" <<'SCRIPT'
import ctypes
new = ctypes.pythonapi.PyCapsule_New
new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
signature = ctypes.create_string_buffer(b"cudaError_t (int *)")
__pyx_capi__ = {name: new(64, ctypes.addressof(signature), None) for name in ("_cudaGetDeviceCount", "_cudaOfAnotherRelease")}
SCRIPT
cat >"$work/capsules.py" <<'SCRIPT'
import ctypes
from cuda.bindings._internal import runtime
get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
ours, theirs = (get(runtime.__pyx_capi__[name], b"cudaError_t (int *)") for name in sorted(runtime.__pyx_capi__))
count = ctypes.c_int()
status = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(ours)(ctypes.addressof(count))
print(f"status {status}, {count.value} GPUs, the other {theirs}")
SCRIPT
expect bindings-runtime 0 'status 0, 2 GPUs, the other 64' env PYTHONPATH="$work/packages" "$LOCKSTEP" run --gpu sim:h200x2 "$work/capsules.py"

if [ "$NVCC" = none ]; then
    skip link-objects "there is no nvcc"
else
    cat >"$work/caller.cu" <<'SOURCE'
extern __device__ int next(int value);
extern "C" __global__ void answer(int *out) { *out = next(41); }
SOURCE
    echo '__device__ int next(int value) { return value + 1; }' >"$work/next.cu"
    "$NVCC" -rdc=true -arch=compute_90 -ptx "$work/caller.cu" -o "$work/caller.ptx"
    "$NVCC" -gencode arch=compute_90,code=compute_90 -dc "$work/next.cu" -o "$work/next.o"
    "$NVCC" -gencode arch=compute_90,code=sm_90 -dc "$work/next.cu" -o "$work/machine.o"
    ar rc "$work/libnext.a" "$work/next.o"
    head -c 300 "$work/next.o" >"$work/cut.o"
    link() { # NAME STATUS PATTERN INPUT
        expect "$1" "$2" "$3" "$LOCKSTEP" run --gpu sim:h200 "$here/link_objects.py" "$work/caller.ptx" "$4"
    }
    link link-object 0 'answer 42' "$work/next.o"
    link link-library 0 'answer 42' "$work/libnext.a"
    link link-machine-code 1 'machine.o: has no PTX for sm_90; compile it with -gencode' "$work/machine.o"
    link link-cut-object 1 'cut.o: is damaged' "$work/cut.o"
fi

# A binary of plain nvcc has NVIDIA's runtime linked into it; ours takes its place where it has symbols.
if [ "$NVCC" = none ]; then
    skip static-runtime "there is no nvcc"
else
    cat >"$work/static.cu" <<'SOURCE'
#include <cstdio>
__device__ int sum;
__global__ void add(const int *x) { atomicAdd(&sum, x[threadIdx.x]); }
int main()
{
    int *x, result = -1, version = 0;
    cudaMallocManaged(&x, 64 * sizeof *x);
    for (int i = 0; i < 64; i++)
        x[i] = i;
    add<<<1, 64>>>(x);
    cudaMemcpyFromSymbol(&result, sum, sizeof result);
    cudaRuntimeGetVersion(&version);
    printf("sum %d, CUDA %d, %s\n", result, version / 1000, cudaGetErrorName(cudaGetLastError()));
}
SOURCE
    "$NVCC" "$work/static.cu" -o "$work/static"
    strip -o "$work/stripped" "$work/static"
    expect static-runtime 0 'sum 2016, CUDA 1[23], cudaSuccess' "$LOCKSTEP" run --gpu sim:h200 "$work/static"
    expect static-runtime-profile 0 'add.*<<<1, 64>>>' "$LOCKSTEP" profile "$work/static"
    expect static-runtime-check 0 'sum 2016' "$LOCKSTEP" check "$work/static"
    expect static-runtime-stripped 2 "was stripped.*-cudart shared" "$LOCKSTEP" run --gpu sim:h200 "$work/stripped"
    "$NVCC" -gencode arch=compute_90,code=sm_90 -gencode arch=compute_100,code=compute_100 \
        "$work/static.cu" -o "$work/newer"
    expect ptx-for-newer-gpus 0 'sum 2016' "$LOCKSTEP" run --gpu sim:h200 "$work/newer"
    # nvlink's machine code cannot run; the PTX of the objects is linked in its place.
    "$NVCC" -rdc=true -arch=sm_90a "$work/static.cu" "$work/next.cu" -o "$work/relocatable"
    expect relocatable-machine-code 0 'sum 2016' "$LOCKSTEP" run --gpu sim:h200 "$work/relocatable"
    "$NVCC" -gencode arch=compute_90a,code=sm_90a "$work/static.cu" -o "$work/machine"
    expect machine-code 0 'machine code for sm_90a only.*arch=compute_90a,code=compute_90a.*cudaErrorNoKernelImageForDevice' \
        "$LOCKSTEP" run --gpu sim:h200 "$work/machine"
    sed 's/cudaGetErrorName(cudaGetLastError())/"no error"/' "$work/static.cu" >"$work/careless.cu"
    "$NVCC" -gencode arch=compute_90a,code=sm_90a "$work/careless.cu" -o "$work/careless"
    expect machine-code-unnoticed 3 '1 launch did not run.*did not look at the error' \
        "$LOCKSTEP" run --gpu sim:h200 "$work/careless"
fi

toolkit=$(dirname "$NVCC")/..
if [ "$NVCC" = none ] || ! [ -e "$toolkit/include/cublasLt.h" ] || ! [ -e "$toolkit/include/cusolverDn.h" ]; then
    skip libraries "there is no toolkit with cuBLAS, cuSOLVER, cuFFT and cuRAND"
elif ! PATH=$PATH:/sbin ldconfig -p | grep -q libfftw3.so.3; then
    skip libraries "there is no FFTW; scripts/setup installs it"
else
    "$NVCC" -Wno-deprecated-declarations "$here/libraries.cu" -lcublas -lcublasLt -lcusolver -lcusparse -lcurand -lcufft -o "$work/libraries"
    expect libraries 0 '^ok dot.*ok gemm of halves.*ok Lt matmul.*ok XORWOW.*ok 2D.*ok leaving.*0 wrong' \
        "$LOCKSTEP" run --gpu sim:h200 "$work/libraries"
    expect libraries-in-profiles 0 'library calls +2 x cublasSdot, .* by roofline' \
        "$LOCKSTEP" profile "$work/libraries"
    "$NVCC" "$here/solver_wide.cu" -lcusolver -o "$work/solver_wide"
    expect libraries-solver-wide 0 '^ok potrf.*ok some by value.*ok potri.*0 wrong' \
        "$LOCKSTEP" run --gpu sim:h200 "$work/solver_wide"
    "$NVCC" "$here/extended.cu" -lcublas -lcusolver -o "$work/extended"
    expect libraries-extended 0 '(^| )ok axpy of floats.*ok groups of products.*ok LU without.*0 wrong' \
        "$LOCKSTEP" run --gpu sim:h200 "$work/extended"
    "$NVCC" "$here/legacy.cu" -lcublas -o "$work/legacy"
    expect libraries-legacy 0 '^ok gemm.*ok a complex factor.*0 wrong' \
        "$LOCKSTEP" run --gpu sim:h200 "$work/legacy"
    "$NVCC" "$here/xt.cu" -lcublas -o "$work/xt"
    expect libraries-xt 0 '^ok gemm, two of the host.*ok trsm.*0 wrong' \
        "$LOCKSTEP" run --gpu sim:h200 "$work/xt"
    "$NVCC" "$here/tensor_sums.cu" -lcublas -o "$work/tensor_sums"
    "$LOCKSTEP" run --gpu sim:h200 "$work/tensor_sums" >"$work/tensor_sums.out"
    expect tensor-sums 0 '^ *$' diff "$here/tensor_sums.expect" "$work/tensor_sums.out"
fi
if [ "$NVCC" = none ] || ! [ -e "$toolkit/include/cusparse.h" ]; then
    skip sparse "there is no toolkit with cuSPARSE"
else
    "$NVCC" "$here/sparse.cu" -lcusparse -o "$work/sparse"
    expect sparse 0 '^ok floats.*ok sparse times sparse.*ok lower triangle.*ok a column outside.*0 wrong' \
        "$LOCKSTEP" run --gpu sim:h200 "$work/sparse"
    "$NVCC" -Wno-deprecated-declarations "$here/factors.cu" -lcusparse -o "$work/factors"
    expect sparse-factors 0 '^ok ic0.*ok a boosted pivot.*0 wrong' \
        "$LOCKSTEP" run --gpu sim:h200 "$work/factors"
    expect sparse-in-profiles 0 'library calls +[0-9]+ x cusparseSpMV, .* by roofline' \
        "$LOCKSTEP" profile "$work/sparse"
fi

if [ "$NVCC" = none ] || ! [ -e "$toolkit/include/cudnn.h" ]; then
    skip machine-code-library "there is no toolkit with cuDNN"
else
    cat >"$work/dnn.cu" <<'SOURCE'
#include <cstdio>
#include <cudnn.h>
int main()
{
    cudnnTensorDescriptor_t descriptor;
    printf("status %d\n", cudnnCreateTensorDescriptor(&descriptor));
}
SOURCE
    "$NVCC" -cudart shared "$work/dnn.cu" -lcudnn -o "$work/dnn"
    expect machine-code-library 0 'cuDNN has machine code only.*use plain operators.*status 3000' \
        env LD_LIBRARY_PATH="$toolkit/lib64" "$LOCKSTEP" run --gpu sim:h200 "$work/dnn"
fi

# in_place NAME: the client's environment, as VIRTUAL_ENV; false after skipping its tests.
in_place() {
    how=
    [ "$1" = numba ] && [ "${LOCKSTEP_FETCH:-yes}" = yes ] || how=--find
    VIRTUAL_ENV=$("$root/scripts/get-clients" $how "$1" 2>"$work/why")
    export VIRTUAL_ENV
    [ -n "$VIRTUAL_ENV" ] && return 0
    if [ -s "$work/why" ]; then
        skip "clients-$1" "$(tail -n 1 "$work/why")"
    else
        skip "clients-$1" "not in the cache; scripts/get-clients $1 fetches it"
    fi
    return 1
}

works() { # NAME SCRIPT
    expect "$1" 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$root/python/clients/$2"
}

if in_place numba; then
    works numba try_numba.py
    works cuda-core try_cuda_core.py
    cat >"$work/no_guard.py" <<'SCRIPT'
import numpy as np
from numba import cuda

@cuda.jit
def fill(out):
    i = cuda.grid(1)
    out[i] = i

@cuda.jit
def columns(x, out):
    i = cuda.grid(1)
    for k in range(64):
        out[i] += x[i * 64 + k]

fill[4, 64](cuda.device_array(250, np.int32))
columns[64, 128](cuda.to_device(np.zeros(8192 * 64, np.float32)), cuda.to_device(np.zeros(8192, np.float32)))
cuda.synchronize()
SCRIPT
    expect numba-check-names-the-line 1 'no_guard.py:7: out of bounds: write of 4 bytes.*to fix it: .*a.shape.*in kernel fill, block [^k]*1 error' \
        "$LOCKSTEP" check "$work/no_guard.py"
    expect numba-profile-names-the-line 0 "columns <<<64, 128>>>.*line [^ ]*no_guard.py.* 13 +out.i. .= x.*stride 256 B" \
        env LOCKSTEP_LIMIT=100000000 "$LOCKSTEP" profile --kernel columns "$work/no_guard.py"
    cat >"$work/races.py" <<'SCRIPT'
import numpy as np
from numba import cuda, float32

@cuda.jit
def block_sum(x, out):
    s = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if i < step:
            s[i] += s[i + step]
        step //= 2
    if i == 0:
        out[0] = s[0]

@cuda.jit
def turned(x, out):
    tile = cuda.shared.array((32, 32), float32)
    column, row = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    out[row, column] = tile[cuda.threadIdx.x, cuda.threadIdx.y]

x = cuda.to_device(np.ones((128, 128), np.float32))
block_sum[1, 128](x[0], cuda.device_array(1, np.float32))
turned[(4, 4), (32, 32)](x, cuda.device_array((128, 128), np.float32))
cuda.synchronize()
SCRIPT
    expect numba-race-in-its-words 1 'races.py:13: race .*also between warps.*cuda.syncthreads.*to fix it: cuda.syncthreads' \
        "$LOCKSTEP" check "$work/races.py"
    expect cuda-core-check-names-the-line 1 'default_program:4: out of bounds: write of 4 bytes' \
        "$LOCKSTEP" check "$here/core_bug.py"
    expect numba-advice-in-its-words 0 'races.py:24: .*cuda.shared.array.*(32, 33)' \
        "$LOCKSTEP" profile --kernel turned "$work/races.py"
fi

if in_place triton; then
    works triton try_triton.py
    sed 's/^x = Buffer.*/&\nsmall = Buffer([0.0] * 900, ctypes.c_float, "float32")/; s/scale_add\[.*/scale_add[(4,)](x, y, small, n, BLOCK=256)/; /^assert out/,$d' \
        "$root/python/clients/try_triton.py" >"$work/no_mask.py"
    line=$(grep -n 'tl.store(out + i' "$work/no_mask.py" | cut -d: -f1)
    export TRITON_CACHE_DIR="$work/another" # its key does not have the file, and the kernel is the same
    expect triton-check-names-the-line 1 "no_mask.py:$line: out of bounds: write.*to fix it: mask it.*in kernel scale_add" \
        "$LOCKSTEP" check "$work/no_mask.py"
    expect triton-profile-names-the-line 0 "scale_add <<<4, 128>>>.*line [^ ]*no_mask.py.*tl.store" \
        "$LOCKSTEP" profile --kernel scale_add "$work/no_mask.py"
    for gpu in sim:a100 sim:t4; do
        expect "triton-on-$gpu" 0 'works: tensor cores by mma' \
            "$LOCKSTEP" run --gpu $gpu "$root/python/clients/try_triton.py"
    done
fi

if in_place cupy; then
    works cupy try_cupy.py
    expect cupy-check-names-the-line 1 'cupy_bugs.py:17: out of bounds: atomic of 4 bytes.*of 40 bytes.*atomicAdd' \
        "$LOCKSTEP" check "$here/cupy_bugs.py" bins
    expect cupy-race-names-the-line 1 'cupy_bugs.py:23: race between warps of a block.*no barrier' \
        "$LOCKSTEP" check "$here/cupy_bugs.py" race
    expect cupy-check-of-its-own-kernels 1 'lockstep_sources/[0-9a-f]+.cu:[0-9]+: out of bounds: read.*y = x.i [+] 1' \
        "$LOCKSTEP" check "$here/cupy_bugs.py" element
    expect cupy-check-silent 0 'sum 1000.*0 errors' "$LOCKSTEP" check "$here/cupy_bugs.py" clean
    expect cupy-profile-names-the-line 0 'cupy_bugs.py.*30 .*stride 256 B.*cupy_bugs.py:30: ' \
        "$LOCKSTEP" profile --kernel columns "$here/cupy_bugs.py" columns
    expect cupy-libraries 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$here/cupy_libraries.py"
fi

if in_place torch; then
    works torch try_torch.py
    expect torch-training 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$here/train_gpt.py"
    expect torch-devices 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$here/torch_devices.py"
    expect torch-scripts 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$here/torch_scripts.py"
    expect torch-packed 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$here/torch_packed.py"
    cat >"$work/graphs.py" <<'SCRIPT'
import torch

model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.GELU(), torch.nn.Linear(16, 16)).cuda()
compiled = torch.compile(model, mode="reduce-overhead")
for _ in range(3):
    model.zero_grad()
    compiled(torch.ones(8, 16, device="cuda")).sum().backward()
print("works")
SCRIPT
    # Python's last collection destroys the graphs.
    expect torch-graphs-at-the-end 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$work/graphs.py"
    expect torch-times 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$here/torch_times.py"
    expect torch-times-in-profiles 0 'library calls .* x aten::mm, .* by roofline' \
        "$LOCKSTEP" profile "$here/torch_times.py"
    expect torch-operators 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$here/torch_operators.py"
    expect torch-ranks 0 "rank 0 works.*rank 1 works|rank 1 works.*rank 0 works" env OMP_NUM_THREADS=1 "$LOCKSTEP" run --gpu sim:h200x2 \
        "$VIRTUAL_ENV/bin/torchrun" --standalone --nproc-per-node 2 "$here/torch_ranks.py"
    cat >"$work/tensors.py" <<'SCRIPT'
import torch, triton, triton.language as tl

@triton.jit
def row_mean(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    numbers = tl.load(x + row * columns + tl.arange(0, BLOCK))
    tl.store(out + row, tl.sum(numbers, 0) / columns)

x, out, beside = (torch.ones(n, device="cuda") for n in (800, 8, 800))
row_mean[(8,)](x, out, 100, BLOCK=128)
torch.cuda.synchronize()
SCRIPT
    expect torch-check-knows-each-tensor 1 'tensors.py:6: out of bounds: read of 4 bytes.*end of allocation .* of 3200 bytes' \
        "$LOCKSTEP" check "$work/tensors.py"
    expect torch-profilers 0 'profilers work' "$LOCKSTEP" run --gpu sim:h200 "$here/profilers.py"
    expect torch-halves 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$here/halves.py"
    for ends in copy graph; do
        expect "triton-bench-$ends" 0 'LOCKSTEP_BENCH=whole.*works|works.*LOCKSTEP_BENCH=whole' \
            env LOCKSTEP_BENCH=100000:0 BENCH_ENDS=$ends "$LOCKSTEP" run --gpu sim:h200 "$here/bench.py"
    done
    expect triton-bench-samples 0 'works' "$LOCKSTEP" run --gpu sim:h200 "$here/bench_samples.py"
fi
