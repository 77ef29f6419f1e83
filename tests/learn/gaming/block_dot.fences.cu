// expect: wrong result for n=[0-9]+: s|race
// block_dot: shared memory volatile, and barriers replaced by fences
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ volatile float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? x[i] * y[i] : 0;
    for (int half = 128; half > 0; half /= 2) {
        __threadfence_block();
        if (t < half)
            part[t] += part[t + half];
    }
    if (t == 0)
        s[blockIdx.x] = part[0];
}
