/*
 * warp_scan.cu: the scan stays in registers. Five shuffles scan a warp, then one warp scans the
 * sums of the warps: two barriers in place of eight or sixteen, and next to no shared memory.
 *
 * Around the block's scan it works like hillis_steele.cu: blocks leave their sums, those are
 * scanned by further launches, and add_sums adds them to the output.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024

// The sum of x over this lane and all lanes below it.
__device__ __forceinline__ float warp_scan(float x, int lane)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        float below = __shfl_up_sync(0xffffffff, x, distance);
        if (lane >= distance)
            x += below;
    }
    return x;
}

extern "C" __global__ void scan_blocks(const float *in, long long n, float *out, float *sums,
                                       int exclusive)
{
    __shared__ float warp_sum[32]; // of each warp; then of each warp and those before it
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    long long i = (long long)blockIdx.x * BLOCK + thread;
    float up_to = warp_scan(i < n ? in[i] : 0, lane);
    float below = __shfl_up_sync(0xffffffff, up_to, 1);
    if (lane == 31)
        warp_sum[warp] = up_to;
    __syncthreads();
    if (warp == 0) {
        float scanned = warp_scan(lane < BLOCK / 32 ? warp_sum[lane] : 0, lane);
        warp_sum[lane] = scanned;
        if (lane == 31)
            sums[blockIdx.x] = scanned;
    }
    __syncthreads();
    float before = warp > 0 ? warp_sum[warp - 1] : 0;
    if (i < n)
        out[i] = before + (!exclusive ? up_to : lane > 0 ? below : 0);
}

// Adds to each block what comes before it: sums is now the exclusive scan of the blocks' sums.
extern "C" __global__ void add_sums(float *out, long long n, const float *sums)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}
