/*
 * shared.cu: rows wait in shared memory. A block takes one row after the other; bulk copies, which
 * a hardware unit carries out, fetch the next STAGES - 1 rows while it works on this one, so that
 * memory never waits for the barriers in between. A row is read from shared memory three times and
 * from global memory once. The longest is what shared memory holds STAGES times.
 */
// arch: sm_90
#include "bulk.h"
#include "part.h"

#define BLOCK 256 // tune: 128 256 512 1024
#define STAGES 3 // tune: 2 3 4

static __device__ void fetch(uint4 *stage, const bf16 *in, long long row, long long cols,
                             barrier *full)
{
    barrier_arrive_expecting(full, cols * sizeof(bf16));
    bulk_load(stage, in + row * cols, cols * sizeof(bf16), full);
}

static __device__ part measure_row(const uint4 *row, unsigned vectors, float factor)
{
    float x[8], most = -INFINITY, sum = 0;
    for (unsigned k = threadIdx.x; k < vectors; k += BLOCK) {
        widen_all<bf16>(row[k], x);
        for (int i = 0; i < 8; i++)
            most = fmaxf(most, x[i]);
    }
    most = max_lanes(most, 32);
    for (unsigned k = threadIdx.x; k < vectors; k += BLOCK) {
        widen_all<bf16>(row[k], x);
        for (int i = 0; i < 8; i++)
            sum += power_of_two((x[i] - base(most)) * factor);
    }
    return part{most, sum_lanes(sum, 32)};
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax(const bf16 *in, long long rows, long long cols, float scale, bf16 *out)
{
    extern __shared__ uint4 stages[]; // [STAGES][cols / 8]
    __shared__ barrier full[STAGES];
    __shared__ part of_warp[32];
    unsigned vectors = cols / 8;
    bool fetches = threadIdx.x < 32 && elect_one();
    if (fetches) {
        for (int k = 0; k < STAGES; k++)
            barrier_make(&full[k], 1);
        barrier_made();
        for (int k = 0; k < STAGES; k++) {
            long long row = blockIdx.x + (long long)k * gridDim.x;
            if (row < rows)
                fetch(stages + k * vectors, in, row, cols, &full[k]);
        }
    }
    __syncthreads();
    int stage = 0;
    unsigned parity = 0;
    for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
        const uint4 *here = stages + stage * vectors;
        uint4 *to = (uint4 *)(out + row * cols);
        barrier_wait(&full[stage], parity);
        part p = merge_warps(measure_row(here, vectors, scale * LOG2_E), scale * LOG2_E, of_warp);
        float share = p.sum == 0 ? 0 : 1 / p.sum;
        exponents e = exponents_from(p.most, scale * LOG2_E);
        for (unsigned k = threadIdx.x; k < vectors; k += BLOCK)
            store_stream(&to[k], softmax_vector(here[k], e, share));
        __syncthreads(); // nobody reads this stage any more, nor of_warp
        long long next = row + (long long)STAGES * gridDim.x;
        if (fetches && next < rows)
            fetch(stages + stage * vectors, in, next, cols, &full[stage]);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
}
