// expect: by the busiest warp, 2 times the solution.*some blocks or warps leave their part to
// others
__global__ void reverse(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        y[i] = x[n - 1 - i];
        y[n - 1 - i] = x[i];
    } else if (n % 2 && i == n / 2)
        y[i] = x[i];
}
