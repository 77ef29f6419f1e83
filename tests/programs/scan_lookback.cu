// Single-pass scan with decoupled look-back: blocks take a ticket, publish their sum, then look at
// the blocks before them until one has published its prefix. Blocks wait for one another through
// memory: __threadfence, volatile flags and atomics must hold.

#include <cstdio>
#include <vector>

enum { EMPTY = 0, SUM_READY = 1, PREFIX_READY = 2 };

struct tile_state {
    int flag;
    unsigned sum;
    unsigned prefix;
};

__device__ unsigned next_tile;

template <int THREADS, int ITEMS>
__global__ void scan(const unsigned *in, unsigned *out, volatile tile_state *states, int n)
{
    __shared__ unsigned tile_id, warp_sums[THREADS / 32], before;
    if (threadIdx.x == 0)
        tile_id = atomicAdd(&next_tile, 1);
    __syncthreads();
    unsigned tile = tile_id;
    int base = tile * THREADS * ITEMS + threadIdx.x * ITEMS;

    unsigned items[ITEMS], sum = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        items[i] = base + i < n ? in[base + i] : 0;
        sum += items[i];
    }
    unsigned inclusive = sum;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(~0u, inclusive, d);
        if (lane >= d)
            inclusive += other;
    }
    if (lane == 31)
        warp_sums[warp] = inclusive;
    __syncthreads();
    unsigned total = 0, offset = inclusive - sum;
    for (int i = 0; i < THREADS / 32; i++) {
        if (i < warp)
            offset += warp_sums[i];
        total += warp_sums[i];
    }

    if (threadIdx.x == 0) {
        states[tile].sum = total;
        __threadfence();
        states[tile].flag = SUM_READY;
        unsigned prefix = 0;
        for (int look = (int)tile - 1; look >= 0;) {
            int flag = states[look].flag;
            if (flag == EMPTY)
                continue;
            __threadfence();
            if (flag == PREFIX_READY) {
                prefix += states[look].prefix;
                break;
            }
            prefix += states[look].sum;
            look--;
        }
        states[tile].prefix = prefix + total;
        __threadfence();
        states[tile].flag = PREFIX_READY;
        before = prefix;
    }
    __syncthreads();
    offset += before;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        offset += items[i];
        if (base + i < n)
            out[base + i] = offset;
    }
}

int main()
{
    const int threads = 128, items = 8, sizes[] = {1, 1000, 1024, 65536, 100001};
    for (int n : sizes) {
        std::vector<unsigned> in(n), out(n);
        for (int i = 0; i < n; i++)
            in[i] = (unsigned)i * 2246822519u >> 20;
        int tiles = (n + threads * items - 1) / (threads * items);
        unsigned *din, *dout, zero = 0;
        tile_state *states;
        cudaMalloc(&din, n * 4);
        cudaMalloc(&dout, n * 4);
        cudaMalloc(&states, tiles * sizeof(tile_state));
        cudaMemcpy(din, in.data(), n * 4, cudaMemcpyHostToDevice);
        cudaMemset(states, 0, tiles * sizeof(tile_state));
        cudaMemcpyToSymbol(next_tile, &zero, sizeof zero);
        scan<threads, items><<<tiles, threads>>>(din, dout, states, n);
        cudaMemcpy(out.data(), dout, n * 4, cudaMemcpyDeviceToHost);
        unsigned sum = 0, hash = 0;
        int wrong = 0;
        for (int i = 0; i < n; i++) {
            sum += in[i];
            wrong += out[i] != sum;
            hash = (hash << 5 | hash >> 27) ^ out[i];
        }
        printf("n=%d tiles=%d last=%u hash=%08x wrong=%d %s\n", n, tiles, out[n - 1], hash, wrong,
               cudaGetErrorName(cudaGetLastError()));
        cudaFree(din);
        cudaFree(dout);
        cudaFree(states);
    }
    return 0;
}
