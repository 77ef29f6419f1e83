// combine: the largest first, then the sums.
__global__ void combine(const float *o, const float *m, const unsigned *l, float *out, int parts)
{
    int i = blockIdx.x, lane = threadIdx.x;
    float most = -INFINITY, sum = 0, total = 0;
    for (int p = lane; p < parts; p += 32)
        most = fmaxf(most, m[i * parts + p]);
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    for (int p = 0; p < parts; p++) {
        float w = expf(16 * (m[i * parts + p] - most));
        sum += w * (1.0f + (float)l[i * parts + p]);
        total += w * o[(i * parts + p) * 32 + lane];
    }
    out[i * 32 + lane] = total / sum;
}
