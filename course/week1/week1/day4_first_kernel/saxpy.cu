// saxpy: y[i] = alpha * x[i] + y[i] for every i below n.
//
// This time the grid is small: 4 blocks of 128 threads, however large n is. A thread starts at its
// own index and goes on in steps of the whole grid.
__global__ void saxpy(float alpha, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: one element for each thread is not enough. Make it a loop.
    if (i < n)
        y[i] = alpha * x[i] + y[i];
}
