// Device properties and occupancy, only facts that are the same on every GPU from Turing on or that
// follow from one another; occupancy by shared memory and by threads, the block size suggestion,
// launch bounds, clock64 and globaltimer that move forward.

#include <cstdio>
#include <cstring>

__global__ void simple(float *p)
{
    p[threadIdx.x] += 1;
}

__global__ void heavy_shared(float *p)
{
    __shared__ float s[8192]; // 32 KB
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

template <int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS) bounded(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x * BLOCKS;
}

__global__ void timers(int *out)
{
    long long begin = clock64();
    unsigned low = clock();
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    int x = (int)threadIdx.x;
    for (int i = 0; i < 100; i++)
        x = x * 3 + 1;
    unsigned long long later;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
    long long end = clock64();
    out[0] = end > begin;
    out[1] = later >= time;
    out[2] = x;
    out[3] = clock() - low > 0;
}

__global__ void registers(unsigned *out)
{
    unsigned lane, warp, warps, sm, ctaid, grid, mask_lt, mask_ge, size;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(warps));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(ctaid));
    asm volatile("mov.u32 %0, %%nctaid.x;" : "=r"(grid));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(mask_lt));
    asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(mask_ge));
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    if (threadIdx.x == 45 && blockIdx.x == 2) {
        out[0] = lane;
        out[1] = warp < warps;
        out[2] = sm < 10000;
        out[3] = ctaid * 10 + grid;
        out[4] = mask_lt;
        out[5] = mask_ge;
        out[6] = size;
#ifdef __CUDA_ARCH__
        out[7] = __CUDA_ARCH__ >= 750;
#endif
    }
}

int main()
{
    int count = 0, driver = 0, runtime = 0;
    cudaGetDeviceCount(&count);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    printf("a device: %s, driver not older: %s, runtime as compiled: %s\n",
           count >= 1 ? "yes" : "no", driver >= runtime ? "yes" : "no",
           runtime / 1000 == CUDART_VERSION / 1000 ? "yes" : "no");
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    printf("named: %s, warp %d, threads per block %d, block %d %d %d, grid %d %d %d\n",
           strlen(p.name) > 2 ? "yes" : "no", p.warpSize, p.maxThreadsPerBlock, p.maxThreadsDim[0],
           p.maxThreadsDim[1], p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1],
           p.maxGridSize[2]);
    printf("registers per block %d, shared per block %zu, constant %zu, unified addressing %d\n",
           p.regsPerBlock, p.sharedMemPerBlock, p.totalConstMem, p.unifiedAddressing);
    printf("managed %d, concurrent kernels %d, cooperative %d, can map %d, at least 7.5: %s\n",
           p.managedMemory, p.concurrentKernels, p.cooperativeLaunch, p.canMapHostMemory,
           p.major * 10 + p.minor >= 75 ? "yes" : "no");
    int value = 0;
    cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0);
    printf("attribute agrees: %s", value == p.major ? "yes" : "no");
    cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
    printf(" %s", value == p.multiProcessorCount ? "yes" : "no");
    cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
    printf(" %s\n", value == p.maxThreadsPerMultiProcessor ? "yes" : "no");

    int blocks = 0, grid = 0, size = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, simple, 256, 0);
    printf("256 threads fill the SM: %s\n",
           blocks * 256 == p.maxThreadsPerMultiProcessor ? "yes" : "no");
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, simple, 1024, 0);
    printf("1024 threads: %s\n",
           blocks == p.maxThreadsPerMultiProcessor / 1024 ? "as expected" : "DIFFERENT");
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, simple, 32, 0);
    printf("32 threads hit the limit of blocks: %s\n",
           blocks == p.maxBlocksPerMultiProcessor ? "yes" : "no");
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, heavy_shared, 32, 0);
    int fits = (int)(p.sharedMemPerMultiprocessor / (32768 + p.reservedSharedMemPerBlock));
    printf("32 KB of shared memory each: %s\n", blocks == fits ? "as computed" : "DIFFERENT");
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, simple, 1025, 0);
    printf("1025 threads: %d\n", blocks);
    cudaGetLastError();
    cudaOccupancyMaxPotentialBlockSize(&grid, &size, simple, 0, 0);
    printf("suggestion: %d threads at least 256: %s, grid fills the GPU: %s\n",
           size > 0 ? size % 32 : -1, size >= 256 ? "yes" : "no",
           grid >= p.multiProcessorCount ? "yes" : "no");
    cudaFuncAttributes a;
    cudaFuncGetAttributes(&a, bounded<64, 8>);
    printf("launch bounds: max threads %d, registers below 256: %s\n", a.maxThreadsPerBlock,
           a.numRegs > 0 && a.numRegs < 256 ? "yes" : "no");

    int *out;
    cudaMallocManaged(&out, 256 * 4);
    bounded<64, 8><<<2, 64>>>(out);
    cudaDeviceSynchronize();
    printf("bounded: %d %d\n", out[63], out[64]);
    timers<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    printf("timers: %d %d %d %d\n", out[0], out[1], out[2], out[3]);
    registers<<<4, 64, 1234>>>((unsigned *)out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("registers: %d %d %d %d %08x %08x %d %d\n", out[0], out[1], out[2], out[3], out[4],
           out[5], out[6], out[7]);
    return 0;
}
