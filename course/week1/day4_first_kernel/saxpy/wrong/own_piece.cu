// Right, but each thread takes a piece of neighbours for itself: the lanes of a warp are far apart.
__global__ void saxpy(float alpha, const float *x, float *y, int n)
{
    int threads = gridDim.x * blockDim.x;
    int piece = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * piece;
    for (int i = first; i < first + piece && i < n; i++)
        y[i] = alpha * x[i] + y[i];
}
