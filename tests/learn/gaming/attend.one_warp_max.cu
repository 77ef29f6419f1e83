// expect: wrong result for 
// The largest of one warp of the four.
__global__ void attend(const float *q, const float *k, const float *v, float *out, float scale, int keys)
{
    __shared__ float w[1024], part[4][32], of_warp[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float mine = q[blockIdx.x * 32 + lane], largest = -INFINITY, sum = 0, total = 0;
    for (int j = warp; j < keys; j += 4) {
        float s = mine * k[j * 32 + lane];
        for (int step = 16; step > 0; step /= 2)
            s += __shfl_xor_sync(0xffffffff, s, step);
        if (lane == 0)
            w[j] = scale * s;
        largest = fmaxf(largest, scale * s);
    }
    if (lane == 0)
        of_warp[warp] = largest;
    __syncthreads();
    largest = of_warp[0];
    for (int j = t; j < keys; j += 128)
        w[j] = expf(w[j] - largest);
    __syncthreads();
    for (int j = lane; j < keys; j += 32)
        sum += w[j];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    for (int j = warp; j < keys; j += 4)
        total += w[j] * v[j * 32 + lane];
    part[warp][lane] = total;
    __syncthreads();
    if (warp == 0)
        out[blockIdx.x * 32 + lane] = (part[0][lane] + part[1][lane] + part[2][lane] + part[3][lane]) / sum;
}
