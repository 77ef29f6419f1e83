// flash: base 2, scores scaled when the query is loaded, -1e30 for what may not be seen.
__device__ __forceinline__ float all_max(float x)
{
    for (int o = 16; o; o >>= 1)
        x = fmaxf(x, __shfl_xor_sync(~0u, x, o));
    return x;
}
__device__ __forceinline__ float all_sum(float x)
{
    for (int o = 16; o; o >>= 1)
        x += __shfl_xor_sync(~0u, x, o);
    return x;
}
__global__ void flash(const float *q, const float *k, const float *v, float *out, float *lse, float scale, int n)
{
    __shared__ float ks[32][33], vs[32][32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, base = blockIdx.x * 16 + warp * 4;
    float mine[4], m[4], l[4] = {0, 0, 0, 0}, o[4] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < 4; r++) {
        mine[r] = base + r < n ? q[(base + r) * 32 + lane] * scale : 0;
        m[r] = -1e30f;
    }
    const int end = min(n, (int)blockIdx.x * 16 + 16);
    for (int first = 0; first < end; first += 32) {
        for (int j = warp; j < 32; j += 4) {
            bool there = first + j < n;
            ks[j][lane] = there ? k[(first + j) * 32 + lane] : 0;
            vs[j][lane] = there ? v[(first + j) * 32 + lane] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 4; r++) {
            float s = 0;
#pragma unroll
            for (int p = 0; p < 32; p++)
                s += __shfl_sync(~0u, mine[r], p) * ks[lane][p];
            bool seen = first + lane <= base + r;
            float larger = fmaxf(m[r], all_max(seen ? s : -1e30f));
            float w = seen ? exp2f((s - larger) * 1.44269504f) : 0, old = exp2f((m[r] - larger) * 1.44269504f);
            l[r] = l[r] * old + all_sum(w);
            o[r] *= old;
#pragma unroll
            for (int j = 0; j < 32; j++)
                o[r] += __shfl_sync(~0u, w, j) * vs[j][lane];
            m[r] = larger;
        }
        __syncthreads();
    }
    for (int r = 0; r < 4 && base + r < n; r++) {
        out[(base + r) * 32 + lane] = o[r] / l[r];
        if (lane == 0)
            lse[base + r] = m[r] + logf(l[r]);
    }
}
