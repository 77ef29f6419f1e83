/*
 * generic_sm90.cu: scans of other types than float, on GPUs that have bulk copies and launches that
 * overlap: inputs of up to 2 M elements as in overlapped.cu, longer ones as in bulk.cu. A type
 * needs three wrappers at the end of the file, and the operators of a number.
 */
// arch: sm_90
#include "bulk.h"
#include "generic.h"
#define SHORT_BLOCK 256 // tune: 256 512 1024
#define SHORT_ROWS 2 // tune: 1 2 4 8
#define BLOCK 128 // tune: 64 128 256
#define ROWS 8 // tune: 4 8 16
#define STAGES 12 // tune: 6 8 10 12
#define AHEAD 4 // tune: 3 4 6

// Short inputs -----------------------------------------------------------------------------------

#define SHORT_WARPS (SHORT_BLOCK / 32)

__device__ __forceinline__ long long short_element()
{
    return ((long long)blockIdx.x * SHORT_WARPS + threadIdx.x / 32) * 128 * SHORT_ROWS +
           threadIdx.x % 32 * 4;
}

template <typename T>
__device__ __forceinline__ void sum_short_tiles(const T *in, long long n, T *sums)
{
    __shared__ T total_of[SHORT_WARPS];
    rows<T, SHORT_ROWS> part;
    T sum = 0;
    cudaTriggerProgrammaticLaunchCompletion();
    part.load(in, short_element(), n, (size_t)in % 16 == 0);
#pragma unroll
    for (int i = 0; i < SHORT_ROWS; i++)
        sum += sum_four(part.row[i]);
    sum = exchange<SHORT_WARPS>(total_of, sum_lanes(sum));
    if (threadIdx.x < 32) {
        sum = sum_lanes(sum);
        if (threadIdx.x == 0)
            sums[blockIdx.x] = sum;
    }
}

template <typename T>
__device__ __forceinline__ void scan_short_tiles(const T *in, long long n, T *out, const T *sums,
                                                 bool exclusive)
{
    __shared__ T total_of[SHORT_WARPS], seen_by[SHORT_WARPS];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    bool aligned = ((size_t)in | (size_t)out) % 16 == 0;
    rows<T, SHORT_ROWS> part;
    part.load(in, short_element(), n, aligned);
    part.scan();
    T total = exchange<SHORT_WARPS>(total_of, part.total());
    T before = sum_lanes(lane < warp ? total : 0);

    cudaGridDependencySynchronize();
    T seen = 0;
    for (unsigned first = threadIdx.x; first < blockIdx.x; first += 4 * SHORT_BLOCK) {
        unsigned bits[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            bits[k] = first + k * SHORT_BLOCK < blockIdx.x
                          ? load_relaxed((const unsigned *)sums + first + k * SHORT_BLOCK)
                          : 0;
        seen += (bits_as<T>(bits[0]) + bits_as<T>(bits[1])) +
                (bits_as<T>(bits[2]) + bits_as<T>(bits[3]));
    }
    before += sum_lanes(exchange<SHORT_WARPS>(seen_by, sum_lanes(seen)));
    part.write(out, short_element(), n, before, aligned, exclusive);
}

// Long inputs: the roles of bulk.cu --------------------------------------------------------------

#define WARPS (BLOCK / 32)
#define TILE ((long long)BLOCK * 4 * ROWS)
#define AT_ONCE 8 // states that a lane of the gatherer asks for together
#define ANNOUNCED (1ull << 32)

template <typename T> struct stage {
    barrier arrived, added, known, free;
    unsigned tile;
    T before, total_of[WARPS];
};

template <typename T> struct pipeline {
    const T *in;
    T *out;
    long long n, tiles;
    unsigned *ticket;
    unsigned long long *states;
    bool aligned, exclusive;
    stage<T> *stages; // [STAGES]
    four<T> *data;    // [STAGES][TILE / 4]

    __device__ __forceinline__ bool is_whole(long long tile) const
    {
        return aligned && (tile + 1) * TILE <= n;
    }

    __device__ __forceinline__ void fetch() const
    {
        long long tile;
        unsigned k = 0;
        do {
            stage<T> *s = stages + k % STAGES;
            tile = k < STAGES ? k * gridDim.x + blockIdx.x
                              : STAGES * gridDim.x + atomicAdd(ticket, 1);
            if (k >= STAGES)
                barrier_wait(&s->free, (k / STAGES - 1) % 2);
            if (k >= AHEAD)
                barrier_wait(&stages[(k - AHEAD) % STAGES].arrived, (k - AHEAD) / STAGES % 2);
            s->tile = (unsigned)tile;
            if (tile < tiles && is_whole(tile)) {
                barrier_arrive_expecting(&s->arrived, 4 * TILE);
                bulk_load(data + k % STAGES * (TILE / 4), in + tile * TILE, 4 * TILE, &s->arrived);
            } else {
                barrier_arrive(&s->arrived);
            }
            k++;
        } while (tile < tiles);
    }

    // A warp's part of the tile of step k, in shared memory.
    __device__ __forceinline__ four<T> *part_of(unsigned k, unsigned warp) const
    {
        return data + k % STAGES * (TILE / 4) + warp * (32 * ROWS) + threadIdx.x % 32;
    }

    __device__ __forceinline__ long long element(long long tile, unsigned warp) const
    {
        return tile * TILE + warp * (128 * ROWS) + threadIdx.x % 32 * 4;
    }

    __device__ __forceinline__ void add(unsigned warp) const
    {
        unsigned lane = threadIdx.x % 32;
        for (unsigned k = 0;; k++) {
            stage<T> *s = stages + k % STAGES;
            four<T> *part = part_of(k, warp);
            barrier_wait(&s->arrived, k / STAGES % 2);
            long long tile = s->tile, left = n - element(tile, warp);
            if (tile >= tiles)
                return;
            if (!is_whole(tile))
                for (int i = 0; i < ROWS; i++)
                    part[i * 32] = load_four(in + (n - left) + i * 128, left - i * 128, aligned);
            T sum = 0;
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                sum += sum_four(part[i * 32]);
            sum = sum_lanes(sum);
            __syncwarp();
            if (lane == 0) {
                s->total_of[warp] = sum;
                barrier_arrive(&s->added);
            }
            if (warp > 0)
                continue;
            barrier_wait(&s->added, k / STAGES % 2);
            sum = sum_lanes(lane < WARPS ? s->total_of[lane] : 0);
            if (lane == 0)
                store_relaxed(states + tile, ANNOUNCED | bits_as<unsigned>(sum));
        }
    }

    // A lane's share of the sums of the tiles from `first` up to `tile`.
    __device__ __forceinline__ T announced(long long first, long long tile) const
    {
        T sum = 0;
        for (long long i = first + threadIdx.x % 32; i < tile; i += 32 * AT_ONCE) {
            unsigned long long state[AT_ONCE], all;
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                state[k] = i + 32 * k < tile ? 0 : ANNOUNCED;
            do {
                all = ANNOUNCED;
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++)
                    if (!(state[k] & ANNOUNCED))
                        state[k] = load_relaxed(states + i + 32 * k);
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++)
                    all &= state[k];
            } while (!all);
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                sum += bits_as<T>((unsigned)state[k]);
        }
        return sum;
    }

    __device__ __forceinline__ void gather() const
    {
        T before = 0;
        long long unseen = 0, tile;
        for (unsigned k = 0;; k++, unseen = tile) {
            stage<T> *s = stages + k % STAGES;
            barrier_wait(&s->arrived, k / STAGES % 2);
            tile = s->tile;
            if (tile >= tiles)
                return;
            before += sum_lanes(announced(unseen, tile));
            if (threadIdx.x % 32 == 0) {
                s->before = before;
                barrier_arrive(&s->known);
            }
        }
    }

    __device__ __forceinline__ void write(unsigned warp) const
    {
        unsigned lane = threadIdx.x % 32;
        for (unsigned k = 0;; k++) {
            stage<T> *s = stages + k % STAGES;
            const four<T> *part = part_of(k, warp);
            barrier_wait(&s->arrived, k / STAGES % 2);
            long long tile = s->tile;
            if (tile >= tiles)
                return;
            barrier_wait(&s->added, k / STAGES % 2);
            T before = sum_lanes(lane < warp ? s->total_of[lane] : 0);
            rows<T, ROWS> mine;
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                mine.row[i] = part[i * 32];
            mine.scan();
            barrier_wait(&s->known, k / STAGES % 2);
            before += s->before;
            __syncwarp();
            if (lane == 0)
                barrier_arrive(&s->free);
            mine.write(out, element(tile, warp), n, before, aligned, exclusive);
        }
    }
};

template <typename T>
__device__ __forceinline__ void scan_tiles(const T *in, long long n, T *out, unsigned *ticket,
                                           unsigned long long *states, bool exclusive)
{
    extern __shared__ uint4 data[];
    __shared__ stage<T> stages[STAGES];
    const pipeline<T> pipe = {in, out, n, (n + TILE - 1) / TILE, ticket, states,
                              ((size_t)in | (size_t)out) % 16 == 0, exclusive, stages,
                              (four<T> *)data};
    unsigned warp = threadIdx.x / 32;
    if (threadIdx.x < STAGES) {
        barrier_make(&stages[threadIdx.x].arrived, 1);
        barrier_make(&stages[threadIdx.x].added, WARPS);
        barrier_make(&stages[threadIdx.x].known, 1);
        barrier_make(&stages[threadIdx.x].free, WARPS);
        barrier_made();
    }
    __syncthreads();
    if (warp < WARPS)
        pipe.add(warp);
    else if (warp < 2 * WARPS)
        pipe.write(warp - WARPS);
    else if (warp == 2 * WARPS)
        pipe.gather();
    else if (elect_one())
        pipe.fetch();
}

// i32; sums wrap. ---------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(SHORT_BLOCK)
    sum_short_i32(const int *in, long long n, int *sums)
{
    sum_short_tiles(in, n, sums);
}
extern "C" __global__ void __launch_bounds__(SHORT_BLOCK)
    scan_short_i32(const int *in, long long n, int *out, const int *sums, int exclusive)
{
    scan_short_tiles(in, n, out, sums, exclusive != 0);
}
extern "C" __global__ void __launch_bounds__(2 * BLOCK + 64)
    scan_i32(const int *in, long long n, int *out, unsigned *ticket, unsigned long long *states,
             int exclusive)
{
    scan_tiles(in, n, out, ticket, states, exclusive != 0);
}
