// tiled_attention: out = softmax(scale * q k^T) v. Rows have 32 numbers. No matrix of scores is stored anywhere.
//
// A block of 4 warps has 16 queries, a warp four of them, one after the other. It takes 32 keys at a time: lane j has
// the score of key j, the warp updates m and l, and lane c adds to element c of the output. Everything is there, but
// every warp reads keys and values from global memory, for each of its queries.
__device__ float warp_max(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, step));
    return x;
}
__device__ float warp_sum(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffff, x, step);
    return x;
}

__global__ void tiled_attention(const float *q, const float *k, const float *v, float *out, float scale, int queries,
                                int keys)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // TODO: the loop over the keys goes outside. In each step the block brings 32 keys and 32 values into shared
    // memory, and every query of the block uses them; m, l and o are kept for each of the warp's four queries.
    for (int r = 0; r < 4; r++) {
        int i = blockIdx.x * 16 + warp * 4 + r;
        float mine = i < queries ? q[i * 32 + lane] : 0, m = -INFINITY, l = 0, o = 0;
        for (int first = 0; first < keys; first += 32) {
            float s = 0;
            for (int p = 0; p < 32; p++)
                s += __shfl_sync(0xffffffff, mine, p) * (first + lane < keys ? k[(first + lane) * 32 + p] : 0);
            s = first + lane < keys ? scale * s : -INFINITY;
            float larger = fmaxf(m, warp_max(s)), w = expf(s - larger), old = expf(m - larger);
            l = l * old + warp_sum(w);
            o *= old;
            for (int j = 0; j < 32 && first + j < keys; j++)
                o += __shfl_sync(0xffffffff, w, j) * v[(first + j) * 32 + lane];
            m = larger;
        }
        if (i < queries)
            out[i * 32 + lane] = o / l;
    }
}
