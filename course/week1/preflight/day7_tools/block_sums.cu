// block_sums: each block adds up 256 elements of x: y[b] = x[256 b] + ... + x[256 b + 255].
//
// In each round half of the threads add the other half's values to their own. A round may begin
// only when the one before has ended for all threads.
__global__ void block_sums(const float *x, float *y)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 256 + t];
    // TODO: one barrier is missing. The checker names the two lines between which it belongs.
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        y[blockIdx.x] = part[0];
}
