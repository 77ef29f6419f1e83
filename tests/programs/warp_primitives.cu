// Warp primitives: all shuffles with widths, 64-bit and double shuffles, votes, ballot, match,
// __reduce_*_sync, activemask inside branches, partial masks, segmented work in half warps, and the
// leader-elected atomic. Each lane's result is printed or hashed.

#include <cstdio>

__device__ int results[64][32];
__device__ double doubles[2][32];

__global__ void shuffles()
{
    int lane = threadIdx.x, v = lane * 10;
    results[0][lane] = __shfl_sync(~0u, v, 5);
    results[1][lane] = __shfl_sync(~0u, v, lane + 1);
    results[2][lane] = __shfl_sync(~0u, v, 3, 8);
    results[3][lane] = __shfl_up_sync(~0u, v, 3);
    results[4][lane] = __shfl_up_sync(~0u, v, 1, 4);
    results[5][lane] = __shfl_down_sync(~0u, v, 7);
    results[6][lane] = __shfl_down_sync(~0u, v, 2, 16);
    results[7][lane] = __shfl_xor_sync(~0u, v, 21);
    results[8][lane] = __shfl_xor_sync(~0u, v, 3, 4);
    long long wide = __shfl_xor_sync(~0u, (long long)lane << 33 | lane, 1);
    results[9][lane] = (int)(wide >> 33) * 100 + (int)(wide & 0xff);
    doubles[0][lane] = __shfl_down_sync(~0u, lane / 7.0, 1);
    doubles[1][lane] = __shfl_sync(~0u, (float)lane * 0.5f, 31 - lane);
}

__global__ void votes()
{
    int lane = threadIdx.x;
    results[10][lane] = (int)__ballot_sync(~0u, lane % 3 == 0);
    results[11][lane] = __all_sync(~0u, lane < 32) * 10 + __all_sync(~0u, lane < 31);
    results[12][lane] = __any_sync(~0u, lane == 17) * 10 + __any_sync(~0u, lane > 31);
    results[13][lane] = (int)__match_any_sync(~0u, lane / 5);
    int same;
    results[14][lane] = (int)__match_all_sync(~0u, lane & 32, &same) + same;
    results[15][lane] = (int)__match_all_sync(~0u, lane & 16, &same) + same;
    results[16][lane] = (int)__match_any_sync(~0u, (unsigned long long)(lane & 3) << 40);
    results[17][lane] = (int)__reduce_add_sync(~0u, (unsigned)lane * 3u);
    results[18][lane] = __reduce_min_sync(~0u, 5 - lane);
    results[19][lane] = __reduce_max_sync(~0u, lane ^ 21);
    results[20][lane] = (int)__reduce_and_sync(~0u, 0xf0u | lane);
    results[21][lane] = (int)__reduce_or_sync(~0u, 1u << (lane & 7));
    results[22][lane] = (int)__reduce_xor_sync(~0u, lane * 77u);
}

__global__ void branches()
{
    int lane = threadIdx.x;
    if (lane < 12) {
        results[23][lane] = (int)__ballot_sync(0xfffu, lane & 1);
        results[24][lane] = __shfl_sync(0xfffu, lane * lane, 11);
        results[25][lane] = (int)__reduce_add_sync(0xfffu, 1u);
    } else {
        results[23][lane] = (int)__ballot_sync(0xfffff000u, lane & 4);
        results[24][lane] = __shfl_down_sync(0xfffff000u, lane, 1);
        results[25][lane] = (int)__reduce_add_sync(0xfffff000u, 100u);
    }
    __syncwarp();
    // Halves of the warp meet the same .sync from different places.
    unsigned mask = lane & 1 ? 0xaaaaaaaau : 0x55555555u;
    int sum = lane;
    for (int d = 16; d > 1; d >>= 1)
        sum += __shfl_xor_sync(mask, sum, d);
    results[26][lane] = sum;
    // A loop whose lanes leave one by one.
    int rounds = 0;
    unsigned seen = 0;
    for (int i = 0; i <= lane; i++) {
        unsigned active = __ballot_sync(0xffffffffu << i, 1);
        seen ^= active;
        rounds++;
    }
    results[27][lane] = (int)(seen + rounds);
}

__device__ int counter;

__device__ int aggregated_increment(int *p)
{
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, lane = threadIdx.x & 31, base = 0;
    if (lane == leader)
        base = atomicAdd(p, __popc(active));
    base = __shfl_sync(active, base, leader);
    return base + __popc(active & ((1u << lane) - 1));
}

__global__ void compact(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 3 == 0)
        out[aggregated_increment(&counter)] = in[i];
}

__global__ void small_block()
{
    // 20 threads: the mask names only lanes that exist.
    unsigned everyone = (1u << 20) - 1;
    results[28][threadIdx.x] = (int)__ballot_sync(everyone, 1);
    int down = __shfl_down_sync(everyone, (int)threadIdx.x, 4);
    results[29][threadIdx.x] = threadIdx.x < 16 ? down : 0; // what comes from lane 20 on is undefined
    results[30][threadIdx.x] = (int)__popc(__activemask());
}

__global__ void exited()
{
    if (threadIdx.x >= 24)
        return; // lanes that have left do not hold the others up
    int lane = threadIdx.x;
    results[31][lane] = __any_sync(0x00ffffffu, lane == 23);
    __syncwarp(0x00ffffffu);
    results[32][lane] = __shfl_up_sync(0x00ffffffu, lane, 2);
}

int main()
{
    shuffles<<<1, 32>>>();
    votes<<<1, 32>>>();
    branches<<<1, 32>>>();
    small_block<<<1, 20>>>();
    exited<<<1, 32>>>();
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    static int host[64][32];
    cudaMemcpyFromSymbol(host, results, sizeof host);
    for (int test = 0; test <= 32; test++) {
        unsigned hash = 0;
        for (int lane = 0; lane < 32; lane++)
            hash = hash * 31 + (unsigned)host[test][lane];
        printf("%2d: %11d %11d %11d %11d hash %08x\n", test, host[test][0], host[test][1],
               host[test][13], host[test][31], hash);
    }
    double values[2][32];
    cudaMemcpyFromSymbol(values, doubles, sizeof values);
    printf("doubles %.15g %.15g %g %g\n", values[0][0], values[0][31], values[1][0], values[1][31]);

    const int n = 1000;
    int *in, *out, count;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&out, n * sizeof(int));
    for (int i = 0; i < n; i++)
        in[i] = i * 7 % 1000;
    compact<<<8, 128>>>(in, out, n);
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    long long sum = 0;
    for (int i = 0; i < count; i++)
        sum += out[i];
    printf("compact: kept %d sum %lld\n", count, sum);
    return 0;
}
