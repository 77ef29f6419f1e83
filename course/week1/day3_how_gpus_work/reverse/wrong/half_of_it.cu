// Half of the threads swap two elements: the one in the middle of an odd length is forgotten.
__global__ void reverse(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        if (i < n / 2) {
            y[i] = x[n - 1 - i];
            y[n - 1 - i] = x[i];
        }
}
