// wide: y = alpha * x + y with four elements for each thread. A block has 256 threads and does 1024 elements.
//
// Every access is coalesced, and the result is right. But a thread makes four loads of 4 bytes from each
// array where one of 16 bytes would do.
__global__ void wide(float alpha, const float *x, float *y, int n)
{
    // TODO: let a thread take four neighbours as one float4. n need not be a multiple of 4.
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 1024 + k * 256 + threadIdx.x;
        if (i < n)
            y[i] = alpha * x[i] + y[i];
    }
}
