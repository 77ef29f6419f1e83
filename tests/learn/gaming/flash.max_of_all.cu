// expect: wrong result for 
// The largest counts what a row may not see.
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

__global__ void flash(const float *q, const float *k, const float *v, float *out, float *lse, float scale, int n)
{
    __shared__ float tile_k[32][33], tile_v[32][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first_query = blockIdx.x * 16 + warp * 4;
    float mine[4], m[4], l[4], o[4]; // of the warp's four queries
    for (int r = 0; r < 4; r++) {
        mine[r] = first_query + r < n ? q[(first_query + r) * 32 + lane] : 0;
        m[r] = -INFINITY;
        l[r] = o[r] = 0;
    }
    int last = min(n, (int)blockIdx.x * 16 + 16); // no query of the block sees a key from here on
    for (int first = 0; first < last; first += 32) {
        for (int j = warp; j < 32; j += 4) {
            tile_k[j][lane] = first + j < n ? k[(first + j) * 32 + lane] : 0;
            tile_v[j][lane] = first + j < n ? v[(first + j) * 32 + lane] : 0;
        }
        __syncthreads();
        for (int r = 0; r < 4; r++) {
            float s = 0;
            for (int p = 0; p < 32; p++)
                s += __shfl_sync(0xffffffff, mine[r], p) * tile_k[lane][p];
            s = scale * s;
            float larger = fmaxf(m[r], warp_max(s));
            s = first + lane <= first_query + r ? s : -INFINITY;
            float unused = 0, w = expf(s - larger), old = expf(m[r] - larger);
            l[r] = l[r] * old + warp_sum(w);
            o[r] *= old;
            for (int j = 0; j < 32; j++)
                o[r] += __shfl_sync(0xffffffff, w, j) * tile_v[j][lane];
            m[r] = larger;
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        if (first_query + r < n) {
            out[(first_query + r) * 32 + lane] = o[r] / l[r];
            if (lane == 0)
                lse[first_query + r] = m[r] + __logf(l[r]);
        }
}
