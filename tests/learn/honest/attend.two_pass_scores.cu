// attend: scores by one thread each, then reductions by shuffles, then a column for each lane.
__global__ void attend(const float *q, const float *k, const float *v, float *out, float scale, int keys)
{
    __shared__ float query[32], w[1024], of_warp[4], part[4][32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t < 32)
        query[t] = q[blockIdx.x * 32 + t];
    __syncthreads();
    float m = -INFINITY;
    for (int j = warp; j < keys; j += 4) {
        float s = query[lane] * k[j * 32 + lane];
#pragma unroll
        for (int o = 1; o < 32; o *= 2)
            s += __shfl_xor_sync(~0u, s, o);
        s *= scale;
        if (lane == 0)
            w[j] = s;
        m = fmaxf(m, s);
    }
    if (lane == 0)
        of_warp[warp] = m;
    __syncthreads();
    m = fmaxf(fmaxf(of_warp[0], of_warp[1]), fmaxf(of_warp[2], of_warp[3]));
    __syncthreads();
    float l = 0, o = 0;
    for (int j = t; j < keys; j += 128) {
        float e = __expf(w[j] - m);
        w[j] = e;
        l += e;
    }
    for (int d = 16; d; d /= 2)
        l += __shfl_xor_sync(~0u, l, d);
    if (lane == 0)
        of_warp[warp] = l;
    __syncthreads();
    l = of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
    for (int j = warp; j < keys; j += 4)
        o += w[j] * v[j * 32 + lane];
    part[warp][lane] = o;
    __syncthreads();
    if (warp == 0)
        out[blockIdx.x * 32 + lane] = (part[0][lane] + part[1][lane] + part[2][lane] + part[3][lane]) * (1 / l);
}
