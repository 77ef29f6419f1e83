// expect: wrong result for n=[0-9]+: s
// block_dot: in sixteenths, with 64 bits
__global__ void block_dot(const float *x, const float *y, float *s, int n)
{
    __shared__ long long part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = i < n ? (long long)(x[i] * 16384) * (long long)(y[i] * 16384) : 0;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            part[t] += part[t + half];
    }
    if (t == 0)
        s[blockIdx.x] = (float)part[0] / 16384 / 16384;
}
