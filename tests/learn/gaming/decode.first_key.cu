// expect: wrong result for 
// The first key of each warp is taken for the largest.
__global__ void decode(const float *q, const float *k, const float *v, float *o, float *m, float *l, float scale, int keys)
{
    __shared__ float of_m[4], of_l[4], of_o[4][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 64;
    float mine = q[lane], most = -INFINITY, sum = 0, total = 0;
    for (int j = first + warp; j < first + 64 && j < keys; j += 4) {
        float s = mine * k[j * 32 + lane];
        for (int step = 16; step > 0; step /= 2)
            s += __shfl_xor_sync(0xffffffff, s, step);
        float larger = most == -INFINITY ? scale * s : most, w = expf(scale * s - larger), old = expf(most - larger);
        sum = sum * old + w;
        total = total * old + w * v[j * 32 + lane];
        most = larger;
    }
    of_o[warp][lane] = total;
    if (lane == 0) {
        of_m[warp] = most;
        of_l[warp] = sum;
    }
    __syncthreads();
    if (warp > 0)
        return;
    for (int i = 1; i < 4; i++) {
        float larger = fmaxf(most, of_m[i]), old = expf(most - larger), now = expf(of_m[i] - larger);
        sum = sum * old + of_l[i] * now;
        total = total * old + of_o[i][lane] * now;
        most = larger;
    }
    o[blockIdx.x * 32 + lane] = total;
    if (lane == 0) {
        m[blockIdx.x] = most;
        l[blockIdx.x] = sum;
    }
}
