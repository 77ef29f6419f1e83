/*
 * realigned.cu: the offset copy by 16-byte accesses, which must lie on 16-byte boundaries although
 * those of in and out do not coincide. Each lane loads the aligned vector that its result begins
 * in and takes the rest of it from the next lane's registers.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024
#define BLOCKS_PER_SM 8 // tune: 4 8 16 32

/* Elements shift .. shift + 3 of the eight in a and b. */
__device__ __forceinline__ float4 pick(float4 a, float4 b, unsigned shift)
{
    return shift == 0   ? a
           : shift == 1 ? make_float4(a.y, a.z, a.w, b.x)
           : shift == 2 ? make_float4(a.z, a.w, b.x, b.y)
                        : make_float4(a.w, b.x, b.y, b.z);
}

/* out[j] = the four elements from[4 j + shift ..], for all j < vectors. from[4 * vectors ..] may be
 * read too unless shift is 0. */
__device__ __forceinline__ void copy_vectors(const float4 *from, float4 *out, long long vectors,
                                             unsigned shift)
{
    long long readable = vectors + (shift != 0), threads = (long long)gridDim.x * BLOCK;
    unsigned lane = threadIdx.x % 32;
    long long j = (long long)blockIdx.x * BLOCK + threadIdx.x;
#pragma unroll 1
    for (; j - lane < vectors; j += threads) { /* a warp stays together for its shuffles */
        float4 v = j < readable ? from[j] : make_float4(0, 0, 0, 0), next;
        next.x = __shfl_down_sync(0xffffffff, v.x, 1);
        next.y = __shfl_down_sync(0xffffffff, v.y, 1);
        next.z = __shfl_down_sync(0xffffffff, v.z, 1);
        next.w = __shfl_down_sync(0xffffffff, v.w, 1);
        if (lane == 31 && j + 1 < readable)
            next = from[j + 1];
        if (j < vectors)
            out[j] = pick(v, next, shift);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
copy(const float *in, float *out, long long n, long long k)
{
    const float *from = in + k;
    /* Elements before out's first boundary, and how far behind one `from` lies there. */
    long long head = (16 - (unsigned long long)out % 16) % 16 / 4;
    unsigned shift = (unsigned long long)(from + head) % 16 / 4;
    if (from + head - shift < in) /* the first vector would begin before in does */
        head += 4;
    /* As many as fit; one fewer if the vector after the last would go past the end of in. */
    long long vectors = n > head ? (n - head + shift - (shift ? 4 : 0)) / 4 : 0;
    if (vectors > 0)
        copy_vectors((const float4 *)(from + head - shift), (float4 *)(out + head), vectors, shift);
    /* What is left at both ends, element by element. */
    long long me = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (me < head && me < n)
        out[me] = from[me];
    for (long long i = head + 4 * vectors + me; i < n; i += (long long)gridDim.x * BLOCK)
        out[i] = from[i];
}
