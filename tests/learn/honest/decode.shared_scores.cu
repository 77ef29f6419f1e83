// decode: 64 scores in shared memory first, then each warp sums a quarter of them.
__global__ void decode(const float *q, const float *k, const float *v, float *o, float *m, float *l, float scale, int keys)
{
    __shared__ float w[64], part[4][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 64, count = min(64, keys - first);
    float mine = q[lane];
    for (int j = warp; j < count; j += 4) {
        float s = mine * k[(first + j) * 32 + lane];
        for (int d = 16; d; d /= 2)
            s += __shfl_down_sync(~0u, s, d);
        if (lane == 0)
            w[j] = scale * s;
    }
    __syncthreads();
    float most = -INFINITY, sum = 0, total = 0;
    for (int j = lane; j < count; j += 32)
        most = fmaxf(most, w[j]);
    for (int d = 16; d; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    for (int j = lane; j < count; j += 32)
        sum += expf(w[j] - most);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    for (int j = warp; j < count; j += 4)
        total += expf(w[j] - most) * v[(first + j) * 32 + lane];
    part[warp][lane] = total;
    __syncthreads();
    if (warp == 0) {
        o[blockIdx.x * 32 + lane] = part[0][lane] + part[1][lane] + part[2][lane] + part[3][lane];
        if (lane == 0) {
            m[blockIdx.x] = most;
            l[blockIdx.x] = sum;
        }
    }
}
