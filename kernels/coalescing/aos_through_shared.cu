/*
 * aos_through_shared.cu: a block's structures are one stretch of memory, whatever is in them. The
 * block loads that stretch, coalesced, into shared memory, where a stride costs at most bank
 * conflicts; skipping a word after every 32 removes those too when k is a power of two.
 */
// arch: sm_75
#define BLOCK 256 // tune: 64 128 256 512

/* Where word i of the stretch lies. With an odd k the 32 lanes meet 32 banks without a gap. */
__device__ __forceinline__ unsigned place(unsigned i, unsigned k)
{
    return k % 2 ? i : i + i / 32;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
copy(const float *in, float *out, long long n, long long k)
{
    extern __shared__ float tile[];
    long long first = (long long)blockIdx.x * BLOCK;
    unsigned count = n - first < BLOCK ? n - first : BLOCK, fields = k, me = threadIdx.x;
#pragma unroll 4
    for (unsigned i = me; i < count * fields; i += BLOCK)
        tile[place(i, fields)] = in[first * k + i];
    __syncthreads();
    if (me < count)
        for (unsigned field = 0; field < fields; field++)
            out[field * n + first + me] = tile[place(me * fields + field, fields)];
}
