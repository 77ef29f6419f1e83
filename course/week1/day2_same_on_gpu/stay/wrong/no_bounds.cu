// Threads past the end fetch and write what is not theirs.
__global__ void stay(const float *x, const float *w, float *y, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = y[i], factor = x[i];
    for (int s = 0; s < steps; s++)
        value += w[s] * factor;
    y[i] = value;
}
