// A piece of the array for each thread: the lanes of a warp lie a whole piece apart.
__global__ void triad(float alpha, const float *x, const float *y, float *z, int n)
{
    int piece = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * piece;
    for (int i = first; i < first + piece && i < n; i++)
        z[i] = alpha * x[i] + y[i];
}
