// expect: for the longer rows=[0-9]+ cols=[0-9]+ scale=20 global_load_requests is
// online: the row waits in registers where it is short; a long one is read three times.
__global__ void online(const float *x, float *out, float scale, int cols)
{
    const float *row = x + blockIdx.x * cols;
    float m = -INFINITY, l = 0, kept[10];
    if (cols <= 320) {
#pragma unroll
        for (int i = 0; i < 10; i++) {
            int c = 32 * i + threadIdx.x;
            kept[i] = c < cols ? scale * row[c] : -INFINITY;
            m = fmaxf(m, kept[i]);
        }
        for (int step = 16; step > 0; step /= 2)
            m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, step));
#pragma unroll
        for (int i = 0; i < 10; i++)
            l += expf(kept[i] - m);
        for (int step = 16; step > 0; step /= 2)
            l += __shfl_xor_sync(0xffffffff, l, step);
#pragma unroll
        for (int i = 0; i < 10; i++)
            if (32 * i + threadIdx.x < cols)
                out[blockIdx.x * cols + 32 * i + threadIdx.x] = expf(kept[i] - m) / l;
        return;
    }
    for (int c = threadIdx.x; c < cols; c += 32)
        m = fmaxf(m, scale * row[c]);
    for (int step = 16; step > 0; step /= 2)
        m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, step));
    for (int c = threadIdx.x; c < cols; c += 32)
        l += expf(scale * row[c] - m);
    for (int step = 16; step > 0; step /= 2)
        l += __shfl_xor_sync(0xffffffff, l, step);
    for (int c = threadIdx.x; c < cols; c += 32)
        out[blockIdx.x * cols + c] = expf(scale * row[c] - m) / l;
}
