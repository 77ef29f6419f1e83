// expect: local_load_requests is [0-9]+, at most 0 is allowed
// not online: largest first, but the row waits in registers
__global__ void online(const float *x, float *out, float scale, int cols)
{
    const float *row = x + blockIdx.x * cols;
    float kept[96], m = -INFINITY, l = 0;
    int k = 0;
    for (int c = threadIdx.x; c < cols; c += 32, k++) {
        kept[k] = scale * row[c];
        m = fmaxf(m, kept[k]);
    }
    for (int step = 16; step > 0; step /= 2)
        m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, step));
    k = 0;
    for (int c = threadIdx.x; c < cols; c += 32, k++)
        l += expf(kept[k] - m);
    for (int step = 16; step > 0; step /= 2)
        l += __shfl_xor_sync(0xffffffff, l, step);
    k = 0;
    for (int c = threadIdx.x; c < cols; c += 32, k++)
        out[blockIdx.x * cols + c] = expf(kept[k] - m) / l;
}
