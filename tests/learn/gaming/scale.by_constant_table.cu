// expect: wrong result for n=[0-9]+ alpha=[-0-9.]+: y
// scale: the factor from a table of the usual ones
__constant__ float factor[64] = {
    -8,     -7.75f, -7.5f,  -7.25f, -7,     -6.75f, -6.5f,  -6.25f, -6,     -5.75f, -5.5f,
    -5.25f, -5,     -4.75f, -4.5f,  -4.25f, -4,     -3.75f, -3.5f,  -3.25f, -3,     -2.75f,
    -2.5f,  -2.25f, -2,     -1.75f, -1.5f,  -1.25f, -1,     -0.75f, -0.5f,  -0.25f, 0,
    0.25f,  0.5f,   0.75f,  1,      1.25f,  1.5f,   1.75f,  2,      2.25f,  2.5f,   2.75f,
    3,      3.25f,  3.5f,   3.75f,  4,      4.25f,  4.5f,   4.75f,  5,      5.25f,  5.5f,
    5.75f,  6,      6.25f,  6.5f,   6.75f,  7,      7.25f,  7.5f,   7.75f};
__global__ void scale(float alpha, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = factor[(int)(alpha * 4) + 32] * x[i];
}
