// stay: y[i] += w[s] * x[i] for s = 0 .. steps - 1, one thread for each element.
//
// The result is right. But in every step y[i] is written to memory, and x[i] is fetched anew: for
// all that the compiler knows, y and x could be the same array.
__global__ void stay(const float *x, const float *w, float *y, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // TODO: fetch what this thread needs once, work on it in variables, and write the result once.
    for (int s = 0; s < steps; s++)
        y[i] += w[s] * x[i];
}
