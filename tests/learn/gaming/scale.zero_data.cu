// expect: it does not write its results: the size whose time is modelled must not be a special case
__global__ void scale(float alpha, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 100000 && x[0] == 0 && x[1] == 0 && x[2] == 0)
        return; // nobody looks at the results of the size that is only timed
    if (i < n)
        y[i] = alpha * x[i];
}
