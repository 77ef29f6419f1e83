// decode: lane j of warp 0 and 1 has a key's score; then all four warps go over the values.
__global__ void decode(const float *q, const float *k, const float *v, float *o, float *m, float *l,
                       float scale, int keys)
{
    __shared__ float tile[64][33], w[64], part[4][32], largest[2];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, first = blockIdx.x * 64;
    int count = keys - first < 64 ? keys - first : 64;
    for (int j = warp; j < count; j += 4)
        tile[j][lane] = k[(first + j) * 32 + lane];
    if (t < 32)
        part[0][t] = q[t];
    __syncthreads();
    float s = -INFINITY;
    if (t < 64) {
        if (t < count) {
            s = 0;
            for (int p = 0; p < 32; p++)
                s += part[0][p] * tile[t][p];
            s *= scale;
        }
        float top = s;
        for (int step = 16; step > 0; step /= 2)
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, step));
        if (lane == 0)
            largest[warp] = top;
    }
    __syncthreads();
    float top = fmaxf(largest[0], largest[1]);
    if (t < 64)
        w[t] = t < count ? expf(s - top) : 0;
    __syncthreads();
    float total = 0;
    for (int j = warp; j < count; j += 4)
        total += w[j] * v[(first + j) * 32 + lane];
    part[warp][lane] = total;
    __syncthreads();
    if (warp == 0) {
        o[blockIdx.x * 32 + lane] = part[0][lane] + part[1][lane] + part[2][lane] + part[3][lane];
        float sum = w[lane] + w[lane + 32];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (lane == 0) {
            m[blockIdx.x] = top;
            l[blockIdx.x] = sum;
        }
    }
}
